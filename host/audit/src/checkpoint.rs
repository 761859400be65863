//! Pure: signed lines. A checkpoint signs the line before it, and thereby all lines before that.

use serde_json::{Value, json};

use crate::{
    chain::ChainHead,
    key::{AuditKey, PublicKey},
};

/// `event` of a checkpoint.
pub const CHECKPOINT: &str = "checkpoint";

/// Where a checkpoint stands. It is signed, so that the first lines of a file cannot be cut back to a later checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckpointPlace {
    /// The first line of a file.
    Beginning,
    Within,
}

impl CheckpointPlace {
    fn of(line: &Value) -> Self {
        if line["begins"] == true { Self::Beginning } else { Self::Within }
    }
}

/// The text that is signed.
fn signed_text(head: &ChainHead, place: CheckpointPlace, time: &str) -> String {
    let place = match place {
        CheckpointPlace::Beginning => "begins",
        CheckpointPlace::Within => "within",
    };
    format!("loggia audit 1\n{place}\n{}\n{}\n{time}", head.seq, head.hash)
}

/// Creates the object of a checkpoint after this head.
pub(crate) fn create(head: &ChainHead, place: CheckpointPlace, time: &str, key: &AuditKey) -> String {
    json!({
        "timestamp": time,
        "event": CHECKPOINT,
        "begins": place == CheckpointPlace::Beginning,
        "signature": key.sign(&signed_text(head, place, time)),
        "key": key.public().to_string(),
    })
    .to_string()
}

/// Returns true if a line is a checkpoint.
pub(crate) fn is_checkpoint(line: &Value) -> bool {
    line["event"] == CHECKPOINT
}

/// Returns the place of a line that is a checkpoint after this head, and that the key has signed.
pub(crate) fn verify(line: &Value, head: &ChainHead, key: &PublicKey) -> Option<CheckpointPlace> {
    let place = CheckpointPlace::of(line);
    let (time, signature) = (line["timestamp"].as_str()?, line["signature"].as_str()?);
    key.has_signed(&signed_text(head, place, time), signature).then_some(place)
}
