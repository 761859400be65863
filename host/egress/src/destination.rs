//! Destinations, as policies write them, and targets, as requests name them.

use std::fmt;

use crate::{
    HostPattern, RequestRefusal, RuleDestination, UrlScheme,
    address::AddressClass,
    host::{HostError, UrlHost},
};

/// Target of one request, in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestTarget {
    /// Scheme of the URL.
    pub scheme: UrlScheme,
    /// Host of the URL, in canonical form.
    pub host: UrlHost,
    /// Port of the URL, or the scheme's default.
    pub port: u16,
}

impl UrlScheme {
    /// Returns the default port.
    pub fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl fmt::Display for UrlScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "http",
            Self::Https => "https",
        })
    }
}

impl RequestTarget {
    /// Parses a request's URL.
    ///
    /// # Errors
    ///
    /// [`RequestRefusal::Scheme`] and [`RequestRefusal::Url`].
    pub fn parse(uri: &http::Uri) -> Result<Self, RequestRefusal> {
        let scheme = match uri.scheme_str().map(str::to_ascii_lowercase).as_deref() {
            Some("http") => UrlScheme::Http,
            Some("https") => UrlScheme::Https,
            _ => return Err(RequestRefusal::Scheme),
        };
        let authority = uri.authority().map_or("", http::uri::Authority::as_str);
        let (host, port) = UrlHost::parse_with_port(authority).map_err(RequestRefusal::Url)?;
        Ok(Self { scheme, host, port: port.unwrap_or(scheme.port()) })
    }

    /// Formats host and port as the `Host` header does: without the scheme's default port.
    pub(crate) fn authority(&self) -> String {
        if self.port == self.scheme.port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for RequestTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority())
    }
}

impl fmt::Display for RuleDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme)?;
        match &self.host {
            HostPattern::Name(name) => f.write_str(name)?,
            HostPattern::Below(suffix) => write!(f, "*.{suffix}")?,
            HostPattern::Any => f.write_str("*")?,
            HostPattern::Address(address) => UrlHost::Address(*address).fmt(f)?,
        }
        if self.port == self.scheme.port() { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

impl RuleDestination {
    /// Parses a destination of a policy file.
    ///
    /// # Errors
    ///
    /// The mistake and how to write a destination, to be read after the key's name.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse(text).map_err(|why| format!("{:?} {why}", clip(text)))
    }

    /// Tests whether a target matches. A name never matches an address, nor an address a name.
    pub fn covers(&self, target: &RequestTarget) -> bool {
        self.scheme == target.scheme && self.port == target.port && self.host.covers(&target.host)
    }
}

impl HostPattern {
    /// Tests whether a host matches.
    pub fn covers(&self, host: &UrlHost) -> bool {
        match (self, host) {
            (Self::Any, UrlHost::Name(_)) => true,
            (Self::Name(name), UrlHost::Name(host)) => name == host,
            (Self::Below(suffix), UrlHost::Name(host)) => host
                .strip_suffix(suffix.as_str())
                .and_then(|rest| rest.strip_suffix('.'))
                .is_some_and(|label| !label.is_empty()),
            (Self::Address(address), UrlHost::Address(host)) => address == host,
            _ => false,
        }
    }
}

const FORM: &str = "write scheme, host and, where needed, port, such as \"https://api.example.com:8443\"";

fn parse(text: &str) -> Result<RuleDestination, String> {
    let (scheme, rest) = text.split_once("://").ok_or_else(|| format!("is not a destination; {FORM}"))?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" => UrlScheme::Http,
        "https" => UrlScheme::Https,
        _ => return Err(format!("has a scheme other than http and https; {FORM}")),
    };
    if let Some(at) = rest.find(['/', '\\', '?', '#']) {
        let whole = clip(&rest[..at]);
        return Err(format!(
            "has a path, query or fragment; a grant is for a whole host: \"{scheme}://{whole}\""
        ));
    }
    if let Some(port) = rest.strip_prefix('*').filter(|rest| rest.is_empty() || rest.starts_with(':')) {
        // The port is read behind a name in place of the star.
        let (_, port) = UrlHost::parse_with_port(&format!("any{port}"))
            .map_err(|error| describe_host_error(scheme, &error))?;
        return Ok(RuleDestination { scheme, host: HostPattern::Any, port: port.unwrap_or(scheme.port()) });
    }
    let (below, rest) = match rest.strip_prefix("*.") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    if rest.contains('*') {
        return Err(
            "has a `*` that is not its host's whole first part; write \"https://*.example.com\", or \"https://*\" for every public host".into()
        );
    }
    let (host, port) = UrlHost::parse_with_port(rest).map_err(|error| describe_host_error(scheme, &error))?;
    let host = match (below, host) {
        (false, UrlHost::Name(name)) => HostPattern::Name(name),
        (true, UrlHost::Name(name)) if name.contains('.') => HostPattern::Below(name),
        (true, UrlHost::Name(_)) => {
            return Err("would grant every name below a top-level domain; name more of it, \
                        such as \"https://*.example.com\""
                .into());
        }
        (true, UrlHost::Address(_)) => return Err("has a `*` before an address; name each address".into()),
        (false, UrlHost::Address(address)) => match AddressClass::classify(address) {
            class @ (AddressClass::Unspecified | AddressClass::Multicast | AddressClass::Broadcast) => {
                return Err(format!(
                    "names {class}, to which no request can go; name the host's own address"
                ));
            }
            _ => HostPattern::Address(address),
        },
    };
    Ok(RuleDestination { scheme, host, port: port.unwrap_or(scheme.port()) })
}

fn describe_host_error(scheme: UrlScheme, why: &HostError) -> String {
    match why {
        HostError::Odd(Some(plain)) | HostError::Foreign(Some(plain)) => {
            let kind = if matches!(why, HostError::Odd(_)) {
                "an address in an unusual notation"
            } else {
                "a host not in ASCII"
            };
            format!("names {kind}; write \"{scheme}://{plain}\"")
        }
        why => format!("has a host that {why}; {FORM}"),
    }
}

/// Truncates a text for a message.
fn clip(text: &str) -> &str {
    text.char_indices().nth(80).map_or(text, |(at, _)| &text[..at])
}
