//! Headers: those that the guest may set, those that the host sets, and those of one connection.

use http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts};

use crate::{RequestRefusal, SendError, destination::RequestTarget, error::MessagePart};

/// Bytes of a head (start line and headers), at most.
pub(crate) const HEAD: usize = 32 << 10;

/// Headers of a head, at most.
pub(crate) const COUNT: usize = 128;

/// Default `user-agent`.
const AGENT: &str = concat!("loggia/", env!("CARGO_PKG_VERSION"));

/// Hop-by-hop headers: dropped in both directions. The host decides them; a guest's HTTP library often sets them by itself.
const HOP: [&str; 11] = [
    "connection",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that override the method of a request: grants are checked against the method.
const OVERRIDES: [&str; 9] = [
    "http-method-override",
    "x-http-method",
    "x-http-method-override",
    "x-http-verb",
    "x-http-verb-override",
    "x-method-override",
    "x-original-method",
    "x-override-method",
    "x-tunneled-method",
];

/// Query parameters that override the method: Rails, Symfony, Laravel, WordPress and others read the first.
const QUERY_OVERRIDES: [&str; 4] =
    ["_method", "x-http-method", "x-http-method-override", "x-method-override"];

/// Reason for refusing overrides.
const OVERRIDE: &str = "would make another method of the request; send it by that method";

/// Tests whether only the host may set a header.
pub(crate) fn is_reserved(name: &HeaderName) -> bool {
    HOP.contains(&name.as_str()) || *name == header::HOST || *name == header::CONTENT_LENGTH
}

/// Refuses heads that are too large or contradict their URL.
pub(crate) fn check(parts: &Parts, to: &RequestTarget, body: usize) -> Result<(), SendError> {
    let fields =
        parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>();
    let path = parts.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if fields + path > HEAD || parts.headers.len() > COUNT - 16 {
        return Err(SendError::TooLarge { what: MessagePart::RequestHead, limit: HEAD });
    }
    // With another host than in the URL, one host would be checked and the other one served.
    for host in parts.headers.get_all(header::HOST) {
        let same = host.to_str().is_ok_and(|host| same_authority(host, to));
        if !same {
            return Err(refused(&header::HOST, "must be the URL's host"));
        }
    }
    if let Some(name) = parts.headers.keys().find(|name| OVERRIDES.contains(&name.as_str())) {
        return Err(refused(name, OVERRIDE));
    }
    if let Some(name) = parts.uri.query().and_then(find_override) {
        return Err(RequestRefusal::Query { name, why: OVERRIDE }.into());
    }
    match content_length(&parts.headers)? {
        Some(length) if length > body as u64 => Err(SendError::TooLarge { what: MessagePart::Request, limit: body }),
        _ => Ok(()),
    }
}

/// Finds a query parameter that overrides the method, however it is encoded.
fn find_override(query: &str) -> Option<&'static str> {
    // Some frameworks separate parameters by semicolons, too.
    query.split(['&', ';']).find_map(|pair| {
        let (name, _) = url::form_urlencoded::parse(pair.as_bytes()).next()?;
        QUERY_OVERRIDES.into_iter().find(|known| name.trim().eq_ignore_ascii_case(known))
    })
}

/// Parses `content-length`.
pub(crate) fn content_length(headers: &HeaderMap) -> Result<Option<u64>, SendError> {
    let mut values = headers.get_all(header::CONTENT_LENGTH).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let digits =
        value.to_str().ok().filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    match (digits.and_then(|text| text.parse().ok()), values.next()) {
        (Some(length), None) => Ok(Some(length)),
        _ => Err(refused(&header::CONTENT_LENGTH, "must be one number")),
    }
}

fn same_authority(host: &str, to: &RequestTarget) -> bool {
    let read = crate::host::UrlHost::parse_with_port(host);
    read.is_ok_and(|(host, port)| host == to.host && port.unwrap_or(to.scheme.port()) == to.port)
}

fn refused(name: &HeaderName, why: &'static str) -> SendError {
    RequestRefusal::Header { name: name.as_str().into(), why }.into()
}

/// Drops hop-by-hop headers, and those that `connection` names.
pub(crate) fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP {
        headers.remove(name);
    }
}

/// Sets the host's own headers. hyper sets `content-length` from the body.
pub(crate) fn set_host_headers(headers: &mut HeaderMap, to: &RequestTarget) -> Result<(), SendError> {
    headers.remove(header::CONTENT_LENGTH);
    let host = HeaderValue::try_from(to.authority()).map_err(|_| SendError::Protocol("no host"))?;
    headers.insert(header::HOST, host);
    headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
    Ok(())
}

/// Tests whether a response has a transfer coding other than chunked, which is not decoded.
pub(crate) fn is_transfer_coded(headers: &HeaderMap) -> bool {
    let chunked = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
    !headers.get_all(header::TRANSFER_ENCODING).iter().all(chunked)
}
