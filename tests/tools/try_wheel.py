"""Try an installed wheel where nothing else is: it needs NumPy alone, makes masks, answers on the command line, and
brings its licences.

python tests/tools/try_wheel.py
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

LICENCES = {"LICENSE-MIT", "LICENSE-APACHE", "LICENSES-THIRD-PARTY.txt", "NOTICE"}


def main() -> None:
    """Check the package that Python finds; an assertion fails where something is missing."""
    import numpy as np

    import interlock

    found = importlib.metadata.distribution("interlock")
    assert found.version == interlock.__version__, (found.version, interlock.__version__)
    needed = [line for line in found.requires or [] if "extra ==" not in line]
    assert [line.partition(">")[0].strip() for line in needed] == ["numpy"], needed
    files = {Path(str(path)).name for path in found.files or []}
    assert LICENCES | {"py.typed", "_core.pyi"} <= files, sorted(LICENCES - files)

    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=256)
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    guide = interlock.Index.from_json_schema(schema, vocabulary, whitespace="compact").guide(max_tokens=40)
    bits = interlock.allocate_bitmask(1, vocabulary)
    rng = np.random.default_rng(0)
    while not guide.is_terminated:
        guide.fill_bitmask(bits)
        logits = rng.standard_normal((1, vocabulary.size)).astype(np.float32)
        interlock.apply_bitmask(logits, bits)
        guide.advance(int(logits.argmax()))
    text = vocabulary.decode(guide.tokens).decode()
    assert text.startswith('{"ok":'), text

    command = [sys.executable, "-m", "interlock.cli", "check", "schema:true", "--text", text]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 0 and "accepted" in answer.stdout, answer
    print(f"interlock {interlock.__version__} works on Python {sys.version.split()[0]}, {sys.platform}: {text}")


if __name__ == "__main__":
    main()
