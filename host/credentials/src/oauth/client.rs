//! This host as a client of an authorization server: plain data, from `loggia.toml`.

use std::fmt;

use oauth2::{
    AuthUrl, ClientId, ClientSecret, EndpointNotSet, EndpointSet, RedirectUrl, TokenUrl, basic::BasicClient,
};
use url::Url;

/// How to get credentials of callers from an authorization server.
#[derive(Clone, PartialEq, Eq)]
pub struct OAuthClient {
    /// Page where a person grants access.
    pub authorize: Url,
    /// Endpoint that exchanges codes and refresh tokens.
    pub token: Url,
    /// Id under which the host is registered.
    pub client_id: String,
    /// Secret of the registration; none for public clients, which PKCE alone protects.
    pub client_secret: Option<String>,
    /// Requested scopes.
    pub scopes: Vec<String>,
    /// Resource for which tokens are requested (RFC 8707).
    pub resource: Option<String>,
}

impl fmt::Debug for OAuthClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthClient")
            .field("token", &self.token.as_str())
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

/// A client whose two endpoints are set.
pub(super) type ReadyClient =
    BasicClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

impl OAuthClient {
    /// Builds the client of the protocol.
    pub(super) fn to_protocol(&self, redirect: Option<&Url>) -> ReadyClient {
        let mut client = BasicClient::new(ClientId::new(self.client_id.clone()))
            .set_auth_uri(AuthUrl::from_url(self.authorize.clone()))
            .set_token_uri(TokenUrl::from_url(self.token.clone()));
        if let Some(secret) = &self.client_secret {
            client = client.set_client_secret(ClientSecret::new(secret.clone()));
        }
        match redirect {
            Some(redirect) => client.set_redirect_uri(RedirectUrl::from_url(redirect.clone())),
            None => client,
        }
    }

    /// Parameters of every request to the token endpoint.
    pub(super) fn extra(&self) -> Option<(&'static str, &str)> {
        self.resource.as_deref().map(|resource| ("resource", resource))
    }
}
