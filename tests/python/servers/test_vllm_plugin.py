"""The vLLM plug-in's registration and wrappers in the engine, with stand-ins for vLLM's modules."""

import asyncio
import json
import sys
import threading
import types
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Literal

import pytest
from vllm_requests import MODEL, outputs, params

import interlock
from interlock.integrations.vllm import options as options_module
from interlock.integrations.vllm import plugin
from interlock.integrations.vllm.after_import import after_import
from interlock.integrations.vllm.backend import Backend
from interlock.integrations.vllm.options import Options
from interlock.integrations.vllm.proposer import ForcedTokensProposer


@pytest.fixture
def vllm(monkeypatch, byte_vocabulary):
    """Modules with the names and the few classes that the plug-in touches; nothing of them stays."""
    made = {}

    def module(name, **contents):
        made[name] = types.ModuleType(name)
        vars(made[name]).update(contents)
        monkeypatch.setitem(sys.modules, name, made[name])
        return made[name]

    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    assert pydantic

    from pydantic.dataclasses import dataclass as checked

    @checked
    class StructuredOutputsConfig:
        backend: Literal["auto", "outlines"] = "auto"
        enable_in_reasoning: bool = False

    class VLLMValidationError(Exception):
        pass

    class EngineArgs:
        def __init__(self, config):
            self.config = config

        def create_engine_config(self, usage_context=None):
            return self.config

    class SamplingParams(SimpleNamespace):
        def _validate_structured_outputs(self, model_config, structured_outputs_config, tokenizer):
            return "vLLM's own"

    @dataclass
    class ChatCompletionRequest:
        structured_outputs: object = None
        model_extra: dict = field(default_factory=dict)

        def extract_structured_outputs(self):
            return self.structured_outputs

    @dataclass
    class CompletionRequest(ChatCompletionRequest):
        def extract_structured_outputs(self):
            return self.structured_outputs

    def refuse_payload(payload, *, parameter):
        raise AssertionError("this compiles the tag in the loop that serves requests")

    class AsyncLLM:
        def __init__(self, vllm_config):
            self.vllm_config, self.model_config = vllm_config, MODEL
            self.input_processor = SimpleNamespace(tokenizer=object())

        async def add_request(self, request_id, prompt, params, arrival_time=None):
            return request_id, arrival_time

        def generate(self, prompt, sampling_params, request_id, *, priority=0):
            return outputs(None, "stop")

    class StructuredOutputBackend:
        registered = []

        @classmethod
        def register(cls, other):
            cls.registered.append(other)

    @dataclass
    class Manager:
        vllm_config: object
        backend: object = None
        tokenizer: object = None
        reasoner_cls: object = None
        enable_in_reasoning: bool = False
        _grammar_bitmask: object = None
        calls: list = field(default_factory=list)
        compiles: object = None

        def _create_grammar(self, request):
            return "vLLM's own"

        def grammar_init(self, request):
            self.calls.append(sys.getswitchinterval())
            request.structured_output_request._grammar = self.compiles

        def validate_tokens(self, request, spec_tokens):
            grammar = request.structured_output_request.grammar
            return grammar.validate_tokens([t for t in spec_tokens if t >= 0])

        def grammar_bitmask(self, requests, structured_output_request_ids, scheduled_spec_decode_tokens):
            if self._grammar_bitmask is None:
                self._grammar_bitmask = interlock.allocate_bitmask(8, byte_vocabulary)
            self.calls.append(structured_output_request_ids)
            for row, i in enumerate(structured_output_request_ids):
                requests[i].structured_output_request.grammar.fill_bitmask(self._grammar_bitmask, row)
            return self._grammar_bitmask[: len(structured_output_request_ids)]

    class Scheduler:
        def __init__(self, manager):
            self.structured_output_manager = manager

        def finish_requests(self, request_ids, finished_status):
            return request_ids

        def update_draft_token_ids_in_output(self, draft_token_ids, scheduler_output):
            for request, drafts in draft_token_ids:
                drafts[:] = self.structured_output_manager.validate_tokens(request, drafts)

    module("vllm.config", StructuredOutputsConfig=StructuredOutputsConfig)
    module("vllm.engine.arg_utils", EngineArgs=EngineArgs)
    module("vllm.exceptions", VLLMValidationError=VLLMValidationError)
    module("vllm.sampling_params", SamplingParams=SamplingParams, StructuredOutputsParams=SimpleNamespace)
    module("vllm.entrypoints.openai.chat_completion.protocol", ChatCompletionRequest=ChatCompletionRequest)
    module("vllm.entrypoints.openai.completion.protocol", CompletionRequest=CompletionRequest)
    base = module("vllm.entrypoints.generate.base.protocol", validate_structural_tag_payload=refuse_payload)
    module("vllm.entrypoints.generate.base", protocol=base)
    module("vllm.v1.engine.async_llm", AsyncLLM=AsyncLLM)
    module("vllm.v1.structured_output", StructuredOutputManager=Manager)
    module(
        "vllm.v1.structured_output.backend_types",
        StructuredOutputBackend=StructuredOutputBackend,
        StructuredOutputGrammar=StructuredOutputBackend,
    )
    module("vllm.v1.core.sched.scheduler", Scheduler=Scheduler)
    from interlock.integrations.vllm import backend as backend_module

    monkeypatch.setattr(backend_module, "vocabulary_of", lambda *given: byte_vocabulary)
    monkeypatch.setattr(options_module, "_current", Options(metrics=False))
    for name, value in {"_started": False, "_front_end": None, "_missing": []}.items():
        monkeypatch.setattr(plugin, name, value)
    return SimpleNamespace(**{name.rpartition(".")[2]: m for name, m in made.items()})


