//! Text that a plugin, a caller or an upstream wrote, made safe for who reads it. The one home of all that does so.
//!
//! | reader | function |
//! |---|---|
//! | a model, a person | [`sanitise_line`], [`sanitise_text`]: what cannot be seen is taken out |
//! | a log line, a terminal | [`printable`], [`printable_text`]: what cannot be seen is escaped, so that it shows |
//! | a terminal that is shown JSON | [`printable_json`] |
//! | whoever is told, by a message, of a name that somebody chose | [`mention`] |
//! | whoever reads a log or an error | [`redact`]: without credentials |
//!
//! **A text is redacted before it is cut**: of a secret across the cut, the beginning would be shown. Where only a part of
//! a text is at hand, [`redact_beginning`] takes a secret out that its end cuts off, and [`seam`] finds a place between
//! credentials.

#![warn(unreachable_pub)]

mod credentials;
mod cut;
mod escape;
mod hidden;
mod known;
mod likely;
mod mention;
mod redacted;
mod sanitise;
pub mod units;

pub use credentials::{redact, redact_beginning, seam};
pub use cut::{shorten, shorten_bytes};
pub use escape::{printable, printable_json, printable_text};
pub use hidden::{is_clean, is_hidden};
pub use known::keep_secret;
pub use mention::mention;
pub use redacted::REDACTED;
pub use sanitise::{sanitise_line, sanitise_text};
