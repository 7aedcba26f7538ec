"""``check`` of many documents in one run."""

import json
from xml.etree import ElementTree
import os
import subprocess

import pytest
from command_line import COMMAND, PACKAGE, machine, run


@pytest.fixture
def answers(folder):
    (folder / "answers.jsonl").write_text('{"item": "tea"}\n\n{"item": "tea", "count": 0}\r\n{"x": 1}\n{"item":')
    (folder / "alike.jsonl").write_text('{"item": "a", "count": 0}\n' * 3)
    return folder


def test_a_line_each_and_the_numbers(answers):
    done = run(answers, "check", "order.json", "good.json", "bad.json", "answers.jsonl", code=1)
    assert done.stdout.splitlines() == [
        "good.json: accepted",
        "bad.json:2:11: refused at /count: `count`: 0 is below minimum 1",
        "answers.jsonl:1: accepted",
        "answers.jsonl:3:26: refused at /count: `count`: 0 is below minimum 1",
        "answers.jsonl:4:1: refused: `item` is missing; it is required (and 1 more reason)",
        "answers.jsonl:5:9: refused: not JSON: the text ends where a value is expected",
        "6 documents: 2 accepted, 4 refused",
    ]
    assert done.stderr == ""
    done = run(answers, "check", "order.json", "good.json", "good.json")
    assert done.stdout.splitlines()[-1] == "2 documents: 2 accepted, 0 refused"


def test_all_reasons_have_a_line_each(answers):
    """Each with its own place, also where all documents are refused for the same ones."""
    (answers / "two.json").write_text('{"x": 1,\n "count": 0}')
    done = run(answers, "check", "order.json", "two.json", "answers.jsonl", "--all-reasons", code=1)
    wanted = [
        "two.json:1:1: refused: `item` is missing; it is required",
        "two.json:1:2: refused at /x: `x` is no property here; allowed: item, count",
        "two.json:2:11: refused at /count: `count`: 0 is below minimum 1",
    ]
    assert done.stdout.splitlines() == [
        *wanted,
        "answers.jsonl:1: accepted",
        "answers.jsonl:3:26: refused at /count: `count`: 0 is below minimum 1",
        "answers.jsonl:4:1: refused: `item` is missing; it is required",
        "answers.jsonl:4:2: refused at /x: `x` is no property here; allowed: item, count",
        "answers.jsonl:5:9: refused: not JSON: the text ends where a value is expected",
        "5 documents: 1 accepted, 4 refused",
    ]
    alike = run(answers, "check", "order.json", "two.json", "two.json", "--all-reasons", code=1).stdout
    assert alike.splitlines() == [*wanted, *wanted, "2 documents: 0 accepted, 2 refused"]
    texts = run(answers, "check", "order.json", "--text", '{"x":1}', "--text", "{}", "--all-reasons", code=1).stdout
    assert '{"x":1}: refused: line 1, column 2, at /x: `x` is no' in texts


def test_all_reasons_of_one_document(folder):
    """People see twenty of them otherwise."""
    (folder / "many.json").write_text(json.dumps({"item": "tea"} | {f"x{n}": 1 for n in range(30)}))
    for options, shown in (([], 20), (["--all-reasons"], 30)):
        said = run(folder, "check", "order.json", "many.json", *options, code=1).stdout
        assert said.startswith("many.json: refused: 30 reasons\n  many.json:1:17, at /x0:\n")
        assert said.count("is no property here") == shown
    both = run(folder, "check", "order.json", "many.json", "--all-reasons", "--summary", code=2).stderr
    assert "leave out one of the two" in both


def test_all_that_fail_alike_are_one_line(answers):
    done = run(answers, "check", "order.json", "alike.jsonl", code=1)
    assert done.stdout == (
        "refused: all 3, for the same reason; the first, alike.jsonl:1:24, at /count: `count`: 0 is below minimum 1\n"
    )
    # One that is refused for another reason, and one that is accepted, end that, wherever they stand.
    for last in ("bad.json", "good.json", "answers.jsonl"):
        for order in (["alike.jsonl", last], [last, "alike.jsonl"]):
            lines = run(answers, "check", "order.json", *order, code=1).stdout.splitlines()
            if last == "bad.json":  # The same reason in another place.
                assert len(lines) == 1 and lines[0].startswith("refused: all 4, for the same reason")
            else:
                assert sum(line.startswith("alike.jsonl:") for line in lines) == 3
                assert f"{len(lines) - 1} documents" in lines[-1]


