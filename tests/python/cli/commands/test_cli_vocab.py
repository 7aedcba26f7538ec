"""The command ``vocab``: what a vocabulary has, which bytes it lacks, and the tokens that are looked for."""

import pytest
from command_line import machine, run

import interlock


def test_stop_tokens_and_tokens_that_spell_a_text(folder):
    assert "stop tokens:            id 256" in run(folder, "vocab", "bytes").stdout
    assert machine(folder, "vocab", "bytes", "--find", "a")["found"] == {"a": [97]}
    assert machine(folder, "vocab", "bytes", "--find", "hello", "--find", "a", code=1)["found"] == {
        "hello": [],
        "a": [97],
    }


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ([], "none"),
        ([0xC0, 0xC1, *range(0xF5, 0x100)], r"13 that no UTF-8 text has (\xc0 \xc1 \xf5-\xff)"),
        ([9, 32, 65], r"3: \t space A"),
        ([*range(128, 256)], r"128: all of characters beyond ASCII (\x80-\xbf \xc2-\xf4); 13 that no UTF-8 text has"),
        ([0x80, 10], r"2: \n; 1 of characters beyond ASCII (\x80)"),
        ([*range(97), *range(99, 128)], "126: all of ASCII but a b"),
    ],
)
def test_the_bytes_that_no_token_has_are_told_by_what_they_are_for(tmp_path, missing, said):
    tokens = [bytes([byte]) for byte in range(256) if byte not in missing]
    interlock.Vocabulary([*tokens, b"<eos>"], eos_token_ids=[len(tokens)]).save(tmp_path / "v.ilk")
    shown = run(tmp_path, "vocab", "v.ilk").stdout
    assert f"bytes without a token:  {said}" in shown
    assert machine(tmp_path, "vocab", "v.ilk")["missing_bytes"] == sorted(missing)
    if 10 in missing:
        told = run(tmp_path, "check", "pattern:(?s).*", "--text", "\n", "-t", "v.ilk", code=4).stderr
        assert r"no token spells byte 0 of the text (0x0a, \n)" in told


def test_containing_lists_tokens_or_says_no(folder):
    interlock.Vocabulary(
        [b"a", b'"', b'"}', b'x"}\xc3', b'<"}>', b"\xa9"], eos_token_ids=[5], special_token_ids=[4]
    ).save(folder / "six.ilk")
    both = machine(folder, "vocab", "six.ilk", "--containing", '"}')["containing"]
    assert both == {'"}': [{"id": 2, "bytes": [34, 125]}, {"id": 3, "bytes": [120, 34, 125, 195]}]}
    shown = run(folder, "vocab", "six.ilk", "--containing", '"}', "--containing", "b", code=1).stdout
    assert '2 tokens with "\\"}" in it\n  token 2: "\\"}"\n  token 3: "x\\"}\\xc3"\n0 tokens with "b" in it' in shown
