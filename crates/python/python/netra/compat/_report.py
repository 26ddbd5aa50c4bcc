"""A log, read as PyDarshan reads it."""

from __future__ import annotations

import datetime
import functools
import json
import logging
import re
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

import netra

from ._heatmap import Heatmap
from ._records import SPECIAL, TRACES, Records, jsoned

_logger = logging.getLogger(__name__)

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
        self.data: Dict[str, Any] = {"version": 1, "records": self.records}
        self._wanted = functools.partial(_wanted, list(filter_patterns or []), filter_mode == "include")
        self._opened: Optional[netra.Log] = None
        if filename is not None:
            self._open(filename)
            if read_all:
                self.read_all()

    @property
    def log(self) -> "netra.Log":
        """The log itself, with everything that netra knows of it."""
        if self._opened is None:
            if self.filename is None:
                raise ValueError("this report was made without a log")
            self._opened = netra.open([self.filename])
        return self._opened

    def _open(self, filename: str) -> None:
        try:
            info = self.log.info
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
        names = self.log.names(columns=["id", "file"]).to_dict()
        pairs = zip(names["id"], names["file"])
        self.name_records = {id: name for id, name in pairs if self._wanted(name)}
        self.data.update(
            metadata=self.metadata, modules=self.modules, mounts=self.mounts,
            name_records=self.name_records, counters=self.counters,
        )

    def read_all(self, dtype: Optional[str] = None) -> None:
        """Reads every module's records, traces and heat maps."""
        self.read_all_generic_records(dtype=dtype)
        self.read_all_dxt_records(dtype=dtype)
        if "LUSTRE" in self.modules:
            self.mod_read_all_lustre_records()
        if "HEATMAP" in self.modules:
            self.read_all_heatmap_records()

    def read_all_generic_records(self, dtype: Optional[str] = None) -> None:
        """Reads the counters of every module."""
        for module in self.modules:
            if module not in SPECIAL:
                self.mod_read_all_records(module, dtype=dtype)

    def read_all_dxt_records(self, reads: bool = True, writes: bool = True, dtype: Optional[str] = None) -> None:
        """Reads the traces."""
        for module in self.modules:
            if module in TRACES:
                self.mod_read_all_dxt_records(module, dtype=dtype, reads=reads, writes=writes)

    def mod_read_all_records(self, mod: str, dtype: Optional[str] = None, warnings: bool = True) -> None:
        """Reads the counters of a module into ``records[mod]``."""
        if mod in SPECIAL:
            if warnings:
                _logger.warning(" Skipping. Currently unsupported: %s in mod_read_all_records().", mod)
            return
        if mod not in self.modules:
            raise ValueError(f"mod {mod} is not available in this DarshanReport object.")
        table = self.log.counters(mod)
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
        if mod not in self.modules or mod not in TRACES:
            if warnings:
                says = "Unsupported module:" if mod in self.modules else "Log does not contain data for mod"
                _logger.warning(" Skipping. %s %s", says, mod)
            return
        names = ["id", "rank", "host", "operation", "offset", "length", "start", "end"]
        columns = self.log.dxt(mod, columns=names).to_dict()
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
        table = self.log.counters(mod).to_dict()
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
        columns = self.log.heatmap(columns=["layer", "rank", "end", "bin", "read", "written"]).to_dict()
        rows = zip(*(columns[name] for name in ("layer", "rank", "bin", "end", "read", "written")))
        for layer, rank, bin, end, read, written in rows:
            heatmap = self.heatmaps.setdefault(layer, Heatmap(layer))
            if bin == 0:
                heatmap._begin(rank, end)
            heatmap._add(rank, read, written)

    def info(self, metadata: bool = False) -> None:
        """Prints what the log is about, and how much of it was read."""
        job = self.metadata.get("job")
        print(f"Filename:       {self.filename}")
        if job is not None:
            print(f"Executable:     {self.metadata['exe']}")
            print(f"Times:          {self.start_time} to {self.end_time}")
            print(f"Run time:       {job['run_time']:.4f} (s)")
            print(f"Processes:      {job['nprocs']}")
            print(f"JobID:          {job['jobid']}")
            print(f"UID:            {job['uid']}")
            print(f"Modules in Log: {list(self.modules)}")
        print(f"Loaded Records: { {mod: len(records) for mod, records in self.records.items()} }")
        print(f"Name Records:   {len(self.name_records)}")
        if job is not None:
            print(f"Darshan/Hints:  {job['metadata']}")
        print(f"DarshanReport:  id({id(self)})")
        if metadata:
            for name, value in {**(job or {}), "exe": self.metadata.get("exe")}.items():
                print(f"metadata: {name} = {value}")

    def to_json(self) -> str:
        """Everything that was read, except traces and layouts, as JSON."""
        records = {
            mod: "Not implemented." if mod in SPECIAL or not isinstance(read, Records) else read.to_list()
            for mod, read in self.records.items()
        }
        return json.dumps({**self.data, "records": records}, default=jsoned)

    def __getstate__(self) -> Dict[str, Any]:
        # The log is opened again where it is needed.
        return {**self.__dict__, "_opened": None}

    def __enter__(self) -> "DarshanReport":
        return self

    def __exit__(self, *_: Any) -> None:
        pass


def _wanted(patterns: Sequence[str], include: bool, name: str) -> bool:
    return not patterns or any(re.search(pattern, name) for pattern in patterns) == include


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
