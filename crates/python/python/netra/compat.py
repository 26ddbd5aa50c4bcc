"""The reading interface of PyDarshan's ``DarshanReport``, over netra's reader.

For scripts that come from PyDarshan: ``from netra.compat import DarshanReport``. Records, traces, heat maps,
names and metadata have the same shapes; what plots, aggregates or filters by time is not here. New code is
shorter and quicker with ``netra.open``; ``docs/use/python.md`` says which call is which. Needs NumPy, and pandas
where data frames are asked for.
"""

from __future__ import annotations

import datetime
import logging
import re
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Union

import numpy as np

import netra

__all__ = ["DarshanReport", "Heatmap", "Records"]

_log = logging.getLogger(__name__)

_TRACES = ("DXT_POSIX", "DXT_MPIIO")
_SPECIAL = (*_TRACES, "LUSTRE", "APMPI", "APXC", "HEATMAP")
_PLACE = ("rank", "id", "file", "mount", "fs")
_PARENTS = ("H5D_FILE_REC_ID", "PNETCDF_VAR_FILE_REC_ID")
_LAYOUT = re.compile(r"LUSTRE_COMP(\d+)_(.*)")


class DarshanReport:
    """A log, read as PyDarshan reads it."""

    def __init__(
        self,
        filename: Optional[str] = None,
        dtype: str = "numpy",
        read_all: bool = True,
        filter_patterns: Optional[Sequence[str]] = None,
        filter_mode: str = "exclude",
    ) -> None:
        if filter_mode not in ("exclude", "include"):
            raise RuntimeError(f"filter_mode is 'exclude' or 'include', not {filter_mode!r}")
        self.filename = filename
        self.dtype = dtype
        self.records: Dict[str, Any] = {}
        self.counters: Dict[str, Dict[str, List[str]]] = {}
        self.heatmaps: Dict[str, Heatmap] = {}
        self.modules: Dict[str, Dict[str, Any]] = {}
        self.metadata: Dict[str, Any] = {}
        self.mounts: List[Any] = []
        self.name_records: Dict[int, str] = {}
        self.data: Dict[str, Any] = {"records": self.records}
        self._wanted: Callable[[str], bool] = _filter(filter_patterns, filter_mode)
        if filename is not None:
            self._open(filename)
            if read_all:
                self.read_all()

    def _open(self, filename: str) -> None:
        try:
            self._log = netra.open([filename])
            info = self._log.info
        except netra.Error as error:
            raise RuntimeError(f"Failed to open file: {error}") from error
        job = info["job"]
        start, end = divmod(job["start_ns"], 10**9), divmod(job["end_ns"], 10**9)
        self.metadata["job"] = {
            "uid": job["uid"],
            "start_time_sec": start[0],
            "start_time_nsec": start[1],
            "end_time_sec": end[0],
            "end_time_nsec": end[1],
            "nprocs": job["processes"],
            "jobid": job["id"],
            "run_time": job["run_time_seconds"],
            "log_ver": info["version"],
            "metadata": job["metadata"],
        }
        self.metadata["exe"] = job["command"]
        self.start_time = datetime.datetime.fromtimestamp(start[0])
        self.end_time = datetime.datetime.fromtimestamp(end[0])
        self.mounts = [(mount["path"], mount["type"]) for mount in info["mounts"]]
        for module in info["modules"]:
            self.modules[module["name"]] = {
                "len": module["stored_bytes"],
                "ver": module["version"],
                "idx": module["code"],
                "partial_flag": module["partial"],
            }
        names = self._log.names(columns=["id", "file"]).to_dict()
        pairs = zip(names["id"], names["file"])
        self.name_records = {id: name for id, name in pairs if self._wanted(name)}
        self.data.update(
            metadata=self.metadata, modules=self.modules, mounts=self.mounts,
            name_records=self.name_records, counters=self.counters,
        )

    def read_all(self, dtype: Optional[str] = None) -> None:
        """Reads every module's records, traces and heat maps."""
        for module in self.modules:
            if module in _TRACES:
                self.mod_read_all_dxt_records(module, dtype=dtype)
            elif module == "LUSTRE":
                self.mod_read_all_lustre_records()
            elif module == "HEATMAP":
                self.read_all_heatmap_records()
            elif module not in _SPECIAL:
                self.mod_read_all_records(module, dtype=dtype)

    def mod_read_all_records(self, mod: str, dtype: Optional[str] = None, warnings: bool = True) -> None:
        """Reads the counters of a module into ``records[mod]``."""
        if mod in _SPECIAL:
            if warnings:
                _log.warning(" Skipping. Currently unsupported: %s in mod_read_all_records().", mod)
            return
        if mod not in self.modules:
            raise ValueError(f"mod {mod} is not available in this DarshanReport object.")
        table = self._log.counters(mod)
        names = [name for name in table.columns if name not in _PLACE and name not in _PARENTS]
        ints = [name for name in names if "_F_" not in name]
        floats = [name for name in names if "_F_" in name]
        self.counters[mod] = {"counters": ints, "fcounters": floats}
        columns = table.to_dict()
        counters = _rows(columns, ints, np.int64)
        fcounters = _rows(columns, floats, np.float64)
        records = Records(mod, self)
        for place, (id, rank) in enumerate(zip(columns["id"], columns["rank"])):
            # A record without a name is one that a filter left out.
            if id in self.name_records:
                records.append(
                    {"id": id, "rank": rank, "counters": counters[place], "fcounters": fcounters[place]}
                )
        self.modules[mod]["num_records"] = len(records)
        self.records[mod] = _shaped(records, dtype or self.dtype)

    def mod_read_all_dxt_records(
        self, mod: str, dtype: Optional[str] = None, warnings: bool = True,
        reads: bool = True, writes: bool = True,
    ) -> None:
        """Reads a trace into ``records[mod]``: a record a file and process, with its segments."""
        if mod not in self.modules or mod not in _TRACES:
            if warnings:
                says = "Unsupported module:" if mod in self.modules else "Log does not contain data for mod"
                _log.warning(" Skipping. %s %s", says, mod)
            return
        names = ["id", "rank", "host", "operation", "offset", "length", "start", "end"]
        columns = self._log.dxt(mod, columns=names).to_dict()
        found: Dict[Any, Dict[str, Any]] = {}
        for id, rank, host, word, offset, length, start, end in zip(*(columns[name] for name in names)):
            record = found.get((id, rank, host))
            if record is None:
                if id not in self.name_records:
                    continue
                record = found[(id, rank, host)] = {
                    "id": id, "rank": rank, "hostname": host, "write_count": 0, "read_count": 0,
                    "write_segments": [], "read_segments": [],
                }
            record[word + "_count"] += 1
            if writes if word == "write" else reads:
                segment = {"offset": offset, "length": length, "start_time": start, "end_time": end}
                record[word + "_segments"].append(segment)
        records = Records(mod, self)
        for record in found.values():
            records.append(record)
        self.modules[mod]["num_records"] = len(records)
        if (dtype or self.dtype) == "pandas":
            records._records = records.to_df()
        self.records[mod] = records

    def mod_read_all_lustre_records(self, mod: str = "LUSTRE") -> None:
        """Reads the layouts of files into ``records["LUSTRE"]``: a record a file, with its components."""
        if mod not in self.modules:
            raise ValueError(f"mod {mod} is not available in this DarshanReport object.")
        table = self._log.counters(mod).to_dict()
        numbers = ["STRIPE_SIZE", "STRIPE_COUNT", "STRIPE_PATTERN", "FLAGS", "EXT_START", "EXT_END", "MIRROR_ID"]
        self.counters[mod] = {"counters": ["LUSTRE_COMP_" + name for name in numbers]}
        records = Records(mod, self)
        for place, (id, rank) in enumerate(zip(table["id"], table["rank"])):
            parts: Dict[int, Dict[str, Any]] = {}
            for name, column in table.items():
                matched = _LAYOUT.match(name)
                if matched and column[place] is not None:
                    parts.setdefault(int(matched[1]), {})[matched[2]] = column[place]
            components = [
                {
                    "counters": np.array([part[name] for name in numbers], dtype=np.int64),
                    "pool_name": part.get("POOL_NAME", ""),
                    "ost_ids": np.array(
                        [value for name, value in part.items() if name.startswith("OST_ID_")],
                        dtype=np.int64,
                    ),
                }
                for _, part in sorted(parts.items())
            ]
            if id in self.name_records:
                records.append({"id": id, "rank": rank, "components": components})
        self.modules[mod]["num_records"] = len(records)
        self.records[mod] = records

    def read_all_heatmap_records(self) -> None:
        """Reads the heat maps into ``heatmaps``, by layer."""
        if "HEATMAP" not in self.modules:
            raise ValueError("Log does not contain data for mod: HEATMAP")
        columns = self._log.heatmap(columns=["layer", "rank", "end", "bin", "read", "written"]).to_dict()
        rows = zip(*(columns[name] for name in ("layer", "rank", "bin", "end", "read", "written")))
        for layer, rank, bin, end, read, written in rows:
            heatmap = self.heatmaps.setdefault(layer, Heatmap(layer))
            if bin == 0:
                heatmap._begin(rank, end)
            heatmap._add(rank, read, written)

    def __enter__(self) -> "DarshanReport":
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class Records:
    """The records of a module; one of them can be taken apart by name."""

    def __init__(self, mod: str, report: DarshanReport) -> None:
        self.mod = mod
        self.report = report
        self._records: Any = []

    def append(self, record: Dict[str, Any]) -> None:
        self._records.append(record)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._records)

    def __getitem__(self, which: Union[int, slice]) -> Any:
        if not isinstance(which, slice):
            return self._records[which]
        some = Records(self.mod, self.report)
        some._records = self._records[which]
        return some

    def to_numpy(self) -> List[Dict[str, Any]]:
        """The records, counters as arrays."""
        return [_copied(record) for record in self._records]

    def to_list(self) -> List[Dict[str, Any]]:
        """The records, counters as lists."""
        return [
            {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in record.items()}
            for record in self._records
        ]

    def to_dict(self) -> List[Dict[str, Any]]:
        """The records, counters by name."""
        if self.mod in _SPECIAL:
            return self.to_numpy()
        names = self.report.counters[self.mod]
        return [
            {**record, **{part: dict(zip(names[part], record[part])) for part in ("counters", "fcounters")}}
            for record in self._records
        ]

    def to_df(self, attach: Any = "default") -> Any:
        """Data frames: ``counters`` and ``fcounters``, ``components``, or one pair a trace."""
        import pandas

        columns = ["id", "rank"] if attach == "default" else list(attach or [])
        if self.mod in _TRACES:
            return [
                {**record, **{part: pandas.DataFrame(record[part]) for part in ("read_segments", "write_segments")}}
                for record in self._records
            ]
        if self.mod == "LUSTRE":
            rows = [(record, part) for record in self._records for part in record["components"]]
            columned = self.report.counters[self.mod]["counters"]
            frame = pandas.DataFrame([part["counters"] for _, part in rows], columns=columned)
            frame["LUSTRE_POOL_NAME"] = [part["pool_name"] for _, part in rows]
            frame["LUSTRE_OST_IDS"] = [part["ost_ids"] for _, part in rows]
            return {"components": _attached(frame, columns, [record for record, _ in rows])}
        names = self.report.counters[self.mod]
        frames = {}
        for part in ("counters", "fcounters"):
            stacked: Any = np.stack([record[part] for record in self._records]) if len(self) else []
            frame = pandas.DataFrame(stacked, columns=names[part])
            frames[part] = _attached(frame, columns, self._records)
        return frames


