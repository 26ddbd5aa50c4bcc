# %% [markdown]
# # A log, from the first look to the cause
#
# Somebody says: *this job usually writes its 512 GiB in a minute, and yesterday it took thirteen.* All there is of it is a
# Darshan log, one of the examples that come with the package `darshan` (`pip install darshan`). Yours is read the same way:
# put its path into the next cell.

# %%
import importlib.util
import pathlib

import matplotlib.pyplot as plt
import netra

examples = pathlib.Path(importlib.util.find_spec("darshan").origin).parent / "examples" / "example_logs"
log = netra.open(examples / "sample-badost.darshan")

# %% [markdown]
# ## What is it, and is it whole?

# %%
job = log.job
print(f"{job['processes']} processes ran {job['run_time_seconds']:.0f} s: {job['command'][:60]}")
print("modules:", ", ".join(log.modules))
print("nothing is missing" if log.complete else log.missing)

# %% [markdown]
# ## Where does the time go?
#
# The counters are a data frame: a row for each file and process, Darshan's names as columns.

# %%
posix = log.counters("POSIX").to_pandas()
posix["seconds"] = posix[["POSIX_F_READ_TIME", "POSIX_F_WRITE_TIME", "POSIX_F_META_TIME"]].sum(axis="columns")
print(f"{len(posix)} records, {posix['POSIX_BYTES_WRITTEN'].sum() / 2**30:.0f} GiB written")
posix[["rank", "file", "POSIX_WRITES", "POSIX_BYTES_WRITTEN", "POSIX_F_WRITE_TIME"]].nlargest(4, "POSIX_F_WRITE_TIME")

# %%
ranks = posix.groupby("rank")[["seconds", "POSIX_BYTES_WRITTEN"]].sum()

figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(9, 4.5), layout="constrained")
above.plot(ranks.index, ranks["seconds"], ".", markersize=3, color="tab:red")
above.set_ylabel("seconds in I/O")
below.plot(ranks.index, ranks["POSIX_BYTES_WRITTEN"] / 2**20, ".", markersize=3)
below.set_ylabel("MiB written")
below.set_ylim(bottom=0)
below.set_xlabel("rank")
above.set_title("All ranks write the same amount; a few wait much longer")
plt.show()

# %% [markdown]
# Every rank writes its own file of the same size, and most are done in seconds. The slow ones are scattered: it is not one node.

# %% [markdown]
# ## What do the slow files have in common?
#
# The log knows on which storage targets (OSTs) Lustre has put each file.

# %%
lustre = log.counters("LUSTRE").to_pandas()
target = next(name for name in lustre.columns if "OST_ID_0" in name)
slow = posix.merge(lustre[["id", target]], on="id").rename(columns={target: "ost"})
targets = slow.groupby("ost")["seconds"].agg(files="count", median="median", worst="max")
targets.sort_values("median", ascending=False).round(1).head(4)

# %%
order = targets.index.sort_values()
figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
axes.boxplot([slow.loc[slow["ost"] == ost, "seconds"] for ost in order], tick_labels=[str(ost) for ost in order], sym=".")
axes.set_yscale("log")
axes.set_xlabel("storage target (OST)")
axes.set_ylabel("seconds in I/O of a file")
axes.set_title("One target is slow for every file on it")
plt.show()

# %% [markdown]
# ## netra says the same by itself
#
# `findings()` is what `netra report` prints, the most seconds lost first.

# %%
for finding in log.findings()[:2]:
    print(f"{finding['lost_seconds']:6.1f} s  {finding['slug']}: {finding['says']}")

# %% [markdown]
# So it was not the program: one storage target answers some fifty times slower than the others, and who happens to have a file there
# waits. That is a message for the operators, with the number of the target in it.
