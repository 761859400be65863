//! The interface `state`: the plugin's own durable state.

use loggia_facade::{Effect, Failure, ScopeKey, code};
use loggia_state::{StateError, Store};
use serde_json::json;

use super::host::denied;
use crate::{
    abi::v0_1::{
        failure_down,
        state::{self as abi, Host},
        types,
    },
    guest::Guest,
};

/// A plugin's state, as far as one call may use it.
pub(crate) struct Access {
    store: Store,
    /// A `read` action changes nothing.
    may_commit: bool,
    /// Where the caller's own state is.
    scope: Option<ScopeKey>,
}

impl Access {
    pub(super) fn prepare(store: &Store, effect: Effect, scope: Option<ScopeKey>) -> Self {
        Self { store: store.clone(), may_commit: effect != Effect::Read, scope }
    }

    fn space(&self, space: abi::Space) -> Result<loggia_state::Space, types::Failure> {
        match (space, &self.scope) {
            (abi::Space::Shared, _) => Ok(loggia_state::Space::Shared),
            (abi::Space::Caller, Some(ScopeKey(key))) => Ok(loggia_state::Space::Caller(*key)),
            (abi::Space::Caller, None) => {
                let failure =
                    Failure::new(code::DENIED, "access denied: this caller has no state of its own");
                Err(failure_down(failure.hint("anonymous callers have none; the shared state can be used")))
            }
        }
    }
}

/// Why the state did not do what it was asked, for the plugin.
fn failed(error: StateError) -> types::Failure {
    let said = error.to_string();
    failure_down(match error {
        StateError::Conflict(keys) => {
            let failure = Failure::new(code::CONFLICT, said).hint("read the keys again and decide anew");
            Failure { details: Some(json!({ "keys": keys })), ..failure }
        }
        StateError::Moved => Failure::new(code::CONFLICT, said).hint("begin the scan again"),
        StateError::Quota { .. } => Failure::new(code::UNAVAILABLE, said)
            .hint("delete what is no longer needed, or let the operator raise `grants.store.quota`"),
        StateError::Invalid(_) => Failure::new(code::INVALID_PARAMS, said),
        StateError::Busy => {
            Failure { retry_after_ms: Some(1000), ..Failure::new(code::UNAVAILABLE, said).hint("try again") }
        }
        StateError::Storage(_) => {
            tracing::error!("{said}");
            Failure::new(code::UNAVAILABLE, "the state cannot be used").hint("the operator's log says why")
        }
    })
}

fn entry(entry: loggia_state::Entry) -> abi::Entry {
    abi::Entry { key: entry.key, value: entry.value, version: entry.version }
}

fn change(change: abi::Change) -> loggia_state::Change {
    loggia_state::Change {
        key: change.key,
        expect: match change.expect {
            abi::Expect::Any => loggia_state::Expect::Any,
            abi::Expect::Absent => loggia_state::Expect::Absent,
            abi::Expect::Version(version) => loggia_state::Expect::Version(version),
        },
        operation: match change.operation {
            abi::Operation::Check => loggia_state::Operation::Check,
            abi::Operation::Put(value) => loggia_state::Operation::Put(value),
            abi::Operation::PutUntil((value, until)) => loggia_state::Operation::PutUntil(value, until),
            abi::Operation::Delete => loggia_state::Operation::Delete,
        },
    }
}

impl Guest {
    fn access(&self) -> Result<&Access, types::Failure> {
        self.given.state.as_ref().ok_or_else(|| denied("store"))
    }

    /// Does something with the store on a thread that may wait for a disk or for another process, at the call's expense.
    fn away<T: Send + 'static, F>(
        &self,
        act: F,
    ) -> impl Future<Output = Result<T, types::Failure>> + use<T, F>
    where
        F: FnOnce() -> Result<T, StateError> + Send + 'static,
    {
        let mut working = self.meter.away(act);
        async move {
            match (&mut *working).await {
                Ok(done) => done.map_err(failed),
                Err(_) => Err(failed(StateError::Storage("the thread that used it ended".to_owned()))),
            }
        }
    }
}

impl Host for Guest {
    async fn get(
        &mut self,
        space: abi::Space,
        keys: Vec<String>,
    ) -> Result<Vec<Option<abi::Entry>>, types::Failure> {
        let access = self.access()?;
        let (store, space) = (access.store.clone(), access.space(space)?);
        let found = self.away(move || store.get(space, &keys)).await?;
        Ok(found.into_iter().map(|found| found.map(entry)).collect())
    }

    async fn scan(
        &mut self,
        space: abi::Space,
        prefix: String,
        after: Option<String>,
        limit: u32,
        at: Option<u64>,
    ) -> Result<abi::Entries, types::Failure> {
        let access = self.access()?;
        let (store, space) = (access.store.clone(), access.space(space)?);
        let found = self.away(move || store.scan(space, &prefix, after.as_deref(), limit, at)).await?;
        Ok(abi::Entries {
            items: found.items.into_iter().map(entry).collect(),
            more: found.more,
            revision: found.revision,
        })
    }

    async fn commit(&mut self, space: abi::Space, changes: Vec<abi::Change>) -> Result<u64, types::Failure> {
        let access = self.access()?;
        let writes = changes.iter().any(|change| !matches!(change.operation, abi::Operation::Check));
        if writes && !access.may_commit {
            let failure = Failure::new(code::DENIED, "access denied: a read action may not change the state");
            return Err(failure_down(failure.hint("declare the action as `write`")));
        }
        let (store, space) = (access.store.clone(), access.space(space)?);
        let changes = changes.into_iter().map(change).collect();
        self.away(move || store.commit(space, changes)).await
    }
}
