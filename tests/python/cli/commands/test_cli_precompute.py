"""``precompute``, ``verify`` and vocabulary packs: what is asked for is in the store, whatever happens on the way."""

import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import interlock
from interlock.cli.precomputing import process_pool
from interlock.cli.precomputing.summary import Summary, remedy_of
from interlock.cli.precomputing.worker import Task
from support.command_line import here

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "interlock.cli"]
COUNT = 150


@pytest.fixture
def folder(tmp_path):
    schemas = tmp_path / "schemas"
    (schemas / "deep").mkdir(parents=True)
    for n in range(COUNT - 3):
        schema = {"type": "object", "properties": {f"p{n}": {"type": "string", "maxLength": n + 1}}}
        (schemas / f"{n:03}.json").write_text(json.dumps({"schema": schema}))
    (schemas / "deep" / "a.json").write_text('{"schema": {"type": "strin"}}')
    (schemas / "deep" / "b.json").write_text("{")
    (schemas / "deep" / "c.regex").write_text("a+\n")
    return tmp_path


def run(folder, *args, code=0):
    done = here(folder, *args, "--json")
    assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
    assert done.stderr == ""
    return json.loads(done.stdout)


ARGS = ["precompute", "schemas", "--schema-key", "schema", "-t", "bytes", "-o", "store"]


def rows(folder, name="report.jsonl"):
    return [json.loads(line) for line in (folder / "store" / name).read_text().splitlines()]


def packs(folder):
    return {p: p.stat().st_mtime_ns for p in folder.glob("store/??/*.ilk")}


def test_a_report_for_each_and_nothing_twice(folder):
    made = run(folder, *ARGS, code=1)
    assert (made["sources"], made["ok"], made["refused"], made["skipped"]) == (COUNT, COUNT - 2, 2, 0)
    report = rows(folder)
    assert [row["name"] for row in report] == sorted(row["name"] for row in report) and len(report) == COUNT
    by_name = {row["name"]: row for row in report}
    good = by_name["deep/c.regex"]
    assert good["ok"] and good["states"] > 0 and good["bytes"] > 0 and good["milliseconds"] > 0
    error = by_name["deep/a.json"]["error"]
    assert (error["type"], error["pointer"], error["keyword"]) == ("SchemaError", "", "type")
    assert by_name["deep/b.json"]["error"]["type"] == "SchemaError"
    before = packs(folder)
    again = run(folder, *ARGS, code=1)
    assert (again["skipped"], again["bytes"], again["refused"]) == (COUNT, made["bytes"], 2)
    assert packs(folder) == before
    for now, then in zip(rows(folder), report, strict=True):
        timed = ("milliseconds", "skipped")
        assert {k: v for k, v in now.items() if k not in timed} == {k: v for k, v in then.items() if k not in timed}
    assert run(folder, *ARGS, "--retry", code=1)["skipped"] == COUNT - 2
    sound = {"store": "store", "packs": COUNT - 2, "bytes": made["bytes"], "problems": []}
    assert run(folder, "verify", "store") == sound
    # What it wrote is what Store answers for the same question.
    vocabulary = interlock.Vocabulary.load(next((folder / "store" / "vocabularies").iterdir()))
    store = interlock.Store(folder / "store")
    assert store.get(store.key_of("regex", "a+", vocabulary), vocabulary).guide().forced_bytes() == b"a"
    # Damage is found, by name.
    victim = next(iter(before))
    victim.write_bytes(victim.read_bytes()[:-1])
    assert victim.name in run(folder, "verify", "store", code=1)["problems"][0]


