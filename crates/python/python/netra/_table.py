"""Tables: what ``netra`` gives, and what other libraries take."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from . import _netra
from ._progress import Progress, Telling

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Table:
    """A table that is read when it is asked, as often as it is asked.

    With ``progress=True`` reading a log says on standard error how far it is, where that takes longer than a second; a function
    is called with the share that is read, from 0 to 1.
    """

    def __init__(self, inner: _netra.Table) -> None:
        self._inner = inner

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        return self._inner.columns

    def count(self, *, progress: Progress = False) -> int:
        """How many rows there are."""
        with Telling(progress) as telling:
            return self._inner.count(telling.told)

    def to_dict(self, *, progress: Progress = False) -> Dict[str, List[Any]]:
        """Each column as a list. Needs nothing else."""
        with Telling(progress) as telling:
            return self._inner.to_dict(telling.told)

    def to_pyarrow(self, *, progress: Progress = False) -> "pyarrow.Table":
        """A ``pyarrow.Table``."""
        library = _need("pyarrow", "to_pyarrow")
        with Telling(progress) as telling:
            table: "pyarrow.Table" = library.table(self._inner.gathered(telling.told))
        return table

    def to_pandas(self, *, progress: Progress = False) -> "pandas.DataFrame":
        """A ``pandas.DataFrame``; texts that repeat are categories, whole numbers with holes ``Int64`` or ``UInt64``.

        Of a log it needs nothing but pandas, and copies nothing; of a store or server texts need pyarrow as well.
        """
        library = _need("pandas", "to_pandas")
        with Telling(progress) as telling:
            whole = self._inner.frame(telling.told)
        if whole is None:
            return _of_arrow(library, self.to_pyarrow())
        rows, columns = whole
        series = {at: _series(library, *column[1:]) for at, column in enumerate(columns)}
        frame: "pandas.DataFrame" = library.DataFrame(series, index=library.RangeIndex(rows), copy=False)
        # Plain texts, as the categories: to be the first that uses pandas' own kind of text takes longer than all else here.
        frame.columns = library.Index([column[0] for column in columns], dtype=object)
        return frame

    def to_polars(self, *, progress: Progress = False) -> "polars.DataFrame":
        """A ``polars.DataFrame``."""
        library = _need("polars", "to_polars")
        with Telling(progress) as telling:
            frame: "polars.DataFrame" = library.DataFrame(self._inner.gathered(telling.told))
        return frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._inner.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._inner.__arrow_c_schema__()

    def __repr__(self) -> str:
        return repr(self._inner)


def _series(pandas: Any, numbers: _netra.Numbers, holes: Optional[_netra.Numbers], texts: Optional[List[str]]) -> Any:
    """A column for pandas, in the memory in which it was read."""
    import numpy

    values = numpy.asarray(numbers)
    if texts is not None:
        # Plain texts: the first column of pandas' own kind of text would import half of pyarrow.
        categories = pandas.Index(texts, dtype=object)
        try:
            return pandas.Categorical.from_codes(values, categories, validate=False)
        except TypeError:
            # Before 2.1 pandas looks at all codes again.
            return pandas.Categorical.from_codes(values, categories)
    if numbers.zone is not None:
        # Counted in UTC, wherever they are at home.
        return pandas.DatetimeIndex(values).tz_localize("UTC").tz_convert(numbers.zone)
    if holes is None:
        return values
    if values.dtype.kind == "f":
        values[numpy.asarray(holes)] = numpy.nan
        return values
    return pandas.arrays.IntegerArray(values, numpy.asarray(holes))


def _of_arrow(pandas: Any, table: "pyarrow.Table") -> "pandas.DataFrame":
    """What came as Arrow. By itself pyarrow would make floats of whole numbers with holes, and round them."""
    import pyarrow

    columns = list(enumerate(table.columns))
    holes = [(at, one) for at, one in columns if pyarrow.types.is_integer(one.type) and one.null_count]
    names = table.column_names
    if holes:
        table = table.select([at for at, _ in columns if at not in dict(holes)])
    del columns
    frame: "pandas.DataFrame" = table.to_pandas(self_destruct=True, split_blocks=True)
    for at, column in holes:
        kind = pandas.api.types.pandas_dtype(str(column.type).replace("u", "U").replace("int", "Int"))
        frame.insert(at, names[at], kind.__from_arrow__(column), allow_duplicates=True)
    return frame


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
