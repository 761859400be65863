//! One line of a policy's `http`: a scheme, a host, a port and methods.

/// What a policy's `http` entry allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Where to.
    pub to: Destination,
    /// Upper case; none: every method.
    pub methods: Option<Vec<String>>,
    /// Methods beside GET and HEAD that a `read` action may send there, since the operator says that they only read.
    pub reads: Vec<String>,
}

/// `https://api.example.com`, `https://*.example.com:8443`, `http://127.0.0.1:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Exactly this scheme.
    pub scheme: Scheme,
    /// Which hosts.
    pub host: HostPattern,
    /// Exactly this port; the scheme's own where the text names none.
    pub port: u16,
}

/// The schemes there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Without encryption.
    Http,
    /// Over TLS.
    Https,
}

/// Which hosts a rule means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostPattern {
    /// This name, in lower case, without a dot at its end.
    Name(String),
    /// `*.example.com`: every name below it, but not itself. Holds `example.com`.
    Below(String),
    /// This address, which may be a private one: naming it is what grants it.
    Address(std::net::IpAddr),
}
