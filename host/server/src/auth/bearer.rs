//! Extracts the bearer token of a request.

use axum::http::{
    HeaderMap, Uri,
    header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION},
};

use super::{refusal::RefusalReason, token};

/// Longest token. Access tokens with many claims have two or three KiB.
const MAX_TOKEN: usize = 8 << 10;

/// A token, by its form.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BearerToken<'a> {
    /// Has the prefix of tokens of `loggia token new`.
    Own(&'a str),
    /// Any other token.
    Foreign(&'a str),
}

/// Extracts the only token of a request, which must be in a single `Authorization` header (RFC 6750 §2).
pub(super) fn extract<'a>(headers: &'a HeaderMap, uri: &Uri) -> Result<BearerToken<'a>, RefusalReason> {
    // Even if it is valid: URLs are logged by every proxy on the way.
    if has_query_token(uri) {
        return Err(RefusalReason::InUrl);
    }
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Err(RefusalReason::Missing) };
    if values.next().is_some() {
        return Err(RefusalReason::Malformed("send one Authorization header"));
    }
    if value.len() > MAX_TOKEN {
        return Err(RefusalReason::Invalid("the token is longer than 8 KiB"));
    }
    let (scheme, rest) = match value.as_bytes().iter().position(|byte| *byte == b' ') {
        Some(at) => value.as_bytes().split_at(at),
        None => (value.as_bytes(), &b""[..]),
    };
    // Other schemes do not attempt bearer authentication.
    if !scheme.eq_ignore_ascii_case(b"bearer") {
        return Err(RefusalReason::Missing);
    }
    let token = std::str::from_utf8(rest.trim_ascii()).ok().filter(|token| is_b64token(token));
    match token {
        None => {
            Err(RefusalReason::Malformed("write the header as: Authorization: Bearer, a space, the token"))
        }
        Some(own) if own.starts_with(token::PREFIX) => Ok(BearerToken::Own(own)),
        Some(foreign) => Ok(BearerToken::Foreign(foreign)),
    }
}

/// Removes all credentials from a request, so that a caller's token is passed on to nobody.
pub fn strip_credentials(headers: &mut HeaderMap) {
    for name in [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE] {
        headers.remove(name);
    }
}

/// Returns true if the URL has a parameter `access_token`, in any case and encoding.
fn has_query_token(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    url::form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name.eq_ignore_ascii_case("access_token"))
}

/// Checks for RFC 6750's `b64token`.
fn is_b64token(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !body.is_empty() && body.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn exactly_one_token_is_extracted() {
        let check = |values: &[&[u8]], url: &str, expected: Result<BearerToken<'_>, &str>| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
            }
            let found = extract(&headers, &url.parse().unwrap());
            assert_eq!(
                found.as_ref().map_err(|reason| reason.label()),
                expected.as_ref().map_err(|e| *e),
                "{url}"
            );
        };
        let ours = Ok(BearerToken::Own("loggia_abc"));
        let other = || Ok(BearerToken::Foreign("eyJ.a-_~+/.b=="));
        check(&[b"Bearer loggia_abc"], "/mcp", ours);
        check(&[b"bearer eyJ.a-_~+/.b=="], "/mcp?session=1", other());
        check(&[b"BEARER   eyJ.a-_~+/.b== "], "http://h/mcp", other());
        check(&[], "/mcp", Err("missing"));
        check(&[b"Basic YTpi"], "/mcp", Err("missing"));
        check(&[b""], "/mcp", Err("missing"));
        check(&[b"Bearer"], "/mcp", Err("malformed"));
        check(&[b"Bearer "], "/mcp", Err("malformed"));
        check(&[b"Bearer a b"], "/mcp", Err("malformed"));
        check(&[b"Bearer a, Bearer b"], "/mcp", Err("malformed"));
        check(&[b"Bearer \"a\""], "/mcp", Err("malformed"));
        check(&[b"Bearer =="], "/mcp", Err("malformed"));
        check(&[b"Bearer \xff\xfe"], "/mcp", Err("malformed"));
        check(&[b"Bearer a", b"Bearer a"], "/mcp", Err("malformed"));
        check(&[b"Bearer a", b"Basic YTpi"], "/mcp", Err("malformed"));
        check(&[b"Bearer a"], "/mcp?access_token=a", Err("in_url"));
        check(&[], "/mcp?x=1&access_token=a", Err("in_url"));
        check(&[], "/mcp?access%5Ftoken", Err("in_url"));
        check(&[], "/mcp?Access_Token=a", Err("in_url"));
        let long = [b"Bearer ".as_slice(), &vec![b'a'; 100 << 10]].concat();
        check(&[&long], "/mcp", Err("invalid_token"));
    }

    #[test]
    fn all_credentials_are_stripped() {
        let mut headers = HeaderMap::new();
        for name in [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE] {
            headers.append(name.clone(), HeaderValue::from_static("a"));
            headers.append(name, HeaderValue::from_static("b"));
        }
        headers.append("mcp-session-id", HeaderValue::from_static("s"));
        strip_credentials(&mut headers);
        assert_eq!(headers.keys().collect::<Vec<_>>(), ["mcp-session-id"]);
    }
}
