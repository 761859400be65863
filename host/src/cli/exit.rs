//! Exit codes. They are part of the interface: scripts rely on them.

/// A mistake on the command line itself.
pub const USAGE: u8 = 2;
/// The command could not do its work; `tokens`: the list takes more than its budget.
pub const FAILED: u8 = 1;
/// `check`, `tokens`, `policy`: a plugin does not load; `workflow`, `config`: a file has problems.
pub const REFUSED: u8 = 10;
/// `check`, `tokens`, `policy explain`: there is no plugin there; `state`: there is no state of that name;
/// `workflow`, `config`: there is no such file or workflow.
pub const NOTHING: u8 = 11;
/// `call`, `workflow run`: the call was made and failed.
pub const CALL_FAILED: u8 = 20;