def test_for_machines(answers):
    said = machine(answers, "check", "order.json", "answers.jsonl", "good.json", code=1)
    assert said["accepted"] is False and said["counts"] == {"documents": 5, "accepted": 2, "refused": 3}
    names = [document["name"] for document in said["documents"]]
    assert names == ["answers.jsonl:1", "answers.jsonl:3", "answers.jsonl:4", "answers.jsonl:5", "good.json"]
    for document in said["documents"]:
        alone = {name: value for name, value in document.items() if name != "name"}
        text = {
            "answers.jsonl:1": '{"item": "tea"}',
            "answers.jsonl:3": '{"item": "tea", "count": 0}',
            "answers.jsonl:4": '{"x": 1}',
            "answers.jsonl:5": '{"item":',
            "good.json": '{"item": "tea", "count": 2}',
        }[document["name"]]
        on_its_own = machine(answers, "check", "order.json", "--text", text, code=int(not alone["accepted"]))
        file, _, line = document["name"].partition(":")
        if file == "answers.jsonl":  # The places are those in the file.
            assert {problem["line"] for problem in alone["problems"]} <= {alone["line"]} == {int(line)}
            on_its_own |= {name: alone[name] for name in ("line", "problems")}
        assert on_its_own == alone


def test_texts_and_lines_of_any_file(answers):
    done = run(answers, "check", "choices:yes,no", "--text", "yes", "--text", "maybe" * 20, code=1)
    assert done.stdout.splitlines()[0] == "yes: accepted"
    assert done.stdout.splitlines()[1].startswith("maybe" * 7 + "ma...: refused: line 1, column 1: ")
    assert run(answers, "check", "choices:yes,no", "--lines", "-", stdin="yes\nno\n").stdout.splitlines() == [
        "-:1: accepted",
        "-:2: accepted",
        "2 documents: 2 accepted, 0 refused",
    ]
    one = run(answers, "check", "choices:yes,no", "--lines", "-", stdin="yes\n").stdout
    assert one == "-:1: accepted\n1 document: 1 accepted, 0 refused\n"
    assert "every line is blank" in run(answers, "check", "choices:a", "--lines", "-", stdin="\n\n", code=4).stderr


def test_nothing_is_said_before_every_file_can_be_read(answers):
    for wrong in ("absent.json", "schemas"):
        (answers / "schemas").mkdir(exist_ok=True)
        done = run(answers, "check", "order.json", "good.json", wrong, "bad.json", code=4)
        assert done.stdout == "" and wrong in done.stderr


def test_options_may_stand_between_files(answers):
    done = run(
        answers, "check", "order.json", "-t", "bytes", "good.json", "--whitespace", "flexible", "bad.json", code=1
    )
    assert done.stdout.endswith("2 documents: 1 accepted, 1 refused\n")
    assert run(answers, "check", "--quiet", "order.json", "-t", "bytes", "good.json").stdout == ""
    assert json.loads(run(answers, "inspect", "-t", "bytes", "order.json", "--json").stdout)["kind"] == "json_schema"


def test_tokens_that_spell_not_every_text(answers):
    """A document that the vocabulary cannot spell is refused; the others are checked all the same."""
    (answers / "few.tiktoken").write_text("YQ== 0\nYg== 1\n")
    args = [
        "check",
        "pattern:[abc]+",
        "--text",
        "ab",
        "--text",
        "abc",
        "-t",
        "few.tiktoken",
        "--eos",
        "2",
        "--size",
        "3",
    ]
    done = run(answers, *args, code=1)
    assert done.stdout.splitlines() == [
        "ab: accepted",
        "abc: refused: no token spells byte 2 of the text (0x63, c)",
        "2 documents: 1 accepted, 1 refused",
    ]


@pytest.mark.parametrize("for_machines", [False, True])
def test_lines_of_a_pipe_are_answered_as_they_come(folder, for_machines):
    """The second line is written only when the first is answered, so that a command which waits would never end."""
    with subprocess.Popen(
        [*COMMAND, "check", "order.json", "--lines", "-", *(["--json"] if for_machines else [])],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        env=os.environ | {"PYTHONPATH": str(PACKAGE)},
    ) as process:
        for number, (sent, answer) in enumerate(
            (("5", "1: refused"), ("6", "1: refused"), ('{"item": "a"}', " accepted")), 1
        ):
            process.stdin.write(sent + "\n")
            process.stdin.flush()
            said = process.stdout.readline()
            if for_machines:
                assert (json.loads(said)["line"], json.loads(said)["accepted"]) == (number, answer == " accepted")
            else:
                assert said.startswith(f"-:{number}:{answer}")
        process.stdin.close()
        assert process.stdout.read() == ("" if for_machines else "3 documents: 1 accepted, 2 refused\n")
    assert process.returncode == 1