def start(folder, *args):
    return subprocess.Popen([*COMMAND, *ARGS, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for_packs(folder, count):
    end = time.monotonic() + 60
    while len(packs(folder)) < count:
        assert time.monotonic() < end
        time.sleep(0.005)


def test_killed_and_restarted(folder):
    for n in range(1, 5):
        child = start(folder, "--jobs", "2")
        wait_for_packs(folder, 25 * n)
        child.kill()
        child.communicate()
    before = packs(folder)
    made = run(folder, *ARGS, code=1)
    assert made["ok"] == COUNT - 2 and len(rows(folder)) == COUNT
    assert all(packs(folder)[path] == changed for path, changed in before.items()), "work was repeated"
    assert made["skipped"] >= 100
    assert run(folder, "verify", "store")["packs"] == COUNT - 2
    assert not list(folder.glob("store/**/*.tmp"))


def children(pid):
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(word) for task in tasks for word in (task / "children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_a_dead_worker_ends_nothing(folder):
    child = start(folder, "--jobs", "2")
    for count in (10, 40):
        wait_for_packs(folder, count)
        for pid in children(child.pid)[:1]:
            os.kill(pid, signal.SIGKILL)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 1 and err == b"", err
    # Both may have died over one source, which is then reported, and tried again by the next run.
    died = [row for row in rows(folder) if not row["ok"] and row["error"]["type"] == "WorkerDied"]
    assert len(died) <= 1 and sum(row["ok"] for row in rows(folder)) == COUNT - 2 - len(died)
    assert run(folder, *ARGS, code=1)["ok"] == COUNT - 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(folder, number, code):
    child = start(folder)
    wait_for_packs(folder, 5)
    workers = children(child.pid) if Path("/proc/self/task").exists() else []
    child.send_signal(number)
    _, err = child.communicate(timeout=20)
    assert (child.returncode, err) == (code, b"interlock: interrupted\n")
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert not list(folder.glob("store/**/*.tmp"))
    assert run(folder, "verify", "store")["problems"] == []


def test_few_small_sources_need_no_worker_and_have_the_same_rows(folder, monkeypatch):
    few = folder / "few"
    few.mkdir()
    for name, text in (("a", '{"type": "integer"}'), ("b", '{"type": "strin"}'), ("c", '{"answer": 1}'), ("d", "{")):
        (few / f"{name}.json").write_text(text)
    (few / "link.json").symlink_to(few / "a.json")
    said = {}
    for store, jobs in (("with", ["--jobs", "1"]), ("without", [])):
        made = run(folder, "precompute", "few", "-t", "bytes", "-o", store, *jobs, code=1)
        report = [json.loads(line) for line in (folder / store / "report.jsonl").read_text().splitlines()]
        for row in report:
            row.pop("milliseconds", None)
            # What other indexes of this process share is a part of it.
            row.pop("memory_bytes", None)
        said[store] = report, {k: v for k, v in made.items() if k not in ("seconds", "store", "report")}
    assert said["with"] == said["without"] and said["with"][1]["processes"] == 1
    assert run(folder, "verify", "without")["packs"] == 1

    class Started(Exception):
        pass

    def start(*_):
        raise Started

    monkeypatch.setattr(process_pool.Pool, "_start", start)

    def starts(*jobs):
        done = here(folder, "precompute", "few", "-t", "bytes", "-o", "again", *jobs)
        return done.returncode == 4

    assert not starts() and starts("--jobs", "1") and starts("--jobs", "2")
    (few / "long.json").write_text(json.dumps({"const": "x" * process_pool.SMALL}))
    assert starts()
    (few / "long.json").unlink()
    for n in range(process_pool.FEW - len(list(few.iterdir()))):
        (few / f"n{n}.json").write_text(json.dumps({"const": n}))
    assert not starts()
    (few / "more.json").write_text("{}")
    assert starts()


def test_workers_that_do_not_end_are_waited_for_together(monkeypatch):
    monkeypatch.setattr(process_pool, "PATIENCE", 0.5)
    busy = process_pool.Pool(Task("store", "vocabulary", {}), 8)
    workers = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) for _ in range(8)]
    busy.processes.update(workers)
    began = time.monotonic()
    busy.close()
    assert time.monotonic() - began < 3.0
    assert all(worker.returncode is not None for worker in workers)


def test_shards_jsonl_and_two_at_once(folder):
    lines = [json.dumps({"const": n}) for n in range(20)]
    (folder / "all.jsonl").write_text("\n".join(lines[:10]) + "\n\n" + "\n".join(lines[10:]))
    args = ["precompute", "all.jsonl", "-t", "bytes", "-o", "store"]
    made = [run(folder, *args, "--shard", f"{n}/3") for n in (1, 2, 3)]
    assert [part["sources"] for part in made] == [7, 7, 6] and not any(part["skipped"] for part in made)
    assert [row["name"] for row in rows(folder, "report-2-of-3.jsonl")][:2] == ["all.jsonl:2", "all.jsonl:5"]
    assert run(folder, *args)["skipped"] == 20
    both = [start(folder), start(folder)]
    assert [child.communicate(timeout=60)[1] for child in both] == [b"", b""]
    assert [child.returncode for child in both] == [1, 1]
    assert run(folder, "verify", "store")["packs"] == COUNT - 2 + 20
    assert len(rows(folder)) == COUNT


def test_more_shards_than_sources(folder):
    (folder / "one.json").write_text('{"type": "boolean"}')
    args = ["precompute", "one.json", "-t", "bytes", "-o", "store", "--shard"]
    assert [run(folder, *args, f"{n}/3")["sources"] for n in (1, 2, 3)] == [1, 0, 0]
    assert "sources:   0, in this shard\n" in shown(folder, *args, "2/3")
    assert rows(folder, "report-2-of-3.jsonl") == []


def test_two_at_once_compile_each_source_once(folder):
    reports = ["one.jsonl", "two.jsonl"]
    both = [start(folder, "--report", f"store/{name}") for name in reports]
    assert [child.communicate(timeout=60)[1] for child in both] == [b"", b""]
    assert [child.returncode for child in both] == [1, 1]
    said = [row for name in reports for row in rows(folder, name)]
    assert len(said) == 2 * COUNT
    # The other one waits for it, or finds it.
    assert sum(row["ok"] and not row.get("skipped") for row in said) == COUNT - 2 == len(packs(folder))


def test_what_is_no_schema_is_left_out_and_named(folder):
    mixed = folder / "mixed"
    mixed.mkdir()
    (mixed / "order.json").write_text('{"type": "object", "minPropertys": 1}')
    (mixed / "same.json").write_text('{"type": "object", "minPropertys": 1}')
    (mixed / "answer.json").write_text('{"item": "tea", "count": 2}')
    (mixed / "list.json").write_text("[1, 2]")
    (mixed / "broken.json").write_text('{"type": "strin"}')
    (mixed / "wrapped.json").write_text('{"name": "n", "strict": true, "schema": {"type": "integer"}}')
    (mixed / "README.md").write_text("about")
    args = ["precompute", "mixed", "-t", "bytes", "-o", "store"]
    made = run(folder, *args, code=1)
    assert (made["sources"], made["ok"], made["refused"], made["duplicates"]) == (4, 3, 1, 1)
    assert (made["compiled"], made["done_before"], made["packs"]) == (2, 0, 2)
    assert {row["name"] for row in made["left_out"]} == {"answer.json", "list.json", "README.md"}
    people = here(folder, *args).stdout
    for words in (
        'refused mixed/broken.json:1:10: SchemaError: "strin" is not a type',
        "left out mixed/answer.json: none of its keys (item, count) is a keyword of JSON Schema",
        "left out mixed/list.json: it is an array",
        "note mixed/order.json: `minPropertys`",
        "note mixed/wrapped.json: this is a named schema",
        "sources:   4 = 2 in the store before + 1 the same as another + 1 refused",
        "packs:     2, one for each different source",
    ):
        assert words in people, people
    assert len(rows(folder)) == 6 and sum("left_out" in row for row in rows(folder)) == 2
    assert run(folder, *args, "--take-all", "--report", "r", code=1)["sources"] == 6
    (folder / "answers").mkdir()
    (folder / "answers" / "a.json").write_text('{"item": 1}')
    error = run(folder, "precompute", "answers", "-t", "bytes", "-o", "store", "--report", "r2", code=4)["error"]
    assert "a.json was left out" in error["message"]
    assert error["remedy"].startswith("interlock check SCHEMA answers looks at documents; --take-all takes them as")


def test_wrong_use(folder):
    for bad in (["--shard", "0/2"], ["--shard", "3/2"], ["--jobs", "0"], ["--limit", "max_dept=1"]):
        assert run(folder, *ARGS, *bad, code=2)["error"]["type"] == "UsageError"
    assert "nowhere" in run(folder, "precompute", "nowhere", "-t", "bytes", "-o", "store", code=4)["error"]["message"]
    assert "nowhere" in run(folder, "verify", "nowhere", code=4)["error"]["message"]
    (folder / "file").write_text("")
    assert run(folder, *ARGS[:-1], "file", code=4)["error"]["type"] == "ArtifactError"


def test_a_link_to_nothing_is_refused_by_name(tmp_path):
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "a.json").write_text('{"type": "integer"}')
    (tmp_path / "schemas" / "gone.json").symlink_to(tmp_path / "nothing")
    done = run(tmp_path, "precompute", "schemas", "-t", "bytes", "-o", "store", code=1)
    assert (done["sources"], done["refused"]) == (2, 1)
    assert "gone.json" in (tmp_path / "store" / "report.jsonl").read_text()
    missing = run(tmp_path, "precompute", "schema", "-t", "bytes", "-o", "store", code=4)["error"]["message"]
    assert missing == "no such file or folder: schema"


