"""Masks of torch: rows and logits that are tensors."""

import contextlib
import sys
import types
import warnings

import numpy as np
import pytest
from mask_definition import slow_apply, unpack

import interlock
from interlock import apply_bitmask, masks

EOS = 256


@pytest.fixture
def guide(byte_vocabulary):
    return interlock.Index.from_choices(["yes", "no"], byte_vocabulary).guide()


class TestTorch:
    """The same through torch, where it is installed."""

    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch")

    def test_fill(self, torch, guide):
        bits = torch.full((2, 10), -1, dtype=torch.int32)
        guide.fill_bitmask(bits, 1)
        assert (bits[0] == -1).all()
        assert np.flatnonzero(unpack(bits[1].numpy(), 320)).tolist() == sorted(b"yn")
        interlock.fill_bitmasks([guide], bits, rows=[0])
        assert (bits[0] == bits[1]).all()
        for unsuitable in (bits.long(), bits.t(), bits[:, :9], bits.to("meta")):
            with pytest.raises(interlock.ArgumentError):
                guide.fill_bitmask(unsuitable)
        for device in ("cpu", "meta"):
            with pytest.raises(interlock.ArgumentError, match="meta"):
                apply_bitmask(torch.zeros(2, 320, device=device), bits.to("meta"))
        for mask in (bits, bits.numpy()):
            with pytest.raises(interlock.ArgumentError, match="^logits are on torch's meta device"):
                apply_bitmask(torch.zeros(2, 320, device="meta"), mask)

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    @pytest.mark.parametrize("rows", [None, [2, 0]])
    @pytest.mark.parametrize("columns", [50, 64, 70])
    def test_apply(self, torch, dtype, rows, columns):
        from interlock.masks import _apply_torch_operations

        rng = np.random.default_rng(3)
        bits = rng.integers(-(2**31), 2**31, (2, 2), dtype=np.int32)
        batch = 2 if rows is None else 4
        expected = torch.from_numpy(slow_apply(np.ones((batch, columns), np.float32), bits, rows))
        for mask in (bits, torch.from_numpy(bits)):
            logits = torch.ones(batch, columns, dtype=getattr(torch, dtype))
            if columns == 70:
                with pytest.raises(interlock.ArgumentError, match="logits have 70 columns"):
                    apply_bitmask(logits, mask, rows=rows)
            masks.apply_padded(logits, mask, rows=rows)
            assert (logits.float() == expected).all()
        if dtype == "float32":
            # The operations that other devices use, on this one.
            logits = torch.ones(batch, columns)
            where = None if rows is None else torch.tensor(rows)
            _apply_torch_operations(torch, logits, torch.from_numpy(bits), where)
            assert (logits == expected).all()

    def test_refusals(self, torch):
        bits = torch.zeros(1, 1, dtype=torch.int32)
        for logits in (torch.zeros(1, 8, dtype=torch.int64), torch.zeros(2, 8), torch.zeros(8, 1).t()[:, ::2]):
            with pytest.raises(interlock.ArgumentError):
                apply_bitmask(logits, bits)

    @pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2"])
    @pytest.mark.parametrize("rows", [None, [2, 0]])
    def test_devices(self, torch, dtype, rows):
        """What logits on a device go through, with those of this one."""
        bits = np.random.default_rng(4).integers(-(2**31), 2**31, (2, 2), dtype=np.int32)
        ones = torch.ones(2 if rows is None else 4, 70)
        expected = torch.from_numpy(slow_apply(ones.numpy(), bits, rows))
        logits = ones.to(getattr(torch, dtype))
        masks._apply_torch_device(torch, logits, bits, rows)
        assert (logits.float() == expected).all()
        line = torch.ones(64).to(logits.dtype)
        masks._apply_torch_device(torch, line, bits[0], None)
        assert (line.float().isfinite().numpy() == unpack(bits[0], 64)).all()

    def test_devices_refuse(self, torch):
        bits = np.zeros((3, 2), np.int32)
        overlapping = torch.zeros(200).as_strided((3, 64), (63, 1))
        for shared in (torch.zeros(1, 64).expand(3, 64), torch.zeros(3, 1).expand(3, 64), overlapping):
            with pytest.raises(interlock.ArgumentError, match="share memory"):
                masks._apply_torch_device(torch, shared, bits, None)
            assert not shared.any()
        masks._apply_torch_device(torch, torch.zeros(1, 64).expand(1, 64), bits[:1], None)
        with pytest.raises(interlock.ArgumentError, match="no minus infinity"):
            masks._apply_torch_device(torch, torch.zeros(3, 64).to(torch.float8_e4m3fn), bits, None)
        for rows, said in ((1, "bits has 1 row for 2 of logits"), (3, "bits has 3 rows for 2 of logits")):
            with pytest.raises(interlock.ArgumentError, match=said):
                masks._apply_torch_device(torch, torch.zeros(2, 64), bits[:rows], None)

    @pytest.mark.parametrize("rows", [None, [3, 0], []])
    def test_masked_copy(self, torch, rows):
        """A copy for a device, made with operations where there is no kernel."""
        rng = np.random.default_rng(5)
        count = 4 if rows is None else len(rows)
        bits = rng.integers(-(2**31), 2**31, (count, 3), dtype=np.int32)
        logits = torch.randn(4, 90)
        before = logits.clone()
        made = masks.masked_copy(torch, logits, bits, rows)
        assert (made == torch.from_numpy(slow_apply(before.numpy(), bits, rows))).all()
        assert (logits == before).all()
        transposed = torch.randn(90, 4).t()
        made = masks.masked_copy(torch, transposed, bits, rows)
        assert (made == torch.from_numpy(slow_apply(transposed.numpy(), bits, rows))).all()

    def test_masked_copy_by_the_kernel_names_every_row(self, torch, kernel, monkeypatch):
        """Of a copy every row is written: rows without a mask are given to the kernel as such."""
        seen = []
        monkeypatch.setattr(masks, "_suits_kernel", lambda values: True)
        kernel.apply = lambda out, words, **which: seen.append((out, words, which))
        logits, bits = torch.zeros(4, 64), np.zeros((2, 2), np.int32)
        made = masks.masked_copy(torch, logits, bits, [3, 0])
        ((out, words, which),) = seen
        assert out is made and made is not logits and words.tolist() == bits.tolist()
        assert which["bits_rows"].tolist() == [1, -1, -1, 0] and which["source"].data_ptr() == logits.data_ptr()

    def test_memory_of_the_caller_is_read_before_it_is_given_back(self, torch):
        class Source:
            def __init__(self, pinned):
                self.is_pinned = lambda: pinned

            def to(self, device, non_blocking):
                return non_blocking

        cuda, other = torch.device("cuda", 1), torch.device("mps")
        assert masks._moved(Source(False), cuda) is True
        assert masks._moved(Source(True), cuda) is False
        assert masks._moved(Source(False), other) is masks._moved(Source(True), other) is False

    @pytest.fixture
    def kernel(self, torch, monkeypatch):
        """A module in the place of the kernel's, in which ``launches`` are the current devices of its calls."""
        module, current = types.ModuleType("interlock._triton"), [None]
        module.launches, module.error = [], None

        @contextlib.contextmanager
        def device(which):
            current.append(which)
            yield
            current.pop()

        def apply(out, words, **which):
            module.launches.append(current[-1])
            if module.error is not None:
                raise module.error

        module.apply = apply
        monkeypatch.setattr(torch.cuda, "device", device)
        monkeypatch.setattr(masks, "_without_kernel", set())
        monkeypatch.setitem(sys.modules, "interlock._triton", module)
        monkeypatch.setattr(interlock, "_triton", module, raising=False)
        return module

    def test_kernel_is_launched_on_the_device_of_the_logits(self, torch, kernel):
        logits, words = torch.zeros(2, 64), torch.zeros(2, 2, dtype=torch.int32)
        assert masks._run_kernel(torch, logits, words)
        assert kernel.launches == [logits.device]

    def test_kernel_that_fails_is_not_tried_again(self, torch, kernel):
        logits, words = torch.zeros(2, 64), torch.zeros(2, 2, dtype=torch.int32)
        for error in (torch.cuda.OutOfMemoryError("full"), RuntimeError("CUDA error: out of memory"), MemoryError()):
            kernel.error = error
            with pytest.raises(type(error)):
                masks._run_kernel(torch, logits, words)
        kernel.error = RuntimeError("no C compiler")
        with pytest.warns(RuntimeWarning, match=r"torch.float32 on cpu.*no C compiler"):
            assert not masks._run_kernel(torch, logits, words)
        assert len(kernel.launches) == 4
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not masks._run_kernel(torch, logits, words)
        assert len(kernel.launches) == 4
        kernel.error = None
        assert masks._run_kernel(torch, logits.half(), words)
        kernel.error = ModuleNotFoundError("no Triton", name="triton")
        assert not masks._run_kernel(torch, logits.bfloat16(), words)
