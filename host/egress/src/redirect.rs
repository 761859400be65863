//! Redirects that the host follows. Pure.

use http::{Method, StatusCode, Uri};
use url::Url;

use crate::{RequestRefusal, SendError, UrlScheme, destination::RequestTarget, host::HostError};

/// Returns the method of the next request, or none if the redirecting response goes to the guest.
///
/// Bodies are not kept, so a redirect that needs one again is not followed. A POST becomes a GET only by 303, which demands it.
pub(crate) fn next_method(status: StatusCode, method: &Method, had_body: bool) -> Option<Method> {
    let reads = *method == Method::GET || *method == Method::HEAD;
    match status.as_u16() {
        303 if *method == Method::HEAD => Some(Method::HEAD),
        303 => Some(Method::GET),
        301 | 302 | 307 | 308 if reads && !had_body => Some(method.clone()),
        _ => None,
    }
}

/// Resolves a `location` against a URL. The result must be checked like any other target.
pub(crate) fn resolve(
    from: &RequestTarget,
    path: &str,
    location: &[u8],
) -> Result<(RequestTarget, Uri), SendError> {
    const BAD: SendError = SendError::Protocol("it redirects to an invalid URL");
    let base = Url::parse(&format!("{from}{path}")).map_err(|_| BAD)?;
    let location = std::str::from_utf8(location).map_err(|_| BAD)?;
    let mut to = base.join(location).map_err(|_| BAD)?;
    let refuse = |refusal| Err(SendError::Denied(RequestRefusal::Redirect(Box::new(refusal))));
    if !matches!(to.scheme(), "http" | "https") {
        return refuse(RequestRefusal::Scheme);
    }
    if !to.username().is_empty() || to.password().is_some() {
        return refuse(RequestRefusal::Url(HostError::User));
    }
    to.set_fragment(None);
    let uri: Uri = to.as_str().parse().map_err(|_| BAD)?;
    match RequestTarget::parse(&uri) {
        Ok(target) if from.scheme == UrlScheme::Https && target.scheme == UrlScheme::Http => {
            refuse(RequestRefusal::Downgrade)
        }
        Ok(target) => Ok((target, uri)),
        Err(refusal) => refuse(refusal),
    }
}
