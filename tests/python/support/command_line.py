"""Running the command line in this process or as one of its own, and the files that its tests use."""

import base64
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import interlock
import interlock.cli
import interlock.explain

ORDER = {
    "type": "object",
    "properties": {"item": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
    "required": ["item"],
    "additionalProperties": False,
}
PACKAGE = Path(interlock.__file__).parents[1]
COMMAND = [sys.executable, "-m", "interlock.cli"]
SYNTAX = 'root ::= item ("," item)*\nitem ::= [a-z]+\n'


def write_files(tmp_path):
    """A schema, one inside a file, a document that it accepts, and one that it refuses."""
    (tmp_path / "order.json").write_text(json.dumps(ORDER))
    (tmp_path / "wrapped.json").write_text(json.dumps({"schema": {"const": 1.50}, "tests": []}))
    (tmp_path / "good.json").write_text('{"item": "tea", "count": 2}\n')
    (tmp_path / "bad.json").write_text('{"item": "tea",\n "count": 0}')
    return tmp_path


def write_sources(folder):
    """Besides: a source of each kind, an index file, one that is torn, and a vocabulary."""
    (folder / "text.txt").write_text("tea\n")
    (folder / "x.tiktoken").write_text("".join(f"{base64.b64encode(bytes([i])).decode()} {i}\n" for i in range(256)))
    (folder / "latin.txt").write_bytes(b"a\xe9")
    (folder / "binary.txt").write_bytes(b"\x7fELF\0\xd0")
    (folder / "empty.txt").write_text("\n")
    (folder / "long.txt").write_text("a" * 10001)
    (folder / "word.regex").write_text("[a-z]+\n")
    (folder / "list.gbnf").write_text(SYNTAX)
    (folder / "schemas").mkdir()
    (folder / "schemas" / "a.json").write_text(json.dumps(ORDER))
    tag = {"type": "tag", "begin": "<n>", "content": {"type": "regex", "pattern": "[0-9]"}, "end": "</n>"}
    (folder / "tag.json").write_text(json.dumps({"type": "structural_tag", "format": tag}))
    run(folder, "compile", "order.json", "-t", "bytes", "-o", "order.index", "--whitespace", "compact")
    vocabulary = interlock.explain.byte_vocabulary()
    vocabulary.save(folder / "vocabulary.ilk")
    (folder / "torn.index").write_bytes((folder / "order.index").read_bytes()[:700])
    return folder


def here(folder, *args, stdin=None):
    """A command in this process, which saves the import of a new one; the rest is what a process of its own sees."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO((stdin or "").encode()), encoding="utf-8")
    before, handler = (sys.stdin, sys.argv, Path.cwd()), signal.getsignal(signal.SIGTERM)
    os.chdir(folder)
    # Some runners of tests set it, and then lines are cut to its width.
    columns = os.environ.pop("COLUMNS", None)
    try:
        sys.stdin, sys.argv = given, ["interlock", *args]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = interlock.cli.main()
            except SystemExit as ended:
                code = ended.code or 0
    finally:
        sys.stdin, sys.argv = before[:2]
        os.chdir(before[2])
        if columns is not None:
            os.environ["COLUMNS"] = columns
        signal.signal(signal.SIGTERM, handler)
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(args, code, *texts)


def run(folder, *args, code=0, stdin=None):
    done = here(folder, *args, stdin=stdin)
    assert code in (None, done.returncode), (args, done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def machine(folder, *args, code=0, stdin=None):
    return json.loads(run(folder, *args, "--json", code=code, stdin=stdin).stdout)
