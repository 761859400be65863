//! Which file stem owns which name, for good.
//!
//! | file | concept |
//! |---|---|
//! | `record.rs` | the record in the state folder |
//! | `claims.rs` | pure: which file owns which name, by the record and by who came first |

mod claims;
mod record;

pub use claims::{FileClaim, NameConflict, NameHolder, NameOwners};
pub use record::{NameClaim, NameFile, NameOwner, NameRecord, NameRefusal};
