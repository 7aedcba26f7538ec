"""Generators of servers: what they ask of OpenAI's interface, and what they make of replies. Clients are stand-ins."""

from __future__ import annotations

import asyncio
import json
import re
import types
from typing import Literal

import pytest
from generator_stand_ins import NO_WARNINGS_OF_ENDS, User, bytes_and_end

import interlock
from interlock.generators.replies.budget_warnings import check_on_tight
from interlock.generators.server_requests import openai_request, pattern_text, structured_fields
from interlock.output_types import OutputType, output_type_of

pytestmark = NO_WARNINGS_OF_ENDS


@pytest.fixture(scope="module")
def vocabulary():
    return bytes_and_end()


def chunks(text, reason="stop"):
    pieces = [text[i : i + 3] for i in range(0, len(text), 3)]
    made = [types.SimpleNamespace(delta=types.SimpleNamespace(content=p), finish_reason=None) for p in pieces]
    made.append(types.SimpleNamespace(delta=types.SimpleNamespace(content=None), finish_reason=reason))
    return [types.SimpleNamespace(choices=[choice]) for choice in made] + [types.SimpleNamespace(choices=[])]


def reply(text, reason="stop", refusal=None):
    message = types.SimpleNamespace(content=text, refusal=refusal)
    return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message, finish_reason=reason)])


class Client:
    """``client.chat.completions.create`` with OpenAI's names."""

    def __init__(self, text, reason="stop", refusal=None):
        self.text, self.reason, self.refusal, self.calls = text, reason, refusal, []
        self.chat = types.SimpleNamespace(completions=types.SimpleNamespace(create=self.create))

    def create(
        self, *, messages, model, temperature=None, max_tokens=None, max_completion_tokens=None, response_format=None,
        stream=False, extra_body=None, seed=None,
    ):  # fmt: skip
        self.calls.append({k: v for k, v in locals().items() if v is not None and k != "self"})
        return chunks(self.text, self.reason) if stream else reply(self.text, self.reason, self.refusal)


class AsyncClient(Client):
    async def create(self, **fields):
        if fields.get("stream"):

            async def pieces():
                for chunk in chunks(self.text, self.reason):
                    yield chunk

            return pieces()
        self.calls.append(fields)
        await asyncio.sleep(0)
        return reply(self.text, self.reason, self.refusal)


ADA = '{"name": "Ada", "age": 36}'


def test_each_row_of_a_batch_has_the_seed_for_itself():
    client = Client("yes")
    interlock.from_openai(client, "m", server="vllm")(["a", "a"], ["yes", "no"], temperature=0.5, seed=3)
    assert [call["seed"] for call in client.calls] == [3, 3]


def test_openai():
    client = Client(ADA)
    gen = interlock.from_openai(client, model="m")
    assert gen("Make up a user.", User, max_tokens=50, temperature=0) == User("Ada", 36)
    call = client.calls[0]
    assert call["model"] == "m" and call["max_completion_tokens"] == 50 and call["temperature"] == 0
    assert call["messages"] == [{"role": "user", "content": "Make up a user."}]
    sent = call["response_format"]["json_schema"]
    assert sent["name"] == "User" and sent["strict"] is True
    assert sent["schema"]["additionalProperties"] is False and sent["schema"]["required"] == ["name", "age"]
    assert gen(["a", "b"], User) == [User("Ada", 36)] * 2
    stream = gen("x", User, stream=True)
    assert "".join(stream) == ADA and stream.value == User("Ada", 36)
    assert interlock.from_openai(Client("Hi!"), "m")("x") == "Hi!"


class Wrapped(Client):
    """What wraps a client often takes any keyword, and passes it on."""

    def create(self, **fields):
        self.calls.append(fields)
        return reply(self.text)


@pytest.mark.parametrize("kind", [Client, Wrapped])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temprature": 0.5}, "no option 'temprature'; did you mean 'temperature'?"),
        ({"max_token": 5}, "no option 'max_token'; did you mean 'max_tokens'?"),
        ({"max_new_tokens": 5}, "'max_new_tokens' has another name here: pass max_tokens"),
        ({"response_format": {}}, "'response_format' has another name here: pass output_type"),
        ({"temperature": 20}, "temperature is 0 for greedy search, or a number up to 10, not 20"),
    ],
)
def test_misspelt_options_of_a_server(kind, options, message):
    client = kind(ADA)
    with pytest.raises(interlock.ArgumentError, match=re.escape(message)):
        interlock.from_openai(client, "m")("x", User, **options)
    assert client.calls == []


def test_options_that_only_some_servers_have():
    with pytest.raises(interlock.ArgumentError, match=re.escape("pass extra_body={'top_k': ...}")):
        interlock.from_openai(Client(ADA), "m")("x", User, top_k=5)
    wrapped = Wrapped(ADA)
    interlock.from_openai(wrapped, "m")("x", User, top_k=5, fallback_models=["n"], seed=3)
    assert wrapped.calls[0]["top_k"] == 5 and wrapped.calls[0]["fallback_models"] == ["n"]


