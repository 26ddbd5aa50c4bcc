# The browser without its sandbox, as root needs it.
printf '<p>page</p><script>document.title = 6 * 7; document.body.append(document.title)</script>' > page.html
chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/profile" --dump-dom "file://$PWD/page.html"
code=$?
rm -rf profile home tmp
exit $code
