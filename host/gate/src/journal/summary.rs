//! A recorded run, for operators.

use loggia_facade::{Envelope, Object};
use serde_json::Value;

use super::{head::RunHead, port::StoredRun};

/// A recorded run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Caller, as in the log.
    pub caller: String,
    /// Parameters, redacted.
    pub inputs: Object,
    /// Envelope of its result, if it has ended.
    pub result: Option<Value>,
    /// `unfinished`, `succeeded`, or the code of its failure.
    pub outcome: String,
}

impl RunSummary {
    /// Reads what was recorded of a run.
    ///
    /// # Errors
    ///
    /// The reason for which it cannot be read.
    pub fn from_stored(stored: &StoredRun) -> Result<Self, String> {
        let head = RunHead::from_bytes(&stored.run.head)?;
        let envelope = match &stored.end {
            None => None,
            Some((_, outcome)) => {
                Some(serde_json::from_slice::<Envelope>(outcome).map_err(|error| error.to_string())?)
            }
        };
        let outcome = match envelope.as_ref().map(|envelope| &envelope.outcome) {
            None => "unfinished".to_owned(),
            Some(Ok(_)) => "succeeded".to_owned(),
            Some(Err(failure)) => failure.code.clone(),
        };
        Ok(Self {
            caller: head.caller_name(),
            inputs: head.inputs().clone(),
            result: envelope.map(|envelope| envelope.into_parts().0.into()),
            outcome,
        })
    }
}
