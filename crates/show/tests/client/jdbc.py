"""Asks a server with PostgreSQL's JDBC driver, the JVM inside Python. Arguments: port, the driver's jar, rows in events."""
import sys

import jpype

port, jar, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
jpype.startJVM(classpath=[jar])
manager = jpype.java.sql.DriverManager
connection = manager.getConnection(f"jdbc:postgresql://127.0.0.1:{port}/netra", "admin", "topsecret")
assert str(connection.getMetaData().getDatabaseProductVersion()) == "15.0"
statement = connection.prepareStatement("SELECT count(*), min(t), max(duration) FROM events WHERE rank >= ?")
statement.setLong(1, 0)
answer = statement.executeQuery()
assert answer.next() and answer.getLong(1) == rows, answer.getLong(1)
assert answer.getTimestamp(2) is not None and answer.getLong(3) > 0

# In parts: a transaction and a fetch size make the driver suspend the portal.
connection.setAutoCommit(False)
statement = connection.createStatement()
statement.setFetchSize(1000)
answer = statement.executeQuery("SELECT job, rank, duration FROM events")
count = 0
while answer.next():
    count += 1
assert count == rows, count
connection.commit()

tables = connection.getMetaData().getTables(None, "public", "%", None)
names = set()
while tables.next():
    names.add(str(tables.getString("TABLE_NAME")))
assert {"jobs", "events"} <= names, names

try:
    connection.createStatement().executeQuery("SELECT * FROM evnts")
    raise AssertionError("nothing was refused")
except jpype.java.sql.SQLException as error:
    assert str(error.getSQLState()) == "42P01", error
print("ok")
