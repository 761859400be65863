//! Clients that go away before an answer to them: they come and go all day, and nothing is wrong.

/// What rmcp calls an error, though all that it tells is that a client left.
const LEFT: [&str; 4] = [
    "fail to response message",
    "failed to send pending response during drain",
    "fail to send rejection error",
    "fail to close sink",
];

/// Whether an event of the log tells of nothing else.
pub fn is_told_by(target: &str, message: &str) -> bool {
    target == "rmcp::service" && LEFT.contains(&message)
}
