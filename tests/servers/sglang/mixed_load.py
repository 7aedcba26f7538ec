"""Minutes of mixed load on SGLang's HTTP server: ``python mixed_load.py MODEL MINUTES [CLIENTS]``.

Schemas of ``benches/corpus``, patterns, free requests, refused ones, streams that are left. It prints, for each tenth
of the time, what was answered and the memory of the server's processes, and at the end whether anything was wrong: an
answer that is none of its schema, an error that is not a client's, a traceback in the server's log.
"""

import collections
import json
import random
import re
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import jsonschema
import psutil
import serving

CORPUS = Path(__file__).parents[3] / "benches" / "corpus" / "schemas.jsonl"


def schemas():
    """The corpus's schemas that jsonschema can check within itself."""
    found = []
    for line in CORPUS.read_text().splitlines():
        entry = json.loads(line)
        schema = entry.get("schema", entry)
        if isinstance(schema, dict) and '"http' not in json.dumps(schema.get("$ref", "")):
            found.append(schema)
    return found


class Load:
    """What the clients ask, and what they got."""

    def __init__(self, server, seed):
        self.server, self.corpus = server, schemas()
        self.seed = seed
        self.counts, self.wrong = collections.Counter(), []
        self.times = []
        self.ends = 0.0

    def client(self, number):
        rng = random.Random(self.seed + number)
        while time.monotonic() < self.ends:
            try:
                getattr(self, rng.choice(("schema", "schema", "schema", "pattern", "free", "bad", "leave")))(rng)
            except Exception as error:
                self.wrong.append(f"{type(error).__name__}: {error}")

    def ask(self, kind, **parameters):
        begin = time.monotonic()
        status, answer = self.server.generate(**parameters)
        self.times.append(time.monotonic() - begin)
        self.counts[f"{kind} {status}"] += 1
        if status not in (200, 400) or (status == 400 and kind in ("pattern", "free")):
            self.wrong.append(f"{kind} {status} {str(answer)[:300]}")
        return answer if status == 200 else None

    def schema(self, rng):
        schema = rng.choice(self.corpus)
        if rng.random() < 0.3:
            schema = {**schema, "title": f"{rng.random()}"}
        answer = self.ask("schema", json_schema=json.dumps(schema), max_new_tokens=200, temperature=1.0)
        if answer is not None:
            document = json.loads(answer["text"])
            try:
                jsonschema.validators.validator_for(schema)(schema).validate(document)
            except jsonschema.ValidationError as error:
                self.wrong.append(f"invalid: {json.dumps(schema)[:300]}: {error.message[:200]}")
            except Exception:  # jsonschema cannot follow this schema.
                self.counts["unchecked"] += 1

    def pattern(self, rng):
        length = rng.randrange(1, 30)
        answer = self.ask("pattern", regex=f"[a-z]{{{length}}}-[0-9]+", max_new_tokens=60)
        if answer is not None and not re.fullmatch(f"[a-z]{{{length}}}-[0-9]+", answer["text"]):
            self.wrong.append(f"no match: {answer['text']}")

    def free(self, rng):
        self.ask("free", max_new_tokens=rng.randrange(1, 30))

    def bad(self, rng):
        self.ask("bad", regex="(" * rng.randrange(1, 2000))

    def leave(self, rng):
        body = {"text": "x", "stream": True, "sampling_params": {"regex": "[ab]{300}", "max_new_tokens": 400}}
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.server.url("/generate"), data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            for _ in range(rng.randrange(1, 6)):
                answer.readline()
        self.counts["left"] += 1


def memory(process):
    """MiB of the scheduler, which holds the grammars, and of all processes."""
    sizes = {}
    for each in [process, *process.children(recursive=True)]:
        try:
            sizes[" ".join(each.cmdline())[:40] or each.name()] = each.memory_info().rss / 2**20
        except psutil.Error:
            continue
    return sum(size for name, size in sizes.items() if "scheduler" in name), sum(sizes.values())


def main(model, minutes, clients):
    with tempfile.TemporaryDirectory() as folder:
        server = serving.Server(model, Path(folder) / "log")
        try:
            load = Load(server.wait(), seed=1)
            load.ends = time.monotonic() + 60 * minutes
            threads = [threading.Thread(target=load.client, args=(number,)) for number in range(clients)]
            for thread in threads:
                thread.start()
            rows = []
            for _ in range(10):
                time.sleep(6 * minutes)
                rows.append(memory(psutil.Process(server.process.pid)))
                print(f"scheduler {rows[-1][0]:.0f} MiB, all {rows[-1][1]:.0f} MiB, {dict(load.counts)}", flush=True)
            for thread in threads:
                thread.join(300)
            times = sorted(load.times)
            print(
                f"{len(times)} answers, p50 {times[len(times) // 2]:.2f} s, p99 {times[int(len(times) * 0.99)]:.2f} s"
            )
            log = server.text_since_start()
            if "Traceback" in log:
                load.wrong.append(log[log.index("Traceback") :][:2000])
            growth = max(row[0] for row in rows[5:]) / max(row[0] for row in rows[:5]) - 1
            print(f"the scheduler's memory in the second half: {growth:+.1%}")
            print("wrong:", len(load.wrong), *load.wrong[:10], sep="\n")
            return 1 if load.wrong else 0
        finally:
            server.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 12))
