"""How far reading is, told to whoever waits."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Callable, Optional, Type, Union

Progress = Union[bool, Callable[[float], object]]


class Telling:
    """Calls a function with the share that is read, from 0 to 1, or says it on standard error after a second."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._begun = time.monotonic()
        self._said = ""

    @property
    def told(self) -> Optional[Callable[[float], object]]:
        """Whom the reader tells."""
        if self._progress is True:
            return self._say
        return self._progress or None

    def _say(self, share: float) -> None:
        says = f"netra: {share:4.0%} read"
        if time.monotonic() - self._begun > 1 and says != self._said:
            self._said = says
            sys.stderr.write("\r" + says)
            sys.stderr.flush()

    def __enter__(self) -> "Telling":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if callable(self._progress) and kind is None:
            self._progress(1.0)
        if self._said:
            sys.stderr.write("\r" + " " * len(self._said) + "\r")
            sys.stderr.flush()