class Heatmap:
    """Bytes over time of one layer."""

    def __init__(self, mod: str) -> None:
        self.mod = mod
        self.bin_width_seconds = 0.0
        self._reads: Dict[int, List[int]] = {}
        self._writes: Dict[int, List[int]] = {}

    def _begin(self, rank: int, width: float) -> None:
        self.bin_width_seconds = width
        self._reads[rank], self._writes[rank] = [], []

    def _add(self, rank: int, read: int, written: int) -> None:
        self._reads[rank].append(read)
        self._writes[rank].append(written)

    def to_df(self, ops: Sequence[str], interval_index: bool = True) -> Any:
        """A row a process, a column a bin, in bytes."""
        import pandas

        chosen = [maps for op, maps in (("read", self._reads), ("write", self._writes)) if op in ops]
        frame: Any = sum(
            (pandas.DataFrame.from_dict(maps, orient="index").fillna(0).astype("int64") for maps in chosen), 0
        )
        if interval_index:
            edges: Any = np.arange(len(frame.columns) + 1) * self.bin_width_seconds
            frame.columns = pandas.IntervalIndex.from_breaks(edges, closed="left")
        frame.index.name = "rank"
        return frame.sort_index()


def _filter(patterns: Optional[Sequence[str]], mode: str) -> Callable[[str], bool]:
    if not patterns:
        return lambda name: True
    compiled = [re.compile(pattern) for pattern in patterns]
    return lambda name: any(one.search(name) for one in compiled) == (mode == "include")


def _rows(columns: Dict[str, List[Any]], names: List[str], kind: Any) -> Any:
    """A row a record. Ids are counters there, and are cut to their sign as C does."""
    if not names:
        return np.empty((len(columns["id"]), 0), dtype=kind)
    stored = [np.array(columns[name], dtype=np.uint64).astype(kind) if name == "POSIX_RENAMED_FROM"
              else np.array(columns[name], dtype=kind) for name in names]
    return np.stack(stored, axis=1)


def _shaped(records: Records, dtype: str) -> Any:
    if dtype == "dict":
        records._records = records.to_dict()
    elif dtype == "pandas":
        return [{"rank": -1, "id": -1, **records.to_df()}]
    return records


def _copied(record: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value.copy() if isinstance(value, (np.ndarray, list)) else value for name, value in record.items()}


def _attached(frame: Any, columns: List[str], records: Sequence[Dict[str, Any]]) -> Any:
    for name in ("id", "rank"):
        if name in columns:
            kind = "uint64" if name == "id" else "int64"
            frame.insert(0, name, np.array([record[name] for record in records], dtype=kind))
    return frame
