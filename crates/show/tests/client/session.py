"""Asks a server with psycopg 3, text and binary, and with pandas through SQLAlchemy; says what is wrong and exits with 1.

Arguments: port, rows in events, uid of the user "bob", rows of events that bob may see.
"""
import datetime
import sys
import threading

import pandas
import psycopg
import sqlalchemy

port, rows, uid, own = (int(word) for word in sys.argv[1:5])


def connect(user="admin", password="topsecret", database="netra", **more):
    return psycopg.connect(
        host="127.0.0.1", port=port, user=user, password=password, dbname=database, connect_timeout=20, **more
    )


def refused(state, work):
    try:
        work()
    except psycopg.Error as error:
        assert error.sqlstate == state or (error.sqlstate is None and state in str(error)), (
            state, error.sqlstate, str(error))
        return str(error)
    raise AssertionError(f"{state} expected, and nothing was refused")


# Who may come in.
assert 'password authentication failed for user "admin"' in refused("password authentication failed", lambda: connect(password="wrong"))
assert 'password authentication failed for user "nobody"' in refused("password authentication failed", lambda: connect(user="nobody"))
assert 'database "other" does not exist' in refused("does not exist", lambda: connect(database="other"))

# Text and binary give the same values.
with connect(autocommit=True) as connection:
    assert connection.info.server_version == 150000, connection.info.server_version
    seen = []
    for binary in (False, True):
        with connection.cursor(binary=binary) as cursor:
            cursor.execute("SELECT count(*) FROM events")
            assert cursor.fetchone() == (rows,)
            cursor.execute(
                "SELECT job, rank, t, t_ns, duration, \"offset\", error, bytes / 3.0 AS third FROM events"
                " WHERE job = %s AND rank = %s ORDER BY t, t_ns LIMIT 50", ("slurm.4701.0", 1))
            seen.append(cursor.fetchall())
    assert len(seen[0]) == 50 and seen[0] == seen[1]
    first = seen[0][0]
    assert first[2].utcoffset() == datetime.timedelta(0) and first[2].year == 2026, first
    with connection.cursor() as cursor:
        # Parameters of every kind that clients bind.
        cursor.execute(
            "SELECT count(*) FROM events WHERE t >= %s AND duration > %s AND (bytes = %s OR op = %s)",
            (datetime.datetime(2026, 11, 16, tzinfo=datetime.timezone.utc), 0, 0, "read"))
        assert cursor.fetchone()[0] > 0
        cursor.execute("SELECT version()")
        assert cursor.fetchone()[0].startswith("PostgreSQL 15.0 (netra "), "version"
        cursor.execute("SHOW server_version")
        assert cursor.fetchone() == ("15.0",)
        cursor.execute("SELECT current_setting('server_version_num'), current_setting('no.such', true)")
        assert cursor.fetchone() == ("150000", None)
        cursor.execute("SELECT NULL, 1.5::float8, 'ä', true")
        assert cursor.fetchone() == (None, 1.5, "ä", True)

# Errors have their codes, the connection goes on.
with connect(autocommit=True) as connection:
    ask = lambda sql: connection.execute(sql).fetchall()
    message = refused("42P01", lambda: ask("SELECT * FROM evnts"))
    assert 'did you mean "events"?' in message, message
    message = refused("42703", lambda: ask("SELECT lenght FROM events"))
    assert 'did you mean "length"?' in message, message
    refused("42601", lambda: ask("SELEC 1"))
    refused("42883", lambda: ask("SELECT no_such_function(1)"))
    for sql in ("DROP TABLE events", "CREATE TABLE x AS SELECT 1", "DELETE FROM events", "INSERT INTO jobs (job) VALUES ('x')",
                "UPDATE jobs SET job = 'x'", "CREATE VIEW v AS SELECT 1"):
        refused("25006", lambda: ask(sql))
    refused("55P02", lambda: ask("SET transaction_read_only = off"))
    refused("42501", lambda: ask("SET datafusion.runtime.memory_limit = '1T'"))
    refused("42501", lambda: ask("SET ROLE admin"))
    huge = ("SELECT md5(CAST(a.value * b.value AS TEXT)) AS h FROM generate_series(1, 100000) AS a"
            " CROSS JOIN generate_series(1, 100000) AS b ORDER BY h")
    refused("53200", lambda: ask(huge))
    connection.execute("SET statement_timeout = '300ms'")
    endless = "SELECT count(*) FROM generate_series(1, 1000000000000) AS a WHERE a.value % 7 = 9"
    refused("57014", lambda: ask(endless))
    connection.execute("SET statement_timeout = 0")
    threading.Timer(0.5, connection.cancel).start()
    refused("57014", lambda: ask(endless))
    assert ask("SELECT count(*) FROM events") == [(rows,)]

