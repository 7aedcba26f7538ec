"""What the command line says of files: what cannot be read or written, and what is in none of them."""

import errno
import os

import pytest
from command_line import machine, run

import interlock
from interlock.cli.terminal import atomic_files, exits


def test_errors_of_writing_name_the_file_that_was_asked_for(tmp_path):
    def refuse(partial):
        raise PermissionError(13, "Permission denied", str(partial))

    def refuse_natively(partial):
        raise interlock.ArtifactError(f"cannot write {partial.name}: Permission denied")

    for fill, error, said in (
        (refuse, PermissionError, f"[Errno 13] Permission denied: {str(tmp_path / 'a.index')!r}"),
        (refuse_natively, interlock.ArtifactError, "cannot write a.index: Permission denied"),
    ):
        with pytest.raises(error) as caught:
            atomic_files.write(tmp_path / "a.index", fill)
        assert str(caught.value) == said
    assert list(tmp_path.iterdir()) == []


def test_a_tokenizer_in_a_folder(folder):
    """The folder of a model is its tokenizer file, as for ``Vocabulary.from_file``, and no command destroys that."""
    from tokenizers import Tokenizer, decoders, models

    (folder / "model").mkdir()
    assert "model is a folder without a tokenizer" in run(folder, "vocab", "model", code=4).stderr
    tokenizer = Tokenizer(models.BPE({chr(i): i for i in range(0x61, 0x7B)}, []))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(folder / "model" / "tokenizer.json"))
    (folder / "model" / "config.json").write_text('{"eos_token_id": 26}')
    file = folder / "model" / "tokenizer.json"
    assert machine(folder, "vocab", "model") == machine(folder, "vocab", "model/tokenizer.json")
    assert run(folder, "check", "pattern:[a-z]+", "--text", "abc", "-t", "model").stdout
    held = file.read_bytes()
    said = run(folder, "vocab", "model", "-o", "model/tokenizer.json", "--force", code=2).stderr
    assert "is a file that this command reads" in said and file.read_bytes() == held


def test_ways_on_where_the_system_refuses(folder, monkeypatch):
    """What cannot be read is told from what cannot be written, whoever says so."""

    def way(error):
        return str(exits.sentence(error)[-1])

    refused = PermissionError(errno.EACCES, "Permission denied", str(folder / "order.json"))
    assert "a place that you may write" in way(refused)
    assert "a place that you may write" in way(interlock.ArtifactError("cannot write a.index: Permission denied"))
    assert "free some space" in way(interlock.ArtifactError("cannot write a.index: No space left on device"))
    # Where the operating system's own error is behind it, its number counts, and no words.
    failed = interlock.ArtifactError("cannot write the store: Kein Speicherplatz")
    failed.__cause__ = OSError(errno.ENOSPC, "Kein Speicherplatz")
    assert "free some space" in way(failed)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "a file that you may read" in way(refused)
    refused = PermissionError(errno.EACCES, "Permission denied", str(folder))
    assert "a folder that you may read" in way(refused)


def test_a_file_in_a_folder_that_lets_nobody_in(folder, monkeypatch):
    """Nothing can be said of the file, neither for reading nor for writing."""

    def lstat(path, lstat=os.lstat):
        if "closed" in os.path.dirname(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return lstat(path)

    (folder / "closed").mkdir()
    monkeypatch.setattr(os, "lstat", lstat)
    refused = PermissionError(errno.EACCES, "Permission denied", str(folder / "closed" / "in" / "a.json"))
    wanted = f"  try: change the permissions of {folder / 'closed'}: they let you open nothing in it"
    assert str(exits.sentence(refused)[-1]) == wanted


def test_errors_of_a_source_name_its_file(folder):
    (folder / "broken.json").write_text('{"type": "object",}')
    for word in ("broken.json", "schema:@broken.json"):
        assert "\n  broken.json:1:19:\n" in run(folder, "inspect", word, code=3).stderr
        assert machine(folder, "inspect", word, code=3)["error"]["file"] == "broken.json"
    text = run(folder, "inspect", 'schema:{"type": "object",}', code=3).stderr
    assert "\n  line 1, column 19:\n" in text
    assert "broken.json:1:19:" in run(folder, "diff", "order.json", "broken.json", code=3).stderr
    (folder / "bad.regex").write_text("a(b")
    assert "\n  bad.regex:1:2:\n" in run(folder, "inspect", "bad.regex", code=3).stderr


def test_files_that_are_no_index(folder):
    (folder / "junk.index").write_text("junk")
    said = run(folder, "inspect", "junk.index", code=4).stderr
    assert "junk.index is no index file" in said and "interlock compile SOURCE" in said
    run(folder, "compile", "order.json", "-t", "bytes", "-o", "order.index")
    data = (folder / "order.index").read_bytes()
    at = data.index(interlock.__version__.encode())
    (folder / "torn.index").write_bytes(data[:at] + b"\0" + data[at + 1 :])
    said = run(folder, "inspect", "torn.index", code=4).stderr
    assert "torn.index is damaged" in said and "\0" not in said and "\\0" not in said and "x00" not in said


@pytest.mark.parametrize(
    ("codec", "name"),
    [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16LE"), ("utf-16-be", "UTF-16BE"), ("utf-32", "UTF-32")],
)
def test_a_wide_encoding_is_named(folder, codec, name):
    (folder / "wide.json").write_bytes('{"type": "string"}'.encode(codec))
    error = machine(folder, "inspect", "wide.json", code=4)["error"]
    assert error["message"] == f"wide.json is {name}, and sources are read as UTF-8"
    assert error["remedy"].startswith("save it as UTF-8")
    said = run(folder, "check", "order.json", "wide.json", code=1).stdout
    assert f"the text is {name}, and is read as UTF-8" in said and "try: save it as UTF-8" in said


def test_a_file_that_no_command_reads_is_not_proposed(folder):
    """A drawing, which stands beside its source."""
    for name in ("tag.mmd", "tag.html", "report.svg"):
        (folder / name).write_text("x")
    for word, code in (("tag.json", 4), ("tga.html", 2), ("report.schema", 4)):
        assert "did you mean" not in run(folder, "inspect", word, code=code).stderr
    (folder / "tag.lark").write_text('start: "a"')
    assert "did you mean tag.lark?" in run(folder, "inspect", "tag.json", code=4).stderr


def test_special_tokens_are_listed(folder):
    special = [{"id": 256 + i, "content": f"<|s{i}|>", "special": True} for i in range(6)]
    from tokenizers import Tokenizer, decoders, models

    tokenizer = Tokenizer(models.BPE({chr(i): i for i in range(0x61, 0x7B)}, []))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([one["content"] for one in special])
    tokenizer.save(str(folder / "tokenizer.json"))
    # Which of them ends an output, the file does not say.
    error = machine(folder, "vocab", "tokenizer.json", code=4)["error"]
    assert "no stop token" in error["message"] and error["remedy"] == "--eos IDS, the ids that end an output"
    assert error["notes"] == ["special tokens of the file: " + ", ".join(f'{26 + i} "<|s{i}|>"' for i in range(6))]
    said = run(folder, "vocab", "tokenizer.json", "--eos", "26").stdout
    assert '"<|s3|>"' in said or '"<|s4|>"' in said
    assert "more (--special)" in said
    listed = run(folder, "vocab", "tokenizer.json", "--eos", "26", "--special").stdout
    tokens = machine(folder, "vocab", "tokenizer.json", "--eos", "26")["special_tokens"]
    for one in tokens:
        assert f'special token {one["id"]}: "{one["text"]}"' in listed
    assert {one["text"] for one in tokens} == {one["content"] for one in special}
