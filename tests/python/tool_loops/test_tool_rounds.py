"""A tool loop in rounds: the model calls, functions run, and it is asked again with the results."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed: make test-torch")

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

from scripted_generator import ScriptedGenerator  # noqa: E402
from tiny_models import ASSISTANT, END, USER  # noqa: E402

import interlock  # noqa: E402
from interlock.generators.replies.repeated_calls import TOLD  # noqa: E402

CALL = '<tool_call>\n{"name": "day_after", "arguments": {"day": "2026-01-31"}}\n</tool_call>'


class Chats:
    """A chat template as a tokenizer has it. It writes contents alone, so calls and results are texts to it."""

    chat_template = "{{ content }}"

    def __init__(self, gen):
        self.gen, self.seen = gen, []

    def apply_chat_template(self, messages, tools=None, tokenize=True, add_generation_prompt=True):
        turns = [f"{USER}{m['role']}: {m['content']}{END}" for m in messages]
        text = "".join(turns) + ASSISTANT
        if not add_generation_prompt:
            text = "".join(turns[:-1]) + f"{ASSISTANT}{messages[-1]['content']}{END}"
        if not tokenize:
            return text
        self.seen.append(messages)
        return self.gen._chats_tokenizer.encode(text).ids


class Generator(ScriptedGenerator):
    def __init__(self, script):
        super().__init__(script)
        self._chats_tokenizer = self.__dict__.pop("_chats")
        self.chats = Chats(self)

    def _chats(self):
        return self.chats

    def _chat_text_ids(self, text):
        return self._chats_tokenizer.encode(text).ids


def day_after(day: datetime.date) -> str:
    """The next day."""
    assert isinstance(day, datetime.date)
    return str(day + datetime.timedelta(days=1))


def test_a_function_is_run_and_the_model_answers_with_its_result():
    gen = Generator({"Which day?": CALL, "2026-02-01": "The first of February."})
    answer = gen.tool_loop("Which day?", [day_after], format="hermes", max_tokens=120)
    assert answer.text == "The first of February." and answer.finish_reason == "stop"
    [(call, returned)] = answer.calls
    assert call.arguments == {"day": datetime.date(2026, 1, 31)} and returned == "2026-02-01"
    assert [m["role"] for m in answer.messages] == ["user", "assistant", "tool", "assistant"]
    assert answer.messages[1]["content"] == CALL and answer.messages[2]["content"] == "2026-02-01"
    # The template shows no tools, so words do, in each round once.
    assert all(str(seen).count("You can call tools") == 1 for seen in gen.chats.seen) and len(gen.chats.seen) == 2


def test_exactly_one_call_and_then_an_answer():
    # The model would answer at once, and then call again.
    gen = Generator({"Which day?": "Monday.", "tool: 2": CALL})
    options = {"tool_choice": "required", "parallel": False, "max_rounds": 1}
    answer = gen.tool_loop("Which day?", [day_after], format="hermes", max_tokens=120, **options)
    assert len(answer.calls) == 1 and answer.messages[-1] == {"role": "assistant", "content": answer.text}
    assert [m["role"] for m in answer.messages] == ["user", "assistant", "tool", "assistant"]


def test_the_first_turn_goes_on_with_what_the_assistant_has_said():
    chat = [{"role": "user", "content": "Which day?"}, {"role": "assistant", "content": CALL[:30]}]
    gen = Generator({"Which day?": CALL, "2026-02-01": "The first of February."})
    answer = gen.tool_loop(chat, [day_after], format="hermes", max_tokens=120)
    assert answer.text == "The first of February." and answer.calls[0][1] == "2026-02-01"
    assert [m["role"] for m in answer.messages] == ["user", "assistant", "tool", "assistant"]
    assert answer.messages[1]["content"] == CALL and len(chat) == 2
    chat[-1]["content"] = "It is M"
    answer = Generator({"Which day?": "It is Monday."}).tool_loop(chat, [day_after], format="hermes", max_tokens=40)
    assert answer.text == "It is Monday." and answer.messages[1]["content"] == "It is Monday."
    with pytest.raises(interlock.ArgumentError, match="'It is M', .* no turn that may call the tools so begins"):
        gen.tool_loop(chat, [day_after], format="hermes", max_tokens=120, tool_choice="required")


class KimiChats(Chats):
    """As the chat template of Kimi K2 writes calls and results: by the identifiers of the messages."""

    def apply_chat_template(self, messages, **options):
        def written(message):
            calls = (
                f"<|tool_call_begin|>{call['id']}<|tool_call_argument_begin|>{call['function']['arguments']}"
                "<|tool_call_end|>"
                for call in message.get("tool_calls", ())
            )
            section = "".join(calls)
            section = section and f"<|tool_calls_section_begin|>{section}<|tool_calls_section_end|>"
            returned = f"## Return of {message['tool_call_id']}\n" if message["role"] == "tool" else ""
            return message | {"content": returned + message["content"] + section}

        return super().apply_chat_template([written(message) for message in messages], **options)


def test_a_chat_template_that_writes_the_identifiers_of_calls_gets_the_models_own():
    called = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.day_after:0<|tool_call_argument_begin|>"
        '{"day": "2026-01-31"}<|tool_call_end|><|tool_calls_section_end|>'
    )
    gen = Generator({"Which day?": called, "2026-02-01": "The first of February."})
    gen.chats = KimiChats(gen)
    answer = gen.tool_loop("Which day?", [day_after], format="kimi_k2", max_tokens=200)
    assert answer.text == "The first of February."
    assert answer.messages[1]["tool_calls"][0]["id"] == answer.messages[2]["tool_call_id"] == "functions.day_after:0"
    assert gen.chats.seen[-1][-2]["content"] == called
    assert gen.chats.seen[-1][-1]["content"] == "## Return of functions.day_after:0\n2026-02-01"


def test_no_call_is_an_answer_at_once():
    answer = Generator({"Hi": "Hello."}).tool_loop("Hi", [day_after], format="hermes", max_tokens=40)
    assert answer.text == "Hello." and answer.calls == []


def fails(day: datetime.date) -> str:
    raise KeyError("nope")


fails.__name__ = "day_after"


def test_the_model_is_told_of_an_error():
    gen = Generator({"Which day?": CALL, "KeyError: 'nope'\"}": "It failed."})
    answer = gen.tool_loop("Which day?", [fails], format="hermes", max_tokens=120)
    assert answer.text == "It failed." and answer.calls[0][1] == {"error": "KeyError: 'nope'"}
    with pytest.raises(KeyError) as caught:
        gen.tool_loop("Which day?", [fails], format="hermes", max_tokens=120, on_error="raise")
    assert "tool loop" in caught.value.__notes__[0]
    told = gen.tool_loop("Which day?", [fails], format="hermes", max_tokens=120, on_error=lambda call, error: call.name)
    assert told.calls[0][1] == "day_after"


def test_a_call_that_comes_again_is_not_run_again_and_the_model_is_told():
    """The model calls until it reads that it repeats itself."""
    ran = []

    def counted(day: datetime.date) -> str:
        """The next day."""
        ran.append(day)
        return day_after(day)

    counted.__name__ = "day_after"
    script = {"Which day?": CALL, "2026-02-01": CALL, 'other arguments."}': "The first of February."}
    answer = Generator(script).tool_loop("Which day?", [counted], format="hermes", max_tokens=120)
    assert answer.text == "The first of February." and len(ran) == 1
    assert [returned for _, returned in answer.calls] == ["2026-02-01", TOLD]
    assert answer.calls[0][0] == answer.calls[1][0]
    assert "the same as in the turn before" in answer.messages[4]["content"]
    del script['other arguments."}']
    options = {"format": "hermes", "max_tokens": 120, "max_rounds": 3}
    Generator(script).tool_loop("Which day?", [counted], on_repeat="run", **options)
    assert len(ran) == 4
    with pytest.raises(
        interlock.InvalidOutputError, match=r"calls day_after\(.* again, .* on_repeat=\"run\""
    ) as caught:
        Generator(script).tool_loop("Which day?", [counted], on_repeat="raise", **options)
    assert caught.value.text == CALL and len(ran) == 5


def test_the_same_call_twice_in_one_turn_or_with_other_arguments_is_run():
    other = CALL.replace("01-31", "02-01")
    script = {"Which day?": f"{CALL}\n{CALL}", "2026-02-01": other, "2026-02-02": "The second."}
    answer = Generator(script).tool_loop("Which day?", [day_after], format="hermes", max_tokens=160)
    assert [returned for _, returned in answer.calls] == ["2026-02-01", "2026-02-01", "2026-02-02"]


@dataclasses.dataclass
class Even:
    number: int

    def __post_init__(self):
        if self.number % 2:
            raise ValueError("odd")


def half(even: Even) -> float:
    return even.number / 2


def test_arguments_that_a_class_refuses_are_an_error_too():
    call = '<tool_call>\n{"name": "half", "arguments": {"even": {"number": 3}}}\n</tool_call>'
    answer = Generator({"Half?": call, "odd": "Odd."}).tool_loop("Half?", [half], format="hermes", max_tokens=120)
    assert "InvalidOutputError" in answer.calls[0][1]["error"]


PARAMETERS = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
DESCRIBED = {
    "type": "function",
    "function": {"name": "day_after", "description": "The next day.", "parameters": PARAMETERS},
}


class DayAfter(pydantic.BaseModel):
    """The next day."""

    day: datetime.date


@pytest.mark.parametrize("tool", [DESCRIBED, {"name": "day_after", "input_schema": PARAMETERS}])
def test_a_tool_that_is_described_is_run_by_its_function(tool):
    gen = Generator({"Which day?": CALL, "2026-02-01": "The first of February."})
    seen = []

    def run(day):
        seen.append(day)
        return str(datetime.date.fromisoformat(day) + datetime.timedelta(days=1))

    options = {"format": "hermes", "max_tokens": 160, "parallel": False}
    answer = gen.tool_loop("Which day?", [tool], functions={"day_after": run}, **options)
    assert seen == ["2026-01-31"] and answer.text == "The first of February."
    assert gen.tool_loop("Which day?", [tool], functions={"day_after": run}, **options).calls[0][1] == "2026-02-01"


def test_the_function_of_a_class_is_called_with_an_object_of_it():
    gen = Generator({"Which day?": CALL.replace("day_after", "DayAfter"), "2026-02-01": "The first of February."})
    run = lambda asked: str(asked.day + datetime.timedelta(days=1))  # noqa: E731
    options = {"format": "hermes", "max_tokens": 160}
    answer = gen.tool_loop("Which day?", [DayAfter, half], functions={"DayAfter": run}, **options)
    [(call, returned)] = answer.calls
    assert returned == "2026-02-01" == call() and call.arguments == {"day": "2026-01-31"}


@pytest.mark.parametrize("tools", [[DESCRIBED], [{"name": "f", "input_schema": PARAMETERS}, DESCRIBED]])
def test_tools_in_the_place_of_an_output_type_are_told_where_they_belong(tools):
    with pytest.raises(interlock.ArgumentError, match=r"these are tools and no output type: gen\.tool_loop"):
        Generator({})("x", tools)


async def later(day: str) -> str:
    return day


@pytest.mark.parametrize(
    ("tools", "options", "said"),
    [
        (day_after, {}, "write \\[tool\\]"),
        ([], {}, "there are no tools"),
        (None, {}, r"the tools are missing: gen.tool_loop\(prompt, \[function, ...\]\)"),
        ([later], {}, "async function"),
        ([Even], {}, r"nothing runs the tool 'Even', .* class: .*functions=\{'Even': function\}.* an object of Even"),
        ([DESCRIBED], {}, r"nothing runs the tool 'day_after', .* dict: .*the arguments by name"),
        ([DESCRIBED], {"functions": {"day_after": 3}}, "is no function, but of the type int"),
        ([DESCRIBED], {"functions": {"day_after": later}}, "async function"),
        ([DESCRIBED], {"functions": {"day_after": lambda date: date}}, "has no parameter 'day'"),
        ([DESCRIBED], {"functions": {"day_after": lambda day, zone: day}}, "needs 'zone', and the tool has no such"),
        ([day_after], {"functions": {"day_aftr": day_after}}, "functions has 'day_aftr'.* mean 'day_after'"),
        ([day_after], {"functions": [day_after]}, "functions is a dict of names"),
        ([day_after], {"max_rounds": 0}, "max_rounds"),
        ([day_after], {"on_error": "ignore"}, "on_error is 'tell', .* not 'ignore'$"),
        ([day_after], {"on_repeat": "ignore"}, "on_repeat is 'tell', 'run' or 'raise'"),
        ([day_after], {"rounds": 3}, "^'rounds' has another name here: pass max_rounds$"),
        ([day_after], {"max_iterations": 3}, "pass max_rounds$"),
        ([day_after], {"max_round": 3}, "^a tool loop has no option 'max_round'; did you mean 'max_rounds'?"),
        ([day_after], {"on_errors": "tell"}, "did you mean 'on_error'?"),
        ([day_after], {"temprature": 0.5}, "did you mean 'temperature'?"),
        ([day_after], {"max_new_tokens": 5}, "pass max_tokens"),
    ],
)
def test_arguments(tools, options, said):
    with pytest.raises(interlock.ArgumentError, match=said):
        Generator({}).tool_loop("x", tools, format="hermes", **options)


def test_a_template_without_calls_names_the_way():
    with pytest.raises(interlock.tools.ToolFormatError, match="format='hermes'"):
        Generator({}).tool_loop("x", [day_after])


HERMES = (
    "{% if tools %}<|user|>{% for t in tools %}{{ t | tojson }}{% endfor %}<|end|>{% endif %}"
    "{% for m in messages %}{% if m.role == 'tool' %}<|user|><tool_response>{{ m.content }}</tool_response><|end|>"
    "{% else %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>\n"
    '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>{% endfor %}'
    "<|end|>{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def sides(left: bool) -> str:
    return "left" if left else "right"


ONE_CALL = {"tool_choice": "required", "parallel": False, "max_rounds": 1, "max_tokens": 120}


def generator_of_transformers():
    """A generator of a real, tiny model, whose chat template writes tools."""
    pytest.importorskip("torch", reason="torch is not installed: make test-torch")
    pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")
    from tiny_models import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = HERMES
    return interlock.from_transformers(tiny_model(tokenizer), tokenizer)


def test_with_a_template_that_writes_tools():
    gen = generator_of_transformers()
    answer = gen.tool_loop("Which side?", [sides], **ONE_CALL)
    [(call, returned)] = answer.calls
    assert returned == ("left" if call.arguments["left"] else "right")
    roles = [(m["role"], "tool_calls" in m) for m in answer.messages]
    assert roles == [("user", False), ("assistant", True), ("tool", False), ("assistant", False)]
    assert gen.tool_loop(answer.messages[:1], [sides], temperature=0.7, seed=3, **ONE_CALL).calls


class FileModel:
    """What a tool loop asks of a ``llama_cpp.Llama`` for the text of a chat."""

    metadata = {"tokenizer.chat_template": HERMES}

    def token_eos(self):
        return 1

    token_bos = token_eos

    def detokenize(self, ids, special=False):
        return END.encode()

    def tokenize(self, text, add_bos=True, special=False):
        assert special and not add_bos
        return list(text)


def test_the_template_in_a_model_file_writes_tools():
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    from interlock.generators.llama_cpp import LlamaCppGenerator

    gen = object.__new__(LlamaCppGenerator)
    gen._llama = FileModel()
    tool = {"type": "function", "function": {"name": "sides", "parameters": {}}}
    ids = gen._chats().apply_chat_template([{"role": "user", "content": "x"}], tools=[tool])
    assert b'"sides"' in bytes(ids)
