//! The failure for what is not granted.

use loggia_facade::{Failure, code};

/// A failure that names the missing grant.
pub(crate) fn denied(grant: &str) -> Failure {
    let hint = format!("the policy of this plugin does not grant `{grant}`");
    Failure::new(code::DENIED, "access denied").hint(hint)
}
