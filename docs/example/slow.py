#!/usr/bin/python3
"""Writes 500 records, each one safe on the disk before the next: what `netra report` finds, and how to change it."""
import os

with open("records.dat", "wb", buffering=0) as file:
    for number in range(500):
        file.write(b"record %7d\n" % number)
        os.fsync(file.fileno())
