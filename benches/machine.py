"""What benchmarks say of the machine, of this process and of the code that they measure."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def resident() -> int:
    """Bytes of this process in memory, its own and those that it shares."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def about() -> str:
    """Processor, memory and systems in one line."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    rustc = subprocess.run(["rustc", "-V"], capture_output=True, text=True).stdout.split()[1:2]
    parts = [cpu[1] if cpu else platform.machine(), f"{os.cpu_count()} processors", f"{memory:.0f} GiB"]
    parts += [f"Linux {platform.release().split('-')[0]}", f"Python {platform.python_version()}"]
    return ", ".join(parts + [f"rustc {version}" for version in rustc])


def commit() -> str:
    """Which commit is checked out, and whether what is built or measured was changed since."""

    def git(*command: str) -> str:
        return subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "python", "benches", "Cargo.toml")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + (" with changes" if changed else "")
