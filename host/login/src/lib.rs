//! Logins of callers: at the authorization server that issues their credentials, by a browser.
//!
//! ```text
//! call ─▶ gate ─ require ─▶ FacadeLogins ─ begin ─▶ CallLogins: pending logins ◀─ answer ─ LoginReturns ◀─ browser
//!                                │                                                 (or a port of this machine)
//!                                └─ redeem, by the code that the browser shows ─▶ vault
//! ```
//!
//! A local user has no code to send: whoever opens a link on this machine is the caller. Callers over HTTP are named, and a link
//! may be passed to another person, whose account would then be used for the caller (phishing, in MCP's rules for links). So
//! their tokens are stored only once the caller sends the code that the browser showed to the person who logged in. Unauthenticated
//! callers, also those on loopback, have no key under which anything could be stored, and so no logins.
//!
//! | file | concept |
//! |---|---|
//! | `shared_credentials.rs` | credentials of callers in a database |
//! | `caller_vault.rs` | credentials of callers, by their names |
//! | `return_place.rs` | where browsers return to |
//! | `call_logins.rs` | pending logins of all facades, and how they end |
//! | `facade_logins.rs` | the logins of one facade, as calls see them |
//! | `loopback.rs` | a port of this machine for one answer |
//! | `pages.rs` | what browsers show |

mod call_logins;
pub mod caller_vault;
mod facade_logins;
pub mod loopback;
mod pages;
mod return_place;
pub mod shared_credentials;

pub use call_logins::{CallLogins, LoginReturns};
pub use facade_logins::FacadeLogins;
pub use return_place::{ReturnPlace, listener_url};
