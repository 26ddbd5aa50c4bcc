-- A module for Lmod: `module load netra` records what is started from then on, `module unload netra` ends that.
help([[
netra shows what a program does to its files.
  netra run --live -- mpirun -n 64 ./app     a page while it runs, a report at its end
  netra report LOG                           what is wrong, what it costs, what to change
With this module loaded every program is recorded without `netra run`; logs are in ~/.local/share/netra/logs.
NETRA=off in the environment, or unloading the module, ends that.
]])
whatis("Name: netra")
whatis("Description: what applications do to their files, live and afterwards")

local base = os.getenv("NETRA_ROOT") or "/usr"
prepend_path("PATH", pathJoin(base, "bin"))
prepend_path("LD_PRELOAD", pathJoin(base, "lib/libnetra_preload.so"), ":")
conflict("darshan")
