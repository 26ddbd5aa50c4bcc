"""Fetches ten million rows through a server-side cursor. Arguments: port, rows."""
import sys

import psycopg

port, rows = (int(word) for word in sys.argv[1:3])
with psycopg.connect(host="127.0.0.1", port=port, user="admin", password="topsecret", dbname="netra") as connection:
    with connection.cursor("many", binary=True) as cursor:
        cursor.itersize = 100_000
        cursor.execute(f"SELECT value, value * 2 AS twice FROM generate_series(1, {rows}) ORDER BY value")
        count = total = 0
        while True:
            part = cursor.fetchmany(100_000)
            if not part:
                break
            count += len(part)
            total += part[-1][1]
        assert count == rows, count
    # Without a cursor and in one go: the server must not gather them either.
    with connection.cursor(binary=True) as cursor:
        for n, row in enumerate(cursor.stream(f"SELECT value FROM generate_series(1, {rows // 5})"), 1):
            pass
        assert n == rows // 5, n
print("ok")
