"""Asks over HTTP. Arguments: the server, rows in events, the token of one who sees all, of one who sees nothing."""
import csv
import io
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

import polars
import pyarrow.ipc

server, rows, token, stranger = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
opener = urllib.request.build_opener()
opener.addheaders = [("Authorization", f"Bearer {token}")]
urllib.request.install_opener(opener)


def url(sql, form):
    return f"{server}/api/sql?" + urllib.parse.urlencode({"q": sql, "format": form})


# The three lines of docs/use/sql.md.
sql = "SELECT job, rank, t, duration, error FROM events ORDER BY job, rank, t, t_ns"
table = pyarrow.ipc.open_stream(urllib.request.urlopen(url(sql, "arrow"))).read_all()
assert table.num_rows == rows and table.to_pandas()["duration"].sum() == sum(table["duration"].to_pylist())

frame = polars.read_ipc_stream(io.BytesIO(urllib.request.urlopen(url(sql, "arrow")).read()))
assert frame.height == rows and frame["duration"].sum() == table.to_pandas()["duration"].sum()

array = json.load(urllib.request.urlopen(url("SELECT op, count(*) AS n FROM events GROUP BY op ORDER BY op", "json")))
assert sum(row["n"] for row in array) == rows, array
lines = io.TextIOWrapper(urllib.request.urlopen(url("SELECT rank, op FROM events", "csv")))
assert sum(1 for _ in csv.DictReader(lines)) == rows
request = urllib.request.Request(f"{server}/api/sql?" + urllib.parse.urlencode({"q": "SELECT 1 AS x"}), headers={"Accept": "text/csv"})
assert urllib.request.urlopen(request).read() == b"x\n1\n"

for sql, status, word in (
    ("SELECT * FROM evnts", 400, "events"),
    ("DROP TABLE events", 403, "DROP TABLE"),
):
    try:
        urllib.request.urlopen(url(sql, "json"))
        raise AssertionError(f"nothing was refused: {sql}")
    except urllib.error.HTTPError as error:
        assert error.code == status and word in error.read().decode(), (sql, error.code)

# Rights are those of whoever asks; without a token there is no answer.
count = url("SELECT count(*) AS n FROM events", "json")
opener.addheaders = [("Authorization", f"Bearer {stranger}")]
assert json.load(urllib.request.urlopen(count)) == [{"n": 0}]
opener.addheaders = []
try:
    urllib.request.urlopen(count)
    raise AssertionError("nobody was asked for a token")
except urllib.error.HTTPError as error:
    assert error.code == 401, error.code
print("ok")
