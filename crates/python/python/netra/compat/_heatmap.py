"""Bytes over time, as PyDarshan hands them out."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

import numpy as np


class Heatmap:
    """Bytes over time of one layer."""

    def __init__(self, mod: Optional[str] = None) -> None:
        self._mod = mod
        self._nbins = 0
        self._bin_width_seconds = 0.0
        self._data: Dict[str, Dict[int, List[int]]] = {"read": {}, "write": {}}

    def _begin(self, rank: int, width: float) -> None:
        self._bin_width_seconds = width
        for bins in self._data.values():
            bins[rank] = []

    def _add(self, rank: int, read: int, written: int) -> None:
        self._data["read"][rank].append(read)
        self._data["write"][rank].append(written)
        self._nbins = max(self._nbins, len(self._data["read"][rank]))

    def info(self) -> None:
        """Prints what it is about."""
        ranks = sorted(self._data["read"])
        print(repr(self))
        print(f"Module:        {self._mod}")
        print(f"Ranks:         {ranks}" if len(ranks) < 10 else f"Ranks (len):   {len(ranks)}")
        print(f"Num. bins:     {self._nbins}")
        print(f"Bin width (s): {self._bin_width_seconds}")
        print(f"Num. recs:     {len(ranks)}")

    def to_df(self, ops: Sequence[str], interval_index: bool = True) -> Any:
        """A row a process, a column a bin, in bytes."""
        import pandas

        for op in ops:
            if op not in self._data:
                raise ValueError(f"{op} not in heatmap.")
        columns: Any = np.arange(self._nbins)
        if interval_index:
            edges = np.linspace(0, self._nbins * self._bin_width_seconds, self._nbins + 1)
            columns = pandas.IntervalIndex.from_breaks(edges)
        frames = [pandas.DataFrame.from_dict(self._data[op], orient="index", columns=columns) for op in ops]
        frame: Any = sum((frame.fillna(0).astype("int64") for frame in frames), 0)
        frame.index.name = "rank"
        return frame.sort_index()

    def __repr__(self) -> str:
        return (
            f"<{type(self).__module__}.{type(self).__qualname__} "
            f"(mod={self._mod}, nbins={self._nbins}, bin_width={self._bin_width_seconds}s)>"
        )
