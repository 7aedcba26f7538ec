"""Instruction counts of a few fixed workloads, compared with those of `benches/guard.json`.

    python benches/guard.py [--update | --state]

Counts, unlike times, are the same in every run but for the seed of hash tables, a few in a thousand, so a few percent
more are a change of the code and not of the weather.
The workloads are those of `benches/rust/src/bin/guard.rs`; callgrind counts the instructions of each, on all threads. A
workload that takes more than the tolerance above its committed count fails; one that takes less is named, and
`--update` (`make guard-update`) writes the new counts. Some workloads run in two sizes, ten times apart: the larger one
may take ten times the instructions and a little more.

The profile is the one of the wheel that tests use, whose dependencies are there by then: a shipped library takes fewer
instructions, and a change shows in both.

Counts depend on the compiler, on the C library (its copies use what the processor offers, as far as callgrind shows it)
and on callgrind's version.
The file names those that it was made with. Where they differ here, or valgrind is not installed, nothing can be
compared: the script says so and ends well, so that `.ci/run` passes on other machines, and `--state`, the last line
of `.ci/run`, says it again. Continuous integration guards nothing on such a machine. One that is made to match says
so with `INTERLOCK_GUARD=required` in its environment, and there it is an error; `.ci/run` passes the variable on and
does not set it, because it cannot know which machine it is on. Standard library only.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COUNTS = ROOT / "benches" / "guard.json"
TOLERANCE_PERCENT = 5.0
# How much more a workload of ten times the size may take: fifteen times as many instructions. Tools in one schema take
# thirteen: their constants share one lexeme, whose states lie deeper the more they are.
GROWTH = 15.0
# The function of the binary whose calls are counted.
MEASURED = "guard::measure"


def output(*command: str) -> str:
    """What a program prints, or "none" where there is no such program."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "none"


def made_with() -> dict[str, str]:
    """What counts depend on besides the code.

    Of the processor, callgrind shows a program little: that of one with AVX2 or of one without, whatever else it has.
    """
    about = Path("/proc/cpuinfo")
    flags = re.search(r"^flags\s*:(.*)$", about.read_text(), re.M) if about.exists() else None
    has = set(flags[1].split()) if flags else set()
    return {
        "rustc": output("rustc", "-V"),
        "valgrind": output("valgrind", "--version"),
        "libc": " ".join(platform.libc_ver()),
        "processor": " ".join([platform.machine(), *sorted(has & {"avx2"})]),
    }


def build() -> Path:
    """The binary, with the profile of its own manifest whatever the environment says about profiles."""
    keep = {k: v for k, v in os.environ.items() if not re.match(r"CARGO_PROFILE_|CARGO_INCREMENTAL|.*RUSTFLAGS", k)}
    keep["CARGO_INCREMENTAL"] = "0"
    target = Path(keep.setdefault("CARGO_TARGET_DIR", str(ROOT / "target")))
    manifest = ROOT / "benches" / "rust" / "Cargo.toml"
    command = ["cargo", "build", "--quiet", "--profile", "fast-build", "--bin", "guard"]
    command += ["--manifest-path", str(manifest)]
    subprocess.run(command, env=keep, cwd=ROOT, check=True)
    return target / "fast-build" / "guard"


def count(binary: Path) -> dict[str, int]:
    """The instructions of each workload, in the order in which they run."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no"]
        command += [f"--callgrind-out-file={folder}/out", f"--dump-before={MEASURED}", f"--dump-after={MEASURED}"]
        run = subprocess.run([*command, str(binary)], stdout=subprocess.PIPE, text=True, check=True)
        names = run.stdout.splitlines()
        parts = sorted(Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        after = [part.read_text(errors="replace") for part in parts]
    after = [text for text in after if "--dump-after" in text[:4_000]]
    if len(after) != len(names) or not names:
        raise SystemExit(f"guard: {len(after)} parts for {len(names)} workloads: callgrind did not find {MEASURED}")
    return dict(zip(names, (int(re.search(r"^totals: (\d+)", text, re.M)[1]) for text in after), strict=True))


def grown(found: dict[str, int]) -> list[str]:
    """Which workloads grow faster than their size."""
    wrong = []
    for name, instructions in found.items():
        size = re.match(r"\d+", name)
        larger = f"{int(size[0]) * 10}{name[size.end() :]}" if size else ""
        if larger in found and found[larger] > GROWTH * instructions:
            times = found[larger] / instructions
            wrong.append(f"{larger}: {times:.1f} times the {instructions:,} instructions of {size[0]}")
    return wrong


def compare(known: dict[str, int], found: dict[str, int], tolerance: float) -> list[str]:
    """What is wrong: workloads that cost more than they may, and names that are not on both sides."""
    wrong = [f"{name}: not in {COUNTS.name}; run `make guard-update`" for name in found.keys() - known.keys()]
    wrong += [f"{name}: in {COUNTS.name}, but not run" for name in known.keys() - found.keys()]
    for name in known.keys() & found.keys():
        if found[name] * 100 > known[name] * (100 + tolerance):
            more = 100 * (found[name] / known[name] - 1)
            wrong.append(f"{name}: {found[name]:,} instructions, {more:.1f} % more than {known[name]:,}")
    return sorted(wrong)


def stored() -> dict[str, Any]:
    """The committed counts, and what they were made with."""
    return json.loads(COUNTS.read_text()) if COUNTS.exists() else {"made_with": {}, "counts": {}}


def skipped(known: dict[str, str], here: dict[str, str]) -> str | None:
    """Why counts are not compared here."""
    if here["valgrind"] == "none":
        return "valgrind is not installed"
    if differ := [k for k, v in here.items() if known.get(k) != v]:
        pairs = ", ".join(f"{k} {here[k]!r} instead of {known.get(k)!r}" for k in differ)
        return f"counts of different tools cannot be compared: {pairs}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the counts of this run")
    parser.add_argument("--state", action="store_true", help="only say whether counts are compared on this machine")
    given = parser.parse_args()
    here, known = made_with(), stored()
    why = skipped(known["made_with"], here)
    if given.state:
        print(f"guard: *** NOT COMPARED: {why} ***" if why else "guard: instructions are compared on this machine")
        return
    if why and (here["valgrind"] == "none" or not given.update):
        if os.environ.get("INTERLOCK_GUARD") == "required":
            raise SystemExit(f"guard: FAILED, because INTERLOCK_GUARD=required and {why}")
        print(f"guard: *** NOT COMPARED: {why} ***")
        return
    found = count(build())
    for name, instructions in found.items():
        before = known["counts"].get(name)
        change = f"{100 * (instructions / before - 1):+8.2f} %" if before else "     new"
        print(f"{instructions:15,} {change}  {name}")
    if given.update:
        page = {"made_with": here, "tolerance_percent": TOLERANCE_PERCENT, "counts": found}
        COUNTS.write_text(json.dumps(page, indent=2) + "\n")
        print("\n".join([f"guard: wrote {COUNTS}", *grown(found)]))
    elif wrong := compare(known["counts"], found, known["tolerance_percent"]) + grown(found):
        print("\n".join(["guard: FAILED", *wrong]), file=sys.stderr)
        raise SystemExit(1)
    else:
        print(f"guard: no workload takes over {known['tolerance_percent']} % more instructions than it did")


if __name__ == "__main__":
    main()
