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
//! | `key_cache.rs` | the keys that are now known, fetched beside the requests and at most once a minute |
//! | `source.rs` | where keys come from: a file, or a URL |
//! | `file.rs` | a file that may change while the server runs |
//! | `lifetime.rs` | when what was opened with a token ends |
//! | `token_reload.rs` | tokens that are revoked, or made, while the server runs |
//! | `signature.rs` | ring, as `jsonwebtoken` asks for it |
//! | `refusal.rs` | what a caller without rights is told |
//! | `metadata.rs` | what clients are told of the authorization server |

mod authenticator;
mod bearer;
mod fetch_schedule;
mod file;
mod jwt;
mod key_cache;
mod keys;
mod lifetime;
mod metadata;
mod refusal;
mod settings;
mod signature;
mod source;
pub mod token;
mod token_reload;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use authenticator::{AuthenticatedCaller, Authenticator};
pub use bearer::strip_credentials;
pub use lifetime::TokenLifetime;
pub use metadata::ResourceMetadata;
pub use refusal::{AuthRefusal, RefusalReason};
use settings::JwksLocation;
pub use settings::{AuthError, mistakes};
pub use token_reload::TokenReloader;

use crate::config::server::{Auth, Mistake};

/// What is wrong with the file of keys, if there is to be one. Reads it.
pub fn check_key_file(settings: &Auth, base: &Path) -> Option<Mistake> {
    let jwks = settings::parse_jwks(&settings.oauth.as_ref()?.jwks, base).ok()?;
    jwt::load_keys(&jwks).err()
}

/// The file of keys that settings name, which came from that file; none where they name none.
pub fn key_file(settings: &Auth, file: &Path) -> Option<PathBuf> {
    match settings::parse_jwks(&settings.oauth.as_ref()?.jwks, file.parent()?).ok()? {
        JwksLocation::File(path) => Some(path),
        JwksLocation::Url(_) => None,
    }
}
