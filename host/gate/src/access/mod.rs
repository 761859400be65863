//! Who calls, and what a caller and a facade may call.
//!
//! | file | concept |
//! |---|---|
//! | `origin.rs` | the caller of a request, and where the request came from |
//! | `address.rs` | the part of an address by which anonymous callers are told apart |
//! | `request_ids.rs` | the names by which a request is known elsewhere |
//! | `rights.rs` | the scopes of a token |
//! | `scopes.rs` | the key under which a plugin keeps a caller's state |
//! | `rules.rs` | what the policy of a facade allows its calls |

mod address;
mod origin;
mod request_ids;
mod rights;
mod rules;
mod scopes;

pub use address::AddressBlock;
pub use origin::{Account, Caller, Origin};
pub use request_ids::Mark;
pub use rights::{NoScope, Rights, Scope};
pub use rules::{Chain, Clocks, InvokeRule, Rules, Terms};
pub use scopes::Scopes;
