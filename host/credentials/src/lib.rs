//! Credentials of callers, encrypted at rest: one for each caller of a facade.
//!
//! A [`CredentialVault`] is mostly a folder with one file per credential. Each is sealed for its facade and its caller, so that a
//! file that is copied to another name cannot be opened. [`FacadeCredentials`] gives the egress the credentials of one facade.
//!
//! | file | concept |
//! |---|---|
//! | `key.rs` | the key of a vault: a file, or a variable of the environment |
//! | `seal.rs` | authenticated encryption of one credential (pure) |
//! | `value.rs` | rules for the value of a credential |
//! | `record.rs` | the content of one credential |
//! | `sealed.rs` | what keeps sealed credentials: a port, and the files of a folder |
//! | `vault.rs` | sealed credentials with their key |
//! | `oauth/` | credentials that an authorization server issues |
//! | `facade_credentials.rs` | the credentials of one facade, for its requests |
//!
//! Functions block for a file's reading or writing. Several processes may use one vault: files are replaced as a whole.

#![warn(unreachable_pub)]

mod facade_credentials;
mod key;
pub mod oauth;
mod record;
mod seal;
mod sealed;
mod time;
mod value;
mod vault;

pub use facade_credentials::FacadeCredentials;
pub use key::VaultKey;
pub use record::{CallerName, StoredCredential};
pub use sealed::{SealedRecords, parse_key};
pub use vault::{ChangeLock, CredentialVault, ListedCredential, VaultError};
