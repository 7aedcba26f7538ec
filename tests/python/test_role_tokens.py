"""Tokens of roles, which clients of a server may not name; and that no tool format needs one."""

import json
import re
from pathlib import Path

import pytest

import interlock
import interlock.tools
from interlock.integrations.role_tokens import ROLE_TOKENS, nameable_tokens
from interlock.integrations.sglang._compiling import Compiler
from interlock.integrations.sglang._options import Options

FORMATS = Path(interlock.tools.__file__).parent / "formats"


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([i]) for i in range(256)] + [b"<|im_start|>", b"<tool_call>", b"<|im_end|>"]
    return interlock.Vocabulary(tokens, 258, [256, 257])


def test_all_but_those_of_roles(vocabulary):
    assert nameable_tokens(vocabulary) == [257, 258]
    stops = interlock.Vocabulary([b"a", b"<|user|>", b"<|system|>"], [1], [2])
    assert nameable_tokens(stops) == [1]  # GLM's models end a turn with the next one's role.


@pytest.mark.parametrize("path", sorted(FORMATS.glob("*.toml")), ids=lambda path: path.stem)
def test_no_tool_format_writes_one(path):
    """Signatures find a format in a chat template; everything else is written, or is read."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(("signatures", "#"))]
    named = {token for token in ROLE_TOKENS if re.search(re.escape(token), "\n".join(lines))}
    assert named <= ALLOWED.get(path.stem, set()), named


#: Formats that a role's token is part of, which servers with this model must allow.
ALLOWED: dict[str, set[str]] = {}


def test_sglang_refuses_them(vocabulary):
    tag = {"type": "structural_tag", "format": {"type": "token", "token": "<|im_start|>"}}
    sources = (("structural_tag", json.dumps(tag)), ("ebnf", 'start: <|im_start|> "x"'))
    for kind, text in sources:
        with pytest.raises(interlock.StructuralTagError, match="may not be named"):
            Compiler(vocabulary, Options(), "flexible")._index(kind, text, None)
        allowed = Compiler(vocabulary, Options(role_tokens="allow"), "flexible")._index(kind, text, None)
        assert allowed.guide().try_advance(256)
    named = Compiler(vocabulary, Options(), "flexible")._index("ebnf", 'start: <tool_call> "x"', None)
    assert named.guide().try_advance(257)
