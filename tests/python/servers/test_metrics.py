"""Counters, gauges and histograms, and the text they are written as."""

import json
import re
from pathlib import Path

import pytest

import interlock
from interlock.integrations import metrics
from interlock.integrations.metrics import Registry, merge, refusal_reason, to_openmetrics, watch_core


def filled():
    registry = Registry("x")
    registry.counter("requests", "Requests.", ("kind",)).add(2, "json")
    registry.gauge("level", "A level.").set(1.5)
    histogram = registry.histogram("seconds", "Times.", buckets=(0.1, 1.0))
    for number in (0.05, 0.1, 0.5, 7):
        histogram.observe(number)
    return registry


TEXT = """\
# HELP x_requests Requests.
# TYPE x_requests counter
x_requests_total{kind="json"} 2
# HELP x_level A level.
# TYPE x_level gauge
x_level 1.5
# HELP x_seconds Times.
# TYPE x_seconds histogram
x_seconds_bucket{le="0.1"} 2
x_seconds_bucket{le="1"} 3
x_seconds_bucket{le="+Inf"} 4
x_seconds_count 4
x_seconds_sum 7.65
# EOF
"""


def test_the_text_is_openmetrics():
    assert filled().to_openmetrics() == TEXT


def test_another_library_reads_the_text():
    parser = pytest.importorskip("prometheus_client.openmetrics.parser", reason="prometheus_client is not installed")
    families = {f.name: f for f in parser.text_string_to_metric_families(TEXT)}
    assert families["x_seconds"].samples[-1].value == 7.65 and families["x_requests"].type == "counter"


def test_labels_are_escaped():
    registry = Registry("x")
    registry.counter("c", "a\\b\nc", ("l",)).add(1, 'q"\\\n')
    assert registry.to_openmetrics().splitlines() == [
        "# HELP x_c a\\\\b\\nc",
        "# TYPE x_c counter",
        'x_c_total{l="q\\"\\\\\\n"} 1',
        "# EOF",
    ]


def test_snapshots_travel_and_add_up():
    one, two = filled(), filled()
    two.counter("requests", "Requests.", ("kind",)).add(1, "regex")
    sent = [json.loads(json.dumps(r.snapshot())) for r in (one, two)]
    total = merge(sent)
    assert total["x_requests"]["series"] == [[["json"], 4], [["regex"], 1]]
    assert total["x_seconds"]["series"] == [[[], [4.0, 2.0, 2.0, 15.3]]]
    assert sent[0] == one.snapshot() and "x_requests_total" in to_openmetrics(total)


def test_processes_that_disagree_are_an_error():
    other = Registry("x")
    other.gauge("requests", "Requests.")
    with pytest.raises(interlock.ArgumentError, match="x_requests"):
        merge([filled().snapshot(), other.snapshot()])


def test_what_makes_no_sense_is_an_error():
    registry = filled()
    with pytest.raises(interlock.ArgumentError, match="cannot go down"):
        registry.counter("requests", "").add(-1, "json")
    with pytest.raises(interlock.ArgumentError, match="labels"):
        registry.counter("requests", "").add(1)
    with pytest.raises(interlock.ArgumentError, match="already"):
        registry.gauge("requests", "")
    with pytest.raises(interlock.ArgumentError, match="ascend"):
        registry.histogram("h", "", buckets=(2, 1))


def test_numbers_of_the_core_are_read_when_they_are_asked_for(byte_vocabulary):
    registry = Registry("x")
    watch_core(registry)
    before = registry.snapshot()["x_core_compiles"]["series"][0][1]
    interlock.Index.from_regex("a-source-of-test-metrics", byte_vocabulary)
    assert registry.snapshot()["x_core_compiles"]["series"][0][1] == before + 1


def test_reasons_are_words():
    assert refusal_reason(interlock.BudgetError("x")) == "budget"
    assert refusal_reason(interlock.UnsupportedError("x")) == "unsupported"
    assert refusal_reason(RuntimeError("x")) == "internal"


def test_a_deadline_is_no_cancelling_and_no_limit(byte_vocabulary):
    def reason(pattern="(a|b)*a(a|b){400}c", **options):
        with pytest.raises(interlock.InterlockError) as caught:
            interlock.Index.from_regex(pattern, byte_vocabulary, **options).build(cancel=options.get("cancel"))
        return refusal_reason(caught.value)

    cancelled = interlock.CancelToken()
    cancelled.cancel()
    assert reason(cancel=cancelled) == "cancelled"
    assert reason(cancel=interlock.CancelToken.after(1e-4)) == "deadline"
    assert reason(limits={"max_source_bytes": 1}) == "limit"


