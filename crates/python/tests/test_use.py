"""How the package behaves: selection, many logs, other libraries, damage, interruption."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import netra


def test_columns_and_ranks_are_chosen_before_decoding(wave):
    log = netra.open(wave)
    everything = log.dxt("POSIX").to_pandas()
    some = log.dxt("POSIX", ranks=[1, 3], columns=["length", "rank"]).to_pandas()
    assert list(some.columns) == ["length", "rank"]
    expected = everything[everything["rank"].isin([1, 3])][["length", "rank"]]
    assert some.values.tolist() == expected.values.tolist() != []
    assert log.dxt("POSIX", ranks=[]).count() == 0


def test_no_column_still_counts_rows(wave):
    assert netra.open(wave).counters("POSIX", columns=[]).count() == 5


def test_what_does_not_exist_is_named(wave):
    log = netra.open(wave)
    with pytest.raises(KeyError, match="there is no column 'offfset'; columns are rank, id".replace("'", '.')):
        log.dxt("POSIX", columns=["offfset"])
    with pytest.raises(KeyError, match="there is no module"):
        log.counters("POSIXX")
    with pytest.raises(KeyError, match="has no trace"):
        log.dxt("STDIO")
    with pytest.raises(ValueError, match="is a trace"):
        log.counters("DXT_POSIX")
    with pytest.raises(TypeError, match="a list of them is wanted"):
        log.dxt("POSIX", columns="offset")


def test_everybody_takes_the_same_table(wave):
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    segments = netra.open(wave).dxt("POSIX")
    total = sum(segments.to_dict()["length"])
    assert total > 0
    assert pyarrow.table(segments)["length"].to_pandas().sum() == total
    assert polars.DataFrame(segments)["length"].sum() == total
    assert segments.to_polars()["length"].sum() == total
    assert segments.to_pandas()["length"].sum() == total
    assert duckdb.sql("SELECT sum(length) FROM segments").fetchall() == [(total,)]
    assert pyarrow.schema(segments).names == segments.columns


def test_many_logs_are_one_with_a_column_more(wave, tmp_path):
    copies = []
    for number in range(20):
        copy = tmp_path / f"{number:02}.darshan"
        copy.write_bytes(pathlib.Path(wave).read_bytes())
        copies.append(str(copy))
    one = netra.open(wave).counters("POSIX").to_pandas()
    for many in (netra.open(copies), netra.open(tmp_path), netra.open(str(tmp_path / "*.darshan"))):
        assert many.paths == copies
        table = many.counters("POSIX").to_pandas()
        assert list(table.columns) == ["log", *one.columns]
        assert table.groupby("log", observed=True).size().tolist() == [len(one)] * 20
        assert table["POSIX_BYTES_WRITTEN"].sum() == 20 * one["POSIX_BYTES_WRITTEN"].sum()
    assert len(netra.open(copies).infos()) == 20
    with pytest.raises(ValueError, match="20 logs"):
        netra.open(copies).job


def test_findings_are_those_of_the_report(wave):
    log = netra.open(wave)
    report = log.report()
    assert [finding["slug"] for finding in log.findings()] == [one["slug"] for one in report["findings"]]
    assert report["log"] == wave


def test_a_damaged_log_raises_or_says_what_is_missing(wave, tmp_path):
    whole = pathlib.Path(wave).read_bytes()
    bad = tmp_path / "bad.darshan"
    for length in (0, 7, 100, 1400, 2000, len(whole) // 2, len(whole) - 1):
        bad.write_bytes(whole[:length])
        try:
            log = netra.open(bad)
        except netra.Error as error:
            assert str(bad) in str(error)
            continue
        gaps = [] if log.complete else log.missing
        assert all(gap["log"] == str(bad) and gap["reason"] for gap in gaps)
        # What is readable is read, and the interpreter lives.
        for module in log.modules:
            table = log.dxt(module) if module.startswith("DXT_") else log.counters(module)
            table.count()
    bad.write_bytes(b"#" * 5000)
    with pytest.raises(netra.Error, match="not a Darshan 3.x log"):
        netra.open(bad)
    with pytest.raises(netra.Error, match="can not open"):
        netra.open(tmp_path / "absent.darshan")
    with pytest.raises(netra.Error, match="nothing has such a name"):
        netra.open(str(tmp_path / "absent*"))


def test_import_needs_nothing_else(wave):
    code = textwrap.dedent(f"""
        import sys
        for name in ("numpy", "pandas", "polars", "pyarrow"):
            sys.modules[name] = None
        import netra
        table = netra.open({wave!r}).counters("POSIX")
        assert len(table.to_dict()["rank"]) == 5
        try:
            table.to_pandas()
        except ImportError as error:
            assert "to_dict() needs nothing" in str(error)
        else:
            raise SystemExit("to_pandas() should have failed")
    """)
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("read", ["dxt('POSIX').count()", "reports()", "infos()"])
def test_an_interrupt_gets_through(wave, read):
    code = textwrap.dedent(f"""
        import netra
        log = netra.open([{wave!r}] * 200)
        try:
            print("begun", flush=True)
            while True:
                log._info = None
                log.{read}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    os.kill(child.pid, signal.SIGINT)
    said, _ = child.communicate(timeout=60)
    assert (said, child.returncode) == ("interrupted\n", 0)


def test_others_work_while_netra_reads(wave):
    """A thread of Python goes on: who reads does not hold the interpreter."""
    log = netra.open([wave] * 1000)
    counted, stop = [0], threading.Event()

    def count():
        while not stop.wait(0.001):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        for read in (log.dxt("POSIX").count, log.trace().to_pandas, log.infos, log.reports):
            before = counted[0]
            read()
            # Some hundred milliseconds each.
            assert counted[0] - before >= 5, read
    finally:
        stop.set()
        thread.join()


def test_threads_read_at_once(wave):
    from concurrent.futures import ThreadPoolExecutor

    log = netra.open(wave)
    expected = log.dxt("POSIX").count()
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda _: log.dxt("POSIX").count(), range(64)))
    assert counts == [expected] * 64
