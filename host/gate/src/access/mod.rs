//! Callers and their rights.
//!
//! | file | concept |
//! |---|---|
//! | `call_origin.rs` | the caller of a request, and where the request came from |
//! | `origin_record.rs` | the same as other hosts read it |
//! | `list_id.rs` | which list of tools a client sees |
//! | `address.rs` | the part of an address that identifies an anonymous caller |
//! | `request_ids.rs` | the ids of a request: its own and its trace's |
//! | `rights.rs` | the scopes of a token |
//! | `caller_logins.rs` | logins of callers, which the host supplies |
//! | `caller_keys.rs` | the key under which a plugin keeps a caller's state |

mod address;
mod call_origin;
mod caller_keys;
mod caller_logins;
mod list_id;
mod origin_record;
mod request_ids;
mod rights;

pub use address::AddressBlock;
pub use call_origin::{CallOrigin, Caller, CallerAccount};
pub use caller_keys::CallerKeys;
pub use caller_logins::{CallerLogins, LoginPreview, LoginRefusal, LoginStep, PendingLogin};
pub use list_id::ListId;
pub use origin_record::OriginRecord;
pub use request_ids::RequestIds;
pub use rights::CallerRights;
