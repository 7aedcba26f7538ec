"""The example with Ray, on a local one."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

import interlock
from interlock.cli.sources.vocabularies import byte_vocabulary

EXAMPLE = Path(__file__).parents[3] / "examples" / "ray_precompute.py"


@pytest.mark.filterwarnings("ignore")
def test_ray_precompute(tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    pytest.importorskip("pyarrow", reason="Ray Data needs pyarrow")
    pytest.importorskip("pandas", reason="Ray Data needs pandas")
    pytest.importorskip("ray.data", reason="Ray is not installed")
    spec = importlib.util.spec_from_file_location("ray_precompute", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    sys.modules["ray_precompute"] = example
    spec.loader.exec_module(example)
    (tmp_path / "schemas").mkdir()
    for n in range(6):
        (tmp_path / "schemas" / f"{n}.json").write_text(json.dumps({"const": n} if n else {"type": "strin"}))
    pack, store = tmp_path / "bytes.ilk", tmp_path / "store"
    byte_vocabulary().save(pack)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        ray.cloudpickle.register_pickle_by_value(example)
        first = example.precompute(str(tmp_path / "schemas"), str(pack), str(store))
        again = example.precompute(str(tmp_path / "schemas"), str(pack), str(store))
    finally:
        ray.shutdown()
    assert [row["ok"] for row in first] == [False] + [True] * 5 and "SchemaError" in first[0]["error"]
    assert [row["skipped"] for row in again] == [False] + [True] * 5
    assert len(interlock.Store(store).entries()) == 5 and interlock.Store(store).verify() == []
