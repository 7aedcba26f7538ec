"""Chats that end with a message of the assistant: the model goes on with it, and the type holds for the whole."""

from __future__ import annotations

import asyncio
import re
import sys
import types
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
jinja2 = pytest.importorskip("jinja2", reason="jinja2 is not installed")
pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

from generator_stand_ins import NO_WARNINGS_OF_ENDS, User  # noqa: E402
from scripted_generator import ScriptedGenerator  # noqa: E402
from test_attempts import Digit  # noqa: E402
from test_generator_backends import LLM, END, Llama, MlxTokenizer, llama, mlx, vllm, vocabulary  # noqa: E402, F401
from test_generator_servers import AsyncClient, Client  # noqa: E402

import interlock  # noqa: E402
from interlock.generators.prompts.prefill import chat_up_to_prefill, prefilled  # noqa: E402
from interlock.generators.prompts.server_prefill import rest_of  # noqa: E402
from interlock.integrations._prefilled import PrefilledIndex  # noqa: E402

pytestmark = NO_WARNINGS_OF_ENDS
ADA = '{"name": "Ada", "age": 36}'
CHATML = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def chat(said, asked="Make up a user."):
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]


@pytest.fixture
def gen():
    return ScriptedGenerator({"Make up a user.": ADA, "Is water wet?": "yes", "Say it.": "Hello, you."})


@pytest.mark.filterwarnings("ignore::interlock.TrailingBlankWarning")
@pytest.mark.parametrize("length", range(len(ADA) + 1))
def test_the_value_is_that_of_prefill_and_answer_together(gen, length):
    assert gen(chat(ADA[:length]), User, max_tokens=40) == User("Ada", 36)


def test_batches_streams_and_traces(gen):
    prompts = [chat(ADA[:12]), "Make up a user.", chat(ADA[:2])]
    assert gen(prompts, User, max_tokens=40) == [User("Ada", 36)] * 3
    types_of_both = [re.compile("yes|no"), User]
    assert gen.batch([chat("y", "Is water wet?"), chat(ADA[:9])], types_of_both) == ["yes", User("Ada", 36)]
    stream = gen.stream(chat(ADA[:12]), User, max_tokens=40)
    assert next(stream) == ADA[:12] and stream.partial == {"name": "Ad"}
    assert stream.value == User("Ada", 36) and stream.text == ADA and stream.finish_reason == "stop"
    assert gen(chat("Hel", "Say it.")) == "Hello, you."
    found = gen.trace(chat(ADA[:12]), User, max_tokens=40)
    assert found.value == User("Ada", 36) and found.text == ADA[12:] and not found.walk.problems
    assert [step.text for step in found.steps] and found.steps[0].at == 12


def test_a_prefill_that_begins_no_value_says_where(gen):
    for said, why in (
        ('{"nme', "'me' at character 3 is refused, 'ame\": \"' must come there"),
        ('{"name":"A', "' \"' must come there. Pass whitespace='compact', which has the blanks of this message$"),
        ('{\n  "name": "Ada",', "Pass whitespace='flexible', which has"),
        ('{"name": "Ada"}  ', "'}  ' at character 14 is refused.* Leave the message out"),
        (' {"name":\n', "Leave out the blanks around it, and begin with '{\"name\":'$"),
        (f"{ADA} ", "' ' at character 26 is refused. Leave out the blanks around it"),
        ("Here it is: ", "'Here it is: ' at character 0 .* gen.program"),
    ):
        with pytest.raises(interlock.ArgumentError, match=f"no value of User begins with it: .*{why}"):
            gen(chat(said), User)
    with pytest.raises(interlock.ArgumentError, match="Pass whitespace='spaced', which has"):
        gen(chat('{"name": "A'), User, whitespace="compact")
    with pytest.raises(interlock.ArgumentError, match="part 1 of it is no text"):
        gen(chat([{"type": "text", "text": "a"}, {"type": "image"}]), User)


def test_a_compact_prefill_goes_with_compact_blanks():
    compact = ADA.replace(": ", ":").replace(", ", ",")
    gen = ScriptedGenerator({"Make up a user.": compact})
    for length in range(1, len(compact) + 1):
        for whitespace in ("compact", "flexible"):
            assert gen(chat(compact[:length]), User, max_tokens=40, whitespace=whitespace) == User("Ada", 36)


