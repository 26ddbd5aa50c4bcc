//! The daemon's own numbers, for Prometheus, over a local port.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use crate::stop::Stop;
use crate::told::Told;
use crate::wire::{Channel, Listener};

/// How long somebody may take to ask.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answers whoever asks, one at a time, until the daemon ends.
pub(super) fn serve(listener: &Listener, told: &Arc<Told>, stop: &Stop) {
    while !stop.is_set() {
        let mut fds = [PollFd::new(listener, PollFlags::IN), PollFd::new(stop.fd(), PollFlags::IN)];
        if poll(&mut fds, None).is_ok()
            && let Ok(Some(channel)) = listener.accept()
        {
            answer(channel, told);
        }
    }
}

fn answer(mut channel: Channel, told: &Told) {
    if channel.set_patience(Some(PATIENCE)).is_err() {
        return;
    }
    let mut asked = [0; 1024];
    // Whatever was asked, there is one answer.
    let Ok(1..) = channel.read(&mut asked) else { return };
    let body = told.metrics();
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close\r\n";
    let answer = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    // Whoever went away does not want it.
    channel.write_all(answer.as_bytes()).ok();
}
