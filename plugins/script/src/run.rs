//! `run` and `run_read`: a program's result within a budget.

use loggia_sdk::{prelude::*, serde_json};

use crate::{config::Limits, engine};

/// What a program leaves.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// What it returned.
    result: Value,
    /// True if `result` is the beginning of the result's JSON text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    /// Lines of `console.log`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    console: Vec<String>,
    /// Number of calls to facades.
    calls: usize,
}

/// Runs a program.
pub fn run(context: &Call, code: &str, input: Option<&Value>, limit: usize) -> Result<Reply<Report>> {
    let outcome = engine::run(code, input, Limits::configured()?, context.idempotency_key())?;
    let is_silent = outcome.result.is_none() && outcome.console.is_empty();
    let (result, bytes) = cut(outcome.result.unwrap_or_default(), limit)?;
    let report = Report { result, cut: bytes.is_some(), console: outcome.console, calls: outcome.calls };
    let reply = Reply::new(report);
    Ok(match bytes {
        Some(bytes) => reply.message(format!(
            "The result has {bytes} bytes, over `limit` ({limit}): this is its beginning. Its calls were made; return less next time."
        )),
        None if is_silent => reply.message("The program returned nothing: end it with `return value`."),
        None => reply,
    })
}

/// Replaces a result over the limit by the beginning of its text. Returns its size if it is.
fn cut(result: Value, limit: usize) -> Result<(Value, Option<usize>)> {
    let mut text = serde_json::to_string(&result)?;
    let bytes = text.len();
    if bytes <= limit {
        return Ok((result, None));
    }
    text.truncate(text.floor_char_boundary(limit));
    Ok((text.into(), Some(bytes)))
}