def test_what_needs_a_model_in_this_process_says_so():
    gen = interlock.from_openai(Client(ADA), "m")
    with pytest.raises(
        AttributeError, match="'trace': a trace needs the model in this process, which from_transformers"
    ):
        gen.trace("x", User)
    for name in ("vocabulary", "index"):
        with pytest.raises(AttributeError, match=f"'{name}': the server makes the masks; for masks in this process"):
            getattr(gen, name)
    assert not hasattr(gen, "trace") and getattr(gen, "vocabulary", None) is None


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (list[int], [1, 2], [1, 2]),
        (int | None, None, None),
        (Literal["yes", "no"], "yes", "yes"),
        (re.compile(r"[0-9]+"), "12", "12"),
        (list[User], [{"name": "A", "age": 1}], [User("A", 1)]),
    ],
)
def test_openai_wraps_what_is_no_object(hint, value, expected):
    client = Client(json.dumps({"value": value}))
    gen = interlock.from_openai(client, "m")
    assert gen("x", hint) == expected
    schema = client.calls[0]["response_format"]["json_schema"]["schema"]
    assert schema["type"] == "object" and schema["required"] == ["value"]
    with pytest.raises(interlock.ArgumentError, match="inside an object"):
        gen.stream("x", hint)
    with pytest.raises(interlock.InvalidOutputError, match="not the object"):
        interlock.from_openai(Client("[1]"), "m")("x", hint)


def test_mistakes_with_servers():
    with pytest.raises(interlock.ArgumentError, match="not 'vLLM'. did you mean 'vllm'"):
        interlock.from_openai(Client("x"), "m", server="vLLM")
    gen = interlock.from_openai(Client("x"), "m")
    with pytest.raises(interlock.ArgumentError, match="no option 'chat': it reads a text as what the user says"):
        gen("x", chat=False)
    with pytest.raises(AttributeError, match="a program needs the model in this process"):
        gen.program("x")


def test_strict_where_openai_can_say_it():
    strict = lambda hint: openai_request(output_type_of(hint), "openai").fields["response_format"]["json_schema"][
        "strict"
    ]
    assert strict(User) and strict(list[User]) and strict(Literal["a", "b"])
    assert not strict(dict[str, int]) and not strict({"type": "object", "properties": {"a": {"maxLength": 3}}})


def test_servers_have_fields_of_their_own():
    choice, pattern = output_type_of(["a.", "b"]), output_type_of(re.compile("a+"))
    assert openai_request(choice, "vllm").fields == {"extra_body": {"structured_outputs": {"choice": ["a.", "b"]}}}
    assert openai_request(pattern, "vllm").fields == {"extra_body": {"structured_outputs": {"regex": "a+"}}}
    assert openai_request(choice, "sglang").fields == {"extra_body": {"regex": r"(?:a\.|b)"}}
    assert openai_request(pattern, "sglang").fields == {"extra_body": {"regex": "a+"}}
    sent = openai_request(output_type_of(list[int]), "vllm").fields["response_format"]["json_schema"]
    assert sent["schema"] == output_type_of(list[int]).source
    client = Client("a")
    assert interlock.from_openai(client, "m", server="vllm")("x", ["a", "b"], extra_body={"top_k": 3}) == "a"
    assert client.calls[0]["extra_body"] == {"top_k": 3, "structured_outputs": {"choice": ["a", "b"]}}
    assert client.calls[0]["max_tokens"] == 512
    assert structured_fields(output_type_of(True)) == {"json": {}}
    assert pattern_text(re.compile("a", re.I | re.S)) == "(?is)a"


def test_servers_are_not_believed():
    for text, reason, said in (
        ('{"name": "Ada", "age": "x"}', "stop", "the server did not enforce User"),
        ('{"name": "A', "length", "stopped at max_tokens=7"),
    ):
        with pytest.raises(interlock.InvalidOutputError, match=said):
            interlock.from_openai(Client(text, reason), "m")("x", User, max_tokens=7)
        with pytest.raises(interlock.InvalidOutputError, match=said):
            list(interlock.from_openai(Client(text, reason), "m").stream("x", User, max_tokens=7))
    with pytest.raises(interlock.InvalidOutputError, match="refuses to answer: no"):
        interlock.from_openai(Client(None, refusal="no"), "m")("x", User)
    with pytest.raises(interlock.InvalidOutputError, match="did not enforce"):
        interlock.from_openai(Client("maybe"), "m", server="vllm")("x", ["yes", "no"])
    with pytest.raises(interlock.InvalidOutputError, match="did not enforce"):
        interlock.from_openai(Client('{"a": 11}'), "m")(
            "x", {"type": "object", "properties": {"a": {"maximum": 10}}, "required": ["a"]}
        )


