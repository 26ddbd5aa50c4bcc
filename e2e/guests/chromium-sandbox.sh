# The browser with its sandbox, as an ordinary user.
printf '<p>page</p><script>document.title = 6 * 7; document.body.append(document.title)</script>' > page.html
chmod 755 . .. && mkdir profile && chown -R nobody .
setpriv --reuid=nobody --regid=nogroup --clear-groups chromium --headless --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$PWD/profile" --dump-dom "file://$PWD/page.html"
code=$?
rm -rf profile home tmp
exit $code