def config(vllm, backend="interlock", drafts=0):
    return SimpleNamespace(
        structured_outputs_config=vllm.config.StructuredOutputsConfig(backend=backend),
        num_speculative_tokens=drafts,
        model_config=SimpleNamespace(
            skip_tokenizer_init=False, max_model_len=100, get_vocab_size=lambda: 300, is_diffusion=False
        ),
    )


def test_the_name_is_known_after_registration(vllm):
    with pytest.raises(ValueError):
        vllm.config.StructuredOutputsConfig(backend="interlock")
    plugin.register()
    plugin.register()
    assert vllm.config.StructuredOutputsConfig(backend="interlock").backend == "interlock"
    assert vllm.config.StructuredOutputsConfig(backend="outlines").backend == "outlines"
    with pytest.raises(ValueError):
        vllm.config.StructuredOutputsConfig(backend="other")


def test_nothing_happens_where_another_backend_is_used(vllm):
    plugin.register()
    others = vllm.arg_utils.EngineArgs(config(vllm, "auto")).create_engine_config()
    assert vllm.sampling_params.SamplingParams._validate_structured_outputs.__qualname__.startswith("vllm.")
    manager = vllm.structured_output.StructuredOutputManager(others)
    assert manager.backend is None and manager._create_grammar("r") == "vLLM's own"
    # Not even where a server with interlock runs in the same process.
    vllm.arg_utils.EngineArgs(config(vllm)).create_engine_config()
    asked = vllm.sampling_params.SamplingParams(structured_outputs=params(regex="a("))
    assert asked._validate_structured_outputs(MODEL, others.structured_outputs_config, object()) == "vLLM's own"
    assert asyncio.run(vllm.async_llm.AsyncLLM(others).add_request("r", "p", asked)) == ("r", None)


@pytest.mark.parametrize("kind", ["ChatCompletionRequest", "CompletionRequest"])
def test_older_fields_are_read(vllm, kind):
    plugin.register()
    vllm.arg_utils.EngineArgs(config(vllm)).create_engine_config()
    request = getattr(sys.modules["vllm.entrypoints.openai.chat_completion.protocol"], kind, None) or getattr(
        sys.modules["vllm.entrypoints.openai.completion.protocol"], kind
    )
    schema = {"type": "integer"}
    for extra, wanted in (
        (
            {"guided_json": schema, "guided_whitespace_pattern": " ?"},
            {"json": '{"type": "integer"}', "whitespace_pattern": " ?"},
        ),
        ({"guided_regex": "a+", "guided_decoding_backend": "outlines", "user": "me"}, {"regex": "a+"}),
        (
            {"guided_json": schema, "guided_decoding_backend": "xgrammar:disable-any-whitespace"},
            {"json": '{"type": "integer"}', "disable_any_whitespace": True},
        ),
        ({"guided_choice": ["a", "b"]}, {"choice": ["a", "b"]}),
        ({"guided_grammar": 'root ::= "a"'}, {"grammar": 'root ::= "a"'}),
        ({"guided_json_object": True}, {"json_object": True}),
    ):
        asked = request(model_extra=dict(extra))
        assert vars(asked.extract_structured_outputs()) == wanted
        # vLLM asks more than once, and may have put another constraint there.
        asked.structured_outputs = "a tool call"
        assert asked.extract_structured_outputs() == "a tool call" and "user" in {*asked.model_extra, "user"}
    assert request(model_extra={"user": "me", "guided_regex": None}).extract_structured_outputs() is None
    for extra in (
        {"guided_regex": "a", "guided_choice": ["a"]},
        {"guided_whitespace_pattern": " "},
        {"guided_jsno": 1},
    ):
        with pytest.raises(vllm.exceptions.VLLMValidationError):
            request(model_extra=extra).extract_structured_outputs()
    with pytest.raises(vllm.exceptions.VLLMValidationError, match="beside guided fields"):
        request(structured_outputs="another", model_extra={"guided_regex": "a"}).extract_structured_outputs()


