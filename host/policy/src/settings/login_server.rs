//! `[login.NAME]`.

use url::{Host, Url};

use super::{
    kind::ValueKind,
    table::table,
    upstream::HiddenText,
    value::{list, text, values},
};
use crate::document::tree::Text;

table! {
    /// The authorization server that issues credentials of callers for the facade NAME (OAuth 2, authorization code with PKCE).
    /// `loggia credential login NAME` asks it for one. Access tokens are refreshed before they expire.
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

fn not_empty(text: &Text) -> Result<String, &'static str> {
    if text.value.is_empty() { Err("is empty") } else { Ok(text.value.clone()) }
}

fn endpoint(text: &Text) -> Result<EndpointUrl, &'static str> {
    const FORM: &str =
        "must be an https:// URL without a user name and password (http:// only for this machine)";
    let url = Url::parse(&text.value).map_err(|_| FORM)?;
    let is_local = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    match url.scheme() {
        "https" if !has_credentials => Ok(EndpointUrl(url)),
        "http" if is_local && !has_credentials => Ok(EndpointUrl(url)),
        _ => Err(FORM),
    }
}
