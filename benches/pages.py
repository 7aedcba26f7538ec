"""Which pages worker processes share: some workers over one vocabulary pack and a thousand grammar packs.

Every worker maps the vocabulary and all packs of a store, keeps the indexes, and takes a first mask from each. Then all
workers read ``/proc/self/smaps_rollup``: the resident size counts every page in full, the proportional size (PSS)
counts a page that n processes share as 1/n. ``private`` is what one process holds alone.

    python benches/pages.py VOCABULARY.ilk STORE [WORKERS] [PACKS]

The store is one that ``interlock precompute`` made for the vocabulary. Linux only.
"""

import multiprocessing
import sys
import time
from pathlib import Path

import interlock


def memory() -> dict[str, int]:
    """KiB by name."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]
    return {name: int(value.split()[0]) for name, value in (line.split(":") for line in lines)}


def worker(pipe, pack: str, files: list[str]) -> None:
    before = memory()
    began = time.perf_counter()
    vocabulary = interlock.Vocabulary.load(pack)
    opened = time.perf_counter()
    bits = interlock.allocate_bitmask(1, vocabulary)
    indexes, masks = [], 0
    for file in files:
        indexes.append(interlock.Index.load(file, vocabulary))
        masks += indexes[-1].guide().fill_bitmask(bits)
    done = time.perf_counter()
    pipe.send(("ready", opened - began, done - opened, masks))
    pipe.recv()
    pipe.send((before, memory(), sum(index.memory_bytes for index in indexes), interlock.stats()["compiles"]))
    pipe.recv()


def main() -> None:
    pack, store = sys.argv[1:3]
    workers, packs = [int(n) for n in sys.argv[3:5]] or [4, 1000]
    files = [str(p) for p in sorted(Path(store).glob("??/*.ilk"))[:packs]]
    size = sum(Path(f).stat().st_size for f in files)
    print(f"{len(files)} packs of {size / 2**20:.1f} MiB, a vocabulary of {Path(pack).stat().st_size / 2**20:.1f} MiB")
    context = multiprocessing.get_context("spawn")
    pipes, children = [], []
    for _ in range(workers):
        here, there = context.Pipe()
        child = context.Process(target=worker, args=(there, pack, files))
        child.start()
        pipes.append(here)
        children.append(child)
    for pipe in pipes:
        _, opened, loaded, masks = pipe.recv()
        print(f"opened the vocabulary in {opened * 1e3:.1f} ms, {masks} first masks in {loaded * 1e3:.0f} ms")
    rows = []
    for pipe in pipes:  # All workers hold everything while each looks.
        pipe.send("look")
        rows.append(pipe.recv())
    for pipe in pipes:
        pipe.send("end")
    for child in children:
        child.join()
    names = ("Rss", "Pss", "Shared_Clean", "Private_Clean", "Private_Dirty")
    print(
        f"{'MiB, after less before':24}"
        + "".join(f"{name:>15}" for name in names)
        + f"{'own tables':>15}{'compiles':>10}"
    )
    for number, (before, after, own, compiles) in enumerate(rows):
        cells = "".join(f"{(after[name] - before[name]) / 1024:15.1f}" for name in names)
        print(f"worker {number:<17}{cells}{own / 2**20:15.1f}{compiles:10}")


if __name__ == "__main__":
    main()
