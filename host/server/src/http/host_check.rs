//! Checks `Host` and `Origin` against the server's own names, to prevent DNS rebinding: a web page whose name was pointed at
//! this address could otherwise call it.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, StatusCode, Uri,
        header::{HOST, ORIGIN},
        uri::Authority,
    },
    middleware::Next,
    response::{IntoResponse, Response},
};

const TWICE: (StatusCode, &str) =
    (StatusCode::BAD_REQUEST, "a request needs exactly one host and at most one origin");

/// Allowed hosts and origins.
#[derive(Debug, Clone)]
pub struct HostAllowlist {
    /// With or without a port, in any case. Without a port, all match.
    hosts: Vec<String>,
    /// Normalized as browsers write them.
    origins: Vec<String>,
}

impl HostAllowlist {
    /// Allows the listen address, loopback, and the operator's own entries.
    pub fn new(address: SocketAddr, hosts: &[String], origins: &[String]) -> Self {
        let port = address.port();
        let own = address.ip().to_string();
        let own = ["localhost", "127.0.0.1", "[::1]", &own].map(str::to_owned);
        let of_own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
        let of_own = of_own.into_iter().chain([format!("http://{address}")]);
        Self {
            hosts: own.into_iter().chain(hosts.iter().cloned()).collect(),
            origins: of_own.chain(origins.iter().cloned()).map(|page| normalize_origin(&page)).collect(),
        }
    }

    fn has_host(&self, host: &Authority) -> bool {
        let name = host.host();
        // The listen address has no brackets.
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let is = |own: &str| [host.as_str(), name, bare].iter().any(|host| own.eq_ignore_ascii_case(host));
        self.hosts.iter().any(|own| is(own))
    }

    fn has_origin(&self, origin: &str) -> bool {
        let origin = normalize_origin(origin);
        self.origins.contains(&origin)
    }

    /// Checks the host and the origin of a request.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        // Of two values, one would be checked and another one used.
        if headers.get_all(ORIGIN).iter().count() > 1 {
            return Err(TWICE);
        }
        self.check_host(uri, headers)?;
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        match origin.to_str() {
            Ok(origin) if self.has_origin(origin) => Ok(()),
            _ => Err((
                StatusCode::FORBIDDEN,
                "this origin is not allowed; the operator can add it to `http.origins`",
            )),
        }
    }

    /// Checks only the host of a request.
    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        if headers.get_all(HOST).iter().count() > 1 {
            return Err(TWICE);
        }
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
        let Some(host) = host.filter(|host| !host.as_str().contains('@')) else {
            return Err((StatusCode::BAD_REQUEST, "the request has no valid host"));
        };
        if uri.authority().is_some_and(|target| *target != host) {
            return Err(TWICE);
        }
        if !self.has_host(&host) {
            return Err((
                StatusCode::FORBIDDEN,
                "this host is not allowed; the operator can add it to `http.hosts`",
            ));
        }
        Ok(())
    }
}

/// Normalizes an origin as browsers do: lower case, without its scheme's default port.
pub fn normalize_origin(page: &str) -> String {
    let page = page.to_ascii_lowercase();
    let usual = [("https://", ":443"), ("http://", ":80")];
    let without = usual.iter().find_map(|(scheme, port)| {
        page.strip_prefix(scheme)?.strip_suffix(port).map(|host| format!("{scheme}{host}"))
    });
    without.unwrap_or(page)
}

/// Refuses requests with other hosts or origins, for routes beside MCP.
pub async fn check_host(State(names): State<Arc<HostAllowlist>>, request: Request, next: Next) -> Response {
    match names.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

/// Refuses requests with other hosts, whatever their origin: for documents that pages of all origins may read.
pub async fn check_only_host(
    State(names): State<Arc<HostAllowlist>>,
    request: Request,
    next: Next,
) -> Response {
    match names.check_host(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(names: &HostAllowlist, headers: &[(&str, &str)], uri: &str) -> u16 {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        names
            .check(&uri.parse().unwrap(), &headers.collect())
            .map_or_else(|(status, _)| status.as_u16(), |()| 200)
    }

    #[test]
    fn the_listen_address_is_an_allowed_host() {
        let check = |address: &str, host: &str, origin: &str| {
            let names = HostAllowlist::new(address.parse().unwrap(), &[], &[]);
            assert_eq!(
                status(&names, &[("host", host), ("origin", origin)], "/mcp"),
                200,
                "{address} {host}"
            );
        };
        check("127.0.0.1:80", "localhost", "http://localhost:80");
        check("127.0.0.2:8080", "127.0.0.2", "http://127.0.0.2:8080");
        check("127.0.0.2:8080", "127.0.0.1:8080", "http://[::1]:8080");
        check("[::1]:8080", "[::1]:8080", "http://[::1]:8080");
    }

    #[test]
    fn only_known_hosts_and_origins_pass() {
        let own = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let hosts = own(&["Tools.example.com", "alt.example.com:8443"]);
        let names =
            HostAllowlist::new("127.0.0.1:80".parse().unwrap(), &hosts, &own(&["https://chat.example.com"]));
        let check = |headers: &[(&str, &str)], expected: u16| {
            assert_eq!(status(&names, headers, "/mcp"), expected, "{headers:?}");
        };
        check(&[], 400);
        check(&[("host", "")], 400);
        check(&[("host", "127.0.0.1:80")], 200);
        check(&[("host", "tools.example.com")], 200);
        check(&[("host", "TOOLS.example.com:443")], 200);
        check(&[("host", "alt.example.com:8443")], 200);
        check(&[("host", "alt.example.com")], 403);
        check(&[("host", "evil.com")], 403);
        check(&[("host", "tools.example.com.evil.com")], 403);
        check(&[("host", "evil.com@tools.example.com")], 400);
        check(&[("host", "tools.example.com"), ("host", "evil.com")], 400);
        check(&[("host", "localhost"), ("origin", "https://chat.example.com")], 200);
        check(&[("host", "localhost"), ("origin", "https://chat.example.com:443")], 200);
        check(&[("host", "localhost"), ("origin", "https://chat.example.com:8443")], 403);
        check(&[("host", "localhost"), ("origin", "https://chat.example.com.evil.com")], 403);
        check(&[("host", "localhost"), ("origin", "null")], 403);
        check(&[("host", "localhost"), ("origin", "http://localhost:81")], 403);
    }

    #[test]
    fn a_request_target_must_match_the_host() {
        let names = HostAllowlist::new("127.0.0.1:80".parse().unwrap(), &[], &[]);
        assert_eq!(status(&names, &[("host", "localhost")], "http://localhost/mcp"), 200);
        assert_eq!(status(&names, &[("host", "localhost")], "http://evil.com/mcp"), 400);
    }
}
