"""Sources and answers in YAML, which are not read: how they are recognised, and the command that makes JSON of one."""

from __future__ import annotations

import itertools
import os
import re
import shlex

from interlock.cli.terminal import atomic_files
from interlock.schema_hints import KEYWORDS

CODE = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout, default=str)"
PACKAGE = "(pip install pyyaml, where yaml is missing)"


def yaml_name(name: str) -> bool:
    """Whether a file is YAML by its name."""
    return name.lower().endswith((".yaml", ".yml"))


def is_yaml(name: str) -> bool:
    """Whether a file is YAML by its name, or its text begins as a schema in YAML does."""
    return yaml_name(name) or (os.path.isfile(name) and is_yaml_schema(atomic_files.read(name)))


def is_yaml_schema(data: bytes) -> bool:
    """Whether a text begins as a schema in YAML does, or as an API's document."""
    lines = data[:4096].decode("utf-8", "replace").splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith(("#", "---", "%"))), "")
    key, colon, value = first.partition(":")
    known = KEYWORDS | {"openapi", "swagger", "components"}
    return bool(colon) and value[:1] in ("", " ") and key.strip("\"'") in known


def is_yaml_answer(name: str, data: bytes) -> bool:
    """Whether an answer is YAML by its name, or every line of its text is a key, an element or a comment of YAML."""
    lines = [line for line in data[:4096].decode("utf-8", "replace").splitlines() if line.strip()]
    return yaml_name(name) or bool(lines) and all(map(_YAML_LINE.match, lines))


_YAML_LINE = re.compile(r"---$|\s*#|\s*(- +)*[\w\"'-]+:( |$)|\s*- +[^\s{\[]")


def from_yaml(name: str, then: str = "name") -> str:
    """The command that writes the JSON of a YAML file, with a package that most have who write YAML; ``-`` is the
    standard input. ``then`` is what to do with the file that it writes. That file is a new one.
    """
    if name == "-":
        return f"put | python -c '{CODE}' in front of | interlock {PACKAGE}"
    made = shlex.quote(_new_file(os.path.splitext(name)[0]))
    return f"python -c '{CODE}' < {shlex.quote(name)} > {made}; then {then} {made} {PACKAGE}"


def _new_file(stem: str) -> str:
    """A name for a JSON file that is not on the disk: the shell would empty one that is, before anything is read."""
    more = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    return next(name for part in more if not os.path.lexists(name := f"{stem}{part}.json"))
