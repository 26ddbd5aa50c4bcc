"""The reading interface of PyDarshan's ``DarshanReport``, over netra's reader.

For scripts that come from PyDarshan: ``from netra.compat import DarshanReport``. Records, traces, heat maps,
names and metadata have the same shapes; what plots, aggregates or filters by time is not here. New code is
shorter and quicker with ``netra.open``; ``docs/use/python.md`` says which call is which. Needs NumPy, and pandas
where data frames are asked for.
"""

from __future__ import annotations

from ._heatmap import Heatmap
from ._records import Records
from ._report import DarshanReport

#: What PyDarshan calls them.
DarshanRecordCollection = Records

__all__ = ["DarshanRecordCollection", "DarshanReport", "Heatmap", "Records"]