def test_lines_for_machines_are_json_lines(answers):
    """Each is what ``documents`` has of it, with its line in the file as the place."""
    whole = machine(answers, "check", "order.json", "answers.jsonl", code=1)["documents"]
    lines = run(answers, "check", "order.json", "answers.jsonl", "--lines", "--json", code=1).stdout.splitlines()
    said = [json.loads(line) for line in lines]
    assert [(one["name"], one["line"], one["accepted"]) for one in said] == [
        ("answers.jsonl:1", 1, True),
        ("answers.jsonl:3", 3, False),
        ("answers.jsonl:4", 4, False),
        ("answers.jsonl:5", 5, False),
    ]
    for one, before in zip(said, whole, strict=True):
        assert one == before
        assert {problem["line"] for problem in one["problems"]} <= {one["line"]}
    assert run(answers, "check", "order.json", "good.json", "--lines", "--json", "--quiet").stdout.count("\n") == 1
    error = run(answers, "check", "order.json", "--lines", "-", "--json", stdin="\n", code=4).stdout
    assert json.loads(error)["error"]["type"] == "InputError"


def test_a_last_line_without_its_end(folder):
    done = run(folder, "check", "order.json", "--lines", "-", stdin='\n{"item": "a"}\r\n\n{"item": "b"}')
    assert done.stdout.splitlines() == [
        "-:2: accepted",
        "-:4: accepted",
        "2 documents: 2 accepted, 0 refused",
    ]


def test_only_refused(folder):
    (folder / "some.jsonl").write_text('{"item": "tea"}\n{"item": 1}\n{"item": "milk"}\n')
    shown = run(folder, "check", "order.json", "some.jsonl", "--only-refused", code=1).stdout.splitlines()
    assert [line.partition(": ")[0] for line in shown] == ["some.jsonl:2:10", "3 documents"]
    one = run(folder, "check", "order.json", "some.jsonl", "--only-refused", "--lines", "--json", code=1).stdout
    assert [json.loads(line)["line"] for line in one.splitlines()] == [2]
    whole = json.loads(run(folder, "check", "order.json", "some.jsonl", "--only-refused", "--json", code=1).stdout)
    assert whole["counts"]["accepted"] == 2 and [d["name"] for d in whole["documents"]] == ["some.jsonl:2"]


def test_only_refused_of_one_document(folder):
    """A hook passes any number of files, and one is among them."""
    assert run(folder, "check", "order.json", "good.json", "--only-refused").stdout == ""
    assert machine(folder, "check", "order.json", "good.json", "--only-refused")["accepted"]
    with_option = run(folder, "check", "order.json", "bad.json", "--only-refused", code=1)
    assert with_option.stdout == run(folder, "check", "order.json", "bad.json", code=1).stdout
    assert with_option.stdout.startswith("bad.json:2:11: refused") and with_option.stderr == ""
    for given in (["--text", '{"item": "tea"}'], ["good.json", "--trace"]):
        assert "accepted" not in run(folder, "check", "order.json", *given, "--only-refused").stdout


def test_a_place_in_the_message_is_that_of_the_file(folder):
    (folder / "mark.jsonl").write_text('{"item": "tea"}\n\ufeff{"item": "tea"}\n', encoding="utf-8")
    assert "which begins at column 2" in run(folder, "check", "order.json", "mark.jsonl", code=1).stdout
    lines = run(folder, "check", "order.json", "mark.jsonl", "--lines", "--json", code=1).stdout.splitlines()
    assert "which begins at line 2, column 2" in json.loads(lines[1])["problems"][0]["message"]


