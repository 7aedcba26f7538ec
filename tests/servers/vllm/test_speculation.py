"""N-gram drafts under the mask, with forced tokens behind them, through HTTP."""

import json
import re

import jsonschema
from cases import IP, PERSON
from conftest import on


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