def test_tags_are_not_compiled_by_vllms_own_check(vllm):
    protocol = sys.modules["vllm.entrypoints.generate.base.protocol"]
    plugin.register()
    vllm.arg_utils.EngineArgs(config(vllm)).create_engine_config()
    assert protocol.validate_structural_tag_payload("{}", parameter="structured_outputs") is None


def test_requests_are_checked_before_the_engine(vllm):
    plugin.register()
    ours = vllm.arg_utils.EngineArgs(config(vllm)).create_engine_config()
    engine = vllm.async_llm.AsyncLLM(ours)
    bad, good, free = (
        vllm.sampling_params.SamplingParams(structured_outputs=c, max_tokens=5)
        for c in (params(regex="a("), params(regex="a"), None)
    )
    error = vllm.exceptions.VLLMValidationError
    with pytest.raises(error):
        asyncio.run(engine.add_request("r", "p", bad))
    with pytest.raises(error):
        bad._validate_structured_outputs(MODEL, ours.structured_outputs_config, object())
    assert asyncio.run(engine.add_request("r", "p", good, arrival_time=3)) == ("r", 3)
    assert good._validate_structured_outputs(MODEL, ours.structured_outputs_config, object()) is None
    assert free._validate_structured_outputs(MODEL, ours.structured_outputs_config, object()) == "vLLM's own"

    async def collect(asked):
        return [o.outputs[0].finish_reason async for o in engine.generate("p", asked, "r", priority=1)]

    assert asyncio.run(collect(good)) == asyncio.run(collect(free)) == [None, "stop"]


def running(manager, pattern, n, structured=True):
    """A request as the scheduler has it."""
    asked = SimpleNamespace(
        request_id=f"r{n}",
        sampling_params=SimpleNamespace(
            structured_outputs=params(regex=pattern), all_stop_token_ids={256}, min_tokens=0, ignore_eos=False
        ),
        structured_output_request=SimpleNamespace(reasoning_ended=None, _grammar=None),
        max_tokens=50,
        num_prompt_tokens=1,
        num_output_tokens=0,
        prompt_token_ids=[256],
        all_token_ids=[256],
        use_structured_output=structured,
    )
    asked.structured_output_request.grammar = manager._create_grammar(asked)
    return asked


