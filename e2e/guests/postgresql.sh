# A cluster is made, served, filled, asked and shut down, as the user that it wants.
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
chmod 755 . .. && chown -R postgres .
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
as "$bin/initdb" -D data -A trust -N -U postgres >/dev/null || exit 1
as "$bin/pg_ctl" -D data -w -s -l log -o "-k $PWD -c listen_addresses= -c autovacuum=off -c fsync=off" start || exit 2
sql() { as psql -h "$PWD" -U postgres -qAt -c "$1"; }
sql "create table t as select i, md5(i::text) m from generate_series(1, 20000) i"
sql "create index on t (m)"
sql "copy t to '$PWD/t.csv' csv"
sql "select count(*), min(m) from t"
as "$bin/pg_ctl" -D data -w -s -m fast stop
cksum t.csv
rm -rf data log
