"""Sources and answers in YAML: the command that is shown makes JSON of them, and overwrites nothing."""

import shlex
import subprocess
import sys

import pytest
from command_line import machine, run


@pytest.mark.parametrize("name", ["order.yaml", "an order.YML"])
def test_yaml_is_to_be_converted(folder, name):
    """The command that is shown writes a file that is taken; PyYAML itself is not needed for the tests."""
    (folder / name).write_text("type: object\n")
    for word, code in ((name, 2), (f"schema:@{name}", 3)):
        error = machine(folder, "inspect", word, code=code)["error"]
        assert "JSON" in error["message"], error
        converts, _, rest = error["remedy"].partition("; then name ")
        assert rest.endswith("(pip install pyyaml, where yaml is missing)")
        (folder / "yaml.py").write_text("safe_load = lambda file: {'type': file.read().split()[1]}")
        subprocess.run(["bash", "-c", converts.replace("python ", f"{sys.executable} ", 1)], cwd=folder, check=True)
        made = shlex.split(rest)[0]
        assert machine(folder, "check", made, "--text", "{}")["accepted"]


@pytest.mark.parametrize(
    ("name", "made"), [("api.json", "api-2.json"), ("y.schema", "y-2.json"), ("a b.yaml", "a b-3.json")]
)
def test_converting_yaml_overwrites_no_file(folder, name, made):
    (folder / "yaml.py").write_text("safe_load = lambda file: {'type': file.read().split()[1]}")
    for there in ("y.json", "a b.json", "a b-2.json", name):
        (folder / there).write_text("type: object\n")
    error = machine(folder, "inspect", f"schema:@{name}", code=3)["error"]
    converts = error["remedy"].partition("; then name ")[0]
    subprocess.run(["bash", "-c", converts.replace("python ", f"{sys.executable} ", 1)], cwd=folder, check=True)
    assert (folder / name).read_text() == (folder / "y.json").read_text() == "type: object\n"
    assert machine(folder, "check", made, "--text", "{}")["accepted"]


def test_yaml_is_recognised_wherever_a_source_or_an_answer_is_read(folder):
    text = "openapi: 3.1.0\ncomponents:\n  schemas:\n    A: {type: object}\n"
    for name in ("api.yaml", "api2.json"):
        (folder / name).write_text(text)
        key = ("--schema-key", "/components/schemas/A", "--text", "{}")
        said = run(folder, "check", f"schema:@{name}", *key, code=3).stderr
        assert f"< {name} > api" in said and "then name api" in said, said
    for more in ((), ("--schema-key", "/components/schemas/A")):
        said = run(folder, "check", "schema:@-", *more, "--text", "{}", code=3, stdin=text).stderr
        assert "try: put | python -c 'import json" in said, said
    (folder / "answer.yml").write_text("item: tea\ncount: 2\n")
    (folder / "answer.txt").write_text("---\nitem: tea\nparts:\n  - a: 1\n  - two\n")
    for name in ("answer.yml", "answer.txt"):
        said = run(folder, "check", "order.json", name, code=1).stdout
        assert "this is YAML" in said and "> answer.json; then check answer.json" in said, said
    (folder / "prose.txt").write_text("Answer: tea, I think\n\nThat is all.\n")
    for name in ("prose.txt", "bad.json"):
        assert "YAML" not in run(folder, "check", "order.json", name, code=1).stdout
    (folder / "many").mkdir()
    (folder / "many" / "a.json").write_text("{}")
    (folder / "many" / "b.yaml").write_text("type: object\n")
    said = run(folder, "precompute", "many", "-t", "bytes", "-o", "store").stdout
    assert "b.yaml: it is YAML by its name, and sources are JSON; python -c" in said
