"""dlio: a training loop that reads shuffled small samples with forked workers (see README.md)."""

import json
import os
import random
import struct
import sys

PROGRAM = "dlio"

# name: (default, least, most or choices, what it says)
KNOBS = {
    "files": (4, 1, 1 << 20, "files of each rank's shard"),
    "samples": (64, 1, 1 << 24, "samples in a file"),
    "sample": (4096, 1, 1 << 30, "bytes of a sample"),
    "epochs": (2, 1, 1 << 20, "times every sample is read, in another order"),
    "workers": (2, 1, 1 << 10, "processes that a rank forks in each epoch"),
    "open": ("every", None, ("every", "once"), "a file is opened for every sample, or once by each worker"),
}
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class Refused(Exception):
    """The command line is wrong; the text says how."""


def number(name, text):
    """A whole number; a sample's size may have a unit."""
    digits = text.rstrip("KMGiB") if name == "sample" else text
    unit = UNITS.get(text[len(digits):]) if digits.isdigit() else None
    if unit is None:
        kind = "a size such as 4096, 64KiB or 16MiB" if name == "sample" else "a whole number"
        raise Refused(f"--{name} takes {kind}, not '{text}'")
    value = int(digits) * unit
    _, least, most, _ = KNOBS[name]
    if not least <= value <= most:
        raise Refused(f"--{name} must lie between {least} and {most}, and is '{text}'")
    return value


def read_knobs(words):
    """The knobs, and what else was asked: expect, help, ranks."""
    knobs = {name: row[0] for name, row in KNOBS.items()}
    asked = {"expect": False, "help": False, "ranks": 1}
    words = list(words)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            raise Refused(f"'{word}' is not a knob; knobs are written --name value (see --help)")
        name, equals, value = word[2:].partition("=")
        if name in ("expect", "help"):
            asked[name] = True
            continue
        if name not in KNOBS and name != "ranks":
            raise Refused(f"there is no knob --{name} (see --help)")
        if not equals:
            if not words:
                raise Refused(f"--{name} needs a value")
            value = words.pop(0)
        if name == "ranks":
            if not value.isdigit() or int(value) < 1:
                raise Refused(f"--ranks takes a whole number, not '{value}'")
            asked["ranks"] = int(value)
        elif isinstance(KNOBS[name][2], tuple):
            if value not in KNOBS[name][2]:
                raise Refused(f"--{name} is one of {'|'.join(KNOBS[name][2])}, not '{value}'")
            knobs[name] = value
        else:
            knobs[name] = number(name, value)
    return knobs, asked


def word_of(stream, index):
    """The same words as include/content.h."""
    mask = (1 << 64) - 1
    x = ((stream << 40) ^ index) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    x ^= x >> 31
    return 0x3FF0000000000000 | (x >> 12)


def content(stream, offset, length):
    """What stands in `length` bytes at `offset` of a stream."""
    first, last = offset // 8, (offset + length + 7) // 8
    words = struct.pack(f"<{last - first}Q", *(word_of(stream, i) for i in range(first, last)))
    return words[offset - 8 * first:][:length]


def expectation(knobs, ranks):
    """Calls and bytes by formula; every rank does the same."""
    files, samples, size = knobs["files"], knobs["samples"], knobs["sample"]
    read = knobs["epochs"] * files * samples
    opened = read if knobs["open"] == "every" else knobs["epochs"] * knobs["workers"] * files
    calls = {
        "open": (files + opened, 0),
        "write": (files, files * samples * size),
        "pread": (read, read * size),
        "close": (files + opened, 0),
    }

    def posix(times):
        return {"posix": {name: {"calls": times * calls_, "bytes": times * bytes_} for name, (calls_, bytes_) in calls.items()}}

    whole = samples * size
    made = [
        {
            "name": f"shard.{rank}.{file}",
            "layer": "posix",
            "size": whole,
            "content": [{"stream": file, "offset": 0, "length": whole}],
        }
        for rank in range(ranks)
        for file in range(files)
    ]
    return {"workload": PROGRAM, "ranks": ranks, "total": posix(ranks), "per_rank": [posix(1)] * ranks, "files": made}


def whole(done, length, name):
    """A short call is a failure: the number of calls is part of the promise."""
    if done != length:
        raise OSError(f"{name}: {done} of {length} bytes")


def make_shard(knobs, rank):
    length = knobs["samples"] * knobs["sample"]
    for file in range(knobs["files"]):
        name = f"shard.{rank}.{file}"
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        whole(os.write(handle, content(file, 0, length)), length, name)
        os.close(handle)


def work(knobs, rank, order):
    """One worker: the samples of its part of the epoch, in shuffled order."""
    size = knobs["sample"]
    kept = {}
    if knobs["open"] == "once":
        kept = {file: os.open(f"shard.{rank}.{file}", os.O_RDONLY) for file in range(knobs["files"])}
    for sample in order:
        file, place = divmod(sample, knobs["samples"])
        handle = kept[file] if kept else os.open(f"shard.{rank}.{file}", os.O_RDONLY)
        data = os.pread(handle, size, place * size)
        whole(len(data), size, f"shard.{rank}.{file}")
        if data != content(file, place * size, size):
            raise OSError(f"shard.{rank}.{file}: sample {place} is not what was written")
        if not kept:
            os.close(handle)
    for handle in kept.values():
        os.close(handle)


def epoch(knobs, rank, number_):
    """Forks the workers and waits for them; each takes every workers-th sample of the shuffle."""
    order = list(range(knobs["files"] * knobs["samples"]))
    random.Random(number_ << 20 | rank).shuffle(order)
    children = []
    for worker in range(knobs["workers"]):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work(knobs, rank, order[worker::knobs["workers"]])
                code = 0
            except OSError as error:
                print(f"{PROGRAM}: rank {rank}: {error}", file=sys.stderr)
            os._exit(code)
        children.append(child)
    if any(os.waitpid(child, 0)[1] for child in children):
        sys.exit(1)


def main():
    rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))
    try:
        knobs, asked = read_knobs(sys.argv[1:])
    except Refused as refused:
        if rank == 0:
            print(f"{PROGRAM}: {refused}", file=sys.stderr)
        return 64
    if asked["help"]:
        if rank == 0:
            for name, row in KNOBS.items():
                print(f"  --{name:<14} {row[0]:<12} {row[3]}")
        return 0
    if asked["expect"]:
        print(json.dumps(expectation(knobs, asked["ranks"])))
        return 0
    make_shard(knobs, rank)
    for number_ in range(knobs["epochs"]):
        epoch(knobs, rank, number_)
    return 0


if __name__ == "__main__":
    sys.exit(main())
