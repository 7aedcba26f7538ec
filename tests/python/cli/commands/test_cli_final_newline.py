"""``check`` and the newline that stands at the end of a file."""

import pytest
from command_line import machine, run

from interlock.cli.checking.final_newline import REFUSED, REFUSED_WITH, TAKEN


@pytest.fixture
def pairs(folder):
    (folder / "kv.lark").write_text('start: (pair "\\n")+\npair: /[A-Z]=[0-9]/\n')
    (folder / "end.lark").write_text('start: (pair "\\n")+ "end"\npair: /[A-Z]=[0-9]/\n')
    (folder / "kv.txt").write_bytes(b"A=1\nB=2\n")
    (folder / "crlf.txt").write_bytes(b"a\r\n")
    (folder / "cut.txt").write_bytes(b"A=1\nB=\n")
    (folder / "wrong.txt").write_bytes(b"A=1\nb=2\n")
    (folder / "bare.txt").write_bytes(b"A=1\nB=2")
    return folder


def test_a_text_is_accepted_with_its_newline_or_without(pairs):
    done = run(pairs, "check", "kv.lark", "kv.txt", "--trace")
    assert done.stdout.endswith(f"accepted: 8 tokens, 8 bytes; it could also go on; {TAKEN}\n")
    assert done.stdout.count(" allowed") == 8
    assert machine(pairs, "check", "kv.lark", "kv.txt")["final_newline"] is True
    run(pairs, "check", "pattern:a\\r\\n", "crlf.txt")
    assert TAKEN not in run(pairs, "check", "pattern:a", "crlf.txt").stdout
    run(pairs, "check", "kv.lark", "bare.txt", code=1)


def test_a_refusal_speaks_of_the_newline_where_it_may_matter(pairs):
    assert REFUSED in run(pairs, "check", "kv.lark", "cut.txt", code=1).stdout
    assert machine(pairs, "check", "kv.lark", "cut.txt", code=1)["final_newline"] is False
    # What gets further is what is shown.
    said = run(pairs, "check", "end.lark", "kv.txt", code=1).stdout
    assert said.startswith("kv.txt:3:1: refused\n") and REFUSED_WITH in said
    for name in ("wrong.txt", "bare.txt"):
        assert "newline" not in run(pairs, "check", "end.lark", name, code=1).stdout


def test_the_newline_of_json_is_never_part_of_it(folder):
    (folder / "cut.json").write_text('{"item": "tea"\n')
    assert "newline" not in run(folder, "check", "order.json", "cut.json", code=1).stdout


def test_many_files(pairs):
    done = run(pairs, "check", "kv.lark", "kv.txt", "cut.txt", "bare.txt", code=1)
    lines = done.stdout.splitlines()
    assert lines[0] == f"kv.txt: accepted: {TAKEN}"
    assert lines[1].endswith(f" ({REFUSED})") and "newline" not in lines[2]
