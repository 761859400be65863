//! A recorded run, for operators.

use loggia_facade::Object;
use serde_json::Value;

use super::{end::RunEnd, head::RunHead, port::StoredRun};

/// A recorded run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Caller, as in the log.
    pub caller: String,
    /// True if it goes on after a restart: its entries are those of its facade. Otherwise they are lines of its trace.
    pub resumes: bool,
    /// Its latest progress reports and log lines, if it has ended.
    pub trace: Option<Value>,
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
        let end = stored.end.as_ref().map(|(_, end)| RunEnd::from_bytes(end)).transpose()?;
        let outcome = match end.as_ref().map(|end| &end.envelope.outcome) {
            None => "unfinished".to_owned(),
            Some(Ok(_)) => "succeeded".to_owned(),
            Some(Err(failure)) => failure.code.clone(),
        };
        let (envelope, trace) = end.map(|end| (end.envelope, end.trace)).unzip();
        Ok(Self {
            caller: head.caller_name(),
            resumes: head.resumes(),
            trace,
            inputs: head.inputs().clone(),
            result: envelope.map(|envelope| envelope.into_parts().0.into()),
            outcome,
        })
    }
}
