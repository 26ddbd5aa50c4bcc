"""Records as PyDarshan hands them out: as dictionaries, arrays and data frames."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Union

import numpy as np

if TYPE_CHECKING:
    from ._report import DarshanReport

TRACES = ("DXT_POSIX", "DXT_MPIIO")
SPECIAL = (*TRACES, "LUSTRE", "APMPI", "APXC", "HEATMAP", "MDHIM")


class Records:
    """The records of a module; one of them can be taken apart by name."""

    def __init__(self, mod: Optional[str] = None, report: Optional[DarshanReport] = None) -> None:
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
            return Record(self._records[which], self)
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
        if self.mod in SPECIAL:
            return self.to_numpy()
        names = self._names()
        return [
            {**record, **{part: dict(zip(names[part], record[part])) for part in ("counters", "fcounters")}}
            for record in self._records
        ]

    def to_json(self) -> str:
        """The records as JSON."""
        return json.dumps(self.to_list(), default=jsoned)

    def info(self) -> None:
        """Prints what the records are about."""
        print(f"Module:       {self.mod}")
        print(f"Records:      {len(self)}")
        print(f"Ranks:        { {record['rank'] for record in self._records} }")
        print(f"Name Records: { {record['id'] for record in self._records} }")
        if self.mod in TRACES:
            print(f"Hostnames:    { {record['hostname'] for record in self._records} }")
            print(f"Read Events:  {sum(record['read_count'] for record in self._records)}")
            print(f"Write Events: {sum(record['write_count'] for record in self._records)}")

    def _names(self) -> Dict[str, List[str]]:
        if self.report is None or self.mod is None:
            raise ValueError("the names of counters are known where a report and its module are")
        return self.report.counters[self.mod]

    def to_df(self, attach: Any = "default") -> Any:
        """Data frames: ``counters`` and ``fcounters``, ``components``, or one pair a trace."""
        import pandas

        columns = ["id", "rank"] if attach == "default" else list(attach or [])
        if self.mod in TRACES:
            return [
                {**record, **{part: pandas.DataFrame(record[part]) for part in ("read_segments", "write_segments")}}
                for record in self._records
            ]
        if self.mod == "LUSTRE":
            rows = [(record, part) for record in self._records for part in record["components"]]
            columned = self._names()["counters"]
            frame = pandas.DataFrame([part["counters"] for _, part in rows], columns=columned)
            frame["LUSTRE_POOL_NAME"] = [part["pool_name"] for _, part in rows]
            frame["LUSTRE_OST_IDS"] = [part["ost_ids"] for _, part in rows]
            return {"components": _attached(frame, columns, [record for record, _ in rows])}
        names = self._names()
        frames = {}
        for part in ("counters", "fcounters"):
            stacked: Any = np.stack([record[part] for record in self._records]) if len(self) else []
            frame = pandas.DataFrame(stacked, columns=names[part])
            frames[part] = _attached(frame, columns, self._records)
        return frames


class Record(Dict[str, Any]):
    """One record, which can be shown in other shapes as all of them can."""

    def __init__(self, record: Dict[str, Any], records: Records) -> None:
        super().__init__(record)
        self._alone = Records(records.mod, records.report)
        self._alone.append(record)
        self.to_numpy = self._alone.to_numpy
        self.to_list = self._alone.to_list
        self.to_dict = self._alone.to_dict
        self.to_df = self._alone.to_df
        self.to_json = self._alone.to_json
        self.info = self._alone.info


def jsoned(value: Any) -> Any:
    """What JSON has no word for."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)


def _copied(record: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value.copy() if isinstance(value, (np.ndarray, list)) else value for name, value in record.items()}


def _attached(frame: Any, columns: List[str], records: Sequence[Dict[str, Any]]) -> Any:
    for name in ("id", "rank"):
        if name in columns:
            kind = "uint64" if name == "id" else "int64"
            frame.insert(0, name, np.array([record[name] for record in records], dtype=kind))
    return frame
