"""Stores, servers and subscriptions, through the real program: NETRA_PROGRAM names it, ``cargo xtask test`` sets that."""

import asyncio
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import netra

PROGRAM = os.environ.get("NETRA_PROGRAM")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="NETRA_PROGRAM names no program")


def run(*words, **options):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True, **options).stdout


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with the example log in it."""
    place = tmp_path_factory.mktemp("kept") / "store"
    wave = pathlib.Path(__file__).resolve().parents[3] / "docs" / "example" / "wave.darshan"
    run("import", "--store", str(place), str(wave))
    return str(place)


@pytest.fixture(scope="module")
def served(store):
    """The address of a server over it, as the program prints it."""
    child = subprocess.Popen(
        [PROGRAM, "serve", "--store", store, "--listen", "127.0.0.1:0", "--daemon", "unix:/nobody"], stderr=subprocess.PIPE, text=True
    )
    try:
        for line in child.stderr:
            found = re.search(r"http://\S+#\S+", line)
            if found:
                yield found.group(0)
                break
        else:
            pytest.fail("the server printed no address")
    finally:
        child.kill()
        child.wait()


ENDLESS = "SELECT count(*) FROM generate_series(1, 100000000000) AS s(v) WHERE v % 7 = 3"
QUESTION = """SELECT rank, op, count(*) AS calls, sum(bytes) AS bytes, min(t) AS first FROM events
              GROUP BY rank, op ORDER BY rank, op"""


def expected(store):
    lines = run("sql", "--store", store, "--format", "jsonl", QUESTION).splitlines()
    return [json.loads(line) for line in lines]


def as_rows(table):
    columns = table.to_dict()
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def same(table, store):
    rows = expected(store)
    assert rows and [{k: v for k, v in row.items() if k != "first"} for row in as_rows(table)] == [
        {k: v for k, v in row.items() if k != "first"} for row in rows
    ]
    for row, other in zip(as_rows(table), rows):
        assert row["first"] == datetime.datetime.fromisoformat(other["first"].replace("Z", "+00:00"))


def test_a_store_answers_as_the_program_does(store, wave):
    table = netra.store(store, program=PROGRAM).sql(QUESTION)
    assert table.columns == ["rank", "op", "calls", "bytes", "first"]
    # The table is read as often as it is asked.
    same(table, store)
    assert table.count() == len(expected(store))
    assert list(table.to_pandas()["calls"]) == [row["calls"] for row in expected(store)]
    assert table.to_polars()["bytes"].to_list() == [row["bytes"] for row in expected(store)]
    # And it is the log's: its DXT segments are events.
    log = netra.open(wave).dxt("POSIX").to_pandas()
    moved = netra.store(store, program=PROGRAM).sql("SELECT sum(bytes) AS moved FROM events WHERE layer = 'POSIX'")
    assert moved.to_dict() == {"moved": [log["length"].sum()]}


def test_whole_numbers_with_holes_stay_whole(store):
    table = netra.store(store, program=PROGRAM).sql(
        "SELECT n, 1 AS one, m, n + 1 AS next FROM (VALUES (9007199254740993, 0.5), (NULL, NULL)) AS v(n, m)"
    )
    frame = table.to_pandas()
    assert [(name, str(kind)) for name, kind in frame.dtypes.items()] == [
        ("n", "Int64"), ("one", "int64"), ("m", "float64"), ("next", "Int64")
    ]
    assert frame["next"].tolist()[0] == 9007199254740994 and frame["n"].isna().tolist() == [False, True]


def test_a_server_answers_the_same(store, served):
    server = netra.connect(served)
    same(server.sql(QUESTION), store)
    assert server.get("/api/health")["ok"] is True
    address, token = served.split("#token=") if "#token=" in served else served.split("#")
    same(netra.connect(address, token=token).sql(QUESTION), store)
    with pytest.raises(netra.Error, match="a token is needed"):
        netra.connect(address).sql("SELECT 1")
    # The address of a job's page leads to its server, and to the job.
    key = server.sql("SELECT job FROM jobs").to_dict()["job"][0]
    page = netra.connect(f"{address}/jobs/{key}", token=token)
    same(page.sql(QUESTION), store)
    assert page.job(key)["job"] == key


def test_errors_have_the_words_of_the_program(store, served):
    for asked in ("SELECT * FROM evnts", "SELEC 1", "SELECT durration FROM events", "DROP TABLE events", "SELECT 1; SELECT 2"):
        said = subprocess.run([PROGRAM, "sql", "--store", store, asked], capture_output=True, text=True)
        words = said.stderr.strip()[len("netra: "):]
        assert said.returncode == 2 and words
        for ask in (netra.store(store, program=PROGRAM).sql, netra.connect(served).sql):
            with pytest.raises(netra.Error) as raised:
                ask(asked)
            assert str(raised.value) == words


def test_a_missing_program_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("NETRA_PROGRAM", raising=False)
    with pytest.raises(netra.Error, match="there is no program netra: .* NETRA_PROGRAM"):
        netra.store(tmp_path)
    with pytest.raises(netra.Error, match="there is no program"):
        netra.subscribe("io")
    with pytest.raises(ValueError, match="is no address of a server"):
        netra.connect("localhost:80")
    with pytest.raises(netra.Error, match="127.0.0.1:1"):
        netra.connect("http://127.0.0.1:1").sql("SELECT 1")


def test_time_and_memory_have_an_end(store):
    with pytest.raises(netra.Error, match="the question took longer than 1 s"):
        netra.store(store, program=PROGRAM, timeout=1).sql(ENDLESS).count()


def test_an_interrupt_ends_a_question(store):
    code = textwrap.dedent(f"""
        import netra
        store = netra.store({store!r}, program={PROGRAM!r})
        try:
            print("begun", flush=True)
            store.sql({ENDLESS!r}).count()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    os.kill(child.pid, signal.SIGINT)
    said, _ = child.communicate(timeout=120)
    assert (said, child.returncode) == ("interrupted\n", 0)


