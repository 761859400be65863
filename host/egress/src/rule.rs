//! One entry of a policy's `http`: scheme, host, port and methods.

/// An entry of a policy's `http`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRule {
    /// Destination of the requests.
    pub to: RuleDestination,
    /// Granted methods in upper case; none grants every method.
    pub methods: Option<Vec<String>>,
    /// Methods beside GET and HEAD that a `read` action may send there, because the operator declares that they only read.
    pub reads: Vec<String>,
}

/// Destination of a rule: `https://api.example.com`, `https://*.example.com:8443`, `https://*`, `http://127.0.0.1:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleDestination {
    /// Exactly this scheme.
    pub scheme: UrlScheme,
    /// Matched hosts.
    pub host: HostPattern,
    /// Exactly this port; the scheme's own where the text names none.
    pub port: u16,
}

/// Scheme of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UrlScheme {
    /// Without encryption.
    Http,
    /// Over TLS.
    Https,
}

/// Hosts that a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostPattern {
    /// This name, in lower case, without a dot at its end.
    Name(String),
    /// `*.example.com`: every name below it, but not itself. Holds `example.com`.
    Below(String),
    /// `*`: every name. An address must be named, and a name that resolves to a private one is refused, so this grants the
    /// public Internet.
    Any,
    /// This address, which may be a private one: naming it is what grants it.
    Address(std::net::IpAddr),
}
