"""The engine in a Python program, as other ways of scheduling drive it: without overlap, without a prefix cache."""

import json
import re
import subprocess
import sys

import pytest
import serving

PROGRAM = """
import json, sys
if __name__ == "__main__":
    import sglang
    arguments = json.loads(sys.argv[1])
    engine = sglang.Engine(device="cpu", grammar_backend="interlock", attention_backend="torch_native", dtype="float32",
        disable_cuda_graph=True, mem_fraction_static=0.3, max_total_tokens=4096, context_length=512,
        log_level="warning", skip_server_warmup=True, **arguments)
    asked = [
        {"regex": "[0-9]{5}", "max_new_tokens": 20},
        {"max_new_tokens": 4},
        {"json_schema": '{"type": "array", "items": {"type": "string"}, "minItems": 1}', "max_new_tokens": 30},
        {"regex": "[ab]{3}", "max_new_tokens": 20, "n": 1},
    ]
    for _ in range(2):
        answers = engine.generate(["hello"] * len(asked), [{"temperature": 1.0, **one} for one in asked])
        print("ANSWERS", json.dumps([answer["text"] for answer in answers]), flush=True)
    for bad in ({"regex": "("}, {"regex": "[0-9]{60}", "max_new_tokens": 5}):
        try:
            engine.generate("hello", bad)
        except ValueError as error:
            print("REFUSED", error, flush=True)
    engine.shutdown()
"""

WAYS = {
    "no overlap, no prefix cache": {"disable_overlap_schedule": True, "disable_radix_cache": True},
    "small chunks, few requests at once": {"chunked_prefill_size": 4, "max_running_requests": 2},
}


@pytest.mark.parametrize("way", WAYS)
def test_engine(model, tmp_path, way):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    arguments = json.dumps({"model_path": str(model), **WAYS[way]})
    command = [sys.executable, str(program), arguments]
    done = subprocess.run(
        command, env=serving.environment(), cwd=tmp_path, capture_output=True, text=True, timeout=serving.SECONDS
    )
    rounds = [json.loads(line[8:]) for line in done.stdout.splitlines() if line.startswith("ANSWERS ")]
    assert len(rounds) == 2, done.stdout[-2000:] + done.stderr[-4000:]
    for number, _, document, letters in rounds:
        assert re.fullmatch("[0-9]{5}", number) and re.fullmatch("[ab]{3}", letters)
        assert all(isinstance(item, str) for item in json.loads(document))
    refused = [line for line in done.stdout.splitlines() if line.startswith("REFUSED ")]
    assert len(refused) == 2 and "PatternError" in refused[0] and "BudgetError" in refused[1]