def test_answers_as_junit_xml(folder):
    """Names and reasons with characters that XML cannot hold are there in some way; one document is a report, too."""
    (folder / "odd.json").write_bytes(b'{"item": "\x01 <&>"}')
    texts = ("--text", '{"item": "<a & \'b\'>"}', "--text", '{"item":\n5}')
    run(folder, "check", "order.json", *texts, "--junit", "texts.xml", code=1)
    run(folder, "check", "order.json", "good.json", "bad.json", "odd.json", "--junit", "files.xml", "--json", code=1)
    suite = ElementTree.parse(folder / "files.xml").getroot()
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors")}
    assert (suite.tag, counts) == ("testsuite", {"tests": "3", "failures": "2", "errors": "0"})
    cases = {case.get("name"): case.find("failure") for case in suite.iter("testcase")}
    assert list(cases) == ["good.json", "bad.json", "odd.json"] and cases["good.json"] is None
    assert "`count`: 0 is below minimum 1" in cases["bad.json"].get("message")
    assert "line 2, column 11" in cases["bad.json"].text and "^" in cases["bad.json"].text
    names = [case.get("name") for case in ElementTree.parse(folder / "texts.xml").getroot()]
    assert names == [texts[1], texts[3]]
    run(folder, "check", "order.json", "good.json", "--junit", "one.xml")
    assert ElementTree.parse(folder / "one.xml").getroot().get("failures") == "0"
    for more in (("--ids", "1", "--junit", "a.xml"), ("good.json", "--bytes", "--junit", "a.xml")):
        assert "--junit" in run(folder, "check", "order.json", *more, code=2).stderr
    run(folder, "check", "order.json", "good.json", "--junit", ".", code=4)
    said = run(folder, "check", "order.json", "good.json", "--junit", "good.json", code=2).stderr
    assert "--junit good.json is a file that this command reads" in said


def test_a_summary_counts_outcomes_and_reasons(answers):
    (answers / "more").mkdir()
    for n in range(4):
        (answers / "more" / f"{n}.json").write_text(json.dumps({"item": "tea", "count": n - 2}))
    (answers / "more" / "wide.json").write_text('{"item": [\n')
    done = run(answers, "check", "order.json", "more", "answers.jsonl", "--summary", code=1)
    assert done.stdout.splitlines() == [
        "documents:  9",
        "accepted:   2",
        "refused:    7 (1 of them ends too early)",
        "  4 /count: `count`: -2 is below minimum 1 (first: more/0.json)",
        "  2 not JSON: the text ends where a value is expected (first: more/wide.json)",
        "  1 `item` is missing; it is required (first: answers.jsonl:4)",
        "  1 /x: `x` is no property here; allowed: item, count (first: answers.jsonl:4)",
    ]
    found = machine(answers, "check", "order.json", "more", "answers.jsonl", "--summary", code=1)
    assert found["counts"] == {"documents": 9, "accepted": 2, "refused": 7, "ends_early": 1}
    assert "documents" not in found and sum(reason["documents"] for reason in found["reasons"]) == 8
    assert found["reasons"][0] == {
        "documents": 4,
        "message": "`count`: -2 is below minimum 1",
        "pointer": "/count",
        "schema": "/properties/count/minimum",
        "first": "more/0.json",
    }


def test_a_summary_of_one_document_and_of_many_reasons(answers):
    assert run(answers, "check", "order.json", "good.json", "--summary").stdout.splitlines()[1] == "accepted:   1"
    texts = [word for n in range(12) for word in ("--text", "a" * n + "b")]
    lines = run(answers, "check", "choices:x", *texts, "--summary", code=1).stdout.splitlines()
    assert len(lines) == 14 and lines[-1] == "  and 2 more reasons; --json has all of them"
    for more in (["--ids", "1"], ["good.json", "--only-refused"]):
        assert "leave out one of the two" in run(answers, "check", "order.json", "--summary", *more, code=2).stderr


def test_the_elements_of_an_array_and_the_values_are_one_reason(tmp_path):
    schema = {"items": {"properties": {"n": {"maximum": 2}}}}
    (tmp_path / "s.json").write_text(json.dumps(schema))
    texts = ['[{"n": 3}, {"n": 4}]', '[1, 2, {"n": 5}]']
    done = machine(tmp_path, "check", "s.json", *(w for t in texts for w in ("--text", t)), "--summary", code=1)
    assert [(reason["documents"], reason["pointer"]) for reason in done["reasons"]] == [(2, "/*/n")]


def test_the_order_of_keys_is_named_once_where_most_are_refused_for_it(folder):
    hint = "--property-order any takes every order, which is all that is wrong with"
    turned = [part for n in (1, 2, 3) for part in ("--text", json.dumps({"count": n, "item": "a"}))]
    wrong = [part for n in (1, 2, 3) for part in ("--text", json.dumps({"item": n}))]
    for more in ([], ["--summary"]):
        for texts, whose in ((turned, "all 3"), (turned + wrong[:2], "3 of 4")):
            said = run(folder, "check", "order.json", *texts, *more, code=1).stdout
            assert said.count("--property-order") == 1 and f"  try: {hint} {whose} refused" in said
            assert machine(folder, "check", "order.json", *texts, *more, code=1)["hint"] == f"{hint} {whose} refused"
        for texts in (turned + wrong, wrong):
            assert "--property-order" not in run(folder, "check", "order.json", *texts, *more, code=1).stdout
