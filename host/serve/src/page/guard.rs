//! What every request to the page must pass, and every response has.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{Request, State as Axum},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY,
            X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
        },
    },
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use maud::{DOCTYPE, Markup, html};
use url::Url;

use super::{context::PageContext, layout::render_plain, return_path::ReturnPath};

/// Nothing inline, nothing of another origin, in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers of all responses.
const HEADERS: [(HeaderName, &str); 7] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_FRAME_OPTIONS, "DENY"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Id of the session of a request, which its middleware has found.
#[derive(Clone)]
pub(super) struct SessionId(pub(super) String);

/// Adds the headers of all responses.
pub(super) async fn set_headers(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Refuses requests that change something and do not come from the page itself.
pub(super) async fn check_origin(request: Request, next: Next) -> Response {
    if matches!(*request.method(), Method::GET | Method::HEAD) || comes_from_page(request.headers()) {
        return next.run(request).await;
    }
    let content = html! {
        p { "The request does not come from this page, or the browser does not say so. Browsers say it on loopback "
            "addresses and over TLS: use the page there, for example through an SSH tunnel." }
    };
    (StatusCode::FORBIDDEN, render_plain("Refused", &content)).into_response()
}

/// Returns true if a browser sends the request for a page of this origin. Pages without referrers have the origin `null` in
/// forms, so the fetch metadata come first; browsers send those on loopback and over TLS, and no script can set them.
fn comes_from_page(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(FETCH_SITE).iter();
    match (sites.next(), sites.next()) {
        (Some(site), None) => site == "same-origin",
        (None, _) => has_own_origin(headers),
        (Some(_), Some(_)) => false,
    }
}

fn has_own_origin(headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return false };
    let origin = origin.to_str().ok().and_then(|origin| Url::parse(origin).ok());
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let (Some(origin), Some(host)) = (origin, host) else { return false };
    let Some(name) = origin.host_str().filter(|_| matches!(origin.scheme(), "http" | "https")) else {
        return false;
    };
    let own = match origin.port() {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    };
    own.eq_ignore_ascii_case(host)
}

/// Lets only requests with a session pass, and hands the session to their handlers.
pub(super) async fn require_session(
    Axum(context): Axum<Arc<PageContext>>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    // An open page that updates itself is no use; a browser's navigation is, and so is everything that changes something.
    let uses =
        *request.method() == Method::POST || headers.get(FETCH_MODE).is_none_or(|mode| mode == "navigate");
    let name = cookie_name(headers);
    let found = session_ids(headers, &name)
        .find_map(|id| Some((id.to_owned(), context.sessions.find(id, Instant::now(), uses)?)));
    let Some((id, session)) = found else {
        let is_read = *request.method() == Method::GET;
        let page = ReturnPath::parse(request.uri().path()).filter(|_| is_read);
        if page.is_some() && comes_from_link(headers) {
            return again().into_response();
        }
        let page = page.unwrap_or_default();
        return Redirect::to(&page.login()).into_response();
    };
    request.extensions_mut().insert(SessionId(id));
    request.extensions_mut().insert(session);
    next.run(request).await
}

/// Returns true if a browser follows a link on a page of another site: then it sends no cookie that is `SameSite=Strict`.
fn comes_from_link(headers: &HeaderMap) -> bool {
    let is = |name: &HeaderName, expected: &str| headers.get(name).is_some_and(|value| value == expected);
    is(&FETCH_SITE, "cross-site") && is(&FETCH_MODE, "navigate")
}

/// A page that loads itself again, now from this site and with the cookie. Reading changes nothing, and what changes something does
/// not come here.
fn again() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; meta http-equiv="refresh" content="0"; title { "Loggia" } }
            body { p { a href="" { "Open the page" } } }
        }
    }
}

/// Name of the cookie of sessions. Cookies are shared by all ports of a host, so that two servers on one machine, or two tunnels
/// to servers, would overwrite each other's.
pub(super) fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok()).unwrap_or_default();
    format!("loggia_operator_{port}")
}

/// Ids in cookies of this name. There may be several, of different paths.
fn session_ids<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(key, _)| *key == name).map(|(_, value)| value).take(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_from_the_page_itself() {
        let check = |headers: &[(&'static str, &'static str)], expected: bool| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            assert_eq!(comes_from_page(&map), expected, "{headers:?}");
        };
        let host = ("host", "127.0.0.1:9090");
        check(&[host, ("sec-fetch-site", "same-origin"), ("origin", "null")], true);
        check(&[host, ("origin", "http://127.0.0.1:9090")], true);
        check(&[("host", "ops.example.com"), ("origin", "https://OPS.example.com")], true);
        check(&[("host", "[::1]:9090"), ("origin", "http://[::1]:9090")], true);
        for headers in [
            &[host][..],
            &[host, ("origin", "null")],
            &[host, ("origin", "http://127.0.0.1:9091")],
            &[host, ("origin", "http://evil.com")],
            &[host, ("origin", "ftp://127.0.0.1:9090")],
            &[host, ("origin", "http://127.0.0.1:9090"), ("origin", "http://evil.com")],
            &[host, ("sec-fetch-site", "cross-site"), ("origin", "http://127.0.0.1:9090")],
            &[host, ("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:9090")],
            &[host, ("sec-fetch-site", "none")],
            &[host, ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
        ] {
            check(headers, false);
        }
    }

    #[test]
    fn cookies_are_found_by_the_name_of_their_port() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("[::1]:9090"));
        headers
            .append(COOKIE, HeaderValue::from_static("a=b; loggia_operator_9091=x; loggia_operator_9090=y"));
        headers.append(COOKIE, HeaderValue::from_static("loggia_operator_9090=z"));
        let name = cookie_name(&headers);
        assert_eq!(session_ids(&headers, &name).collect::<Vec<_>>(), ["y", "z"]);
    }
}
