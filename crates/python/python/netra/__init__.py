"""What applications do to their files, as tables.

``netra.open`` opens logs, ``netra.store`` a store, ``netra.connect`` a server, and ``netra.subscribe`` follows what
happens now. Tables speak Arrow's C stream interface.
"""

from ._log import Log, open
from ._netra import Error
from ._store import Server, Store, connect, store
from ._subscribe import Gap, Subscription, subscribe
from ._table import Table

__all__ = [
    "Error",
    "Gap",
    "Log",
    "Server",
    "Store",
    "Subscription",
    "Table",
    "connect",
    "open",
    "store",
    "subscribe",
]
