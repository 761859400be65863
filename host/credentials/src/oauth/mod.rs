//! Credentials that an authorization server issues: OAuth's authorization code with PKCE, and its refresh tokens.
//!
//! | file | concept |
//! |---|---|
//! | `client.rs` | this host as a client of an authorization server (settings) |
//! | `transport.rs` | requests to the token endpoint |
//! | `login.rs` | one login: a link, and the code that it leads to |
//! | `pending/` | logins that wait for a person |
//! | `code.rs` | the code that proves whose person logged in |
//! | `refresh.rs` | a new access token for an expiring one |
//! | `grant.rs` | what the server issued |

mod client;
mod code;
mod grant;
mod login;
mod pending;
mod refresh;
mod transport;

pub use client::OAuthClient;
pub use code::ConfirmationCode;
pub use grant::OAuthGrant;
pub use login::{IssuedToken, LoginAttempt, LoginError, RedirectAnswer};
pub use pending::{AnsweredLogin, CodeRefusal, LoginProgress, LoginTicket, PendingLogins, TooManyLogins};
pub(crate) use refresh::{RefreshError, refresh};