# A transaction is read-only and ends; after an error it takes nothing but its end.
with connect() as connection:
    connection.execute("SELECT 1")
    refused("42P01", lambda: connection.execute("SELECT * FROM nothing"))
    refused("25P02", lambda: connection.execute("SELECT 1"))
    connection.rollback()
    assert connection.execute("SELECT 1").fetchone() == (1,)

# A cursor on the server, in parts, both formats; COPY.
with connect() as connection:
    for binary in (False, True):
        with connection.cursor("parts", binary=binary) as cursor:
            cursor.itersize = 1000
            cursor.execute("SELECT job, rank, t, duration FROM events")
            assert sum(1 for _ in cursor) == rows
    with connection.cursor() as cursor:
        with cursor.copy("COPY (SELECT rank, op, error FROM events ORDER BY t LIMIT 10) TO STDOUT") as lines:
            copied = list(lines.rows())
    assert len(copied) == 10 and len(copied[0]) == 3, copied

# A user sees their own.
with connect(user="bob", password="hunter2", autocommit=True) as connection:
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (own,)
    assert connection.execute("SELECT DISTINCT uid FROM events").fetchall() == [(uid,)]
    assert connection.execute("SELECT count(*) FROM darshan_data WHERE uid <> %s", (uid,)).fetchone() == (0,)

# pandas through SQLAlchemy.
engine = sqlalchemy.create_engine(f"postgresql+psycopg://admin:topsecret@127.0.0.1:{port}/netra")
frame = pandas.read_sql("SELECT op, count(*) AS calls, sum(bytes) AS bytes FROM events GROUP BY op ORDER BY op", engine)
assert list(frame.columns) == ["op", "calls", "bytes"] and frame["calls"].sum() == rows, frame
frame = pandas.read_sql("SELECT t, duration FROM events ORDER BY t LIMIT 100", engine)
assert len(frame) == 100 and str(frame["t"].dtype).startswith("datetime64"), frame.dtypes
names = set(sqlalchemy.inspect(engine).get_table_names())
assert {"jobs", "events", "activity", "posix"} <= names, names
# Reflection: the columns of every table are those that a question gives, with their types.
reflected = sqlalchemy.inspect(engine)
with connect(autocommit=True) as connection:
    for name in sorted(names) + ["darshan_data"]:
        columns = [column["name"] for column in reflected.get_columns(name)]
        asked = [column.name for column in connection.execute(f"SELECT * FROM {name} LIMIT 0").description]
        assert columns == asked, (name, columns, asked)
types = {column["name"]: str(column["type"]) for column in reflected.get_columns("events")}
assert {name: types[name] for name in ("job", "rank", "t", "duration", "day")} == {
    "job": "TEXT", "rank": "BIGINT", "t": "TIMESTAMP", "duration": "BIGINT", "day": "DATE"}, types
assert reflected.get_view_names() == ["darshan_data"] and reflected.has_table("jobs") and not reflected.has_table("jbs")
assert len(pandas.read_sql("SELECT * FROM events LIMIT 3", engine)) == 3
# Whole tables are reflected, with the keys and indices that they have not, and may then be asked without SQL.
assert "public" in reflected.get_schema_names(), reflected.get_schema_names()
for ask in ("get_foreign_keys", "get_indexes", "get_unique_constraints", "get_check_constraints"):
    assert getattr(reflected, ask)("events") == [], ask
assert reflected.get_pk_constraint("events")["constrained_columns"] == []
known = sqlalchemy.MetaData()
known.reflect(engine, views=True)
assert set(known.tables) == names | {"darshan_data"}, set(known.tables)
events = sqlalchemy.Table("events", sqlalchemy.MetaData(), autoload_with=engine)
with engine.connect() as connection:
    count = sqlalchemy.select(sqlalchemy.func.count()).select_from(events)
    assert connection.scalar(count) == rows
    some = connection.scalar(count.where(events.c.op.startswith("re", autoescape=True)))
    assert some == connection.scalar(sqlalchemy.text("SELECT count(*) FROM events WHERE substr(op, 1, 2) = 're'")) > 0, some
    assert connection.scalar(sqlalchemy.text("SELECT 'a_b' LIKE 'a/_b' ESCAPE '/'")) is True
    assert connection.scalar(sqlalchemy.text("SELECT 'axb' LIKE 'a/_b' ESCAPE '/'")) is False

print("ok")
