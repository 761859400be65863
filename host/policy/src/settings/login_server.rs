//! `[login.NAME]`.

use url::Url;

use super::{
    kind::ValueKind,
    table::table,
    upstream::{HiddenText, not_empty},
    value::{list, text, values},
    web_url::{is_loopback, web_url},
};
use crate::document::tree::Text;

table! {
    /// The authorization server that issues credentials of callers for the facade NAME (OAuth 2, authorization code with PKCE).
    /// Callers log in from their calls, or by `loggia credential login NAME`. Access tokens are refreshed before they expire.
    pub struct LoginServer {
        /// Page where a person grants access.
        authorize: EndpointUrl;
        /// Endpoint that exchanges codes for tokens.
        token: EndpointUrl;
        /// Id under which Loggia is registered.
        client_id: String, text(not_empty);
        /// Secret of the registration. Default: none, as for public clients.
        client_secret: Option<HiddenText> = None;
        /// Requested scopes. Default: those that the server chooses.
        scopes: Vec<String> = Vec::new(), list(text(not_empty));
        /// Resource for which tokens are requested (RFC 8707), such as the URL of an upstream server.
        resource: Option<String> = None, text(not_empty);
    }
}

/// URL of an endpoint of an authorization server: `https://`, or `http://` for this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointUrl(pub Url);

values! {
    EndpointUrl, ValueKind::Text, text(endpoint);
}

fn endpoint(text: &Text) -> Result<EndpointUrl, &'static str> {
    const FORM: &str =
        "must be an https:// URL without a user name and password (http:// only for this machine)";
    let url = web_url(&text.value).ok_or(FORM)?;
    if url.scheme() == "https" || is_loopback(&url) { Ok(EndpointUrl(url)) } else { Err(FORM) }
}
