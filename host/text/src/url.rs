//! Credentials in the query of a URL.

use std::borrow::Cow;

use crate::{REDACTED, redact};

/// Names of parameters that are credentials, in lower case, without `-` and `_`.
const SECRET: [&str; 15] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "auth",
    "authtoken",
    "clientsecret",
    "idtoken",
    "passwd",
    "password",
    "pwd",
    "refreshtoken",
    "secret",
    "sig",
    "signature",
];
/// Names of parameters that may also be ordinary words.
const MAYBE_SECRET: [&str; 3] = ["key", "pass", "token"];
/// Length from which the value of such a parameter is a credential.
const OPAQUE: usize = 16;

/// Replaces credentials in a URL: values of parameters that are named so, and what [`redact`] finds. Other parameters stay, so that
/// requests that differ in them stay distinct.
pub fn redact_url(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return redact(url).into_owned() };
    let pairs = query.split('&').map(redact_pair);
    let pairs: Vec<Cow<'_, str>> = pairs.collect();
    format!("{}?{}", redact(path), pairs.join("&"))
}

fn redact_pair(pair: &str) -> Cow<'_, str> {
    match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() && is_secret(name, value) => {
            format!("{name}={REDACTED}").into()
        }
        _ => redact(pair),
    }
}

fn is_secret(name: &str, value: &str) -> bool {
    let name: String = name.chars().filter(|char| !matches!(char, '-' | '_')).collect();
    let name = name.to_ascii_lowercase();
    SECRET.contains(&&*name) || (MAYBE_SECRET.contains(&&*name) && value.len() >= OPAQUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_of_a_query_are_replaced_one_by_one() {
        let check = |query: &str, expected: &str| {
            assert_eq!(
                redact_url(&format!("https://a.example/x?{query}")),
                format!("https://a.example/x?{expected}")
            );
        };
        check("password=p&city=Rome", "password=[redacted]&city=Rome");
        check("city=Rome&API-Key=k", "city=Rome&API-Key=[redacted]");
        check(
            "sig=a%3D&secret=b&client_secret=c",
            "sig=[redacted]&secret=[redacted]&client_secret=[redacted]",
        );
        check("token=ghp_abcdefghijklmnopqrst&page=2", "token=[redacted]&page=2");
        // Ordinary words.
        check("key=colour&pass=2&token=next", "key=colour&pass=2&token=next");
        check("q=password&password=&flag", "q=password&password=&flag");
        check("then=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "then=[redacted]");
        assert_eq!(redact_url("https://a.example/password/x"), "https://a.example/password/x");
    }
}
