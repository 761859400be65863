//! Hosts of URLs, parsed strictly: a text that another parser could read as another host is refused.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// A host in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum UrlHost {
    /// A name in lower case, without a dot at its end.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// Error of a malformed host, to be read after "the host".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The text or a label is empty.
    #[error("is empty, or a part of it between dots is")]
    Empty,
    /// Too long for DNS.
    #[error("is too long: 253 characters at most, 63 between dots")]
    TooLong,
    /// A label begins or ends with a hyphen.
    #[error("has a part that begins or ends with \"-\"")]
    Hyphen,
    /// An invalid character.
    #[error("holds {0:?}, which no host name has")]
    Character(char),
    /// Not ASCII.
    #[error("must be written in ASCII{}", instead(.0))]
    Foreign(Option<String>),
    /// `0x7f.1`, `2130706433`, `127.1`, `::ffff:127.0.0.1`.
    #[error("is an address in an unusual notation{}", instead(.0))]
    Odd(Option<String>),
    /// Brackets without an IPv6 address, or an IPv6 address without brackets.
    #[error("must be a plain IPv6 address in brackets, such as [::1], without a zone")]
    Brackets,
    /// Not a number from 1 to 65535 in plain digits.
    #[error("is followed by a port that is not a number from 1 to 65535")]
    Port,
    /// `user:password@`.
    #[error("is preceded by a user name or a password, which a URL must not hold here")]
    User,
}

fn instead(plain: &Option<String>) -> String {
    plain.as_ref().map(|plain| format!("; write {plain}")).unwrap_or_default()
}

impl UrlHost {
    /// Parses a host, an IPv6 address in brackets.
    ///
    /// # Errors
    ///
    /// Anything that is not exactly one name or one address in its plain form.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        if let Some(inner) = text.strip_prefix('[') {
            return parse_v6(inner.strip_suffix(']').ok_or(HostError::Brackets)?);
        }
        if text.contains([':', ']']) {
            return Err(HostError::Brackets);
        }
        if !text.is_ascii() {
            let plain = url::Host::parse(text).ok().map(|host| host.to_string());
            return Err(HostError::Foreign(plain));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_number(last) {
            return match name.parse::<Ipv4Addr>() {
                Ok(address) if text == name => Ok(Self::Address(address.into())),
                Ok(address) => Err(HostError::Odd(Some(address.to_string()))),
                Err(_) => Err(HostError::Odd(loose_v4(&name).map(|address| address.to_string()))),
            };
        }
        check_name(&name)?;
        Ok(Self::Name(name))
    }

    /// Parses `host` or `host:port`.
    ///
    /// # Errors
    ///
    /// As for [`UrlHost::parse`]; a user name; an invalid port.
    pub fn parse_with_port(text: &str) -> Result<(Self, Option<u16>), HostError> {
        if text.contains('@') {
            return Err(HostError::User);
        }
        let after = text.rfind(']').map_or(0, |at| at + 1);
        let Some(colon) = text[after..].find(':').map(|at| after + at) else {
            return Ok((Self::parse(text)?, None));
        };
        let (host, port) = (&text[..colon], &text[colon + 1..]);
        if port.contains(':') {
            return Err(HostError::Brackets);
        }
        let host = Self::parse(host)?;
        let plain = !port.is_empty() && !port.starts_with('0') && port.bytes().all(|b| b.is_ascii_digit());
        let port = port.parse().ok().filter(|_| plain).ok_or(HostError::Port)?;
        Ok((host, Some(port)))
    }
}

impl fmt::Display for UrlHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

fn check_name(name: &str) -> Result<(), HostError> {
    // Checked before lengths: for a whole URL, an error about its `/` helps more than one about its length.
    if let Some(odd) = name.chars().find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '.')) {
        return Err(HostError::Character(odd));
    }
    if name.len() > 253 || name.split('.').any(|label| label.len() > 63) {
        return Err(HostError::TooLong);
    }
    if name.split('.').any(str::is_empty) {
        return Err(HostError::Empty);
    }
    if name.split('.').any(|label| label.starts_with('-') || label.ends_with('-')) {
        return Err(HostError::Hyphen);
    }
    Ok(())
}

fn parse_v6(inner: &str) -> Result<UrlHost, HostError> {
    let address: Ipv6Addr = inner.parse().map_err(|_| HostError::Brackets)?;
    match address.to_ipv4_mapped() {
        // The system would connect to the IPv4 address, so only that form is accepted.
        Some(v4) => Err(HostError::Odd(Some(v4.to_string()))),
        None => Ok(UrlHost::Address(address.into())),
    }
}

/// Tests whether parsers may read a host that ends in this label as an IPv4 address.
fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x");
    hex.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
        || (!label.is_empty() && label.bytes().all(|b| b.is_ascii_digit()))
}

/// Parses an address as C's `inet_aton` does; only for messages, never connected to.
fn loose_v4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = text.split('.').map(loose_number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|part| *part > 255) {
        return None;
    }
    let room = 32 - 8 * u32::try_from(first.len()).ok()?;
    if u64::from(*last) >= 1 << room {
        return None;
    }
    let high = first.iter().enumerate().fold(0, |sum, (n, part)| sum | part << (24 - 8 * n));
    Some(Ipv4Addr::from(high | last))
}

fn loose_number(text: &str) -> Option<u32> {
    if let Some(hex) = text.strip_prefix("0x") {
        return if hex.is_empty() { Some(0) } else { u32::from_str_radix(hex, 16).ok() };
    }
    if text.len() > 1 && text.starts_with('0') {
        return u32::from_str_radix(text, 8).ok();
    }
    text.parse().ok()
}