def row(text, bits):
    return {t for t in range(300) if (int(bits[t // 32]) >> (t % 32)) & 1} == set(text)


def test_threads_take_turns_more_often_while_something_compiles(vllm):
    plugin.register()
    manager = vllm.structured_output.StructuredOutputManager(config(vllm))
    usual = sys.getswitchinterval()
    first, second = Future(), Future()
    for compiles in (first, second):
        manager.compiles = compiles
        manager.grammar_init(SimpleNamespace(structured_output_request=SimpleNamespace(_grammar=None)))
    assert manager.calls[-1] < usual / 10 and sys.getswitchinterval() == manager.calls[-1]
    first.set_result(None)
    assert sys.getswitchinterval() < usual / 10
    second.cancel()
    assert sys.getswitchinterval() == usual
    manager.compiles = "compiled at once"
    manager.grammar_init(SimpleNamespace(structured_output_request=SimpleNamespace(_grammar=None)))
    assert manager.calls[-1] < usual / 10 and sys.getswitchinterval() == usual


def test_a_request_waits_for_a_short_compile(vllm, monkeypatch):
    plugin.register()
    monkeypatch.setattr(plugin, "_SHORT_COMPILE", 60)
    manager = vllm.structured_output.StructuredOutputManager(config(vllm))
    manager.compiles = Future()
    thread = threading.Timer(0.05, manager.compiles.set_result, [None])
    thread.start()
    manager.grammar_init(SimpleNamespace(structured_output_request=SimpleNamespace(_grammar=None)))
    assert manager.compiles.done()
    thread.join()


def test_the_engine_fills_a_batch_in_one_call(vllm):
    plugin.register()
    manager = vllm.structured_output.StructuredOutputManager(config(vllm))
    assert isinstance(manager.backend, Backend) and Backend in vllm.backend_types.StructuredOutputBackend.registered
    requests = {f"r{n}": running(manager, f"{'abc'[n]}x", n) for n in range(3)}
    before = manager.backend.counts.fill_seconds.count()
    for _ in range(2):
        # The first time vLLM's own loop allocates the mask; from then on no loop is needed.
        bits = manager.grammar_bitmask(requests, ["r2", "r0"], {})
        assert len(bits) == 2 and row(b"c", bits[0]) and row(b"a", bits[1])
    assert manager.calls == [["r2", "r0"]]
    assert manager.backend.counts.fill_seconds.count() - before == 2
    manager.reasoner_cls = object
    assert len(manager.grammar_bitmask(requests, ["r1"], {})) == 1 and len(manager.calls) == 2


class Forcing:
    def __init__(self, guide):
        self._guide = guide

    def __getattr__(self, name):
        return getattr(self._guide, name)

    def forced_tokens(self, after=()):
        fork = self._guide.fork()
        return list(fork.forced_bytes()) if fork.advance_many(after) == len(after) else []


def test_forced_tokens_are_added_to_drafts(vllm):
    plugin.register()
    manager = vllm.structured_output.StructuredOutputManager(config(vllm, drafts=5))
    asked = running(manager, "abcdefgh[xy]", 0)
    grammar = asked.structured_output_request.grammar
    grammar.guide = Forcing(grammar.guide)
    assert bytes(manager.validate_tokens(asked, [])) == b"abcde"
    assert bytes(manager.validate_tokens(asked, [*b"ab", -1])) == b"abcde"
    assert bytes(manager.validate_tokens(asked, list(b"zz"))) == b"abcde"
    # With asynchronous scheduling there is room for as many as were scheduled.
    scheduler = vllm.scheduler.Scheduler(manager)
    drafts = [-1]
    scheduler.update_draft_token_ids_in_output(
        [(asked, drafts)], SimpleNamespace(scheduled_spec_decode_tokens={"r0": [-1, -1]})
    )
    assert bytes(drafts) == b"ab"
    # Reasoning is free.
    manager.reasoner_cls = object
    assert manager.validate_tokens(asked, list(b"a")) == list(b"a")
    asked.structured_output_request.reasoning_ended = True
    assert bytes(manager.validate_tokens(asked, list(b"a"))) == b"abcde"


def test_a_finished_request_ends_its_compile(vllm):
    plugin.register()
    manager = vllm.structured_output.StructuredOutputManager(config(vllm))
    asked = running(manager, "a", 0)
    deadline = manager.backend.deadlines.new()
    asked.structured_output_request.interlock_deadline = deadline
    assert vllm.scheduler.Scheduler(manager).finish_requests([asked], "aborted") == [asked]
    assert deadline.token.is_cancelled


def test_a_vllm_that_lacks_something_stays_as_it_is(vllm, caplog):
    del vllm.structured_output.StructuredOutputManager.grammar_bitmask
    plugin.register()
    assert "does not fit this version of vLLM" in caplog.text
    with pytest.raises(RuntimeError, match="grammar_bitmask"):
        vllm.arg_utils.EngineArgs(config(vllm)).create_engine_config()
    vllm.arg_utils.EngineArgs(config(vllm, "auto")).create_engine_config()


def test_without_vllm_registering_only_warns(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "vllm", None)
    monkeypatch.setitem(sys.modules, "vllm.config", None)
    plugin.register()
    assert "is not available" in caplog.text


def test_a_module_is_changed_when_it_is_imported(tmp_path, monkeypatch):
    (tmp_path / "imported_later.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen = []
    after_import("imported_later", lambda: seen.append(sys.modules["imported_later"].VALUE))
    assert seen == []
    import imported_later

    assert seen == [1] and imported_later.__spec__.loader is imported_later.__loader__
    after_import("imported_later", lambda: seen.append(2))
    assert seen == [1, 2]


def test_the_proposer_proposes_nothing():
    proposer = ForcedTokensProposer(SimpleNamespace(speculative_config=SimpleNamespace(num_speculative_tokens=4)))
    proposer.load_model("model")
    assert proposer.propose([[1], [], [2, 3]], None, None, slot_mappings=None) == [[], [], []]


def test_importing_the_plugin_imports_neither_vllm_nor_torch():
    import subprocess

    code = (
        "import sys, interlock.integrations.vllm; print(json.dumps([m for m in ('torch', 'vllm') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", f"import json; {code}"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
