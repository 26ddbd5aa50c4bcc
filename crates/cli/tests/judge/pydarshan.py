"""Compares what `netra parse` and `netra dxt` say in JSON with PyDarshan's own library.

usage: pydarshan.py NETRA LOG...

Prints one line a log with the number of values compared, or the first differences; the exit code
is 1 when there are any. Only PyDarshan's thin layer over the C library is used: its data frames
change names and types.
"""

import json
import math
import subprocess
import sys

import darshan.backend.cffi_backend as judge

# Heat maps and Lustre records have their own shapes; AutoPerf's need an extra library.
GENERIC = {"POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "BG/Q",
           "DFS", "DAOS"}
# The newest version of each trace that the package on PyPI reads; Darshan itself writes newer ones.
TRACES = {"DXT_POSIX": 1, "DXT_MPIIO": 2}
# Counters that hold the id of another record: 64 bits without a sign.
UNSIGNED = {"POSIX_RENAMED_FROM"}
# Where the C library below PyDarshan is wrong: it loses the last two counters of POSIX records of
# version 3 and gives 0.
LOST = {("POSIX", 3): {"POSIX_F_VARIANCE_RANK_TIME", "POSIX_F_VARIANCE_RANK_BYTES"}}


class Comparison:
    """Counts what was compared, and collects what differs."""

    def __init__(self):
        self.compared = 0
        self.differences = []

    def same(self, where, ours, theirs):
        self.compared += 1
        if isinstance(theirs, float) and math.isnan(theirs) and ours is None:
            return
        if ours != theirs:
            self.differences.append(f"{where}: netra {ours!r}, PyDarshan {theirs!r}")


def netra(program, command, log):
    """The JSON document of one command; 1 means that something is missing from the log."""
    done = subprocess.run([program, command, "--format", "json", log], capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"netra {command} {log} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def compare_job(check, document, log):
    job, ours = judge.log_get_job(log), document["job"]
    check.same("uid", ours["uid"], job["uid"])
    check.same("job id", ours["id"], job["jobid"])
    check.same("processes", ours["processes"], job["nprocs"])
    check.same("start", ours["start_ns"],
               job["start_time_sec"] * 10**9 + job["start_time_nsec"])
    check.same("end", ours["end_ns"], job["end_time_sec"] * 10**9 + job["end_time_nsec"])
    # The C library subtracts seconds since 1970 as floats, which costs it the last digits.
    check.same("run time", round(ours["run_time_seconds"], 6), round(job["run_time"], 6))
    check.same("metadata", ours["metadata"], job["metadata"])
    check.same("log version", document["version"], job["log_ver"])
    mounts = [(mount["path"], mount["type"]) for mount in document["mounts"]]
    # The C library orders mounts of equal length as its sort happens to.
    check.same("mounts", sorted(mounts), sorted(judge.log_get_mounts(log)))
    # Without any mount the C library does not find the command line either.
    if mounts:
        check.same("command", ours["command"], judge.log_get_exe(log))
    else:
        check.same("command of a log without mounts", judge.log_get_exe(log), "")


def counters_of(name, record):
    """PyDarshan's record in netra's names."""
    if name == "HEATMAP":
        counters = {"HEATMAP_F_BIN_WIDTH_SECONDS": record["bin_width_seconds"]}
        for kind in ("read", "write"):
            for place, value in enumerate(record[f"{kind}_bins"]):
                counters[f"HEATMAP_{kind.upper()}_BIN_{place}"] = int(value)
        return counters
    if name == "LUSTRE":
        return lustre_counters(record)
    counters = {key: int(value) for key, value in record["counters"].items()}
    for key in UNSIGNED & counters.keys():
        counters[key] %= 2**64
    counters |= {key: float(value) for key, value in record["fcounters"].items()}
    if "file_rec_id" in record:
        counters[f"{name}_FILE_REC_ID"] = record["file_rec_id"]
    return counters


def lustre_counters(record):
    """The numbers of the components; what is printed as words is left to the text judges."""
    components = record["components"]
    counters = {"LUSTRE_NUM_COMPONENTS": len(components),
                "LUSTRE_NUM_STRIPES": sum(len(part["ost_ids"]) for part in components)}
    for number, component in enumerate(components, 1):
        for key in ("STRIPE_SIZE", "STRIPE_COUNT", "EXT_START", "EXT_END", "MIRROR_ID"):
            value = component["counters"][f"LUSTRE_COMP_{key}"]
            counters[f"LUSTRE_COMP{number}_{key}"] = int(value)
        for place, target in enumerate(component["ost_ids"]):
            counters[f"LUSTRE_COMP{number}_OST_ID_{place}"] = int(target)
    return counters


def records_of(log, name):
    """Every record of a module, in the log's order."""
    while (record := judge.log_get_record(log, name, dtype="dict")) is not None:
        yield record


def compare_counters(check, document, log):
    names = judge.log_get_name_records(log)
    modules = {module["name"]: module for module in document["modules"]}
    for name, info in judge.log_get_modules(log).items():
        check.same(f"{name} version", modules[name]["version"], info["ver"])
        check.same(f"{name} partial", modules[name]["partial"], info["partial_flag"])
        if name not in GENERIC | {"HEATMAP", "LUSTRE"}:
            continue
        theirs = list(records_of(log, name))
        ours = modules[name]["records"]
        check.same(f"{name} records", len(ours), len(theirs))
        for our, their in zip(ours, theirs):
            where = f"{name} {their['id']} rank {their['rank']}"
            check.same(f"{where} id", our["id"], str(their["id"]))
            check.same(f"{where} rank", our["rank"], their["rank"])
            if name not in ("BG/Q", "DAOS"):
                check.same(f"{where} file", our["file"], names.get(their["id"]))
            lost = LOST.get((name, info["ver"]), set())
            for key, value in counters_of(name, their).items():
                if key in lost:
                    check.same(f"{where} {key} as the C library loses it", value, 0.0)
                else:
                    check.same(f"{where} {key}", our["counters"].get(key), value)


def compare_segments(check, document, log):
    modules = {module["name"]: module for module in document["modules"]}
    for name, info in judge.log_get_modules(log).items():
        if info["ver"] > TRACES.get(name, 0):
            continue
        theirs = list(records_of(log, name))
        ours = modules[name]["records"]
        check.same(f"{name} records", len(ours), len(theirs))
        for our, their in zip(ours, theirs):
            where = f"{name} {their['id']} rank {their['rank']}"
            check.same(f"{where} id", our["id"], str(their["id"]))
            check.same(f"{where} rank", our["rank"], their["rank"])
            check.same(f"{where} host", our["host"], their["hostname"])
            for kind in ("write", "read"):
                segments = [(s["offset"], s["length"], s["start_time"], s["end_time"])
                            for s in their[f"{kind}_segments"]]
                mine = [(s["offset"], s["length"], s["start_seconds"], s["end_seconds"])
                        for s in our[f"{kind}s"]]
                check.same(f"{where} {kind}s", mine, segments)
                check.compared += 4 * len(segments)


def main(program, logs):
    failed = False
    for path in logs:
        check = Comparison()
        counters, segments = netra(program, "parse", path), netra(program, "dxt", path)
        log = judge.log_open(path)
        compare_job(check, counters, log)
        compare_counters(check, counters, log)
        compare_segments(check, segments, log)
        judge.log_close(log)
        print(f"{path}: {check.compared} values, {len(check.differences)} differ")
        for difference in check.differences[:20]:
            print(f"    {difference}")
        failed |= bool(check.differences)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