def test_vocabulary_packs(folder):
    made = run(folder, "vocab", "bytes", "-o", "bytes.ilk")
    assert interlock.Vocabulary.load(folder / "bytes.ilk").fingerprint == made["fingerprint"]
    assert run(folder, "vocab", "bytes.ilk", "--find", "a")["found"] == {"a": [97]}
    assert run(folder, "check", "pattern:a+", "--text", "aa", "-t", "bytes.ilk")["accepted"]
    run(folder, "compile", "pattern:a+", "-t", "bytes.ilk", "-o", "a.ilk")
    vocabulary = interlock.Vocabulary.load(folder / "bytes.ilk")
    assert interlock.Index.load(folder / "a.ilk", vocabulary).guide().forced_bytes() == b"a"
    assert "--eos" in run(folder, "vocab", "bytes.ilk", "--eos", "3", code=2)["error"]["message"]
    (folder / "cut.ilk").write_bytes((folder / "bytes.ilk").read_bytes()[:-64])
    assert run(folder, "vocab", "cut.ilk", code=4)["error"]["type"] == "ArtifactError"


def test_a_store_behind_a_url(folder, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    url = (folder / "far").as_uri()
    args = ["precompute", "schemas/deep", "--schema-key", "schema", "-t", "bytes", "-o", url, "--report", "r.jsonl"]
    assert run(folder, *args, code=1)["ok"] == 1
    assert run(folder, *args, code=1)["skipped"] == 3
    assert run(folder, "verify", url) == {
        "store": url,
        "packs": 1,
        "bytes": interlock.Store(url).total_bytes(),
        "problems": [],
    }
    assert len(list(folder.glob("far/??/*.ilk"))) == 1 and len(list(folder.glob("far/vocabularies/*.ilk"))) == 1


def test_tables_are_stored_unless_refused(folder):
    (folder / "p.regex").write_text("a{3,9}b")
    args = ["compile", "p.regex", "-t", "bytes", "-o", "p.ilk"]
    made, bare = run(folder, *args), run(folder, *args, "--no-tables")
    assert (made["complete"], made["states"], bare["complete"], bare["states"]) == (True, 11, False, None)
    assert bare["bytes"] < made["bytes"]
    few = [f"schemas/{n:03}.json" for n in range(COUNT - 3 - process_pool.FEW, COUNT - 3)]
    args = ["precompute", *few, "--schema-key", "schema", "-t", "bytes", "-o"]
    run(folder, *args, "store")
    run(folder, *args, "bare", "--no-tables")
    full, recipes = (interlock.Store(folder / name).total_bytes() for name in ("store", "bare"))
    assert recipes < full / 2


def shown(folder, *args, code=0):
    done = here(folder, *args)
    assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
    return done.stdout


def write_three_kinds(folder):
    """A source whose tables are complete, and one that recurses, so that they are not."""
    (folder / "kinds").mkdir()
    (folder / "kinds" / "flag.json").write_text('{"type": "boolean"}')
    (folder / "kinds" / "tree.json").write_text('{"type": "array", "items": {"$ref": "#"}}')
    return ["precompute", "kinds", "-t", "bytes", "-o", "store"]


def test_which_packs_have_tables(folder):
    args = write_three_kinds(folder)
    made = run(folder, *args)
    assert made["tables"] == {"complete": 1, "beginning": 1, "none": 0} and made["replaced"] == 0
    assert {row["name"]: row["tables"] for row in rows(folder)} == {"flag.json": "complete", "tree.json": "beginning"}
    # Of what was in the store before, too; also where no report is left.
    (folder / "store" / "report.jsonl").unlink()
    people = shown(folder, *args)
    assert "tables:    1 complete, 1 of the first states\n" in people
    assert "tables of the first states: kinds/tree.json\n" in people
    bare = shown(folder, *args[:-1], "bare", "--no-tables")
    assert "tables:    2 none, compiled again on load\n" in bare and "no tables" not in bare
    # A vocabulary that cannot spell every text is why there are none.
    few = [bytes([b]) for b in b"truefals[], \n\t\r"] + [b""]
    interlock.Vocabulary(few, eos_token_ids=[len(few) - 1]).save(folder / "few.ilk")
    people = shown(folder, *args[:2], "-t", "few.ilk", "-o", "narrow")
    assert "the vocabulary has no token for" in people, people


def test_a_damaged_pack_is_replaced_and_named(folder):
    args = write_three_kinds(folder)
    run(folder, *args)
    sound = {path: path.read_bytes() for path in packs(folder)}
    for path, data in sound.items():
        for damaged in (data[:-70] + bytes([data[-70] ^ 1]) + data[-69:], data[:300], b""):
            path.write_bytes(damaged)
            made = run(folder, *args)
            assert (made["replaced"], made["compiled"], made["done_before"]) == (1, 1, 1), path
            assert path.read_bytes() == data
    names = {path.stem: path for path in sound}
    by_name = {row["name"]: names[row["key"]] for row in rows(folder)}
    by_name["flag.json"].write_bytes(by_name["tree.json"].read_bytes())  # Sound, but not its own.
    people = shown(folder, *args)
    assert "replaced kinds/flag.json: " in people and "key that is not its own" in people
    assert "1 compiled + 1 in the store before" in people
    # It is said once.
    assert run(folder, *args)["replaced"] == 0 and "replaced" not in shown(folder, *args)
    assert run(folder, "verify", "store")["problems"] == []


def test_a_summary_names_few_and_hides_no_single_one():
    def details(refused=0, noted=0, bare=0):
        errors = [{"type": "GrammarError", "message": f"no rule {n}\n1 | start: x\n"} for n in range(refused)]
        rows = [{"name": f"r{n}", "key": None, "ok": False, "error": error} for n, error in enumerate(errors)]
        rows += [{"name": f"n{n}", "key": str(n), "ok": True, "notes": ["a note"]} for n in range(noted)]
        rows += [
            {"name": f"t{n}", "key": f"t{n}", "ok": True, "tables": "none" if n else "complete"} for n in range(bare)
        ]
        return [str(line) for line in Summary(rows, [], {}).details()]

    assert details(refused=6) == [f"refused r{n}: GrammarError: no rule {n}" for n in range(6)]
    assert details(refused=7)[5:] == ["  and 2 more refused; the report has all of them"]
    assert len(details(noted=6)) == 6
    assert details(bare=3) == ["no tables: t1, t2"]
    assert details(bare=9) == ["no tables: t1, t2, t3, t4, t5 and 3 more, in the report"]
    assert details(noted=7) == ["notes 7 on 7 sources, all of them in the report"]


def test_the_numbers_are_sums():
    """Whatever was done before, twice, or refused, in this run or in an earlier one."""
    error = {"type": "SchemaError", "message": "no"}
    kinds = {
        "compiled": lambda n: {"key": f"c{n}", "ok": True},
        "done_before": lambda n: {"key": f"b{n}", "ok": True, "skipped": True},
        "duplicates": lambda n: {"key": "c0", "ok": True, "skipped": True},
        "refused": lambda n: {"key": f"r{n}", "ok": False, "error": error},
        "refused before": lambda n: {"key": f"e{n}", "ok": False, "skipped": True},
    }
    for wanted in itertools.product(range(3), repeat=len(kinds)):
        if wanted[0] == 0 and wanted[2]:  # Of what would they be duplicates?
            continue
        rows = [
            make(n) | {"name": f"{kind} {n}"} for (kind, make), most in zip(kinds.items(), wanted) for n in range(most)
        ]
        random.Random(str(wanted)).shuffle(rows)
        counts = Summary(rows, [], {}).counts()
        compiled, before, duplicates, refused, refused_before = wanted
        assert [counts[kind] for kind in list(kinds)[:4]] == [compiled, before, duplicates, refused + refused_before]
        assert counts["sources"] == sum(wanted) and counts["packs"] == compiled + before
        if rows:
            shown = dict(Summary(rows, [], {}).lines())
            numbers = [int(number) for number in re.findall(r"\d+", str(shown["sources"]))]
            assert numbers[0] == sum(wanted) and (len(numbers) == 1 or sum(numbers[1:]) == numbers[0])
            assert sum(map(int, re.findall(r"\d+", str(shown["refused"]))[1:])) == refused + refused_before


def test_quiet_leaves_the_numbers_to_the_report(folder):
    (folder / "few").mkdir()
    (folder / "few" / "bad.json").write_text("{")
    (folder / "few" / "notes.txt").write_text("about")
    args = ["precompute", "few", "-t", "bytes", "-o", "store"]
    loud, quiet = (here(folder, *args, *more) for more in ([], ["-q"]))
    assert (
        "refused few/bad.json:1:2: SchemaError" in loud.stdout
        and "left out:  1 besides, which are no sources" in loud.stdout
    )
    assert "1 process\n" in loud.stdout
    assert "refused:   1: 1 SchemaError" in loud.stdout
    assert (loud.returncode, quiet.returncode, quiet.stdout, quiet.stderr) == (1, 1, "", "")
    assert [row["name"] for row in rows(folder)] == ["bad.json"]


def test_one_reason_of_all_is_said_once(folder):
    for name, schema in (("plain", {"schema": {"const": 1}}), ("alike", {"type": "strin"})):
        (folder / name).mkdir()
        for number in range(8):
            held = schema | ({"tests": [number], "description": "x"} if name == "plain" else {"title": str(number)})
            (folder / name / f"{number}.json").write_text(json.dumps(held))
    done = run(folder, "precompute", "alike", "-t", "bytes", "-o", "st", code=1)
    assert done["first_error"].startswith('alike/0.json: SchemaError: "strin" is not a type')
    args = ["precompute", "alike", "-t", "bytes", "-o", "st2"]
    people = here(folder, *args).stdout
    assert (
        people.count("is not a type") == 1
        and "refused all 8, for the same reason; the first, alike/0.json:1:" in people
    )
    assert remedy_of('SchemaError: pass what ["schema"] holds').startswith("--schema-key schema takes each schema")
    error = run(folder, "precompute", "plain", "-t", "bytes", "-o", "st", code=4)["error"]
    assert (
        "all 8 were left out; the first, plain/0.json" in error["message"] and "--schema-key schema" in error["remedy"]
    )
    assert run(folder, "precompute", "plain", "-t", "bytes", "-o", "st", "--schema-key", "schema")["packs"] == 1
    (folder / "plain" / "9.json").write_text(json.dumps({"const": 9}))
    args = ["precompute", "plain", "-t", "bytes", "-o", "st3"]
    people = here(folder, *args).stdout
    assert (
        "left out 8, for the same reason; the first, plain/0.json" in people and "  try: --schema-key schema" in people
    )


def test_many_sources_as_the_shell_expands_a_glob(folder):
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "a.json").write_text(json.dumps({"const": name}))
    args = ["precompute", "one/a.json", "two/a.json", "one", "-t", "bytes", "-o", "st"]
    assert run(folder, *args)["packs"] == 2
    report = (folder / "st" / "report.jsonl").read_text().splitlines()
    assert [json.loads(line)["name"] for line in report] == ["one/a.json", "two/a.json"]


def test_a_store_among_its_own_sources(folder):
    before = sorted((folder / "schemas").rglob("*"))
    for out in ("schemas", "./schemas/"):
        error = run(folder, "precompute", "schemas", "-t", "bytes", "-o", out, code=2)["error"]
        assert "would lie among its sources" in error["message"]
    (folder / "schemas" / "parts").mkdir()
    (folder / "schemas" / "parts" / "a.json").write_text("{}")
    before = sorted((folder / "schemas").rglob("*"))
    for source, out in (("schemas", "schemas/parts"), ("schemas/parts/a.json", "schemas/parts")):
        error = run(folder, "precompute", source, "-t", "bytes", "-o", out, code=2)["error"]
        assert "would lie among its sources" in error["message"]
    assert sorted((folder / "schemas").rglob("*")) == before
