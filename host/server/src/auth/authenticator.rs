//! Authenticates requests, by tokens of the settings file and access tokens of an authorization server.

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, Uri, request::Parts};
use loggia_gate::access::CallOrigin;
use loggia_policy::settings::Auth;
use tokio::sync::watch;

use super::{
    bearer::{self, BearerToken, strip_credentials},
    jwt::{JwtValidator, ValidatedToken},
    lifetime::TokenLifetime,
    metadata::ResourceMetadata,
    refusal::{AuthChallenge, AuthRefusal, RefusalReason},
    revocations::{RevocableToken, RevocationWatch, RevokedTokens},
    settings::{self, AuthError},
    token::{self, TokenListing, TokenSet},
};

/// Authenticates requests. Cheap to clone.
#[derive(Clone)]
pub struct Authenticator(pub(super) Arc<AuthenticatorState>);

/// An authenticated caller.
#[derive(Debug)]
pub struct AuthenticatedCaller {
    /// Identity and rights.
    pub origin: CallOrigin,
    /// Lifetime of the token, which bounds the streams that it opens.
    pub lifetime: TokenLifetime,
    /// The only profile that it may use. `None`: all.
    pub profile: Option<Arc<str>>,
}

pub(super) struct AuthenticatorState {
    /// Tokens of the settings file. Requests load the current set without waiting; `token_reload.rs` alone replaces it.
    pub(super) tokens: ArcSwap<TokenSet>,
    pub(super) oauth: Option<OAuthVerifier>,
    /// What is refused in spite of the settings.
    revoked: watch::Sender<Arc<RevokedTokens>>,
    challenge: Arc<AuthChallenge>,
}

pub(super) struct OAuthVerifier {
    validator: JwtValidator,
    metadata: ResourceMetadata,
}

impl Authenticator {
    /// Creates an authenticator, or `None` if the settings configure neither tokens nor OAuth. A key file is read here, a
    /// URL only after
    /// [`start`](Self::start).
    ///
    /// # Errors
    ///
    /// If the key file is unusable.
    pub fn new(settings: &Auth) -> Result<Option<Self>, AuthError> {
        if settings.tokens.is_empty() && settings.oauth.is_none() {
            return Ok(None);
        }
        let (tokens, oauth) = (settings::tokens(settings), settings::oauth(settings));
        let mut challenge = AuthChallenge::default();
        let oauth = match oauth {
            None => None,
            Some(oauth) => {
                let metadata = ResourceMetadata::new(&oauth);
                challenge = AuthChallenge::with_metadata(metadata.url(), &oauth.scopes);
                let validator = JwtValidator::new(oauth)?;
                Some(OAuthVerifier { validator, metadata })
            }
        };
        Ok(Some(Self(Arc::new(AuthenticatorState {
            tokens: ArcSwap::from_pointee(tokens),
            oauth,
            revoked: watch::Sender::default(),
            challenge: Arc::new(challenge),
        }))))
    }

    /// Starts to refresh the authorization server's keys on this runtime, until the authenticator is dropped. Keys from a URL
    /// are never fetched without it.
    pub fn start(&self) {
        if let Some(oauth) = &self.0.oauth {
            oauth.validator.keys().start();
        }
    }

    /// Returns false until the authorization server's keys have been fetched once.
    pub fn is_ready(&self) -> bool {
        self.0.oauth.as_ref().is_none_or(|oauth| oauth.validator.keys().has_keys())
    }

    /// Replaces the list of revoked tokens. Streams of those that it adds end.
    pub fn set_revoked(&self, revoked: RevokedTokens) {
        self.0.revoked.send_replace(Arc::new(revoked));
    }

    /// Lists the tokens of the settings, without their hashes.
    pub fn list_tokens(&self) -> Vec<TokenListing> {
        let tokens = self.0.tokens.load();
        let mut listed = tokens.listing(token::now());
        for (listing, hash) in listed.iter_mut().zip(tokens.hashes()) {
            listing.is_revoked = self.watch(RevocableToken::Own(hash)).is_err();
        }
        listed
    }

    /// Authenticates a request.
    ///
    /// # Errors
    ///
    /// The response to an unauthenticated request.
    pub async fn authenticate(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<AuthenticatedCaller, AuthRefusal> {
        match self.verify(headers, uri).await {
            Ok(caller) => Ok(caller),
            Err(reason) => {
                let status = reason.status().as_u16();
                tracing::debug!(status, reason = reason.label(), "not authenticated: {reason}");
                Err(AuthRefusal::new(reason, self.0.challenge.clone()))
            }
        }
    }

    /// Authenticates a request, and removes its credentials, so that they are passed on to nobody.
    ///
    /// # Errors
    ///
    /// The response to an unauthenticated request.
    pub async fn admit(&self, request: &mut Parts) -> Result<AuthenticatedCaller, AuthRefusal> {
        let caller = self.authenticate(&request.headers, &request.uri).await;
        strip_credentials(&mut request.headers);
        caller
    }

    /// Returns the metadata of the authorization server, which is served without authentication.
    pub fn metadata(&self) -> Option<&ResourceMetadata> {
        self.0.oauth.as_ref().map(|oauth| &oauth.metadata)
    }

    async fn verify(&self, headers: &HeaderMap, uri: &Uri) -> Result<AuthenticatedCaller, RefusalReason> {
        match (bearer::extract(headers, uri)?, &self.0.oauth) {
            (BearerToken::Own(token), _) => {
                let tokens = self.0.tokens.load();
                let known = tokens.find(token, token::now())?;
                let origin = CallOrigin::named(&known.name, known.rights.clone());
                let revocations = Some(self.watch(RevocableToken::Own(known.hash))?);
                let lifetime = TokenLifetime {
                    removed: Some(known.revoked.clone()),
                    revocations,
                    expires: known.expires,
                };
                Ok(AuthenticatedCaller { origin, lifetime, profile: known.profile.clone() })
            }
            (BearerToken::Foreign(token), Some(oauth)) => {
                let ValidatedToken { name, rights, issued, expires } =
                    oauth.validator.validate(token).await?;
                let origin = CallOrigin::named(&name, rights);
                let revocations = Some(self.watch(RevocableToken::Foreign { caller: name, issued })?);
                let lifetime = TokenLifetime { removed: None, revocations, expires: Some(expires) };
                Ok(AuthenticatedCaller { origin, lifetime, profile: None })
            }
            (BearerToken::Foreign(_), None) => {
                Err(RefusalReason::Invalid("the token was not issued by this server"))
            }
        }
    }

    /// Refuses a revoked token, and watches another one.
    fn watch(&self, token: RevocableToken) -> Result<RevocationWatch, RefusalReason> {
        let watch = RevocationWatch { token, list: self.0.revoked.subscribe() };
        match watch.is_revoked() {
            true => Err(RefusalReason::Invalid("the token has been revoked")),
            false => Ok(watch),
        }
    }
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator").field("oauth", &self.0.oauth.is_some()).finish_non_exhaustive()
    }
}
