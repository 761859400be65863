//! Authentication over HTTP, by tokens of `loggia token new` and access tokens of an OAuth 2.1 authorization server (RFC 6750,
//! RFC 9068, RFC 9728).
//!
//! | file | concept |
//! |---|---|
//! | `settings.rs` | `[auth]` of `loggia.toml`, converted for use. Pure |
//! | `bearer.rs` | extraction and removal of a request's token. Pure |
//! | `token.rs` | own tokens: generated, hashed, looked up in constant time |
//! | `jwt.rs` | validation of access tokens |
//! | `keys.rs` | key sets (JWKS), and the choice of a key. Pure |
//! | `key_cache.rs` | cache of keys, fetched in the background and at most once a minute |
//! | `source.rs` | sources of keys: a file or a URL |
//! | `file.rs` | a file that is polled for changes |
//! | `lifetime.rs` | lifetime of a token |
//! | `revocations.rs` | tokens that are refused in spite of the settings |
//! | `token_reload.rs` | reloading of tokens while the server runs |
//! | `signature.rs` | ring as a crypto provider of `jsonwebtoken` |
//! | `refusal.rs` | responses to unauthenticated requests |
//! | `metadata.rs` | protected resource metadata |

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
mod revocations;
mod settings;
mod signature;
mod source;
pub mod token;
mod token_reload;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use loggia_policy::settings::{Auth, JwksLocation};

pub use crate::auth::{
    authenticator::{AuthenticatedCaller, Authenticator},
    bearer::strip_credentials,
    jwt::caller_name,
    lifetime::TokenLifetime,
    metadata::ResourceMetadata,
    refusal::{AuthRefusal, RefusalReason},
    revocations::RevokedTokens,
    settings::AuthError,
    token_reload::TokenReloader,
};

/// Reads a key file and returns its mistake.
pub fn check_key_file(jwks: &JwksLocation) -> Option<AuthError> {
    jwt::load_keys(jwks).err()
}

/// Returns the path of the key file that the settings name.
pub fn key_file(settings: &Auth) -> Option<PathBuf> {
    match &settings.oauth.as_ref()?.jwks {
        JwksLocation::File(path) => Some(path.clone()),
        JwksLocation::Url(_) => None,
    }
}
