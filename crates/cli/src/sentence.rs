//! An error with its causes, as one line for a person.

use std::path::Path;

/// The error and each cause that says something new: many libraries repeat their cause in their own words.
pub(crate) fn of(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
    }
    text
}

/// What went wrong with a file, behind its name and without saying it again.
pub(crate) fn about(path: &Path, error: &anyhow::Error) -> String {
    let name = path.display();
    format!("{name}: {}", of(error).replace(&format!(" {name}"), ""))
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    #[test]
    fn what_was_said_is_not_said_again() {
        let refused = anyhow!("connection refused");
        let request = refused.context("sending a request: connection refused");
        let whole = request.context("reading jobs");
        assert_eq!(super::of(&whole), "reading jobs: sending a request: connection refused");
    }
}
