//! Pure: signed lines. A checkpoint signs the line before it, and thereby all lines before that.

use serde_json::{Value, json};

use crate::{
    chain::ChainHead,
    key::{AuditKey, PublicKey},
};

/// `event` of a checkpoint.
pub const CHECKPOINT: &str = "checkpoint";

/// The text that is signed.
fn signed_text(head: &ChainHead, time: &str) -> String {
    format!("loggia audit 1\n{}\n{}\n{time}", head.seq, head.hash)
}

/// Creates the object of a checkpoint after this head.
pub(crate) fn create(head: &ChainHead, time: &str, key: &AuditKey) -> String {
    json!({
        "timestamp": time,
        "event": CHECKPOINT,
        "signature": key.sign(&signed_text(head, time)),
        "key": key.public().to_string(),
    })
    .to_string()
}

/// Returns true if a line is a checkpoint.
pub(crate) fn is_checkpoint(line: &Value) -> bool {
    line["event"] == CHECKPOINT
}

/// Returns true if a line is a checkpoint after this head that the key has signed.
pub(crate) fn is_valid(line: &Value, head: &ChainHead, key: &PublicKey) -> bool {
    let text = |name: &str| line[name].as_str();
    match (text("timestamp"), text("signature")) {
        (Some(time), Some(signature)) => key.has_signed(&signed_text(head, time), signature),
        _ => false,
    }
}
