"""Questions in SQL: to a store on this machine or in an object store, and to a server."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Union

from . import _netra
from ._netra import Error
from ._program import found
from ._table import Table

# The standard library's HTTP takes longer to import than all of netra: who reads logs need not wait for it.
if TYPE_CHECKING:
    import datetime
    import ssl
    import urllib.error

_ARROW = "application/vnd.apache.arrow.stream"
Value = Union[str, int, float, bool, "datetime.datetime", Sequence[int], Sequence[str], None]


def store(
    where: Union[str, "os.PathLike[str]", None] = None,
    *,
    program: Optional[str] = None,
    timeout: Optional[int] = None,
    memory: Optional[int] = None,
) -> "Store":
    """A store: a directory or an object-store URL; without one ``NETRA_STORE``, else your own.

    The program ``netra`` reads it (``program``, ``NETRA_PROGRAM`` or the ``PATH``). ``timeout`` in seconds and
    ``memory`` in MiB bound each question.
    """
    return Store(where, program=program, timeout=timeout, memory=memory)


class Store:
    """A store that can be asked."""

    def __init__(
        self,
        where: Union[str, "os.PathLike[str]", None] = None,
        *,
        program: Optional[str] = None,
        timeout: Optional[int] = None,
        memory: Optional[int] = None,
    ) -> None:
        self._program = found(program)
        self._options: List[str] = ["--format", "arrow"]
        if where is not None:
            self._options += ["--store", os.fspath(where)]
        if timeout is not None:
            self._options += ["--timeout", str(int(timeout))]
        if memory is not None:
            self._options += ["--memory", str(int(memory))]

    def sql(self, question: str) -> Table:
        """Asks. A wrong question raises :class:`netra.Error` here; rows come when the table is read."""
        return self._ask("sql", question)

    def analyse(self, name: str, **parameters: Value) -> Table:
        """Runs an analysis module over the store's rows. Times are texts or ``datetime`` with their zone, lists are lists."""
        # The program runs it with this interpreter, which has the packages that its caller has.
        if sys.executable:
            os.environ.setdefault("NETRA_PYTHON", sys.executable)
        return self._ask("analyse", name, *_written(parameters))

    def _ask(self, command: str, *words: str) -> Table:
        return Table(_netra.Table.of_program(self._program, [command, *self._options, "--", *words]))


def connect(
    url: str,
    token: Optional[str] = None,
    *,
    timeout: Optional[float] = 60.0,
    context: "Optional[ssl.SSLContext]" = None,
) -> "Server":
    """A server (``netra serve``) at this address, with your token (else ``NETRA_TOKEN``).

    The address may be the one that ``netra serve`` or ``netra run --live`` prints: that of a job's page, with the token
    behind ``#``.
    """
    return Server(url, token, timeout=timeout, context=context)


class Server:
    """A server that can be asked."""

    def __init__(
        self,
        url: str,
        token: Optional[str] = None,
        *,
        timeout: Optional[float] = 60.0,
        context: "Optional[ssl.SSLContext]" = None,
    ) -> None:
        import urllib.parse

        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{url!r} is no address of a server: http://HOST:PORT")
        behind = urllib.parse.parse_qs(parts.fragment).get("token", [None])[0]
        # A page's address leads to its server.
        path = parts.path.split("/jobs/")[0].rstrip("/")
        self._base = f"{parts.scheme}://{parts.netloc}{path}"
        self._token = token or behind or os.environ.get("NETRA_TOKEN")
        self._timeout = timeout
        self._context = context

    def sql(self, question: str) -> Table:
        """Asks. A wrong question raises :class:`netra.Error` here; rows come when the table is read."""
        return self._table("/api/sql", {"q": question, "format": "arrow"})

    def analyse(self, name: str, **parameters: Value) -> Table:
        """Runs an analysis module of the server over the rows that you may see."""
        from urllib.parse import quote

        asked = dict(word.split("=", 1) for word in _written(parameters))
        path = "/api/analyse/" + quote(name, safe="")
        return self._table(path, dict(asked, format="arrow"))

    def jobs(self, **asked: str) -> List[Dict[str, Any]]:
        """Jobs that run or ran lately (``q``, ``state``, ``user``)."""
        jobs: List[Dict[str, Any]] = self.get("/api/jobs", **asked)["jobs"]
        return jobs

    def job(self, key: str) -> Dict[str, Any]:
        """A job as it stands, running or kept: totals, ranks, files, steps over time, findings so far."""
        from urllib.parse import quote

        job: Dict[str, Any] = self.get("/api/jobs/" + quote(key, safe=""))
        return job

    def get(self, path: str, **asked: str) -> Any:
        """The JSON at an address of the server; ``/api/openapi.json`` lists them."""
        with self._open(path, asked, "application/json") as answer:
            return json.load(answer)

    def _table(self, path: str, asked: Dict[str, str]) -> Table:
        return Table(_netra.Table.of_server(lambda: _Body(self._open(path, asked, _ARROW))))

    def _open(self, path: str, asked: Dict[str, str], accept: str) -> Any:
        import http.client
        import urllib.error
        import urllib.parse
        import urllib.request

        query = "?" + urllib.parse.urlencode(asked) if asked else ""
        headers = {"Accept": accept}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(self._base + path + query, headers=headers)
        try:
            return urllib.request.urlopen(request, timeout=self._timeout, context=self._context)
        except urllib.error.HTTPError as error:
            raise Error(_refusal(error)) from None
        except urllib.error.URLError as error:
            raise Error(f"{self._base}: {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            raise Error(f"{self._base}: {error}") from error


class _Body:
    """What a server answers, to be read from another thread."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def read(self, size: int) -> bytes:
        from http.client import HTTPException

        try:
            data: bytes = self._answer.read(size)
        except (OSError, HTTPException) as error:
            raise Error(f"the server broke off its answer: {error!r}") from error
        return data

    def stop(self) -> None:
        """Wakes whoever reads: nobody wants the rest."""
        raw = getattr(getattr(self._answer, "fp", None), "raw", None)
        connection = getattr(raw, "_sock", None)
        if connection is not None:
            import socket

            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def _refusal(error: "urllib.error.HTTPError") -> str:
    """The server's own sentence."""
    try:
        said = json.loads(error.read())
        hint = said.get("hint")
        return str(said["error"]) + (f" ({hint})" if hint else "")
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        return f"the server answered {error.code} {error.reason}"


def _written(parameters: Dict[str, Value]) -> List[str]:
    """Parameters as the program and the server read them; one that is None is not said."""
    return [f"{name}={_word(value)}" for name, value in parameters.items() if value is not None]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return ",".join(str(one) for one in value)
    return str(value)
