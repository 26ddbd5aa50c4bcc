"""The program ``netra``, which knows stores and daemons."""

from __future__ import annotations

import os
import shutil
from typing import Optional

from ._netra import Error


def found(program: Optional[str]) -> str:
    """Where the program is: as said, in ``NETRA_PROGRAM``, or on the ``PATH``."""
    wanted = program or os.environ.get("NETRA_PROGRAM") or "netra"
    path = shutil.which(os.fspath(wanted))
    if path is None:
        raise Error(
            f"there is no program {wanted}: stores and daemons are read by netra itself; "
            "put it on the PATH, or name it with program=… or NETRA_PROGRAM"
        )
    return path
