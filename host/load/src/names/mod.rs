//! Assigns facade names to file stems, permanently.
//!
//! | file | concept |
//! |---|---|
//! | `record.rs` | the record in the state folder |
//! | `shared.rs` | the record in a database |
//! | `claims.rs` | pure: assigns names by the record, then by who came first |

mod claims;
mod record;
mod shared;

pub use claims::{FileClaim, NameConflict, NameHolder, NameOwners};
pub use record::{NameClaim, NameFile, NameOwner, NameRecord, NameRefusal};
pub use shared::SharedNames;
