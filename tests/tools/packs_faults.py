"""``interlock precompute`` under faults, on a whole folder of schemas.

    python tests/tools/packs_faults.py VOCABULARY.ilk FOLDER WORK [KILLS]

1. *Killed*: the run is ended by SIGKILL, workers and all, after KILLS random times (10), and started again after each.
   The last one finishes. Then every source has a row, the store verifies, no leftovers are read, and the rows that a
   killed run wrote are skipped by the next: at most what was in flight is compiled twice.
2. *No space*: into a small file system (tmpfs where it can be mounted, else a limit on the size of files).
3. *Read-only*: a folder that may not be written.
4. *Two at once* on one store.

Prints one line for each, and exits with 1 if anything is lost, torn or unclear.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

JOBS = int(os.environ.get("JOBS", "2"))


def command(schemas, vocabulary, store, *more):
    arguments = ["precompute", str(schemas), "--schema-key", "schema", "-t", str(vocabulary), "-o", str(store)]
    return [sys.executable, "-m", "interlock.cli", *arguments, "-j", str(JOBS), "--json", *more]


def rows(report):
    found = []
    for line in report.read_bytes().splitlines() if report.exists() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def verify(store):
    done = subprocess.run([sys.executable, "-m", "interlock.cli", "verify", str(store), "--json"], capture_output=True)
    return json.loads(done.stdout)


def killed(schemas, vocabulary, work, kills):
    store, rng, problems = work / "killed", random.Random(7), []
    compiled, seconds = 0, 0.0
    for _ in range(kills):
        process = subprocess.Popen(
            command(schemas, vocabulary, store),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        began = time.monotonic()
        try:
            process.wait(rng.uniform(2, 30))
        except subprocess.TimeoutExpired:
            tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
            workers = [pid for task in tasks for pid in task.read_text().split()]
            for pid in [str(process.pid), *workers]:
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    continue
            process.wait()
        seconds += time.monotonic() - began
        known = rows(store / "report.jsonl")
        keys = [row["key"] for row in known if row.get("key")]
        repeated = len(keys) - len(set(keys))
        compiled = len(set(keys))
        if any(not (store / key[:2] / f"{key}.ilk").is_file() for key in {r["key"] for r in known if r["ok"]}):
            problems.append("a row of the report names a pack that is not there")
        print(f"  killed after {seconds:.0f} s in all: {compiled} done, {repeated} rows repeated", flush=True)
    last = json.loads(subprocess.run(command(schemas, vocabulary, store), capture_output=True).stdout)
    sound = verify(store)
    problems += sound["problems"]
    packs, keys = len(list(store.glob("??/*.ilk"))), {row["key"] for row in rows(store / "report.jsonl") if row["ok"]}
    if packs != len(keys):
        problems.append(f"{packs} packs, {len(keys)} keys in the report")
    if last["skipped"] < compiled:
        problems.append(f"{compiled} were done, {last['skipped']} skipped")
    names = ("sources", "ok", "refused", "skipped", "bytes", "seconds")
    print("killed:", {name: last[name] for name in names}, "problems:", problems, flush=True)
    return not problems


def full(schemas, vocabulary, work):
    store = work / "full"
    store.mkdir()
    mounted = (
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", store], capture_output=True).returncode == 0
    )

    def small():
        if not mounted:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))

    try:
        done = subprocess.run(command(schemas, vocabulary, store), capture_output=True, text=True, preexec_fn=small)
        said = json.loads(done.stdout)["error"] if done.stdout else {"message": done.stderr}
        sound = verify(store)
        print(
            "no space" + (" (tmpfs):" if mounted else " (limit):"),
            done.returncode,
            said["message"][:160],
            sound,
            flush=True,
        )
        clear = "No space left" in said["message"] or "too large" in said["message"]
        return clear and done.returncode == 4 and not sound["problems"] and not list(store.glob("??/*.tmp"))
    finally:
        if mounted:
            subprocess.run(["umount", store], check=False)


def read_only(schemas, vocabulary, work):
    store = work / "readonly"
    store.mkdir()
    mounted = (
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,ro", "tmpfs", store], capture_output=True).returncode
        == 0
    )
    store.chmod(0o555) if not mounted else None
    user = None if mounted or os.getuid() else 65534
    try:
        done = subprocess.run(command(schemas, vocabulary, store), capture_output=True, text=True, user=user)
        said = json.loads(done.stdout)["error"]["message"] if done.stdout else done.stderr
        print("read-only:", done.returncode, said[:200], flush=True)
        return done.returncode == 4 and ("Read-only" in said or "ermission" in said)
    finally:
        if mounted:
            subprocess.run(["umount", store], check=False)


def two_at_once(schemas, vocabulary, work):
    store = work / "two"
    both = [
        subprocess.Popen(
            command(schemas, vocabulary, store, "--report", str(work / f"two-{n}.jsonl")), stdout=subprocess.PIPE
        )
        for n in range(2)
    ]
    answers = [json.loads(child.communicate()[0]) for child in both]
    made = [sum(row["ok"] and not row.get("skipped") for row in rows(work / f"two-{n}.jsonl")) for n in range(2)]
    sound = verify(store)
    once = sum(made) == len(list(store.glob("??/*.ilk")))
    print("two at once:", [a["ok"] for a in answers], "made by each", made, sound, flush=True)
    return answers[0]["ok"] == answers[1]["ok"] and once and not sound["problems"]


def main():
    vocabulary, schemas, work = (Path(word).resolve() for word in sys.argv[1:4])
    work.mkdir(parents=True)
    few = work / "few"
    few.mkdir()
    for file in sorted(schemas.glob("*.json"))[::20]:
        (few / file.name).symlink_to(file)
    checks = [
        full(few, vocabulary, work),
        read_only(few, vocabulary, work),
        two_at_once(few, vocabulary, work),
        killed(schemas, vocabulary, work, int((sys.argv[4:] or ["10"])[0])),
    ]
    return not all(checks)


if __name__ == "__main__":
    sys.exit(main())
