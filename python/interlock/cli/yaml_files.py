"""Schemas in YAML, which are not read: how they are recognised, and the command that makes JSON of one."""

from __future__ import annotations

import os
import shlex

from interlock.cli import atomic_files
from interlock.schema_hints import KEYWORDS


def yaml_name(name: str) -> bool:
    """Whether a file is YAML by its name."""
    return name.lower().endswith((".yaml", ".yml"))


def is_yaml(name: str) -> bool:
    """Whether a file is YAML by its name, or its text begins as a schema in YAML does."""
    if yaml_name(name):
        return True
    if not os.path.isfile(name):
        return False
    lines = atomic_files.read(name)[:4096].decode("utf-8", "replace").splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith(("#", "---", "%"))), "")
    key, colon, value = first.partition(":")
    known = KEYWORDS | {"openapi", "swagger", "components"}
    return bool(colon) and value[:1] in ("", " ") and key.strip("\"'") in known


def from_yaml(name: str) -> str:
    """The command that writes the JSON of a YAML file, with a package that most have who write YAML."""
    made = shlex.quote(os.path.splitext(name)[0] + ".json")
    code = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout, default=str)"
    package = "pip install pyyaml, where yaml is missing"
    return f"python -c '{code}' < {shlex.quote(name)} > {made}; then name {made} ({package})"
