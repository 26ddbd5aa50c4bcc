//! Who gets in: every request passes here first.
//!
//! A browser that was led here by a foreign page is refused by its `Host` (a name that somebody made point
//! at this machine) or its `Origin` (a foreign page that sends). What changes something needs an origin of
//! ours, or a token in the request itself, which no foreign page can add.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, ORIGIN,
    REFERRER_POLICY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::answer::refuse;
use super::{Served, User, route};

/// How long an answer may take to begin.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a browser may do with what we send: nothing but our own script, style and data.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Lets a request through, or not, and puts on every answer what keeps browsers careful.
pub(super) async fn guard(
    State(served): State<Arc<Served>>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let mut answer = match enter(&served, &mut request) {
        Err(refusal) => *refusal,
        Ok(()) => match tokio::time::timeout(PATIENCE, next.run(request)).await {
            Ok(answer) => answer,
            Err(_) => refuse(StatusCode::GATEWAY_TIMEOUT, "this takes too long"),
        },
    };
    let headers = answer.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

fn enter(served: &Served, request: &mut Request) -> Result<(), Box<Response<Body>>> {
    let deny = |status, says: &str| Err(Box::new(refuse(status, says)));
    let headers = request.headers();
    let Some(host) = text(headers, &HOST).filter(|host| served.hosts.allow(host)) else {
        let says = "this server does not answer to that name; --host allows more";
        return deny(StatusCode::MISDIRECTED_REQUEST, says);
    };
    let own = |origin: &str| {
        let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        rest == Some(host)
    };
    let origin = text(headers, &ORIGIN);
    if origin.is_some_and(|origin| !own(origin)) {
        return deny(StatusCode::FORBIDDEN, "another site's page may not ask here");
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    if changes && origin.is_none() && text(headers, &AUTHORIZATION).is_none() {
        return deny(StatusCode::FORBIDDEN, "what changes something needs a token in the request");
    }
    if route::is_public(request.uri().path()) {
        return Ok(());
    }
    match token(headers, served.port).and_then(|token| served.users.with_token(token)) {
        Some(user) => {
            let user: User = user.clone();
            request.extensions_mut().insert(user);
            Ok(())
        }
        None => {
            let mut answer = refuse(StatusCode::UNAUTHORIZED, "a token is needed");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            Err(Box::new(answer))
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The token of a request: in its own header, else in the cookie of this port. Cookies know no ports, so
/// two servers on one machine need two names.
pub(super) fn token(headers: &HeaderMap, port: u16) -> Option<&str> {
    if let Some(token) = text(headers, &AUTHORIZATION) {
        return token.strip_prefix("Bearer ");
    }
    let name = cookie_name(port);
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';'))
        .filter_map(|one| one.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, token)| token)
}

/// What the cookie is called.
pub(super) fn cookie_name(port: u16) -> String {
    format!("netra_{port}")
}

/// The names that this server answers to.
#[derive(Debug, Clone)]
pub struct Hosts {
    names: Vec<String>,
}

impl Hosts {
    /// This machine as a loopback, and these names.
    #[must_use]
    pub fn new(more: &[String]) -> Hosts {
        let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        let names = own.into_iter().chain(more.iter().map(|name| name.to_ascii_lowercase()));
        Hosts { names: names.collect() }
    }

    /// Whether a `Host` header names this server.
    #[must_use]
    pub fn allow(&self, host: &str) -> bool {
        let name = match host.rfind(':') {
            // The last colon of a bare address in brackets stands inside them.
            Some(at) if !host[at..].contains(']') => &host[..at],
            _ => host,
        };
        self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names_are_answered() {
        let hosts = Hosts::new(&["Login1".to_owned()]);
        for good in ["localhost", "127.0.0.1:8080", "[::1]:80", "[::1]", "login1:9"] {
            assert!(hosts.allow(good), "{good}");
        }
        for bad in ["evil.example", "127.0.0.1.evil.example:80", "", ":80", "[::2]:80"] {
            assert!(!hosts.allow(bad), "{bad}");
        }
    }

    #[test]
    fn a_token_is_found_in_header_and_cookie() {
        let headers = |name: HeaderName, value: &str| {
            HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
        };
        assert_eq!(token(&headers(AUTHORIZATION, "Bearer abc"), 80), Some("abc"));
        assert_eq!(token(&headers(AUTHORIZATION, "Basic abc"), 80), None);
        assert_eq!(token(&headers(COOKIE, "a=b; netra_80=abc"), 80), Some("abc"));
        assert_eq!(token(&headers(COOKIE, "netra_81=abc"), 80), None);
    }
}
