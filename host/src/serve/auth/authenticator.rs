//! From a request's headers to its origin: tokens of the settings file, and those of an authorization server.

use std::{path::Path, sync::Arc};

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, Uri, request::Parts};
use loggia_gate::access::Origin;

use super::{
    bearer::{self, BearerToken, strip_credentials},
    jwt::JwtValidator,
    lifetime::TokenLifetime,
    metadata::ResourceMetadata,
    refusal::{AuthChallenge, AuthRefusal, RefusalReason},
    settings::{self, AuthError, ValidatedAuth},
    token::{self, TokenSet},
};
use crate::config::server::Auth;

/// Says who sends a request. Cheap to clone.
#[derive(Clone)]
pub struct Authenticator(pub(super) Arc<AuthenticatorState>);

/// Somebody whose request goes on.
#[derive(Debug)]
pub struct AuthenticatedCaller {
    /// Who, and what may be called.
    pub origin: Origin,
    /// When what it opens ends.
    pub lifetime: TokenLifetime,
}

pub(super) struct AuthenticatorState {
    pub(super) tokens: ArcSwap<TokenSet>,
    pub(super) oauth: Option<OAuthVerifier>,
    challenge: Arc<AuthChallenge>,
}

pub(super) struct OAuthVerifier {
    validator: JwtValidator,
    metadata: ResourceMetadata,
}

impl Authenticator {
    /// As the settings say; none where they name no way to be authenticated. `base` is the folder at which a relative
    /// path of keys starts: that of `loggia.toml`. A file of keys is read at once, a URL only by [`start`](Self::start).
    ///
    /// # Errors
    ///
    /// All that is wrong with the settings, and with the file of keys.
    pub fn new(settings: &Auth, base: &Path) -> Result<Option<Self>, AuthError> {
        if settings.tokens.is_empty() && settings.oauth.is_none() {
            return Ok(None);
        }
        let ValidatedAuth { tokens, oauth } = settings::validate(settings, base)?;
        let mut challenge = AuthChallenge::default();
        let oauth = match oauth {
            None => None,
            Some(oauth) => {
                let metadata = ResourceMetadata::new(&oauth);
                challenge = AuthChallenge::with_metadata(metadata.url(), &oauth.scopes);
                let issued = JwtValidator::new(oauth)?;
                Some(OAuthVerifier { validator: issued, metadata })
            }
        };
        Ok(Some(Self(Arc::new(AuthenticatorState {
            tokens: ArcSwap::from_pointee(tokens),
            oauth,
            challenge: Arc::new(challenge),
        }))))
    }

    /// Begins to keep the keys of the authorization server fresh, on this runtime, for as long as this lives. Without it
    /// keys from a URL are never there.
    pub fn start(&self) {
        if let Some(oauth) = &self.0.oauth {
            oauth.validator.keys().start();
        }
    }

    /// Whether every caller could be authenticated now: false until the keys of the authorization server have been
    /// fetched once.
    pub fn is_ready(&self) -> bool {
        self.0.oauth.as_ref().is_none_or(|oauth| oauth.validator.keys().has_keys())
    }

    /// Who sends a request, and what may be called.
    ///
    /// # Errors
    ///
    /// What the sender is to be told.
    pub async fn authenticate(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<AuthenticatedCaller, AuthRefusal> {
        match self.verify(headers, uri).await {
            Ok(admitted) => Ok(admitted),
            Err(reason) => {
                let status = reason.status().as_u16();
                tracing::debug!(status, reason = reason.label(), "not authenticated: {reason}");
                Err(AuthRefusal::new(reason, self.0.challenge.clone()))
            }
        }
    }

    /// The same, for a request that goes on: nobody after this sees what it was authenticated by.
    ///
    /// # Errors
    ///
    /// What the sender is to be told.
    pub async fn admit(&self, request: &mut Parts) -> Result<AuthenticatedCaller, AuthRefusal> {
        let admitted = self.authenticate(&request.headers, &request.uri).await;
        strip_credentials(&mut request.headers);
        admitted
    }

    /// What clients are told of the authorization server, to be served without authentication.
    pub fn metadata(&self) -> Option<&ResourceMetadata> {
        self.0.oauth.as_ref().map(|oauth| &oauth.metadata)
    }

    async fn verify(&self, headers: &HeaderMap, uri: &Uri) -> Result<AuthenticatedCaller, RefusalReason> {
        match (bearer::extract(headers, uri)?, &self.0.oauth) {
            (BearerToken::Own(token), _) => {
                let tokens = self.0.tokens.load();
                let known = tokens.find(token, token::now())?;
                let origin = Origin::named(&known.name, known.rights.clone());
                let ends = TokenLifetime { revoked: Some(known.revoked.clone()), expires: known.expires };
                Ok(AuthenticatedCaller { origin, lifetime: ends })
            }
            (BearerToken::Foreign(token), Some(oauth)) => {
                let (name, rights, expires) = oauth.validator.validate(token).await?;
                let ends = TokenLifetime { revoked: None, expires: Some(expires) };
                Ok(AuthenticatedCaller { origin: Origin::named(&name, rights), lifetime: ends })
            }
            (BearerToken::Foreign(_), None) => Err(RefusalReason::Invalid("it is no token of this server")),
        }
    }
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator").field("oauth", &self.0.oauth.is_some()).finish_non_exhaustive()
    }
}
