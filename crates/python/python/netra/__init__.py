"""Logs of netra and Darshan as tables.

``netra.open`` opens one log, several, or a pattern. Tables speak Arrow's C stream interface.
"""

from __future__ import annotations

import glob as _glob
import json as _json
import os as _os
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, Union

from . import _netra
from ._netra import Error

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Error", "Log", "Table", "open"]

_Path = Union[str, "_os.PathLike[str]"]


def open(what: Union[_Path, Iterable[_Path]]) -> "Log":
    """Open a log, a pattern such as ``logs/*.darshan``, a folder of logs, or a list of logs.

    Raises :class:`netra.Error` if one of them can not be read.
    """
    return Log(_netra.Log.open(_found(what)))


def _found(what: Union[_Path, Iterable[_Path]]) -> List[str]:
    if not isinstance(what, (str, _os.PathLike)):
        return [_os.fspath(path) for path in what]
    path = _os.fspath(what)
    if _os.path.isdir(path):
        found = sorted(_glob.glob(_os.path.join(_glob.escape(path), "**", "*.darshan"), recursive=True))
        if not found:
            raise Error(f"{path}: there is no *.darshan in this folder")
        return found
    if not _os.path.exists(path) and _glob.has_magic(path):
        found = sorted(_glob.glob(path, recursive=True))
        if not found:
            raise Error(f"{path}: nothing has such a name")
        return found
    return [path]


class Log:
    """One log, or several taken together."""

    def __init__(self, inner: _netra.Log) -> None:
        self._inner = inner
        self._info: Optional[List[Dict[str, Any]]] = None

    @property
    def paths(self) -> List[str]:
        """The logs' paths."""
        return self._inner.paths

    @property
    def modules(self) -> List[str]:
        """The modules that recorded something, such as ``POSIX`` and ``DXT_POSIX``."""
        return self._inner.modules

    def infos(self) -> List[Dict[str, Any]]:
        """What ``netra info --format json`` says of each log. Reads all records once."""
        if self._info is None:
            self._info = [_json.loads(text) for text in self._inner.info_json()]
        return self._info

    @property
    def info(self) -> Dict[str, Any]:
        """What ``netra info --format json`` says of the log."""
        return self._one(self.infos(), "infos()")

    @property
    def job(self) -> Dict[str, Any]:
        """The job: id, user, processes, start and end, run time, command, metadata."""
        job: Dict[str, Any] = self.info["job"]
        return job

    @property
    def missing(self) -> List[Dict[str, Any]]:
        """What could not be read, over all logs: which part, where, and why. Empty if all is there."""
        return [dict(gap, log=info["log"]) for info in self.infos() for gap in info["missing"]]

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing

    def reports(self) -> List[Dict[str, Any]]:
        """The diagnosis of each log, as ``netra report --json`` gives it."""
        return [_json.loads(text) for text in self._inner.report_json()]

    def report(self) -> Dict[str, Any]:
        """The diagnosis of the log, as ``netra report --json`` gives it."""
        return self._one(self.reports(), "reports()")

    def findings(self) -> List[Dict[str, Any]]:
        """What is wrong, over all logs, the most seconds lost first."""
        found = [
            dict(finding, log=report["log"])
            for report in self.reports()
            for finding in report["findings"]
        ]
        return sorted(found, key=lambda finding: -(finding.get("lost_seconds") or 0.0))

    def counters(
        self,
        module: str,
        *,
        ranks: Optional[Sequence[int]] = None,
        columns: Optional[Sequence[str]] = None,
    ) -> "Table":
        """The counters of a module: a row a record. Rank -1 is a file shared by all processes."""
        return Table(self._inner.counters(module, _listed(ranks), _listed(columns)))

    def dxt(
        self,
        module: str = "POSIX",
        *,
        ranks: Optional[Sequence[int]] = None,
        columns: Optional[Sequence[str]] = None,
    ) -> "Table":
        """The trace of ``POSIX`` or ``MPI-IO``: a row a read or write; times in seconds since the start."""
        return Table(self._inner.dxt(module, _listed(ranks), _listed(columns)))

    def heatmap(
        self,
        *,
        ranks: Optional[Sequence[int]] = None,
        columns: Optional[Sequence[str]] = None,
    ) -> "Table":
        """Bytes over time: a row a layer, process and bin."""
        return Table(self._inner.heatmap(_listed(ranks), _listed(columns)))

    def names(self, *, columns: Optional[Sequence[str]] = None) -> "Table":
        """The names of records, with mount point and file system."""
        return Table(self._inner.names(_listed(columns)))

    def _one(self, all: List[Dict[str, Any]], other: str) -> Dict[str, Any]:
        if len(all) != 1:
            raise ValueError(f"these are {len(all)} logs: {other} has one for each")
        return all[0]

    def __repr__(self) -> str:
        return repr(self._inner)


class Table:
    """A table that is read when it is asked, as often as it is asked."""

    def __init__(self, inner: _netra.Table) -> None:
        self._inner = inner

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        return self._inner.columns

    def count(self) -> int:
        """How many rows there are."""
        return self._inner.count()

    def to_dict(self) -> Dict[str, List[Any]]:
        """Each column as a list. Needs nothing else."""
        return self._inner.to_dict()

    def to_pyarrow(self) -> "pyarrow.Table":
        """A ``pyarrow.Table``."""
        arrow = _need("pyarrow", "to_pyarrow")
        reader = arrow.RecordBatchReader.from_stream(self)
        # Batch by batch: an interrupt gets through between them.
        table: "pyarrow.Table" = arrow.Table.from_batches(list(reader), reader.schema)
        return table

    def to_pandas(self) -> "pandas.DataFrame":
        """A ``pandas.DataFrame``; texts that repeat are categories."""
        _need("pandas", "to_pandas")
        return self.to_pyarrow().to_pandas(self_destruct=True, split_blocks=True)

    def to_polars(self) -> "polars.DataFrame":
        """A ``polars.DataFrame``."""
        frame: "polars.DataFrame" = _need("polars", "to_polars").DataFrame(self)
        return frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._inner.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._inner.__arrow_c_schema__()

    def __repr__(self) -> str:
        return repr(self._inner)


def _need(name: str, method: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{method}() needs {name}, which is not installed; to_dict() needs nothing") from error


def _listed(some: Optional[Sequence[Any]]) -> Optional[List[Any]]:
    if isinstance(some, str):
        raise TypeError(f"{some!r} is one text; a list of them is wanted")
    return None if some is None else list(some)
