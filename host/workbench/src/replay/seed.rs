//! The state that a recorded call found.

use anyhow::Context;
use loggia_cases::recording::{CallRecording, SpaceName};
use loggia_state::{COMMIT_CHANGES, ChangeCondition, ChangeOperation, StateChange, StateFolder, StateSpace};

/// Quota of what is prepared: that of the policy applies to the plugin alone.
const QUOTA: u64 = 1 << 30;

/// Writes the state that a call read. `caller`: the key of the caller's own space.
pub fn seed_state(
    folder: &StateFolder,
    recorded: &CallRecording,
    caller: Option<[u8; 32]>,
) -> anyhow::Result<()> {
    let store = folder.store(&recorded.facade, QUOTA)?;
    for space in [SpaceName::Shared, SpaceName::Caller] {
        let mut changes = Vec::new();
        for ((_, key), value) in recorded.found_state().into_iter().filter(|((of, _), _)| *of == space) {
            let value = value.to_bytes().map_err(anyhow::Error::msg).with_context(|| key.to_owned())?;
            changes.push(StateChange {
                key: key.to_owned(),
                expect: ChangeCondition::Any,
                operation: ChangeOperation::Put(value.to_vec()),
            });
        }
        let spaces = match space {
            // A policy may give each caller a shared space of its own.
            SpaceName::Shared => {
                [Some(StateSpace::Shared), caller.map(|key| StateSpace::Caller(key.map(|byte| !byte)))]
            }
            SpaceName::Caller => [caller.map(StateSpace::Caller), None],
        };
        for space in spaces.into_iter().flatten() {
            for part in changes.chunks(COMMIT_CHANGES) {
                store.commit(space, part.to_vec())?;
            }
        }
    }
    Ok(())
}
