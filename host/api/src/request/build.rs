//! One call as a request.

use http::{HeaderName, HeaderValue, Method, Request, Uri, header};
use loggia_facade::{Failure, code};
use loggia_text::mention;
use serde_json::Value;

use super::{body, pairs, pairs::QueryPair, path, text::joined};
use crate::{
    adapt::RequestParts,
    description::{ApiMethod, ApiOperation, ApiParameter, ParameterPlace},
};

/// Bytes of a URL, at most; egress refuses longer heads.
const URL: usize = 16 << 10;

/// Builds the request of a call. Its host and the literal parts of its path are those of the operation, whatever the values.
///
/// `page` holds query parameters that replace those of the call: from a cursor.
///
/// # Errors
///
/// A value that the request cannot carry.
pub(crate) fn build_request(
    operation: &ApiOperation,
    server: &str,
    parts: RequestParts,
    page: &[(String, String)],
) -> Result<Request<Vec<u8>>, Failure> {
    let values: Vec<(&ApiParameter, &Value)> = parts
        .parameters
        .iter()
        .filter_map(|(index, value)| Some((operation.parameters.get(*index)?, value)))
        .collect();
    let path = path::fill(operation, &values)?;
    let query = query(&values, page);
    let mark = if query.is_empty() { "" } else { "?" };
    let url = format!("{}{path}{mark}{query}", server.trim_end_matches('/'));
    if url.len() > URL {
        return Err(invalid(format!(
            "the URL of the request would be longer than {URL} bytes; shorten the parameters"
        )));
    }
    let uri: Uri = url.parse().map_err(|_| invalid("the values make no valid URL".into()))?;
    let mut request = Request::new(Vec::new());
    *request.method_mut() = method(operation.method);
    *request.uri_mut() = uri;
    let accept = HeaderValue::try_from(operation.accept.as_str());
    request.headers_mut().insert(header::ACCEPT, accept.unwrap_or(HeaderValue::from_static("*/*")));
    let mut cookies = Vec::new();
    for (parameter, value) in values.iter().filter(|(_, value)| !value.is_null()) {
        match parameter.place {
            ParameterPlace::Header => {
                let name: HeaderName =
                    parameter.name.parse().map_err(|_| invalid("a header's name is malformed".into()))?;
                request
                    .headers_mut()
                    .append(name, header_value(&parameter.name, &joined(parameter, value)?)?);
            }
            ParameterPlace::Cookie => {
                let text = joined(parameter, value)?;
                if text.contains([';', ',', '"', ' ', '\\']) || parameter.name.contains([';', '=', ' ']) {
                    let name = mention(&parameter.name, 64);
                    return Err(invalid(format!("`{name}` holds characters that a cookie cannot carry")));
                }
                cookies.push(format!("{}={text}", parameter.name));
            }
            ParameterPlace::Path | ParameterPlace::Query => {}
        }
    }
    if !cookies.is_empty() {
        request.headers_mut().insert(header::COOKIE, header_value("cookie", &cookies.join("; "))?);
    }
    if let (Some(described), Some(value)) = (&operation.body, parts.body) {
        let (media, bytes) = body::encode(described, value)?;
        request.headers_mut().insert(header::CONTENT_TYPE, header_value("content-type", &media)?);
        *request.body_mut() = bytes;
    }
    Ok(request)
}

/// The query: parameters of the call, then those of a page, which replace the former.
fn query(values: &[(&ApiParameter, &Value)], page: &[(String, String)]) -> String {
    let mut out: Vec<QueryPair> = Vec::new();
    for (parameter, value) in values.iter().filter(|(p, _)| p.place == ParameterPlace::Query) {
        let before = out.len();
        pairs::push(&mut out, &parameter.name, value, parameter.style, parameter.explode);
        out[before..].iter_mut().for_each(|pair| pair.reserved = parameter.reserved);
    }
    out.retain(|pair| !page.iter().any(|(name, _)| *name == pair.name));
    out.extend(page.iter().map(|(name, value)| QueryPair::new(name, value)));
    pairs::render(&out)
}

/// A header's value. Line breaks and other control characters cannot be in it.
fn header_value(name: &str, text: &str) -> Result<HeaderValue, Failure> {
    let is_plain = text.chars().all(|c| matches!(c, ' '..='~'));
    HeaderValue::try_from(text).ok().filter(|_| is_plain).ok_or_else(|| {
        invalid(format!("`{}` holds characters that a header cannot carry", mention(name, 64)))
    })
}

fn method(method: ApiMethod) -> Method {
    match method {
        ApiMethod::Get => Method::GET,
        ApiMethod::Head => Method::HEAD,
        ApiMethod::Post => Method::POST,
        ApiMethod::Put => Method::PUT,
        ApiMethod::Patch => Method::PATCH,
        ApiMethod::Delete => Method::DELETE,
    }
}

fn invalid(message: String) -> Failure {
    Failure::new(code::INVALID_PARAMS, message)
}
