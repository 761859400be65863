//! From a request's headers to its origin: tokens of the settings file, and those of an authorization server.

use std::{path::Path, sync::Arc};

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, Uri, request::Parts};
use loggia_gate::access::Origin;

use super::{
    bearer::{self, Presented, strip},
    ends::Ends,
    jwt::Issued,
    metadata::Metadata,
    refusal::{Challenge, Reason, Refusal},
    settings::{self, AuthError, Checked},
    token::{self, Tokens},
};
use crate::config::server::Auth;

/// Says who sends a request. Cheap to clone.
#[derive(Clone)]
pub struct Authenticator(pub(super) Arc<Inner>);

/// Somebody whose request goes on.
#[derive(Debug)]
pub struct Admitted {
    /// Who, and what may be called.
    pub origin: Origin,
    /// When what it opens ends.
    pub ends: Ends,
}

pub(super) struct Inner {
    pub(super) tokens: ArcSwap<Tokens>,
    pub(super) oauth: Option<OAuth>,
    challenge: Arc<Challenge>,
}

pub(super) struct OAuth {
    issued: Issued,
    metadata: Metadata,
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
        let Checked { tokens, oauth } = settings::check(settings, base)?;
        let mut challenge = Challenge::default();
        let oauth = match oauth {
            None => None,
            Some(oauth) => {
                let metadata = Metadata::new(&oauth);
                challenge = Challenge::at(metadata.url(), &oauth.scopes);
                let issued = Issued::new(oauth)?;
                Some(OAuth { issued, metadata })
            }
        };
        Ok(Some(Self(Arc::new(Inner {
            tokens: ArcSwap::from_pointee(tokens),
            oauth,
            challenge: Arc::new(challenge),
        }))))
    }

    /// Begins to keep the keys of the authorization server fresh, on this runtime, for as long as this lives. Without it
    /// keys from a URL are never there.
    pub fn start(&self) {
        if let Some(oauth) = &self.0.oauth {
            oauth.issued.keys().start();
        }
    }

    /// Whether every caller could be authenticated now: false until the keys of the authorization server have been
    /// fetched once.
    pub fn is_ready(&self) -> bool {
        self.0.oauth.as_ref().is_none_or(|oauth| oauth.issued.keys().are_known())
    }

    /// Who sends a request, and what may be called.
    ///
    /// # Errors
    ///
    /// What the sender is to be told.
    pub async fn authenticate(&self, headers: &HeaderMap, uri: &Uri) -> Result<Admitted, Refusal> {
        match self.find(headers, uri).await {
            Ok(admitted) => Ok(admitted),
            Err(reason) => {
                let status = reason.status().as_u16();
                tracing::debug!(status, reason = reason.label(), "not authenticated: {reason}");
                Err(Refusal::new(reason, self.0.challenge.clone()))
            }
        }
    }

    /// The same, for a request that goes on: nobody after this sees what it was authenticated by.
    ///
    /// # Errors
    ///
    /// What the sender is to be told.
    pub async fn admit(&self, request: &mut Parts) -> Result<Admitted, Refusal> {
        let admitted = self.authenticate(&request.headers, &request.uri).await;
        strip(&mut request.headers);
        admitted
    }

    /// What clients are told of the authorization server, to be served without authentication.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.0.oauth.as_ref().map(|oauth| &oauth.metadata)
    }

    async fn find(&self, headers: &HeaderMap, uri: &Uri) -> Result<Admitted, Reason> {
        match (bearer::presented(headers, uri)?, &self.0.oauth) {
            (Presented::Made(token), _) => {
                let tokens = self.0.tokens.load();
                let known = tokens.find(token, token::now())?;
                let origin = Origin::named(&known.name, known.rights.clone());
                let ends = Ends { revoked: Some(known.revoked.clone()), expires: known.expires };
                Ok(Admitted { origin, ends })
            }
            (Presented::Other(token), Some(oauth)) => {
                let (name, rights, expires) = oauth.issued.check(token).await?;
                let ends = Ends { revoked: None, expires: Some(expires) };
                Ok(Admitted { origin: Origin::named(&name, rights), ends })
            }
            (Presented::Other(_), None) => Err(Reason::Invalid("it is no token of this server")),
        }
    }
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator").field("oauth", &self.0.oauth.is_some()).finish_non_exhaustive()
    }
}
