"""What happens now: events, metrics and messages as they come."""

from __future__ import annotations

import json
import os
from typing import IO, Any, AsyncIterator, Dict, Iterator, List, NamedTuple, Optional, Union

from ._netra import Error
from ._program import found


class Gap(NamedTuple):
    """Something was not received here: so many events or messages."""

    missed: int


Received = Union[Dict[str, Any], Gap]


def subscribe(
    tag: str,
    *,
    daemon: Optional[str] = None,
    secret: Union[str, "os.PathLike[str]", None] = None,
    munge: bool = False,
    ca: Union[str, "os.PathLike[str]", None] = None,
    certificate: Union[str, "os.PathLike[str]", None] = None,
    key: Union[str, "os.PathLike[str]", None] = None,
    count: Optional[int] = None,
    seconds: Optional[float] = None,
    program: Optional[str] = None,
) -> "Subscription":
    """Follows a tag of a daemon: ``io`` for the calls of recorded processes, ``metrics``, or any that is published.

    Iterate over it with ``for`` or ``async for``. Each item is a dictionary, or a :class:`Gap` where something was
    missed. It ends after ``count`` items or ``seconds``, else when you leave.
    """
    options: List[str] = []
    named = (("--daemon", daemon), ("--secret", secret), ("--ca", ca), ("--certificate", certificate), ("--key", key))
    for name, value in named:
        if value is not None:
            options += [name, os.fspath(value)]
    if munge:
        options.append("--munge")
    if count is not None:
        options += ["--count", str(count)]
    if seconds is not None:
        options += ["--seconds", str(seconds)]
    return Subscription([found(program), "subscribe", *options, "--", tag])


class Subscription:
    """What comes under a tag. Each iteration is a connection of its own."""

    def __init__(self, command: List[str]) -> None:
        self._command = command

    def __iter__(self) -> Iterator[Received]:
        import subprocess
        import tempfile

        # In a file: a pipe that nobody reads would fill up, and hold everything up.
        with tempfile.TemporaryFile() as says:
            child = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=says
            )
            assert child.stdout is not None
            try:
                for line in child.stdout:
                    yield _received(line)
                _check(child.wait(), says)
            finally:
                child.kill()
                child.stdout.close()
                child.wait()

    async def __aiter__(self) -> AsyncIterator[Received]:
        import asyncio
        import tempfile

        with tempfile.TemporaryFile() as says:
            child = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=says,
                limit=1 << 26,
            )
            assert child.stdout is not None
            try:
                while True:
                    line = await child.stdout.readline()
                    if not line:
                        break
                    yield _received(line)
                _check(await child.wait(), says)
            finally:
                if child.returncode is None:
                    child.kill()
                    await child.wait()


def _received(line: bytes) -> Received:
    item: Dict[str, Any] = json.loads(line)
    if set(item) == {"missed"}:
        return Gap(item["missed"])
    return item


def _check(code: int, says: IO[bytes]) -> None:
    # 1 says that something was missed, which the gaps have told already.
    if code not in (0, 1):
        says.seek(0)
        text = says.read().decode(errors="replace").strip()
        raise Error(text[len("netra: "):] if text.startswith("netra: ") else text)