def test_a_blank_that_may_stand_at_the_end_is_kept(gen):
    """The byte tokens of this vocabulary have none that joins a blank and the value behind it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream = gen.stream(chat('{"name": '), User, max_tokens=40)
        assert next(stream) == '{"name": ' and stream.value == User("Ada", 36) and stream.text == ADA


def test_the_budget_is_that_of_the_answer(gen):
    assert gen(chat(ADA[:24]), User, max_tokens=len(ADA[24:])) == User("Ada", 36)
    with pytest.raises(
        interlock.BudgetError, match="max_tokens is 1, but behind '.*age\"' a complete output"
    ) as caught:
        gen(chat(ADA[:21]), User, max_tokens=1)
    assert caught.value.limit == 1 and caught.value.value > 1
    with warnings.catch_warnings():
        # The prefill is nobody's choice: a tight budget did not cut it.
        warnings.simplefilter("error")
        gen.trace(chat(ADA[:24]), User, max_tokens=3)


def test_a_program_begins_with_what_the_assistant_has_said(gen):
    program = gen.program(chat("It is ", "Is water wet?"))
    assert str(program) == "It is "
    program.select("wet", ["yes", "no"])
    assert str(program).startswith("It is ") and program["wet"] in ("yes", "no")


def test_an_answer_that_is_refused_is_asked_for_with_the_same_prefill():
    gen = ScriptedGenerator({"A digit.": '{"digit": 3}', "Try again.": '{"digit": 4}'})
    seen, encode = [], gen.encode
    gen.encode = lambda prompt, chat=None: seen.append(prompt) or encode(prompt, chat)
    assert gen(chat('{"digit"', "A digit."), Digit, max_tokens=20, attempts=2) == Digit(digit=4)
    assert [m["content"] for m in seen[-1]][1::2] == ['{"digit": 3}', '{"digit"']


@dataclass
class Small:
    a: int


def test_mlx_lm(mlx):  # noqa: F811
    class Tokenizer(MlxTokenizer):
        chat_template = CHATML

        def encode(self, text, add_special_tokens=True):
            return list(text.encode())

        def apply_chat_template(self, messages, add_generation_prompt, tokenize=True):
            made = jinja2.Template(CHATML).render(messages=messages, add_generation_prompt=add_generation_prompt)
            return list(made.encode()) if tokenize else made

    gen = interlock.from_mlx_lm(types.SimpleNamespace(args=types.SimpleNamespace(vocab_size=END + 1)), Tokenizer())
    assert bytes(gen.encode(chat(" {"))).endswith(b"<|assistant|> {"), "as it was written, blanks and all"
    user = gen(chat('{"name": "Zo'), User, max_tokens=80)
    assert user.name.startswith("Zo")
    users = gen([chat('{"name": "Zo'), chat('{"name": "Li'), "x"], User, max_tokens=80)
    assert [one.name[:2] for one in users[:2]] == ["Zo", "Li"]
    stream = gen(chat('{"name": "Zo'), User, max_tokens=80, stream=True)
    assert next(stream) == '{"name": "Zo' and stream.value == user
    with pytest.raises(interlock.ArgumentError, match="^prompt 1 of the batch: .* no value of User begins with it"):
        gen(["x", chat("Sure")], User)
    with pytest.raises(interlock.BudgetError):
        gen(chat('{"name": "Zo'), User, max_tokens=2)


def test_llama_cpp(llama, monkeypatch):  # noqa: F811
    class Formatter:
        def __init__(self, template, eos_token, bos_token, add_generation_prompt=True):
            self.options = {"add_generation_prompt": add_generation_prompt}

        def __call__(self, messages, tools=None):
            made = jinja2.Template(CHATML).render(messages=messages, **self.options)
            return types.SimpleNamespace(prompt=made)

    asked = []

    def complete(prompt, suffix=None, max_tokens=16, temperature=0.8, stream=False, seed=None, logits_processor=None):
        asked.append((bytes(prompt), temperature))
        pieces = llama._run(bytes(prompt).decode(), max_tokens, logits_processor)
        return ({"choices": [{"text": piece}]} for piece in pieces)

    Llama.token_eos = Llama.token_bos = lambda self: END
    Llama.detokenize = lambda self, ids, special: b""
    monkeypatch.setitem(sys.modules, "llama_cpp", types.ModuleType("llama_cpp"))
    formats = types.SimpleNamespace(Jinja2ChatFormatter=Formatter)
    monkeypatch.setitem(sys.modules, "llama_cpp.llama_chat_format", formats)
    monkeypatch.setattr(llama, "create_completion", types.MethodType(lambda self, *a, **k: complete(*a, **k), llama))
    monkeypatch.setattr(interlock.integrations.llama_cpp._calls, "_release", lambda llama: None)
    gen = interlock.from_llama_cpp(llama)
    monkeypatch.setattr(gen, "_for_completion", lambda options: {"temperature": 0.2, **options})
    user = gen(chat('{"name": "Zo'), User, max_tokens=80)
    assert user.name.startswith("Zo")
    assert asked == [(b'<|user|>Make up a user.<|end|><|assistant|>{"name": "Zo', 0.2)]
    stream = gen(chat('{"name": "Zo'), User, max_tokens=80, stream=True)
    assert next(stream) == '{"name": "Zo' and stream.value == user
    llama.chat_format = "chatml"
    with pytest.raises(interlock.ArgumentError, match="a chat_handler or a chat_format: leave the message out"):
        gen(chat("{"), User)


def render(template):
    def rendered(messages):
        return jinja2.Template(template).render(messages=messages, add_generation_prompt=False)

    return rendered


def test_templates():
    same = lambda messages: messages  # noqa: E731
    assert chat_up_to_prefill(chat(" a ", "b"), same, render(CHATML)) == "<|user|>b<|end|><|assistant|> a "
    # Reasoning is taken out of a message, and written as the template likes.
    thinks = (
        "{% for m in messages %}<{{ m.role }}>{% if '</t>' in m.content %}"
        "{% set parts = m.content.split('</t>') %}{{ parts[0] }}</t>{{ parts[1] }}"
        "{% else %}<t></t>{{ m.content }}{% endif %}\n{% endfor %}"
    )
    assert chat_up_to_prefill(chat("a", "b"), same, render(thinks)).endswith("<assistant><t></t>a")
    assert chat_up_to_prefill(chat("<t>x</t>a", "b"), same, render(thinks)).endswith("<assistant><t>x</t>a")
    parts = chat([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "c")
    assert chat_up_to_prefill(parts, same, render(CHATML)).endswith("<|assistant|>a\nb")
    with pytest.raises(interlock.ArgumentError, match="does not write the assistant's message at the end"):
        chat_up_to_prefill(chat("a"), same, render("{{ messages[0].content }}"))
    raising = "{{ raise_exception('roles must alternate') }}"
    with pytest.raises(interlock.ArgumentError, match="no chat that ends with a message of the assistant: .*Leave"):
        chat_up_to_prefill(chat("a"), same, render(raising))
    calls = [{"role": "assistant", "content": "", "tool_calls": []}]
    assert chat_up_to_prefill([*chat("")[:1], *calls], same, render(CHATML)).endswith("<|assistant|>")


def test_an_index_behind_a_text_takes_the_prompts_own_tokens(word_vocabulary):
    index = interlock.Index.from_choices(["yesno", "no"], word_vocabulary)
    tokens = {word_vocabulary.token_bytes(i): i for i in range(len(word_vocabulary))}
    ye = tokens[b"ye"]
    assert PrefilledIndex(index, "ye", [7, ye]).ids == [ye]
    spelled = PrefilledIndex(index, "y", [7, ye])
    assert spelled.ids == [ord("y")], "it begins inside of the last token"
    guide = spelled.guide(context_ids=[7, ye])
    assert guide.forced_bytes() == b"esno" and guide.num_tokens == 1
    with pytest.raises(interlock.ArgumentError):
        PrefilledIndex(index, "x", [])
    bits = interlock.allocate_bitmask(1, word_vocabulary)
    spelled.guide(max_tokens=2).fill_bitmask(bits)
    assert not np.array_equal(bits, interlock.allocate_bitmask(1, word_vocabulary))


def test_servers_go_on_where_they_have_a_field_for_it():
    client = Client("ris.")
    for server, body in (
        ("vllm", {"continue_final_message": True, "add_generation_prompt": False}),
        ("sglang", {"continue_final_message": True}),
    ):
        gen = interlock.from_openai(client, "m", server=server)
        assert gen(chat("It is Pa")) == "It is Paris."
        assert client.calls[-1]["extra_body"] == body and client.calls[-1]["messages"] == chat("It is Pa")
        assert gen(chat("It is Pa"), extra_body={"top_k": 3}) == "It is Paris."
        assert client.calls[-1]["extra_body"] == {"top_k": 3, **body}
        stream = gen.stream(chat("It is Pa"))
        assert next(stream) == "It is Pa" and stream.value == "It is Paris."
        assert gen(chat(""), max_tokens=9) == "ris."
        assert gen(chat("Pa"), ["Paris.", "Rome"]) == "Paris."
        with pytest.raises(interlock.ArgumentError, match="a server begins User anew .* a model in this process"):
            gen(chat('{"'), User)
        with pytest.raises(interlock.ArgumentError, match="none of the choices begins so"):
            gen(chat("x"), ["a"])
        with pytest.raises(interlock.ArgumentError, match="one of the choices already"):
            gen(chat("a"), ["a", "ab"])
    assert client.calls[-1]["extra_body"]["regex"] == "(?:ris\\.)"
    with pytest.raises(interlock.ArgumentError, match="OpenAI's chat completions do not go on .* server='vllm'"):
        interlock.from_openai(client, "m")(chat("a"))


def test_asynchronous_clients_stream_the_prefill_first():
    async def run():
        stream = interlock.from_openai(AsyncClient("ris."), "m", server="vllm").stream(chat("It is Pa"))
        return [piece async for piece in stream], await stream.value()

    pieces, value = asyncio.run(run())
    assert pieces[0] == "It is Pa" and value == "It is Paris."


def test_vllm_goes_on_prefill_by_prefill(vllm):  # noqa: F811
    class Newer(LLM):
        asked = []

        def chat(self, messages, parameters, use_tqdm, continue_final_message=False, add_generation_prompt=True):
            assert continue_final_message is not add_generation_prompt
            self.asked.append((continue_final_message, parameters.structured_outputs.choice))
            return self._outputs("chat", messages, parameters)

    llm = Newer(["es", "es"])
    assert interlock.from_vllm(llm)([chat("y"), chat("y"), chat("")], ["yes", "es"]) == ["yes", "yes", "es"]
    assert llm.asked == [(True, ["es"]), (True, ["yes", "es"])]
    with pytest.raises(interlock.ArgumentError, match="^prompt 1 of the batch: a server begins User anew"):
        interlock.from_vllm(llm)(["a", chat("{")], User)
    with pytest.raises(interlock.ArgumentError, match="install a newer vLLM"):
        interlock.from_vllm(LLM(["es"]))(chat("y"), ["yes"])


@pytest.mark.parametrize("said", ["Hello, ", "Hel ", "Hello,  "])
def test_a_blank_at_the_end_of_a_prefill_warns_where_a_longer_token_could_stand(said):
    spellings = [bytes([i]) for i in range(256)] + [b" you", b""]
    words = interlock.Vocabulary(spellings, eos_token_ids=[257])
    index = interlock.Index.from_regex("[A-Za-z, ]*", words)
    with pytest.warns(interlock.TrailingBlankWarning, match="leave it out, so that the model .* gen.program"):
        prefilled(index, said, list(said.encode()), "value of str")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prefilled(index, said.rstrip(), list(said.rstrip().encode()), "value of str")
        # No longer token is permitted here, or none is there.
        prefilled(interlock.Index.from_regex("Hel+o?,? {1,2}[0-9]+", words), said, list(said.encode()), "value")
        bytes_alone = interlock.Vocabulary([*spellings[:256], b""], eos_token_ids=[256])
        prefilled(interlock.Index.from_regex("[A-Za-z, ]*", bytes_alone), said, list(said.encode()), "value of str")


def test_a_blank_at_the_end_of_a_prefill_for_a_server_warns():
    yes_no = interlock.output_types.output_type_of(["It is wet", "It is dry"])
    with pytest.warns(interlock.TrailingBlankWarning, match="'It is '.* leave it out"):
        assert rest_of(yes_no, "It is ").source == ("wet", "dry")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rest_of(yes_no, "It is").source == (" wet", " dry")
