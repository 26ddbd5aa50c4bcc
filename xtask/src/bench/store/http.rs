//! Rows over HTTP into Arrow and pandas, as a person fetches them: three lines of Python and the real server.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

use crate::place::output;

/// Fetches a whole job: into Arrow, and into a data frame; the best of three.
const FETCH: &str = r#"
import json, sys, time, urllib.parse, urllib.request
import pyarrow.ipc
server, token = sys.argv[1].split("/#token=")
opener = urllib.request.build_opener()
opener.addheaders = [("Authorization", f"Bearer {token}")]
sql = 'select job, rank, t, t_ns, duration, op, function, file, "offset", length, bytes, sequence, node from events where job = \'slurm.1050.0\''
url = f"{server}/api/sql?" + urllib.parse.urlencode({"q": sql, "format": "arrow"})
best = {}
for _ in range(3):
    before = time.perf_counter()
    table = pyarrow.ipc.open_stream(opener.open(url)).read_all()
    arrow = time.perf_counter() - before
    frame = table.to_pandas(strings_to_categorical=True)
    pandas = time.perf_counter() - before
    assert len(frame) == table.num_rows
    for name, took in (("http_arrow", arrow), ("http_pandas", pandas)):
        best[name] = min(best.get(name, took), took * 1e6 / table.num_rows)
for name, value in best.items():
    print(json.dumps({"name": name, "value": value}))
"#;

/// A server that ends with the measurement.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Lines that say microseconds a row.
pub(super) fn measure(netra: &Path, place: &Path, python: &Path) -> Result<Vec<u8>> {
    let mut command = Command::new(netra);
    command.args(["serve", "--listen", "127.0.0.1:0", "--store"]).arg(place);
    let mut child = command.stderr(Stdio::piped()).spawn().context("starting the server")?;
    let mut lines = BufReader::new(child.stderr.take().context("no pipe")?).lines();
    let _server = Server(child);
    let address = lines.by_ref().map_while(Result::ok);
    let address = { address }.find_map(|line| {
        line.strip_prefix("netra: ").filter(|said| said.starts_with("http")).map(str::to_owned)
    });
    let address = address.context("the server says no address")?;
    // It goes on to speak: somebody has to listen.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    output(Command::new(python).args(["-c", FETCH, &address]))
}
