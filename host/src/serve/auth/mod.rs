//! Who calls over HTTP: tokens that `loggia token new` made, and those of an OAuth 2.1 authorization server (RFC 6750,
//! RFC 9068, RFC 9728).
//!
//! | file | concept |
//! |---|---|
//! | `settings.rs` | `[auth]` of `loggia.toml`, checked: all that is wrong at once. Pure |
//! | `bearer.rs` | the token that a request carries, and that it carries it no further. Pure |
//! | `token.rs` | tokens of our own: made, hashed, found without telling how near a guess was |
//! | `jwt.rs` | tokens of an authorization server: what must be true of one |
//! | `keys.rs` | a set of keys (JWKS), and which one checks a token. Pure |
//! | `keeper.rs` | the keys that are now known, fetched beside the requests and at most once a minute |
//! | `source.rs` | where keys come from: a file, or a URL |
//! | `file.rs` | a file that may change while the server runs |
//! | `ends.rs` | when what was opened with a token ends |
//! | `follow.rs` | tokens that are revoked, or made, while the server runs |
//! | `signature.rs` | ring, as `jsonwebtoken` asks for it |
//! | `refusal.rs` | what a caller without rights is told |
//! | `metadata.rs` | what clients are told of the authorization server |

mod bearer;
mod ends;
mod file;
mod follow;
mod jwt;
mod keeper;
mod keys;
mod metadata;
mod refusal;
mod settings;
mod signature;
mod source;
pub mod token;

#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, Uri, request::Parts};
use bearer::Presented;
pub use bearer::strip;
pub use ends::Ends;
pub use follow::Followed;
use jwt::Issued;
use loggia_gate::access::Origin;
pub use metadata::Metadata;
use refusal::Challenge;
pub use refusal::{Reason, Refusal};
pub use settings::{AuthError, mistakes};
use settings::{Checked, Jwks};
use token::Tokens;

use crate::config::server::{Auth, Mistake};

/// Says who sends a request. Cheap to clone.
#[derive(Clone)]
pub struct Authenticator(Arc<Inner>);

/// Somebody whose request goes on.
#[derive(Debug)]
pub struct Admitted {
    /// Who, and what may be called.
    pub origin: Origin,
    /// When what it opens ends.
    pub ends: Ends,
}

struct Inner {
    tokens: ArcSwap<Tokens>,
    oauth: Option<OAuth>,
    challenge: Arc<Challenge>,
}

struct OAuth {
    issued: Issued,
    metadata: Metadata,
}

/// What is wrong with the file of keys, if there is to be one. Reads it.
pub fn mistake_of_keys(settings: &Auth, base: &Path) -> Option<Mistake> {
    let jwks = settings::jwks(&settings.oauth.as_ref()?.jwks, base).ok()?;
    jwt::keys(&jwks).err()
}

/// The file of keys that settings name, which came from that file; none where they name none.
pub fn keys_file(settings: &Auth, file: &Path) -> Option<PathBuf> {
    match settings::jwks(&settings.oauth.as_ref()?.jwks, file.parent()?).ok()? {
        Jwks::File(path) => Some(path),
        Jwks::Url(_) => None,
    }
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
