//! Parts of a URL that a request needs, and escaping of parameters.

use crate::{Failure, Result};

/// `https://api.example.com:8443/v1?x=1`, in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    pub https: bool,
    /// Host, and port if the URL has one.
    pub authority: String,
    /// Starts with `/`; includes the query but not the fragment.
    pub path: String,
}

impl Url {
    /// # Errors
    ///
    /// `invalid_params`, without the URL itself, which may contain secrets.
    pub fn parse(url: &str) -> Result<Self> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| unfit("it begins with no https://"))?;
        let https = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(unfit("it is neither https nor http")),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.is_empty() {
            return Err(unfit("it names no host"));
        }
        if authority.contains('@') {
            return Err(unfit("it holds a user or a password: use a header, or the policy's `secrets`"));
        }
        let odd = |c: char| c.is_ascii_control() || c == ' ' || c == '\\';
        if authority.contains(|c: char| odd(c) || !c.is_ascii()) || path.contains(odd) {
            return Err(unfit("it holds a space, a control character or a backslash: write %20 for a space"));
        }
        let path =
            if path.starts_with('/') { encode_others(path) } else { ["/", &encode_others(path)].concat() };
        Ok(Self { https, authority: authority.to_owned(), path })
    }

    /// Scheme, host and port, as a policy grants them.
    pub fn origin(&self) -> String {
        [if self.https { "https://" } else { "http://" }, &self.authority].concat()
    }
}

fn unfit(why: &str) -> Failure {
    Failure::invalid_params(format!("not a URL that can be asked: {why}"))
}

/// Escapes characters other than ASCII; keeps existing escapes.
fn encode_others(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii() { encoded.push(byte.into()) } else { escape(byte, &mut encoded) }
    }
    encoded
}

/// Adds `name=value` to a URL or a form.
pub(super) fn append(text: &mut String, name: &str, value: &str) {
    encode(name, text);
    text.push('=');
    encode(value, text);
}

/// A text as a part of a query or a path.
pub(super) fn encode(text: &str, to: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            to.push(byte.into());
        } else {
            escape(byte, to);
        }
    }
}

fn escape(byte: u8, to: &mut String) {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    to.extend(['%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}
