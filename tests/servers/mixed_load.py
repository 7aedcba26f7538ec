"""Minutes of mixed load on a real server: ``python tests/servers/mixed_load.py vllm|sglang MODEL MINUTES [CLIENTS]``.

In turns, free requests alone for a sixth of the time and all kinds at once: schemas of ``benches/corpus``, patterns,
grammars, structural tags, free requests, refused and hostile ones, streams that are left. Every answer is checked with
``json``, ``jsonschema`` and ``re``, which know nothing of interlock. It prints for each tenth of the time what was
answered and the memory of the server's processes, and at the end the time between two pieces of a stream beside that of
the free requests, and whether anything was wrong: an answer that does not fit, an error that is not a client's, a
traceback in the server's log.

Run it with the Python of the environment of ``make test-vllm`` or ``make test-sglang``.
"""

import argparse
import collections
import contextlib
import http.client
import json
import os
import random
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

import jsonschema
import psutil

HERE = Path(__file__).parent
CORPUS = HERE.parents[1] / "benches" / "corpus" / "schemas.jsonl"
HOSTILE = r"(?!.*(a|b)*a(a|b){%d}c).*"
GRAMMAR = 'root ::= pair ("," pair){0,2}\npair ::= [a-z]{1,4} "=" [0-9]{1,3}\n'
PAIRS = "[a-z]{1,4}=[0-9]{1,3}(,[a-z]{1,4}=[0-9]{1,3}){0,2}"


def schemas():
    """The corpus's schemas that jsonschema can check within itself."""
    found = []
    for line in CORPUS.read_text().splitlines():
        entry = json.loads(line)
        schema = entry.get("schema", entry)
        if isinstance(schema, dict) and '"http' not in json.dumps(schema.get("$ref", "")):
            found.append(schema)
    return found


def vllm_server(model, log):
    sys.path.insert(0, str(HERE / "vllm"))
    from server import Server

    return Server(model, "--max-model-len", "512", "--max-num-seqs", "32", log=log)


@contextlib.contextmanager
def sglang_server(model, log):
    sys.path[:0] = [str(HERE / "sglang"), str(HERE / "sglang" / "stand_ins")]
    import serving

    folder = Path(model)
    if not (folder / "config.json").exists():
        serving.make_model(folder)
    server = serving.Server(folder, log)
    try:
        yield server.wait()
    finally:
        server.stop()


#: How each server is started, what it calls its model, and how a request names its constraint.
SERVERS = {
    "vllm": (vllm_server, "m", lambda kind, source: {"structured_outputs": {kind: source}}),
    "sglang": (
        sglang_server,
        "tiny",
        lambda kind, source: {
            "json": lambda: {"json_schema": json.dumps(source)},
            "regex": lambda: {"regex": source},
            "grammar": lambda: {"ebnf": source},
            "structural_tag": lambda: {"response_format": json.loads(source)},
        }[kind](),
    ),
}


