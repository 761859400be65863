//! The host's own checks, before an action runs.

use std::{sync::Arc, time::Duration};

use loggia_facade as host;
use loggia_schema::Contract;

use crate::{Failure, Next, Object, Result};

/// The contract that the host would hold callers to.
pub(super) fn contract(surface: &Arc<host::Surface>) -> Contract {
    match Contract::new(Arc::clone(surface)) {
        Ok(contract) => contract,
        Err(problems) => panic!("the host would refuse the facade `{}`: {problems}", surface.name),
    }
}

/// Resolves the action, and its parameters with defaults and coercions.
pub(super) fn admit(surface: &Arc<host::Surface>, action: &str, params: Object) -> Result<(String, Object)> {
    let contract = contract(surface);
    let action = contract.action(action).map_err(from_host)?;
    let prepared = contract.prepare(action, params).map_err(from_host)?;
    Ok((action.name.clone(), prepared.params))
}

fn from_host(failure: host::Failure) -> Failure {
    let mut own = Failure::new(failure.code, failure.message);
    own.hint = failure.hint;
    own.details = failure.details;
    own.expected = failure.expected;
    own.example = failure.example;
    own.retry_after = failure.retry_after_ms.map(Duration::from_millis);
    own.next = failure.next.map(|next| {
        let mut own = Next::of(next.facade, next.action);
        own.params = next.params;
        own.reason = next.reason;
        own
    });
    own
}
