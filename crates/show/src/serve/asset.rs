//! The page itself: script and style as they were bundled, and the frame that loads them. Nothing in
//! them is about anybody's job, so anybody may have them.

use std::sync::Arc;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::Response;
use axum::routing::{MethodRouter, get};

use super::Served;
use super::answer::bytes_answer;

include!(concat!(env!("OUT_DIR"), "/live.rs"));

const FRAME: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>netra</title>\n<link rel=\"icon\" href=\"data:,\">\n\
    <link rel=\"stylesheet\" href=\"/page.css\">\n<link rel=\"stylesheet\" href=\"/live.css\">\n<script src=\"/live.js\" defer></script>\n</head>\n\
    <body>\n<main><p>This page needs its script.</p></main>\n</body>\n</html>\n";

/// Where the script was not built with the program.
const UNBUILT: &str = "document.querySelector('main').textContent = \
    'This netra was built without its page: run `cargo xtask web` and build it again. \
    The data is at /api/jobs (see /api/openapi.json).';";

type Handler = MethodRouter<Arc<Served>>;

/// The addresses of the page and its parts.
pub(super) fn routes() -> [(&'static str, Handler); 7] {
    let frame = || get(|| async { fresh(bytes_answer(FRAME, "text/html; charset=utf-8")) });
    let script = if BUILT { SCRIPT } else { UNBUILT };
    let script =
        get(move || async move { fresh(bytes_answer(script, "text/javascript; charset=utf-8")) });
    let style = |text: &'static str| {
        get(move || async move { fresh(bytes_answer(text, "text/css; charset=utf-8")) })
    };
    [
        ("/", frame()),
        ("/site", frame()),
        ("/runs/{program}", frame()),
        ("/jobs/{job}", frame()),
        ("/live.js", script),
        ("/page.css", style(STYLE)),
        ("/live.css", style(LIVE_STYLE)),
    ]
}

/// Asked for again each time: the next netra has others.
fn fresh(mut answer: Response<Body>) -> Response<Body> {
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}
