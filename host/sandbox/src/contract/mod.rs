//! Version-free form of what passes between host and guest, before JSON texts in it are parsed.
//!
//! `abi` moves a version's records into these types field by field; sizes, checks and parsing are done here, once for
//! all versions.
//!
//! | module | contents |
//! |---|---|
//! | `call` | a call on its way to the guest |
//! | `description` | the surface as a guest describes it, and an action's schemas |
//! | `reply`, `failure`, `next` | a guest's answer |
//! | `verdict` | a guard's verdict |
//! | `request` | a guest's call to another facade |
//! | `extras` | open-ended fields: names with JSON texts |
//! | `malformed` | why an answer is not what the contract says |

mod call;
mod description;
mod extras;
mod failure;
mod malformed;
mod next;
mod reply;
mod request;
mod verdict;

pub(crate) use call::PluginCall;
pub(crate) use description::{RawDescription, RawSchema, parse_action_extras};
pub(crate) use failure::{RawFailure, failure_extra};
pub(crate) use next::RawNext;
pub(crate) use reply::{RawContent, RawReply};
pub(crate) use request::RawRequest;
pub(crate) use verdict::RawVerdict;

#[cfg(test)]
mod tests;
