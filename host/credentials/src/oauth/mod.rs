//! Credentials that an authorization server issues: OAuth's authorization code with PKCE, and its refresh tokens.
//!
//! | file | concept |
//! |---|---|
//! | `client.rs` | this host as a client of an authorization server (settings) |
//! | `transport.rs` | requests to the token endpoint |
//! | `login.rs` | one login: a link, and the code that it leads to |
//! | `refresh.rs` | a new access token for an expiring one |
//! | `grant.rs` | what the server issued |

mod client;
mod grant;
mod login;
mod refresh;
mod transport;

pub use client::OAuthClient;
pub use grant::OAuthGrant;
pub use login::{LoginAttempt, LoginError, RedirectAnswer};
pub(crate) use refresh::{RefreshError, refresh};
