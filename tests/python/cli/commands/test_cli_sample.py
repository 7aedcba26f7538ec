"""``sample``: plausible examples in each line, and how lines are written."""

import json
import re
import warnings

import pytest
from command_line import machine, run

import interlock.cli.commands.sample

# One way in ten to an address of e-mail leads to no end.
CONTACT = {
    "type": "object",
    "properties": {
        "item": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
        "email": {"type": "string", "format": "email"},
    },
    "required": ["item", "email"],
    "additionalProperties": False,
}


def test_what_led_to_nothing_is_drawn_again(folder):
    (folder / "contact.json").write_text(json.dumps(CONTACT))
    drawn = machine(folder, "sample", "contact.json", "-n", "100")["samples"]
    assert not any(sample["wild"] for sample in drawn)
    done = run(folder, "sample", "contact.json", "-n", "100")
    assert done.stderr == "" and done.stdout.splitlines() == [sample["text"] for sample in drawn]
    (folder / "drawn.jsonl").write_text(done.stdout)
    assert "100 documents: 100 accepted" in run(folder, "check", "contact.json", "drawn.jsonl").stdout
    assert all(s["wild"] for s in machine(folder, "sample", "contact.json", "-n", "2", "--wild")["samples"])


def test_wild_documents_among_plausible_ones_are_lines_too(folder, monkeypatch):
    tries = []
    monkeypatch.setattr(interlock.cli.commands.sample, "example", lambda recipe, rng: tries.append(rng))
    done = run(folder, "sample", "order.json", "-n", "20")
    assert "20 of 20 are wild" in done.stderr and "JSON strings" not in done.stderr
    assert len(tries) == interlock.cli.commands.sample.REDRAWS + 19
    (folder / "drawn.jsonl").write_text(done.stdout)
    assert "20 documents: 20 accepted" in run(folder, "check", "order.json", "drawn.jsonl").stdout


@pytest.mark.parametrize("character", ["\u0085", "\u2028", "\U000fc050"])
def test_a_document_on_one_line_is_written_as_it_is(folder, character):
    source = f"schema:{json.dumps({'const': character})}"
    shown = run(folder, "sample", source, "--wild", "--whitespace", "compact", "-n", "9", "--spelling", "plain")
    assert json.loads(shown.stdout.split("\n")[0]) == character


@pytest.mark.parametrize("wild", [[], ["--wild"]])
def test_distinct_examples(folder, wild):
    done = run(folder, "sample", "pattern:[ab]", "-n", "2", "--distinct", *wild)
    assert sorted(done.stdout.split()) == ["a", "b"] and done.stderr == ""
    drawn = machine(folder, "sample", "choices:yes,no,maybe", "-n", "5", "--distinct", *wild, code=1)
    assert sorted(sample["text"] for sample in drawn["samples"]) == ["maybe", "no", "yes"]
    said = run(folder, "sample", "choices:yes,no,maybe", "-n", "5", "--distinct", *wild, code=1).stderr
    assert "only 3 of 5: 100 draws in a row repeated earlier examples (--distinct)" in said
    drawn = machine(folder, "sample", "order.json", "-n", "50", "--distinct", *wild)["samples"]
    assert len({sample["text"] for sample in drawn}) == 50
    assert "did you mean --distinct?" in run(folder, "sample", "pattern:[ab]", "--unique", *wild, code=2).stderr


FLAGS = {"type": "object", "properties": {"debug": {"type": "boolean"}, "level": {"type": "integer"}}}
PAID = {
    "properties": {"paid": {"type": "boolean"}, "payment": {"type": "string"}},
    "required": ["paid"],
    "additionalProperties": False,
    "if": {"properties": {"paid": {"const": True}}},
    "then": {"required": ["payment"]},
}


@pytest.mark.parametrize(
    ("schema", "part"),
    [
        (FLAGS | {"if": {"required": ["debug"]}, "then": {"required": ["level"]}}, {"debug"}),
        (FLAGS | {"anyOf": [{"required": ["debug"]}, {"required": ["level"]}]}, {"debug"}),
        (FLAGS | {"anyOf": [{"required": ["debug"]}, {"required": ["level"]}]}, {"level"}),
        (FLAGS | {"dependentSchemas": {"debug": {"required": ["level"]}}}, {"debug"}),
        ({"type": "object"} | PAID, {"payment"}),
    ],
)
def test_what_a_condition_requires_is_drawn_and_left_out(folder, schema, part):
    samples = machine(folder, "sample", f"schema:{json.dumps(schema)}", "-n", "60")["samples"]
    assert not any(sample["wild"] for sample in samples)
    there = sum(json.loads(sample["text"]).keys() >= part for sample in samples)
    assert 5 < there < 55


def test_both_values_of_a_condition_are_drawn(folder):
    samples = machine(folder, "sample", f"schema:{json.dumps({'type': 'object'} | PAID)}", "-n", "60")["samples"]
    assert 5 < sum(json.loads(sample["text"])["paid"] for sample in samples) < 55


@pytest.mark.parametrize(("choice", "least", "most"), [("auto", 5, 25), ("required", 30, 30), ("none", 0, 0)])
def test_answers_with_calls_and_without(folder, choice, least, most):
    tools = f"tools:{json.dumps([{'name': 'now', 'parameters': {'type': 'object', 'properties': {}}}])}"
    words = ("--tool-format", "hermes", "--tool-choice", choice)
    samples = machine(folder, "sample", tools, *words, "-n", "30")["samples"]
    assert all(sample["confirmed"] for sample in samples)
    assert least <= sum("<tool_call>" in sample["text"] for sample in samples) <= most


