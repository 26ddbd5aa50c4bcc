# %% [markdown]
# # A job while it runs
#
# `netra run --live` records a command and serves what it does meanwhile. Here the job is a small Python program: four processes write
# for some seconds, and after a while one of them goes on in tiny pieces. Yours stands behind `--`, for example `mpirun -n 64 ./app`; jobs that
# run on a cluster are seen in the same way through the site's `netra serve`.

# %%
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import matplotlib.pyplot as plt
import netra
import pandas

PROGRAM = """
import sys, time
from multiprocessing import Process

def work(number):
    with open(f"out.{number}", "wb", buffering=0) as out:
        begin = time.monotonic()
        while (since := time.monotonic() - begin) < 14:
            tiny = number == 3 and since > 6
            for _ in range(2000 if tiny else 10):
                out.write(b"x" * (128 if tiny else 1 << 18))
            time.sleep(0.05)

crew = [Process(target=work, args=(number,)) for number in range(4)]
for one in crew:
    one.start()
for one in crew:
    one.join()
"""

folder = tempfile.TemporaryDirectory()
pathlib.Path(folder.name, "program.py").write_text(PROGRAM)
netra_run = [os.environ.get("NETRA_PROGRAM", "netra"), "run", "--live", "--store", "store", "--log-file", "job.darshan", "--"]
process = subprocess.Popen([*netra_run, sys.executable, "program.py"], cwd=folder.name, stderr=subprocess.PIPE, text=True)

# %% [markdown]
# It says where its page is, for a browser; the same address is for programs.

# %%
address = next(found.group(0) for line in process.stderr if (found := re.search(r"http://\S+", line)))
server = netra.connect(address)
while not (running := server.jobs(state="running")):
    time.sleep(0.1)
key = running[0]["job"]
print(running[0]["state"], "since", time.strftime("%H:%M:%S", time.gmtime(running[0]["start"])), "UTC")

# %% [markdown]
# ## Looking at it twice a second
#
# `server.job(key)` is the job as it stands: totals, processes, files, findings, the last second's rates.

# %%
looks, standing = [], {}
while (job := server.job(key))["state"] == "running" and job["elapsed"] < 13:
    looks.append({"elapsed": job["elapsed"], "bytes": job["bytes_written"], "calls": job["writes"]})
    for finding in job["diagnosis"]["standings"]:
        if finding["slug"] not in standing:
            standing[finding["slug"]] = {"after": round(job["elapsed"], 1), "level": finding["level"], "says": finding["says"]}
    time.sleep(0.5)
looks = pandas.DataFrame(looks).set_index("elapsed")
rates = looks.diff().div(looks.index.to_series().diff(), axis="index").dropna()

figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(9, 4.5), layout="constrained")
above.plot(rates.index, rates["bytes"] / 1e6, color="tab:blue")
above.set_ylabel("MB/s written")
above.set_ylim(bottom=0)
below.plot(rates.index, rates["calls"], color="tab:red")
below.set_ylabel("writes a second")
below.set_ylim(bottom=0)
below.set_xlabel("seconds since the start")
above.set_title("After six seconds: fifty times the calls, for no more bytes")
plt.show()

# %% [markdown]
# ## Which process is it?

# %%
processes = pandas.DataFrame(job["ranks_list"])
processes = processes[processes["bytes_written"] > 0].reset_index(drop=True)
processes["KiB a call"] = (processes["bytes_written"] / processes["calls"] / 1024).round(1)

figure, axes = plt.subplots(figsize=(9, 2.4), layout="constrained")
axes.barh([f"process {number}" for number in processes.index], processes["calls"], color="tab:red")
axes.bar_label(axes.containers[0], [f" {size} KiB a call" for size in processes["KiB a call"]])
axes.set_xlabel("calls so far")
axes.margins(x=0.18)
axes.invert_yaxis()
plt.show()

# %% [markdown]
# ## What netra says, and since when

# %%
for slug, finding in standing.items():
    print(f"after {finding['after']:4.1f} s  {finding['level']:4}  {slug}: {finding['says']}")

# %% [markdown]
# ## When it has ended
#
# The job is in the log, and its calls can be asked for one by one.

# %%
process.stderr.read()
process.wait()
log = netra.open(pathlib.Path(folder.name, "job.darshan"))
calls = log.trace(columns=["pid", "function", "file", "start", "moved"]).to_pandas()
writes = calls[(calls["function"] == "write") & calls["file"].astype(str).str.contains("out.")].copy()
writes["file"] = writes["file"].astype(str).str.rsplit("/", n=1).str[-1]
print(f"{len(calls)} calls; nothing is missing" if log.complete else log.missing)

figure, axes = plt.subplots(figsize=(9, 3.2), layout="constrained")
for name, some in writes.groupby("file"):
    axes.plot(some["start"], some["moved"].astype(float), ".", markersize=2, label=name)
axes.set_yscale("log", base=2)
axes.set_xlabel("seconds since the start")
axes.set_ylabel("bytes of a write")
axes.legend(markerscale=5, loc="center left")
axes.set_title("Every write of the job")
plt.show()
folder.cleanup()
