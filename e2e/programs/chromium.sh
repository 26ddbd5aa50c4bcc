# A browser with its sandbox on, as an ordinary user: name spaces, an empty root, filters for all threads, and a
# child of clone with an empty thread block.
home=$(mktemp -d) || exit 90
chmod 777 "$home"
as_user=
[ "$(id -u)" = 0 ] && as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
page='data:text/html,<p id=x>sum<script>document.getElementById("x").append(" ", 6*7)</script>'
cd "$home" && HOME=$home TMPDIR=$home $as_user chromium --headless=new --disable-gpu --no-first-run --dump-dom "$page" \
    2> "$home/errors"
echo "code $?"
rm -r "$home"
