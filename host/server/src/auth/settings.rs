//! `[auth]`, as it is used.

use std::time::Duration;

use jsonwebtoken::Algorithm;
use loggia_gate::access::CallerRights;
pub(super) use loggia_policy::settings::JwksLocation;
use loggia_policy::{settings as server, settings::Auth};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::token::{KnownToken, TokenSet};

/// Why there is nothing to authenticate callers by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuthError(pub(super) String);

/// An authorization server.
#[derive(Debug)]
pub(super) struct OAuthConfig {
    /// As the operator wrote it: clients compare it with the URL that they were given.
    pub resource: String,
    pub url: Url,
    pub issuer: String,
    pub audience: String,
    pub jwks: JwksLocation,
    pub algorithms: Vec<Algorithm>,
    pub leeway: Duration,
    pub scopes: Vec<String>,
    /// Whether the scope `*` allows everything.
    pub allow_star: bool,
}

/// Returns the tokens of the settings.
pub(super) fn tokens(settings: &Auth) -> TokenSet {
    let known = |token: &server::Token| KnownToken {
        name: token.name.clone(),
        hash: token.hash,
        rights: CallerRights::from_scopes(token.scopes.iter().cloned()),
        expires: token.expires.map(|day| day.0),
        profile: token.profile.as_deref().map(Into::into),
        revoked: CancellationToken::new(),
    };
    TokenSet::new(settings.tokens.iter().map(known).collect())
}

/// Returns the authorization server of the settings. One without a resource is a mistake of the file; it is not used.
pub(super) fn oauth(settings: &Auth) -> Option<OAuthConfig> {
    let (oauth, resource) = (settings.oauth.as_ref()?, settings.resource.as_ref()?);
    Some(OAuthConfig {
        resource: resource.written.clone(),
        url: resource.url.clone(),
        issuer: oauth.issuer.clone(),
        audience: oauth.audience.clone().unwrap_or_else(|| resource.written.clone()),
        jwks: oauth.jwks.clone(),
        algorithms: oauth.algorithms.iter().map(algorithm).collect(),
        leeway: oauth.leeway.0,
        scopes: oauth.scopes.clone(),
        allow_star: oauth.allow_star,
    })
}

fn algorithm(algorithm: &server::Algorithm) -> Algorithm {
    use server::Algorithm as A;
    match algorithm {
        A::RS256 => Algorithm::RS256,
        A::RS384 => Algorithm::RS384,
        A::RS512 => Algorithm::RS512,
        A::PS256 => Algorithm::PS256,
        A::PS384 => Algorithm::PS384,
        A::PS512 => Algorithm::PS512,
        A::ES256 => Algorithm::ES256,
        A::ES384 => Algorithm::ES384,
        A::EdDSA => Algorithm::EdDSA,
    }
}
