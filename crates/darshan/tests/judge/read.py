"""Prints what PyDarshan finds in logs: one line a value, `module id rank name value`, tab separated."""

import sys

import darshan
import darshan.backend.cffi_backend as backend

DXT = ("DXT_POSIX", "DXT_MPIIO")


def say(module, record, name, value):
    print(module, record["id"], record["rank"], name, value, sep="\t")


def values(module, record):
    if module in DXT:
        for kind in ("write", "read"):
            for number, segment in enumerate(record[kind + "_segments"]):
                for field in ("offset", "length", "start_time", "end_time"):
                    yield f"{kind}{number}.{field}", segment[field]
    elif module == "HEATMAP":
        yield "width", record["bin_width_seconds"]
        for kind in ("read", "write"):
            for number, value in enumerate(record[kind + "_bins"]):
                yield f"{kind}{number}", value
    elif module == "LUSTRE":
        for number, component in enumerate(record["components"]):
            for name, value in zip(
                backend.counter_names("LUSTRE_COMP"), component["counters"].tolist()
            ):
                yield f"{number}.{name}", value
            for target, ost in enumerate(component["ost_ids"].tolist()):
                yield f"{number}.ost{target}", ost
    else:
        for name, value in zip(backend.counter_names(module), record["counters"].tolist()):
            yield name, value
        names = backend.fcounter_names(module)
        for name, value in zip(names, record["fcounters"].tolist()):
            yield name, value


def main(path):
    print("log", path, sep="\t")
    log = backend.log_open(path)
    job = backend.log_get_job(log)
    for field in ("uid", "jobid", "nprocs", "start_time_sec", "end_time_sec"):
        print("job", field, job[field], sep="\t")
    print("exe", backend.log_get_exe(log), sep="\t")
    for name_id, name in sorted(backend.log_get_name_records(log).items()):
        print("name", name_id, name, sep="\t")
    for module in backend.log_get_modules(log):
        if module in ("APXC", "APMPI", "MDHIM", "BG/Q", "NULL"):
            continue
        while True:
            if module in DXT:
                record = backend.log_get_dxt_record(log, module, dtype="dict")
            else:
                record = backend.log_get_record(log, module, dtype="numpy")
            if record is None:
                break
            for name, value in values(module, record):
                say(module, record, name, value)
    backend.log_close(log)
    # The report object is what people use; it must be able to take the log in.
    darshan.DarshanReport(path, read_all=True)


for path in sys.argv[1:]:
    main(path)
