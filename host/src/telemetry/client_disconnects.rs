//! Filters log events of rmcp that only report a disconnected client: clients come and go all day, and nothing is wrong.

/// What rmcp logs as an error although a client only disconnected.
const DISCONNECTS: [&str; 4] = [
    "fail to response message",
    "failed to send pending response during drain",
    "fail to send rejection error",
    "fail to close sink",
];

/// Whether an event only reports a disconnected client.
pub fn is_disconnect(target: &str, message: &str) -> bool {
    target == "rmcp::service" && DISCONNECTS.contains(&message)
}