class Load:
    """What the clients ask, and what they got."""

    def __init__(self, port, model, field):
        self.port, self.model, self.field = port, model, field
        self.corpus = schemas()
        self.counts, self.wrong = collections.Counter(), []
        self.gaps, self.firsts = [], []
        self.ends, self.kinds = 0.0, ()

    def run(self, clients, seconds, kinds, seed):
        """``clients`` threads ask for ``kinds`` at random: the times between pieces, and to the first."""
        self.ends, self.kinds, self.gaps, self.firsts = time.monotonic() + seconds, kinds, [], []
        threads = [threading.Thread(target=self._client, args=(seed + number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(600)
        return self.gaps, self.firsts

    def _client(self, seed):
        rng = random.Random(seed)
        while time.monotonic() < self.ends:
            try:
                getattr(self, rng.choice(self.kinds))(rng)
            except Exception as error:
                self.wrong.append(f"{type(error).__name__}: {error}")

    def ask(self, kind, refused=False, leave_after=None, **body):
        """The text of a streamed completion; None for one that was refused. ``refused`` says whether it must be, and
        None that it may be."""
        text = json.dumps({"model": self.model, "stream": True, "temperature": 1.0, **body})
        pieces, begin = [], time.monotonic()
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)) as connection:
            connection.request("POST", "/v1/completions", text, {"Content-Type": "application/json"})
            with connection.getresponse() as answer:
                status = answer.status
                last = None
                for line in answer if status == 200 else ():
                    if not line.startswith(b"data: ") or line.strip() == b"data: [DONE]":
                        continue
                    part, now = json.loads(line[6:]), time.monotonic()
                    if "error" in part or "choices" not in part:
                        status = part.get("error", {}).get("code", 500)
                        break
                    (self.firsts if last is None else self.gaps).append(now - (begin if last is None else last))
                    last = now
                    pieces += [choice.get("text") or "" for choice in part["choices"]]
                    if leave_after is not None and len(pieces) >= leave_after:
                        break
                message = "" if status == 200 else answer.read().decode(errors="replace")
        self.counts[f"{kind} {status}"] += 1
        if status not in (200, 400) or (refused is not None and (status == 400) != refused):
            self.wrong.append(f"{kind} {status} {message[:300]}")
        return "".join(pieces) if status == 200 else None

    # --- kinds of requests ----------------------------------------------------------------------------------------

    def schema(self, rng):
        schema = rng.choice(self.corpus)
        if rng.random() < 0.3:
            schema = {**schema, "title": f"{rng.random()}"}
        # Some schemas of the corpus are refused, and rightly.
        text = self.ask("schema", refused=None, prompt="x", max_tokens=200, **self.field("json", schema))
        if text is None:
            return
        document = json.loads(text)
        try:
            jsonschema.validators.validator_for(schema)(schema).validate(document)
        except jsonschema.ValidationError as error:
            self.wrong.append(f"invalid: {json.dumps(schema)[:300]}: {error.message[:200]}")
        except Exception:  # jsonschema cannot follow this schema.
            self.counts["unchecked"] += 1

    def pattern(self, rng):
        pattern = f"[a-z]{{{rng.randrange(1, 30)}}}-[0-9]+"
        self.matches(self.ask("pattern", prompt="x", max_tokens=60, **self.field("regex", pattern)), pattern)

    def grammar(self, rng):
        # A comment makes it another source.
        source = f"{GRAMMAR}# {rng.randrange(100)}\n"
        self.matches(self.ask("grammar", prompt="x", max_tokens=60, **self.field("grammar", source)), PAIRS)

    def tag(self, rng):
        digits = rng.randrange(1, 20)
        content = {"type": "regex", "pattern": f"[0-9]{{{digits}}}"}
        tag = {"type": "structural_tag", "format": {"type": "tag", "begin": "<n>", "content": content, "end": "</n>"}}
        text = self.ask("tag", prompt="x", max_tokens=60, **self.field("structural_tag", json.dumps(tag)))
        self.matches(text, f"<n>[0-9]{{{digits}}}</n>")

    def matches(self, text, pattern):
        if text is not None and not re.fullmatch(pattern, text):
            self.wrong.append(f"{pattern}: {text!r}")

    def free(self, rng):
        self.ask("free", prompt="x", max_tokens=rng.randrange(1, 60))

    def bad(self, rng):
        self.ask("bad", refused=True, prompt="x", max_tokens=20, **self.field("regex", "(" * rng.randrange(1, 2000)))

    def hostile(self, rng):
        source = HOSTILE % rng.randrange(26, 200)
        self.ask("hostile", refused=True, prompt="x", max_tokens=20, **self.field("regex", source))

    def leave(self, rng):
        after = rng.randrange(1, 6)
        self.ask("leave", leave_after=after, prompt="x", max_tokens=400, **self.field("regex", "[ab]{300}"))


KINDS = ("schema",) * 6 + ("pattern", "pattern", "grammar", "tag", "free", "free", "bad", "leave")
RARE = (*KINDS * 8, "hostile")


def memory(process):
    """MiB of all processes of the server."""
    total = 0
    for each in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            total += each.memory_info().rss
    return total / 2**20


def tracebacks(log):
    """The tracebacks in a log, but for those that vLLM writes of a stream whose request is refused."""
    parts = log.split("Traceback (most recent call last)")[1:]
    return [part[:2000] for part in parts if "VLLMValidationError: " not in part[:8000]]


def at(values, share):
    """A quantile of sorted seconds, in milliseconds."""
    return 1e3 * values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", choices=SERVERS)
    parser.add_argument("model")
    parser.add_argument("minutes", type=float)
    parser.add_argument("clients", type=int, nargs="?", default=12)
    given = parser.parse_args()
    start, name, field = SERVERS[given.server]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with start(given.model, log) as server:
            load = Load(server.port, name, field)
            seconds = 60 * given.minutes
            load.run(given.clients, 5, ("free", "pattern"), 0)
            before, rows, alone, mixed = len(log.read_text(errors="replace")), [], ([], []), ([], [])
            # In turns, since a machine that has other work is not the same all the time.
            for turn in range(10):
                for times, share, kinds in ((alone, 1 / 60, ("free",)), (mixed, 5 / 60, RARE)):
                    found = load.run(given.clients, seconds * share, kinds, 1000 * turn)
                    times[0].extend(found[0])
                    times[1].extend(found[1])
                rows.append(memory(psutil.Process(server.process.pid)))
                print(f"{rows[-1]:.0f} MiB, {dict(load.counts)}", flush=True)
            text = log.read_text(errors="replace")[before:]
        load.wrong += tracebacks(text)
        for times in (*alone, *mixed):
            times.sort()
        for title, (gaps, firsts) in (("free requests alone", alone), ("all kinds", mixed)):
            print(
                f"{title}: {len(firsts)} streams; "
                f"between two pieces p50 {at(gaps, 0.5):.1f} ms, p99 {at(gaps, 0.99):.1f} ms; "
                f"to the first p50 {at(firsts, 0.5):.1f} ms, p99 {at(firsts, 0.99):.1f} ms"
            )
        print(f"ratio of p99 between two pieces: {at(mixed[0], 0.99) / at(alone[0], 0.99):.2f}")
        print(f"memory, second half beside the first: {max(rows[5:]) / max(rows[:5]) - 1:+.1%}")
        print("wrong:", len(load.wrong), *load.wrong[:10], sep="\n")
        return 1 if load.wrong else 0


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.exit(main())