@pytest.mark.parametrize("form", ["hermes", "qwen3_coder"])
@pytest.mark.parametrize(("choice", "parallel"), [("auto", True), ("auto", False), ("required", True)])
def test_samples_of_tools_are_a_mix(folder, form, choice, parallel):
    tools = [{"type": "function", "function": {"name": name, "parameters": PLAIN}} for name in ("now", "later")]
    body = {"tools": tools, "tool_choice": choice, "parallel_tool_calls": parallel}
    words = (f"tools:{json.dumps(body)}", "--tool-format", form, "-n", "60", "--seed", "2")
    samples = machine(folder, "sample", *words)["samples"]
    assert all(sample["confirmed"] and not sample["wild"] for sample in samples)
    texts = [sample["text"] for sample in samples]
    calls = [text.count("<tool_call>") for text in texts]
    assert set(calls) == {0, 1, 2} - ({0} if choice == "required" else set()) - (set() if parallel else {2})
    assert calls.count(1) > calls.count(2)
    behind_words = any(text.partition("<tool_call>")[0].strip() for text in texts if "<tool_call>" in text)
    assert behind_words is (choice == "auto")
    assert [sample["text"] for sample in machine(folder, "sample", *words)["samples"]] == texts


PLAIN = {"type": "object", "properties": {"to": {"type": "string", "format": "email"}}, "additionalProperties": False}
SEND_MAIL = {
    "type": "function",
    "function": {
        "name": "send_mail",
        "parameters": {
            "type": "object",
            "properties": {
                "to": {"type": "string", "format": "email"},
                "at": {"type": "string", "format": "date-time"},
                "id": {"type": "string", "format": "uuid"},
            },
            "required": ["to", "at", "id"],
            "additionalProperties": False,
        },
    },
}
ARGUMENTS = (r"[a-z]+@example\.org", r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.mark.parametrize("form", ["hermes", "llama3_json", "qwen3_coder", "pythonic", "harmony", "deepseek_v3_1"])
def test_calls_have_arguments_that_look_like_what_people_write(folder, form):
    (folder / "tools.json").write_text(json.dumps([SEND_MAIL]))
    options = ["--tool-format", form, "--tool-choice", "send_mail", "-n", "3"]
    drawn = machine(folder, "sample", "tools.json", *options)["samples"]
    for sample in drawn:
        assert sample["confirmed"] and not sample["wild"], sample
        assert all(re.search(pattern, sample["text"]) for pattern in ARGUMENTS), sample
    assert len({sample["text"] for sample in drawn}) == 3


@pytest.mark.parametrize("name", ["email", "uri"])
@pytest.mark.parametrize("wild", [[], ["--wild"]])
def test_texts_without_quotes_come_to_their_end(folder, name, wild):
    tool = {"type": "object", "properties": {"to": {"type": "string", "format": name}}, "required": ["to"]}
    function = {"name": "send", "parameters": tool | {"additionalProperties": False}}
    (folder / "tools.json").write_text(json.dumps([{"type": "function", "function": function}]))
    options = ["--tool-format", "qwen3_coder", "--tool-choice", "send", "-n", "3", *wild]
    drawn = machine(folder, "sample", "tools.json", *options)["samples"]
    assert all(sample["confirmed"] and sample["tokens"] < 600 for sample in drawn)


def test_quiet_says_why_the_exit_code_is_1(folder):
    done = run(folder, "sample", "pattern:a{90}", "--wild", "--most", "9", "-q", code=1)
    assert "1 of 1 not confirmed or not at their end after 9 tokens (--most)" in done.stderr
    done = run(folder, "sample", "choices:yes,no", "-n", "5", "--distinct", "-q", code=1)
    assert "only 2 of 5" in done.stderr


def test_json_says_how_many_distinct_examples_are_missing(folder):
    found = machine(folder, "sample", "choices:yes,no,maybe", "-n", "5", "--distinct", code=1)
    assert (len(found["samples"]), found["asked"], found["missing"]) == (3, 5, 2)
    found = machine(folder, "sample", "choices:yes,no,maybe", "-n", "2", "--distinct")
    assert (found["asked"], found["missing"]) == (2, 0)


@pytest.mark.parametrize(
    "source", ['schema:{"type":"string","pattern":"b"}', "pattern:.*needle.*", r"pattern:^\S+@\S+\.com$"]
)
def test_wild_examples_go_to_the_end(folder, source):
    """Behind ``--length``, brackets that close nothing would lead nowhere here."""
    samples = machine(folder, "sample", source, "--wild", "-n", "5")["samples"]
    assert all(sample["confirmed"] and sample["tokens"] < 80 for sample in samples)


def test_samples_of_a_grammar_have_its_keywords(folder):
    """A name takes the letters of a keyword as well; what follows a keyword would never be drawn."""
    grammar = 'start: statement+\nstatement: "print" NAME ";" | NAME "=" NUMBER ";"\nNAME: /[a-z]+/\nNUMBER: /[0-9]+/\n'
    lines = run(folder, "sample", f'grammar:{grammar}%ignore " "\n', "-n", "20").stdout.splitlines()
    assert sum("print " in line for line in lines) > 4 and sum("=" in line for line in lines) > 10


def test_what_python_thinks_of_a_pattern_is_not_printed(folder):
    """``re`` warns of nested sets: here that would be an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        for source in ('schema:{"type":"string","pattern":"^[[:alpha:]]$"}', "pattern:[[:alpha:]]"):
            said = run(folder, "sample", source, "-n", "2").stderr
            assert "[:alpha:] is no class here" in said and "not judged" not in said
