//! Recordings of calls: what a call received from outside, and what it did. `loggia serve --record` writes them, `loggia replay` runs
//! them again.
//!
//! A recorded facade stands in front of a plugin: the gate calls it like any other, and it passes the call on with a port and tapes
//! of its own. The policy, the limits and the sandbox apply as without it.
//!
//! | file | concept |
//! |---|---|
//! | `call_recording.rs` | a recording as data, and its file |
//! | `call_tape.rs` | what is recorded of one call, or answers it |
//! | `call_tapes.rs` | the tapes of calls, by the calls' ids |
//! | `taped_facade.rs` | a facade whose calls have tapes |
//! | `taped_port.rs` | the port of such a call |
//! | `recording_folder.rs` | writes recordings into a folder |
//! | `difference.rs` | pure: how a call differs from its recording |

mod call_recording;
mod call_tape;
mod call_tapes;
mod difference;
mod recording_folder;
mod taped_facade;
mod taped_port;

pub use self::{
    call_recording::{CallRecording, SpaceName},
    call_tape::EndedTape,
    call_tapes::{CallTapes, TapeEnd, TapePlan, TapeStart},
    difference::{compare_recordings, describe_end},
    recording_folder::RecordingFolder,
    taped_facade::TapedFacade,
};
