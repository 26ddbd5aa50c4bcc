"""Tables: what ``netra`` gives, and what other libraries take."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from . import _netra

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


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
        table: "pyarrow.Table" = _need("pyarrow", "to_pyarrow").table(self._inner.gathered())
        return table

    def to_pandas(self) -> "pandas.DataFrame":
        """A ``pandas.DataFrame``; texts that repeat are categories."""
        _need("pandas", "to_pandas")
        return self.to_pyarrow().to_pandas(self_destruct=True, split_blocks=True)

    def to_polars(self) -> "polars.DataFrame":
        """A ``polars.DataFrame``."""
        frame: "polars.DataFrame" = _need("polars", "to_polars").DataFrame(self._inner.gathered())
        return frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._inner.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._inner.__arrow_c_schema__()

    def __repr__(self) -> str:
        return repr(self._inner)


def _need(name: str, method: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{method}() needs {name}, which is not installed; to_dict() needs nothing") from error


def listed(some: Optional[Sequence[Any]]) -> Optional[List[Any]]:
    """A list, but not the letters of a text."""
    if isinstance(some, str):
        raise TypeError(f"{some!r} is one text; a list of them is wanted")
    return None if some is None else list(some)
