# A server on the loopback, and two clients of it.
python3 -u -c '
import http.server, sys
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
open("port.new", "w").write(str(server.server_address[1]))
import os; os.rename("port.new", "port")
server.serve_forever()' &
server=$!
until [ -e port ]; do :; done
port=$(cat port)
wget -q -O one "http://127.0.0.1:$port/text" && cmp one text && echo wget
curl -s -o two "http://127.0.0.1:$port/text" && cmp two text && echo curl
kill $server
wait $server
echo $?
rm port
