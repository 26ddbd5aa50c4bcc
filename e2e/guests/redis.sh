# A server on a socket in the file system, with a dump of its data by a forked child.
redis-server --port 0 --unixsocket "$PWD/r.sock" --dir "$PWD" --save '' --daemonize no --logfile redis.log &
server=$!
until [ -S r.sock ]; do :; done
for i in 1 2 3; do redis-cli -s r.sock set key$i value$i; done
redis-cli -s r.sock save
redis-cli -s r.sock get key2
redis-cli -s r.sock shutdown nosave
wait $server
echo $?
rm -f redis.log dump.rdb
