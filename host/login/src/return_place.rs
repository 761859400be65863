//! Where browsers return to at the end of a login.

use std::net::SocketAddr;

use loggia_server::CALLBACK_PATH;
use url::{Host, Url};

/// Place to which an authorization server sends browsers back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReturnPlace {
    /// A port of this machine, opened for each login.
    Loopback,
    /// The HTTP server, at this URL.
    Listener(Url),
}

/// Returns the URL at which browsers reach a server, if they do: that of `resource`, by which clients know it, or its own
/// address on loopback. The authorization code must not cross a network in clear text.
pub fn listener_url(resource: Option<&Url>, address: SocketAddr) -> Option<Url> {
    let base = match resource {
        Some(resource) => resource.clone(),
        None => format!("http://{address}").parse().ok()?,
    };
    let is_loopback = match base.host()? {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    if base.scheme() != "https" && !is_loopback {
        return None;
    }
    // All else of the resource is the path of MCP.
    base.join(CALLBACK_PATH).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_return_to_known_places() {
        for (resource, address, expected) in [
            (None, "127.0.0.1:8080", Some("http://127.0.0.1:8080/oauth/callback")),
            (None, "[::1]:8080", Some("http://[::1]:8080/oauth/callback")),
            (None, "192.0.2.1:8080", None),
            (None, "0.0.0.0:8080", None),
            (Some("https://tools.example/mcp"), "0.0.0.0:8080", Some("https://tools.example/oauth/callback")),
            (
                Some("https://tools.example:8443/a/mcp"),
                "127.0.0.1:1",
                Some("https://tools.example:8443/oauth/callback"),
            ),
            (Some("http://localhost:9/mcp"), "0.0.0.0:8080", Some("http://localhost:9/oauth/callback")),
            (Some("http://tools.example/mcp"), "127.0.0.1:8080", None),
        ] {
            let resource = resource.map(|resource| resource.parse().unwrap());
            let url = listener_url(resource.as_ref(), address.parse().unwrap());
            assert_eq!(url.as_ref().map(Url::as_str), expected, "{resource:?} {address}");
        }
    }
}
