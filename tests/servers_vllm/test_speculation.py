"""Drafts under the mask: n-grams, and forced tokens, which are jump-forward for vLLM."""

import json
import re

import jsonschema
import pytest
from cases import IP, PERSON
from conftest import on
from server import Server

PROPOSER = (
    '{"method": "custom_class", "num_speculative_tokens": 8,'
    ' "model": "interlock.integrations.vllm.proposer.ForcedTokensProposer"}'
)

CALL = {
    "type": "object",
    "properties": {
        "name": {"const": "create_calendar_event"},
        "arguments": {
            "type": "object",
            "properties": {
                "event_title": {"type": "string", "maxLength": 12},
                "duration_minutes": {"type": "integer", "minimum": 5, "maximum": 90},
                "is_recurring_event": {"type": "boolean"},
            },
            "required": ["event_title", "duration_minutes", "is_recurring_event"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "arguments"],
    "additionalProperties": False,
}


def valid(text, schema):
    jsonschema.validate(json.loads(text), schema)


@on("ngram")
def test_every_kind_with_ngram_drafts(server):
    # Digits that repeat, so that there is something to draft.
    prompt = "12.34.56.78 12.34.56.78 12.34.56.78 12."
    for n in range(4):
        assert re.fullmatch(IP, server.complete(f"{n} {prompt}", {"regex": IP}).text)
        assert re.fullmatch(r"[0-9. ]{30}", server.complete(f"{n} {prompt}", {"regex": r"[0-9. ]{30}"}).text)
        valid(server.complete(f"{n} {prompt}", {"json": PERSON}, max_tokens=40, temperature=1.3).text, PERSON)
        assert server.complete(f"{n} x", {"choice": ["12.34", "12.35"]}).text in ("12.34", "12.35")
    numbers = server.metrics()
    assert numbers['vllm:spec_decode_num_drafts_total{engine="0",model_name="m"}'] > 0
    assert numbers['interlock_forced_tokens_total{what="proposed"}'] > 0
    assert numbers.get("interlock_rejected_tokens_total", 0) == 0


@on("ngram")
def test_sixteen_at_once_with_drafts(server):
    calls = [lambda n=n: server.complete(f"{n} 1 2 1 2", {"regex": f"({n}-[12] )" + "{4,9}"}) for n in range(8)]
    calls += [lambda n=n: server.complete(f"{n} json", {"json": PERSON}, max_tokens=50) for n in range(6)]
    calls += [lambda: server.complete("free 1 2 1 2 1 2", None, max_tokens=20)] * 2
    replies = server.at_once(calls)
    for n, reply in enumerate(replies[:8]):
        assert re.fullmatch(f"({n}-[12] )" + "{4,9}", reply.text), reply
    for reply in replies[8:14]:
        valid(reply.text, PERSON)
    assert all(reply.status == 200 for reply in replies)


def steps(server):
    return server.metrics()['vllm:iteration_tokens_total_count{engine="0",model_name="m"}']


@pytest.mark.parametrize("model", ["tiny", "smollm2"])
def test_jump_forward(model_folder, tmp_path, model):
    """Forced tokens cost no step of their own, whatever the temperature, and the text is the one without drafts."""
    if not models_forced_tokens(model_folder / model):
        pytest.skip("interlock does not know how this model's tokenizer splits text")
    args = [
        "--max-model-len",
        "512",
        "--max-num-seqs",
        "4",
        "--speculative-config",
        PROPOSER,
        "--no-enable-prefix-caching",
    ]
    env = {"INTERLOCK_VLLM_WHITESPACE": "compact", "INTERLOCK_VLLM_CANONICAL": "1"}
    texts, lines = {}, []
    for jump in ("1", "0"):
        given = {**env, "INTERLOCK_VLLM_JUMP_FORWARD": jump}
        with Server(model_folder / model, *args, env=given, log=tmp_path / f"jump{jump}.log") as server:
            for temperature in (0.0, 0.8):
                server.complete("warm up", {"regex": "a"})
                before, tokens, total = steps(server), 0, []
                for n in range(10):
                    reply = server.complete(f"Call {n}: ", {"json": CALL}, max_tokens=120, temperature=temperature)
                    valid(reply.text, CALL)
                    tokens += reply.body["usage"]["completion_tokens"]
                    total.append(reply.text)
                taken = steps(server) - before
                if temperature == 0:
                    texts[jump] = total
                lines.append(
                    f"{model}, jump-forward {jump}, temperature {temperature}: {tokens} tokens, {taken:.0f} steps"
                )
                if jump == "1":
                    assert taken < 0.8 * tokens
                else:
                    assert taken >= tokens
            numbers = server.metrics()
            assert numbers.get("interlock_rejected_tokens_total", 0) == 0
            if jump == "1":
                proposed, accepted = (
                    numbers[f'interlock_forced_tokens_total{{what="{what}"}}'] for what in ("proposed", "accepted")
                )
                lines.append(f"{model}: {accepted:.0f} of {proposed:.0f} forced drafts were accepted")
                assert accepted >= 0.99 * proposed
    print("", *lines, sep="\n")
    assert texts["1"] == texts["0"]


def models_forced_tokens(folder):
    import interlock

    vocabulary = interlock.Vocabulary.from_file(folder / "tokenizer.json")
    return bool(interlock.Index.from_regex("something that is forced", vocabulary).guide().forced_tokens())
