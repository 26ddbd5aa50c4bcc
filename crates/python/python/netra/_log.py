"""Logs of netra and Darshan, one or many."""

from __future__ import annotations

import glob
import json
import os
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from . import _netra
from ._netra import Error
from ._table import Table, listed

Path = Union[str, "os.PathLike[str]"]


def open(what: Union[Path, Iterable[Path]]) -> "Log":
    """Open a log, a pattern such as ``logs/*.darshan``, a folder of logs, or a list of logs.

    Raises :class:`netra.Error` if one of them can not be read.
    """
    return Log(_netra.Log.open(_found(what)))


def _found(what: Union[Path, Iterable[Path]]) -> List[str]:
    if not isinstance(what, (str, os.PathLike)):
        return [os.fspath(path) for path in what]
    path = os.fspath(what)
    if os.path.isdir(path):
        found = sorted(glob.glob(os.path.join(glob.escape(path), "**", "*.darshan"), recursive=True))
        if not found:
            raise Error(f"{path}: there is no *.darshan in this folder")
        return found
    if not os.path.exists(path) and glob.has_magic(path):
        found = sorted(glob.glob(path, recursive=True))
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
            self._info = [json.loads(text) for text in self._inner.info_json()]
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
        return [json.loads(text) for text in self._inner.report_json()]

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
        return Table(self._inner.counters(module, listed(ranks), listed(columns)))

    def dxt(
        self,
        module: str = "POSIX",
        *,
        ranks: Optional[Sequence[int]] = None,
        columns: Optional[Sequence[str]] = None,
    ) -> "Table":
        """The trace of ``POSIX`` or ``MPI-IO``: a row a read or write; times in seconds since the start."""
        return Table(self._inner.dxt(module, listed(ranks), listed(columns)))

    def trace(
        self,
        *,
        ranks: Optional[Sequence[int]] = None,
        columns: Optional[Sequence[str]] = None,
    ) -> "Table":
        """netra's own trace: a row a call of any function of any layer, failed ones included.

        ``start`` and ``end`` are seconds since the job's start, ``start_ns`` (since 1970, UTC) and ``took_ns`` the same
        exactly. What ``length`` means depends on the ``kind`` of call (``docs/format/event-lines.md``); ``moved`` is what
        a read or write did move. ``number`` is that of a call that encloses others, ``parent`` that of the enclosing
        one of the same thread; ``site`` is who called. Of a log that Darshan wrote: its extended trace, if it has one.
        """
        return Table(self._inner.trace(listed(ranks), listed(columns)))

    def heatmap(
        self,
        *,
        ranks: Optional[Sequence[int]] = None,
        columns: Optional[Sequence[str]] = None,
    ) -> "Table":
        """Bytes over time: a row a layer, process and bin."""
        return Table(self._inner.heatmap(listed(ranks), listed(columns)))

    def names(self, *, columns: Optional[Sequence[str]] = None) -> "Table":
        """The names of records, with mount point and file system."""
        return Table(self._inner.names(listed(columns)))

    def _one(self, all: List[Dict[str, Any]], other: str) -> Dict[str, Any]:
        if len(all) != 1:
            raise ValueError(f"these are {len(all)} logs: {other} has one for each")
        return all[0]

    def __repr__(self) -> str:
        return repr(self._inner)
