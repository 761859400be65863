//! Values of `[auth]`: tokens created by `loggia token new`, and URLs of an authorization server.

use std::path::PathBuf;

use chrono::NaiveDate;
use data_encoding::HEXLOWER_PERMISSIVE;
use loggia_egress::RuleDestination;
use url::Url;

use super::{
    kind::ValueKind,
    value::{SettingsReader, text, values},
    web_url::{is_loopback, web_url},
};
use crate::{
    document::{field::Field, tree::Text},
    model::AccessScope,
};

/// Prefix of every token, so that secret scanners find it.
pub const PREFIX: &str = "loggia_";
/// Prefix of a hash.
pub const SHA256: &str = "sha256:";
/// Maximum length of a token's name.
const MAX_NAME: usize = 64;
/// Maximum length of an issuer, which is part of the name of each caller.
const MAX_ISSUER: usize = 256;

/// SHA-256 of a whole token.
pub type TokenHash = [u8; 32];

/// Start of the day from which a token is rejected, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenExpiry(pub i64);

/// URL by which clients know this server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceUrl {
    /// Verbatim, since clients compare it with their configured URL.
    pub written: String,
    /// Parsed form.
    pub url: Url,
}

/// Location of the signing keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JwksLocation {
    /// JWKS file.
    File(PathBuf),
    /// URL of a JWKS.
    Url(Url),
}

/// Parses `sha256:` and 64 hexadecimal digits.
pub fn parse_hash(text: &str) -> Option<TokenHash> {
    let digits = text.strip_prefix(SHA256)?;
    HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok()?.try_into().ok()
}

/// Checks a token's name. It appears in logs, and cannot collide with callers of an authorization server, whose names
/// contain a `#`.
///
/// # Errors
///
/// The rule for names, to be shown after the key.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@".contains(&byte);
    if !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(letter) {
        Ok(())
    } else {
        Err("must be 1 to 64 letters, digits, `.`, `_`, `-` and `@`")
    }
}

/// Parses a day of the form 2027-06-30 (UTC) to seconds since 1970.
pub fn parse_expiry(day: &str) -> Option<i64> {
    // chrono also accepts days without leading zeros.
    let day = NaiveDate::parse_from_str(day, "%Y-%m-%d").ok().filter(|_| day.len() == 10)?;
    Some(day.and_hms_opt(0, 0, 0)?.and_utc().timestamp())
}

/// Parses a hash. Messages do not show it, since it may be an unhashed token.
pub(crate) fn hash(text: &Text) -> Result<TokenHash, &'static str> {
    match parse_hash(&text.value) {
        Some(hash) => Ok(hash),
        None if text.value.starts_with(PREFIX) => Err(
            "is a token, which must not be stored; create another with `loggia token new` and store its hash",
        ),
        None => Err("must be `sha256:` and 64 hexadecimal digits, as `loggia token new` prints it"),
    }
}

fn scope(text: &Text) -> Result<AccessScope, String> {
    text.value.parse().map_err(|error| format!("has {}: {error}", text.quoted()))
}

fn expiry(text: &Text) -> Result<TokenExpiry, String> {
    let reason = || format!("must be a date such as \"2027-06-30\" (got {})", text.quoted());
    parse_expiry(&text.value).map(TokenExpiry).ok_or_else(reason)
}

fn resource(text: &Text) -> Result<ResourceUrl, &'static str> {
    const FORM: &str = "must be an absolute URL such as \"https://tools.example.com/mcp\"";
    let url = web_url(&text.value).ok_or(FORM)?;
    if url.fragment().is_some() || url.query().is_some() {
        return Err("must have no query and no fragment");
    }
    Ok(ResourceUrl { written: text.value.clone(), url })
}

pub(crate) fn issuer(text: &Text) -> Result<String, String> {
    let text = &text.value;
    let url = web_url(text).filter(|url| url.fragment().is_none() && url.query().is_none());
    match url {
        None => Err("must be the URL of the authorization server, exactly as in `iss` of its tokens".into()),
        Some(_) if text.len() > MAX_ISSUER => Err(format!("must not be longer than {MAX_ISSUER} characters")),
        Some(url) if url.scheme() == "http" && !is_loopback(&url) => {
            Err("must be https://: clients are sent there to sign in (http:// for a loopback address)".into())
        }
        Some(_) => Ok(text.clone()),
    }
}

fn jwks(text: &Text) -> Result<JwksLocation, String> {
    if text.value.is_empty() {
        return Err("is empty: name a file or an https:// URL".into());
    }
    if !text.value.contains("://") {
        return Ok(JwksLocation::File(PathBuf::from(&text.value)));
    }
    let url =
        web_url(&text.value).ok_or("must be a file or an https:// URL, without user name and password")?;
    if url.scheme() == "http" && !is_loopback(&url) {
        return Err(
            "must be https://: over http://, an attacker on the network could replace the keys".into()
        );
    }
    RuleDestination::parse(&url.origin().ascii_serialization())?;
    Ok(JwksLocation::Url(url))
}

values! {
    TokenHash, ValueKind::Text, text(hash);
    AccessScope, ValueKind::Text, text(scope);
    TokenExpiry, ValueKind::Text, text(expiry);
    ResourceUrl, ValueKind::Text, text(resource);
    JwksLocation, ValueKind::Text, read_jwks;
}

fn read_jwks(field: &Field<'_>, reader: &mut SettingsReader<'_>) -> Option<JwksLocation> {
    Some(match text(jwks)(field, reader)? {
        JwksLocation::File(path) => JwksLocation::File(reader.setting.folder.join(path)),
        at => at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Text {
        Text { value: value.to_owned(), written: None }
    }

    #[test]
    fn a_resource_is_a_plain_url() {
        let check = |url: &str, good: bool| assert_eq!(resource(&text(url)).is_ok(), good, "{url}");
        check("https://tools.example.com/mcp", true);
        check("http://127.0.0.1:8080/mcp", true);
        check("https://h", true);
        for bad in [
            "",
            "/mcp",
            "h/mcp",
            "https://",
            "ftp://h/",
            "https://h/mcp#a",
            "https://h/mcp?a",
            "https://u:p@h/",
        ] {
            check(bad, false);
        }
        check("https://h/a b", false);
    }

    #[test]
    fn keys_come_from_a_file_or_over_tls() {
        let check =
            |at: &str, expected: Option<JwksLocation>| assert_eq!(jwks(&text(at)).ok(), expected, "{at}");
        let url = |text: &str| Some(JwksLocation::Url(text.parse().unwrap()));
        check("keys.json", Some(JwksLocation::File("keys.json".into())));
        check("/run/keys.json", Some(JwksLocation::File("/run/keys.json".into())));
        for good in [
            "https://id.example.com/keys?tenant=1",
            "http://127.0.0.1:8080/k",
            "http://[::1]/k",
            "http://localhost/k",
        ] {
            check(good, url(good));
        }
        for bad in [
            "",
            "http://id.example.com/keys",
            "http://10.0.0.1/k",
            "ftp://h/k",
            "https://u:p@h/k",
            "file:///etc/k",
        ] {
            check(bad, None);
        }
    }
}
