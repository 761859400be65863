//! Pure: signatures of webhooks, in two forms. Loggia accepts both, and writes the first.
//!
//! | form | headers | signed text |
//! |---|---|---|
//! | [Standard Webhooks](https://www.standardwebhooks.com) | `webhook-id`, `webhook-timestamp`, `webhook-signature` (`v1,` and base64) | id, timestamp and body, joined by dots |
//! | GitHub's | `x-hub-signature-256` (`sha256=` and hexadecimal digits) | the body |

use axum::http::HeaderMap;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use data_encoding::HEXLOWER_PERMISSIVE;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Tolerated difference between a timestamp and the clock, in seconds: an older message may be a replay.
const TOLERANCE: u64 = 5 * 60;
/// Prefix of secrets in base64, as Standard Webhooks writes them.
const BASE64_SECRET: &str = "whsec_";
const STANDARD_SIGNATURE: &str = "webhook-signature";
const GITHUB_SIGNATURE: &str = "x-hub-signature-256";

/// Returns true if there is a signature of either form.
pub fn is_present(headers: &HeaderMap) -> bool {
    headers.contains_key(STANDARD_SIGNATURE) || headers.contains_key(GITHUB_SIGNATURE)
}

/// Verifies a request. Returns what identifies the message: a second delivery has the same. `now`: seconds since 1970.
pub fn verify(headers: &HeaderMap, body: &[u8], secret: &[u8], now: u64) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(signatures) = text(STANDARD_SIGNATURE) {
        let (id, timestamp) = (text("webhook-id")?, text("webhook-timestamp")?);
        let sent: u64 = timestamp.parse().ok()?;
        if id.is_empty() || now.abs_diff(sent) > TOLERANCE {
            return None;
        }
        let head = format!("{id}.{timestamp}.");
        // Several, while the sender changes its secret.
        let mut signatures = signatures.split(' ').filter_map(|signature| signature.strip_prefix("v1,"));
        let is_valid = signatures.any(|signature| {
            STANDARD.decode(signature).is_ok_and(|bytes| is_signed(secret, &[head.as_bytes(), body], &bytes))
        });
        return is_valid.then(|| format!("id/{id}"));
    }
    let signature = text(GITHUB_SIGNATURE)?.strip_prefix("sha256=")?;
    let bytes = HEXLOWER_PERMISSIVE.decode(signature.as_bytes()).ok()?;
    // The id of the delivery is not signed, so that the signature identifies the message.
    is_signed(secret, &[body], &bytes).then(|| format!("signature/{}", signature.to_ascii_lowercase()))
}

/// Signs a message. Returns the value of `webhook-signature`. `timestamp`: seconds since 1970.
pub fn sign(id: &str, timestamp: u64, body: &[u8], secret: &[u8]) -> String {
    let mut keyed = keyed(secret);
    [format!("{id}.{timestamp}.").as_bytes(), body].iter().for_each(|part| keyed.update(part));
    format!("v1,{}", STANDARD.encode(keyed.finalize().into_bytes()))
}

/// Compares a signature in constant time.
fn is_signed(secret: &[u8], parts: &[&[u8]], signature: &[u8]) -> bool {
    let mut keyed = keyed(secret);
    parts.iter().for_each(|part| keyed.update(part));
    keyed.verify_slice(signature).is_ok()
}

fn keyed(secret: &[u8]) -> Hmac<Sha256> {
    let decoded = std::str::from_utf8(secret).ok().and_then(|text| text.strip_prefix(BASE64_SECRET));
    let decoded = decoded.and_then(|text| STANDARD.decode(text).ok());
    let keyed = Hmac::new_from_slice(decoded.as_deref().unwrap_or(secret));
    keyed.unwrap_or_else(|_| unreachable!("HMAC takes keys of any length"))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    /// The example of Standard Webhooks' own libraries.
    const SECRET: &[u8] = b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SENT: u64 = 1_614_265_330;

    fn standard(id: &str, timestamp: &str, signature: &str) -> HeaderMap {
        headers(&[("webhook-id", id), ("webhook-timestamp", timestamp), ("webhook-signature", signature)])
    }

    #[test]
    fn messages_of_standard_webhooks_are_verified() {
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let good = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        let check = |id: &str, at: &str, signature: &str, body: &[u8], now: u64| {
            verify(&standard(id, at, signature), body, SECRET, now)
        };
        let known = Some(format!("id/{id}"));
        assert_eq!(sign(id, SENT, BODY, SECRET), good);
        assert_eq!(check(id, "1614265330", good, BODY, SENT + 299), known);
        assert_eq!(check(id, "1614265330", &format!("v1,AAAA v2,x {good}"), BODY, SENT), known);
        for (other, at, signature, body, now) in [
            (id, "1614265330", good, BODY, SENT + 301),
            (id, "1614265330", good, BODY, SENT - 301),
            (id, "1614265331", good, BODY, SENT),
            ("msg_other", "1614265330", good, BODY, SENT),
            (id, "1614265330", good, &b"{}"[..], SENT),
            (id, "1614265330", "v1,AAAA", BODY, SENT),
            (id, "soon", good, BODY, SENT),
        ] {
            assert_eq!(check(other, at, signature, body, now), None, "{other} {at} {signature}");
        }
    }

    /// The example of GitHub's documentation.
    #[test]
    fn messages_of_github_are_verified() {
        let secret = b"It's a Secret to Everybody";
        let good = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let check = |signature: &str, body: &[u8]| {
            verify(&headers(&[("x-hub-signature-256", signature)]), body, secret, 0)
        };
        let known = Some(format!("signature/{good}"));
        assert_eq!(check(&format!("sha256={good}"), b"Hello, World!"), known);
        assert_eq!(check(&format!("sha256={}", good.to_uppercase()), b"Hello, World!"), known);
        for (signature, body) in [
            (format!("sha256={good}"), &b"Hello, world!"[..]),
            (good.to_owned(), b"Hello, World!"),
            (format!("sha256={}", &good[2..]), b"Hello, World!"),
            ("sha256=é".to_owned(), b"Hello, World!"),
        ] {
            assert_eq!(check(&signature, body), None, "{signature}");
        }
        assert!(!is_present(&headers(&[("x-hub-signature", "sha1=x")])));
    }
}
