# %% [markdown]
# # A month of jobs
#
# A store keeps every job of a site in open tables. This one holds a month of three programs: `make_month`, an example of the
# repository, made their logs, and `netra import --store DIR LOGS` took them in. With your own store, put its directory or URL
# (or `netra.connect("http://hub:7480", token=…)`) into the next cell.

# %%
import os

import matplotlib.dates as dates
import matplotlib.pyplot as plt
import netra
import pandas

store = netra.store(os.environ["NETRA_STORE"])
store.sql("""
    SELECT split_part(exe, ' ', 1) AS program, count(*) AS jobs, min(t) AS first, max(t) AS last
    FROM jobs GROUP BY 1 ORDER BY 1
""").to_pandas()

# %% [markdown]
# ## How fast is the storage, day by day?
#
# `activity` has what each job did in each second. What was moved by the time that its calls took is a rate.

# %%
rates = store.sql("""
    SELECT a.job, min(j.t) AS t, max(split_part(j.exe, ' ', 1)) AS program, sum(a.bytes) / (sum(a.time) / 1e9) / 1e6 AS rate
    FROM activity a JOIN jobs j ON a.job = j.job
    WHERE a.op = 'write' AND a.layer = 'POSIX'
    GROUP BY a.job ORDER BY t
""").to_pandas()
rates["program"] = rates["program"].astype(str).str.rsplit("/", n=1).str[-1]

figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
for program, runs in rates.groupby("program"):
    axes.plot(runs["t"], runs["rate"], "o", markersize=4, label=program)
axes.set_ylim(bottom=0)
axes.set_ylabel("MB/s while writing")
axes.xaxis.set_major_formatter(dates.DateFormatter("%d %b"))
axes.legend(title="program", loc="lower left", ncols=3)
axes.set_title("Two things happened this month")
plt.show()

# %% [markdown]
# From the 17th to the 19th two programs were slow together: that was the storage, and only the file system that both use. From the 22nd on `plasma` alone
# is slow, and stays so: that is the program.

# %% [markdown]
# ## Which runs differ from their peers?
#
# `peers` is one of the analyses that come with netra: it compares each run with those of the same program and size. (What you write
# yourself is reached in the same way.) The limit is wide here, so that what working hours cost is not a difference.

# %%
peers = store.analyse("peers", limit=100).to_pandas()
peers["program"] = peers["exe"].astype(str).str.split(" ").str[0].str.rsplit("/", n=1).str[-1]
different = peers[peers["different"]]
different.groupby(["program", different["t"].dt.date.rename("day")]).agg(
    runs=("job", "count"), calls=("calls_times", "median"), seconds=("seconds_times", "median")
).round().astype(int).head(16)

# %% [markdown]
# The numbers are deviations from the median. In the storage's days the runs make as many calls as ever (0) and only their time is longer; since the 22nd
# it is the calls themselves that are more.

# %%
plasma = store.sql("""
    SELECT date_trunc('day', j.t) AS day, sum(POSIX_BYTES_WRITTEN) / sum(POSIX_WRITES) / 1024 AS size
    FROM posix p JOIN jobs j ON p.job = j.job
    WHERE strpos(j.exe, 'plasma') > 0
    GROUP BY 1 ORDER BY 1
""").to_pandas()

figure, axes = plt.subplots(figsize=(9, 3), layout="constrained")
axes.step(plasma["day"], plasma["size"], where="post")
axes.set_yscale("log", base=2)
axes.yaxis.set_major_formatter("{x:.0f}")
axes.set_ylabel("KiB of a write, mean")
axes.xaxis.set_major_formatter(dates.DateFormatter("%d %b"))
axes.set_title("plasma writes in pieces of 32 KiB instead of 2 MiB since the 22nd")
plt.show()

# %% [markdown]
# ## When is it better to run?
#
# `variability` gives the rates by the hour of the day. Programs write differently, so each is looked at by itself.

# %%
figure, axes = plt.subplots(figsize=(9, 3.2), layout="constrained")
for program, color in (("ocean", "tab:blue"), ("plasma", "tab:orange")):
    hours = store.analyse("variability", exe=program, until="2026-10-16T00:00:00Z").to_pandas()
    write = hours[hours["op"] == "write"]
    axes.bar(write["hour"], write["median"] / 1e6, color=color, label=program)
    axes.vlines(write["hour"], write["least"] / 1e6, write["most"] / 1e6, color="black", linewidth=1)
axes.set_xticks(range(0, 24, 2))
axes.set_xlabel("hour of the day (UTC), first half of the month")
axes.set_ylabel("MB/s while writing:\nmedian, least to most")
axes.legend(loc="upper left", ncols=2)
axes.set_ylim(top=axes.get_ylim()[1] * 1.2)
axes.set_title("Both write slower in the hours of work")
plt.show()
