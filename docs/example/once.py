#!/usr/bin/python3
"""The same records, safe on the disk together: one call of fsync at the end, as `netra report` advises."""
import os

with open("records.dat", "wb") as file:
    for number in range(500):
        file.write(b"record %7d\n" % number)
    file.flush()
    os.fsync(file.fileno())