def test_what_masks_cannot_take_in_any_order_is_checked_in_the_schemas_order(monkeypatch):
    compiled = OutputType.index

    def index(self, vocabulary, **options):
        if options.get("property_order") == "any":
            raise interlock.LimitError("too many orders")
        return compiled(self, vocabulary, **options)

    monkeypatch.setattr(OutputType, "index", index)
    names = [f"k{i}" for i in range(20)]
    schema = {"type": "object", "properties": dict.fromkeys(names, {"type": "integer"}), "required": names}
    ordered, turned = ({name: 1 for name in order} for order in (names, reversed(names)))
    assert interlock.from_openai(Client(json.dumps(ordered)), "m")("x", schema) == ordered
    with pytest.raises(interlock.InvalidOutputError, match="in the schema's order"):
        interlock.from_openai(Client(json.dumps(turned)), "m")("x", schema)
    with pytest.raises(interlock.InvalidOutputError, match="did not enforce"):
        interlock.from_openai(Client(json.dumps({**ordered, "k7": "x"})), "m")("x", schema)
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    model = pydantic.create_model("Many", **dict.fromkeys(names, int))
    assert interlock.from_openai(Client(json.dumps(turned)), "m")("x", model) == model(**ordered)
    with pytest.raises(interlock.InvalidOutputError, match="is no Many"):
        interlock.from_openai(Client(json.dumps({**turned, "k7": "x"})), "m")("x", model)


def test_asynchronous_clients():
    async def run():
        client = AsyncClient(ADA)
        gen = interlock.from_openai(client, "m")
        assert await gen("x", User) == User("Ada", 36)
        assert await gen(["a", "b", "c"], User) == [User("Ada", 36)] * 3 and len(client.calls) == 4
        stream = gen.stream("x", User)
        assert "".join([piece async for piece in stream]) == ADA == stream.text
        assert await stream.value() == User("Ada", 36)
        with pytest.raises(interlock.ArgumentError, match=r"call gen\.stream"):
            await gen("x", User, stream=True)
        with pytest.raises(interlock.InvalidOutputError, match="did not enforce"):
            await interlock.from_openai(AsyncClient("{}"), "m")("x", User)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: interlock.from_openai("key", "m"), "a client is needed"),
        (lambda: interlock.from_openai(Client(""), ""), "model is the name"),
        (lambda: interlock.from_openai(Client(""), "m", server="tgi"), "server is one of"),
        (lambda: interlock.from_openai(Client(""), "m")("x", temprature=1), "did you mean 'temperature'"),
        (lambda: interlock.from_openai(Client(""), "m")("x", response_format={}), "pass output_type"),
        (lambda: interlock.from_openai(Client(""), "m")("x", max_completion_tokens=3), "pass max_tokens"),
        (lambda: interlock.Program(interlock.from_openai(Client(""), "m")), "a model in this process"),
    ],
)
def test_mistakes_with_clients(call, said):
    with pytest.raises(interlock.ArgumentError, match=said):
        call()


def test_a_server_takes_no_index(vocabulary):
    index = interlock.Index.from_choices(["a"], vocabulary)
    with pytest.raises(interlock.ArgumentError, match="takes no Index"):
        interlock.from_openai(Client("a"), "m")("x", index)


def test_the_real_client_over_http():
    openai = pytest.importorskip("openai", reason="openai is not installed")
    import http.server
    import threading

    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            message = {"role": "assistant", "content": ADA}
            body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
            body["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        with openai.OpenAI(base_url=url, api_key="none") as client:
            gen = interlock.from_openai(client, "m")
            assert gen("x", User) == User("Ada", 36)
            assert seen[0]["response_format"]["json_schema"]["name"] == "User"
            with pytest.raises(interlock.ArgumentError, match="did you mean 'temperature'"):
                gen("x", User, temprature=1)

        async def run():
            async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
                return await interlock.from_openai(client, "m")(["a", "b"], User)

        assert asyncio.run(run()) == [User("Ada", 36)] * 2
    finally:
        server.shutdown()
        server.server_close()


# Values that messages quote: the beginning of what is long, and all of it in the error's own fields.

LONG = "x" * 100_000


@pytest.mark.parametrize(
    "call",
    [
        lambda gen: gen("x", int, errors=LONG),
        lambda gen: gen("x", int, on_unsupported=LONG),
        lambda gen: gen("x", int, [LONG]),
        lambda gen: gen("x", int, temperature=-(10**10_000)),
        lambda gen: gen("x", int, max_tokens=-(10**10_000)),
        lambda gen: gen("x", json.dumps(LONG)),
        lambda gen: interlock.from_openai(Client(LONG), "m")("x", int),
        lambda gen: interlock.from_openai(Client("", refusal=LONG), "m")("x", int),
        lambda gen: interlock.from_openai(Client(LONG), "m")("x", ["yes", "no"]),
        lambda gen: interlock.from_openai(Client(""), "m", server=LONG),
        lambda gen: interlock.generate(LONG, "x"),
        lambda gen: interlock.from_transformers(LONG, None),
        lambda gen: interlock.check_tools([{"name": "f"}], format="hermes", unknown_keywords=LONG),
        lambda gen: check_on_tight(LONG),
    ],
)
def test_messages_quote_the_beginning_of_what_is_long(call):
    with pytest.raises((interlock.ArgumentError, interlock.InvalidOutputError)) as caught:
        call(interlock.from_openai(Client(ADA), "m"))
    assert len(str(caught.value)) < 600
    if isinstance(caught.value, interlock.InvalidOutputError):
        assert caught.value.text == LONG
