"""The mask kernel of Triton: its results under the interpreter and what it compiles to, without a GPU; and on one.

The cases are those of triton_kernel_cases.py, each in a process of its own: Triton decides when it is imported whether
kernels are interpreted.
"""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import interlock

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
triton = pytest.importorskip("triton", reason="Triton is not installed: it comes with torch for Linux")

CASES = ("widths", "real_width", "batches", "strides", "chosen", "narrow", "device_rows", "copies")
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_kernel_agrees_with_the_definition(case):
    script = Path(__file__).with_name("triton_kernel_cases.py")
    package = str(Path(interlock.__file__).parents[1])
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": package}
    run = subprocess.run([sys.executable, script, case], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr[-3000:]
    assert int(run.stdout) > 0


def test_cases_are_all_run():
    text = Path(__file__).with_name("triton_kernel_cases.py").read_text()
    assert re.search(r"CASES = .*?\(([\w, ]+)\)\}", text)[1].split(", ") == list(CASES)


def compiled(kind, divisible=True, **constants):
    """The assembly of the kernel for an H100, which needs no GPU: which memory instructions it has, and how often."""
    from triton.backends.compiler import GPUTarget

    from interlock import _triton

    function = _triton._mask
    pointers = {"out": kind, "source": kind, "bits": "i32", "bits_rows": "i32", "logit_rows": "i32"}
    values = {"FILL": -1, "HAS_BITS_ROWS": True, "HAS_LOGIT_ROWS": True, "COPY": False, "TILE": _triton.TILE_WORDS}
    values |= constants
    signature = {
        n: "*" + pointers[n] if n in pointers else "constexpr" if n in values else "i32" for n in function.arg_names
    }
    numbers = [i for i, name in enumerate(function.arg_names) if name not in values]
    source = triton.compiler.ASTSource(
        fn=function,
        signature=signature,
        constexprs={(function.arg_names.index(name),): value for name, value in values.items()},
        attrs={(i,): [["tt.divisibility", 16]] for i in numbers} if divisible else {},
    )
    with warnings.catch_warnings():
        # Triton 3.9 says that its default for sums of products will change; the kernel has none.
        warnings.simplefilter("ignore", UserWarning)
        made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": _triton.NUM_WARPS})
    found: dict[str, int] = {}
    for name in re.findall(r"(?:ld|st)\.global[\w.]*", made.asm["ptx"]):
        found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "wide"), [("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8)])
def test_whole_tiles_move_sixteen_bytes_at_once(kind, wide):
    """A thread has 32 columns: twice as many accesses of 16 bytes as a column has bytes, for each kind of tile."""
    if sys.platform != "linux" or not hasattr(triton.compiler, "ASTSource"):
        pytest.skip("this Triton compiles for the GPU that is there only")
    store = "st.global.v2.b64" if kind == "i64" else "st.global.v4.b32"
    load = store.replace("st", "ld")
    # Tiles that are forbidden and mixed ones are stored as wholes, and of mixed ones whole words are read.
    own = compiled(kind)
    assert own[store] == 4 * wide and own[load] == 2 * wide
    # In a copy, tiles without a forbidden column are moved whole as well, and nothing is stored column by column.
    copy = compiled(kind, COPY=True)
    assert copy[store] == 6 * wide and copy[load] == 4 * wide
    assert not any(name.startswith("st") and name != store for name in copy)


@gpu
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "float8_e5m2"])
@pytest.mark.parametrize("batch", [1, 32, 256, 1024])
def test_on_a_gpu(dtype, batch):
    from interlock import masks

    rng = np.random.default_rng(batch)
    for columns in (300, 50_257, 128_256):
        bits = rng.integers(-(2**31), 2**31, (batch, (columns + 31) // 32), dtype=np.int32)
        bits[::3] = -1
        bits[1::3, 100:] = 0
        logits = torch.randn(batch, columns, device="cuda").to(getattr(torch, dtype))
        allowed = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, :columns].astype(bool)
        expected = torch.where(torch.from_numpy(allowed).cuda(), logits.float(), float("-inf"))
        made = masks.masked_copy(torch, logits, bits, None)
        interlock.apply_bitmask(logits, bits)
        assert torch.equal(logits.float(), expected) and torch.equal(made.float(), expected)
        assert not masks._without_kernel


@gpu
def test_the_next_step_does_not_overwrite_a_copy_on_its_way():
    ring = interlock.allocate_bitmask(64, 128_256, pin=True, device="cuda")
    logits = torch.zeros(64, 128_256, device="cuda")
    sent = []
    for step in range(40):
        # Something long in front of each copy.
        torch.cuda._sleep(2_000_000)
        ring.next()[:] = step
        sent.append(ring.send())
    interlock.apply_bitmask(logits, ring)
    assert all((mask == step).all() for step, mask in enumerate(sent))
