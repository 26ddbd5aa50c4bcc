"""Python: buffered files, os.*, shutil, subprocess (vfork inside) and threads."""
import os
import shutil
import subprocess
import sys
import threading

with open("text.txt", "w") as stream:
    for line in range(1000):
        stream.write(f"line {line}\n")
fd = os.open("raw.dat", os.O_RDWR | os.O_CREAT, 0o644)
for _ in range(50):
    os.write(fd, b"0123456789")
os.close(fd)
shutil.copyfile("raw.dat", "copy.dat")
threads = [
    threading.Thread(target=lambda n: open(f"thread{n}.dat", "wb", buffering=0).write(b"x" * 100), args=(n,))
    for n in range(8)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(subprocess.run(["cat", "raw.dat"], capture_output=True).stdout.decode())
print(sum(1 for _ in open("text.txt")), sorted(os.listdir(".")) is not None, file=sys.stdout)
sys.exit(3)
