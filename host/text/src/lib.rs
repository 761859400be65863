//! Text of plugins, callers and upstreams, made safe for its readers. All such functions live in this crate.
//!
//! | reader | function |
//! |---|---|
//! | a model, a person | [`sanitise_line`], [`sanitise_text`]: hidden characters are removed |
//! | a log line, a terminal | [`printable`], [`printable_text`]: hidden characters are escaped |
//! | a terminal that shows JSON | [`printable_json`] |
//! | a message that names something | [`mention`]: one short line |
//! | a log or an error | [`redact`]: credentials are replaced |
//! | a recording of a request | [`redact_url`]: those of a query, one by one |
//! | a client | [`without_paths`]: folders of this machine are left out |
//!
//! [`units`] parses and formats sizes and times.
//!
//! **Redact a text before truncating it**: otherwise the beginning of a secret across the cut would show. If only a part of a
//! text is available, [`redact_beginning`] also redacts a secret that the end of the part truncates, and [`seam`] finds a
//! position between credentials.

#![warn(unreachable_pub)]

mod credentials;
mod cut;
mod escape;
mod hidden;
mod known;
mod likely;
mod mention;
mod paths;
mod redacted;
mod sanitise;
pub mod units;
mod url;

pub use credentials::{redact, redact_beginning, seam};
pub use cut::{shorten, shorten_bytes};
pub use escape::{printable, printable_json, printable_text};
pub use hidden::{is_clean, is_hidden};
pub use known::keep_secret;
pub use mention::mention;
pub use paths::without_paths;
pub use redacted::REDACTED;
pub use sanitise::{sanitise_line, sanitise_text};
pub use url::redact_url;