@pytest.fixture
def daemon(tmp_path):
    """A daemon that takes and gives messages."""
    address = f"unix:{tmp_path}/hub.sock"
    settings = tmp_path / "netra.toml"
    settings.write_text(
        f'name = "hub"\nstate = "{tmp_path}/state"\n[[listen]]\naddress = "{address}"\n'
        '[[sink]]\nname = "nothing"\nkind = "null"\n'
    )
    child = subprocess.Popen([PROGRAM, "daemon", str(settings)], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not os.path.exists(f"{tmp_path}/hub.sock"):
        assert child.poll() is None, child.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield address
    child.kill()
    child.wait()


def publishing(daemon, stop):
    """Publishes again and again: a subscriber gets what comes after it."""
    number = 0
    while not stop.is_set():
        run("publish", "--daemon", daemon, "--form", "json", "site.test", json.dumps({"number": number}))
        number += 1


def test_a_tag_is_followed_by_for_and_by_async_for(daemon):
    stop = threading.Event()
    thread = threading.Thread(target=publishing, args=(daemon, stop))
    thread.start()
    try:
        found = []
        for item in netra.subscribe("site.test", daemon=daemon, program=PROGRAM):
            found.append(item["json"]["number"])
            if len(found) == 3:
                break
        assert found == list(range(found[0], found[0] + 3))

        async def follow():
            return [item async for item in netra.subscribe("site.*", daemon=daemon, count=2, program=PROGRAM)]

        items = asyncio.run(follow())
        assert [item["tag"] for item in items] == ["site.test"] * 2
        assert items[1]["json"]["number"] == items[0]["json"]["number"] + 1
    finally:
        stop.set()
        thread.join()


def test_gaps_are_told_in_their_place(tmp_path):
    stand_in = tmp_path / "netra"
    stand_in.write_text('#!/bin/sh\necho \'{"a":1}\'\necho \'{"missed":7}\'\necho \'{"a":2}\'\nexit 1\n')
    stand_in.chmod(0o755)
    assert list(netra.subscribe("io", program=str(stand_in))) == [{"a": 1}, netra.Gap(7), {"a": 2}]


def test_a_daemon_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(netra.Error, match="calling"):
        list(netra.subscribe("io", daemon=f"unix:{tmp_path}/nobody", program=PROGRAM))


def test_an_analysis_is_a_table(store, served, monkeypatch):
    monkeypatch.delenv("NETRA_PYTHON", raising=False)  # its own interpreter has pandas
    job = netra.store(store, program=PROGRAM).sql("SELECT job FROM jobs").to_dict()["job"][0]
    table = netra.store(store, program=PROGRAM).analyse("slow_ranks", job=job, times=2.5)
    frame = table.to_pandas()
    assert list(frame["rank"]) == [0, 1, 2, 3] and set(frame["slow"]) <= {True, False}
    with pytest.raises(netra.Error, match="analysis slow_ranks: job is needed"):
        netra.store(store, program=PROGRAM).analyse("slow_ranks")


MODULE = """
import pandas
inputs = {"one": "SELECT 1 AS x"}
def analyse(one, ranks: "list[int]", since: "datetime", names: "list[str]" = [], deep: bool = False, most: int = 7):
    return pandas.DataFrame({"said": [repr((ranks, since.isoformat(), names, deep, most))]})
"""


def test_parameters_of_an_analysis_are_written_as_it_reads_them(store, monkeypatch, tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "echo.py").write_text(MODULE)
    (tmp_path / "echo.py").chmod(0o644)
    monkeypatch.setenv("NETRA_PYTHON", sys.executable)
    monkeypatch.setenv("NETRA_ANALYSIS", str(tmp_path))
    since = datetime.datetime(2026, 11, 16, 10, tzinfo=datetime.timezone.utc)
    given = dict(ranks=range(3), since=since, names=["a", "b"], deep=True, most=None)
    table = netra.store(store, program=PROGRAM).analyse("echo", **given)
    assert table.to_dict() == {"said": [repr(([0, 1, 2], "2026-11-16T10:00:00+00:00", ["a", "b"], True, 7))]}
    with pytest.raises(netra.Error, match='since: "2026-11-16T10:00:00" is no point in time such as'):
        netra.store(store, program=PROGRAM).analyse("echo", ranks=[], since=since.replace(tzinfo=None))