def test_what_only_grows_is_a_counter(byte_vocabulary, monkeypatch):
    registry = Registry("x")
    numbers = {"compiles": 5, "indexes": 5}
    monkeypatch.setattr(interlock, "stats", lambda: dict(numbers))
    watch_core(registry)
    kinds = {name: found["kind"] for name, found in registry.snapshot().items()}
    assert kinds == {"x_core_compiles": "counter", "x_core_indexes": "gauge"}

    def value(name):
        return registry.snapshot()[f"x_core_{name}"]["series"][0][1]

    # The core forgets the numbers of vocabularies that are gone; a counter goes on.
    numbers.update(compiles=2, indexes=1)
    assert value("compiles") == 7 and value("indexes") == 1 and value("compiles") == 7
    numbers.update(compiles=3)
    assert value("compiles") == 8
    assert "x_core_compiles_total 8" in registry.to_openmetrics()


def test_the_example_of_the_module():
    import doctest

    assert doctest.testmod(metrics).failed == 0


def test_listeners_hear_every_change():
    registry, heard = Registry("x"), []
    before = registry.counter("early", "Made before anybody listens.")
    registry.tell(heard.append)
    before.add(2)
    registry.gauge("level", "A level.", ("of",)).set(1.5, "water")
    registry.histogram("seconds", "Times.").observe(0.25)
    assert [tuple(change) for change in heard] == [
        ("x_early", "counter", (), 2),
        ("x_level", "gauge", ("water",), 1.5),
        ("x_seconds", "histogram", (), 0.25),
    ]


def test_twins_in_prometheus_client():
    client = pytest.importorskip("prometheus_client", reason="prometheus_client is not installed")
    from interlock.integrations.prometheus_mirror import mirror

    registry = Registry("twins")
    requests, seconds = registry.counter("requests", "Requests.", ("kind",)), registry.histogram("seconds", "Times.")
    registry.gauge("level", "A level.").set(1)
    assert mirror(registry)
    requests.add(3, "json")
    seconds.observe(0.25)
    sample = client.REGISTRY.get_sample_value
    assert sample("twins_requests_total", {"kind": "json"}) == 3
    assert sample("twins_seconds_bucket", {"le": "0.25"}) == sample("twins_seconds_count") == 1
    # The names are taken now: nothing is added twice, and the registry goes on without twins.
    again = Registry("twins")
    again.counter("other", "Others.")
    again.counter("requests", "Requests.", ("kind",))
    assert not mirror(again) and sample("twins_other_total") is None


def test_notes_are_counted_when_somebody_reads_them():
    registry = metrics.Registry("x")
    rows, seconds = registry.counter("rows", "Rows."), registry.histogram("seconds", "Time.", buckets=(1.0, 2.0))
    for number in (0.5, 1.5, 5.0):
        rows.note(2)
        seconds.note(number)
    assert rows.value() == 6 and seconds.count() == 3
    rows.note(1)
    seconds.note(0.25)
    found = registry.snapshot()
    assert found["x_rows"]["series"] == [[[], 7]] and found["x_seconds"]["series"] == [[[], [2, 1, 1, 7.25]]]
    for _ in range(1000):
        rows.note(1)
    assert len(rows.noted) < metrics.NOTED and rows.value() == 1007
    heard = []
    registry.tell(heard.append)
    rows.note(3)
    assert [change.number for change in heard] == [3]


def test_each_error_has_the_label_that_the_page_of_operators_lists():
    root = Path(__file__).parents[3]
    (row,) = re.findall(r"interlock_refusals_total.*", (root / "docs/servers/operators.md").read_text())
    listed = set(re.findall(r"`([a-z_]+)`", row)) - {"interlock_refusals_total", "front_end", "engine"}
    internal = {
        "InternalError",
        "ToolFormatError",
        "TokenRejected",
        "InvalidOutputError",
        "GuideBusyError",
        "TightBudgetError",
    }
    kinds = [kind for kind in (getattr(interlock, name) for name in interlock.__all__) if isinstance(kind, type)]
    errors = [
        kind for kind in kinds if issubclass(kind, interlock.InterlockError) and kind is not interlock.InterlockError
    ]
    found = {kind.__name__: refusal_reason(kind.__new__(kind)) for kind in errors}
    documented = set(re.findall(r"^\| `(\w+)` \|", (root / "docs/errors.md").read_text(), re.M)) & set(found)
    assert documented == set(found)
    for name, label in found.items():
        own = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Error")).lower()
        own = "budget" if name == "PromptTooLongError" else own
        assert label == ("internal" if name in internal else own), name
    assert set(found.values()) | {"closed", "deadline", "memory", "internal"} == listed
    for name in internal:
        assert f"`{name}`" in (root / "docs/servers/operators.md").read_text()
