//! Exit codes. Scripts rely on them.

/// Invalid command line.
pub const USAGE: u8 = 2;
/// The command failed; `tokens`: also if the list exceeds its budget.
pub const FAILED: u8 = 1;
/// `check`, `tokens`, `policy`, `add`, `update`, `push`, `test`, `replay`: a plugin does not load; `test`, `workflow`, `config`: a file has problems; `upstream`: one
/// cannot be imported or is unavailable; `card`: the registry would refuse the entry; `audit verify`: the trail was changed; `client doctor`: a client does not see the tools.
pub const REFUSED: u8 = 10;
/// `check`, `tokens`, `policy explain`: there is no plugin; `test`: there are no cases; `state`: there is no such store; `runs`: there is no such run; `approvals`: there is no such approval; `diff`, `approve`, `reject`: no version waits; `profile`: there is no such facade; `update`: no plugin came from a registry; `audit`: there is no trail; `credential`: there
/// is no such credential; `workflow`, `config`:
/// there is no such file or workflow; `card`: there is no such table; `upstream`: there is none; `client`: there is no such entry.
pub const NOTHING: u8 = 11;
/// `call`, `profile`, `workflow run`: the call failed; `test`: a case failed; `replay`: something differs.
pub const CALL_FAILED: u8 = 20;
