//! Batches: several calls of one facade in one request.
//!
//! Items run one after another, each with its own permit and clock. The batch itself holds neither, so its items cannot
//! wait for it. All items run on the version of the facade that validated them.

use std::sync::Arc;

use loggia_facade::{Content, Envelope, Failure, Page, Progress, Reply, code};
use loggia_schema::BatchMode;
use serde_json::{Value, json};

use super::{answer::answer_root, chain::take_next, gate_state::GateState};
use crate::{
    plan::{PlannedBatch, text_size},
    run::CallState,
};

/// Bound on the results of all items together, in bytes. Each item has a limit of its own.
const MAX_RESULTS: usize = 4 << 20;

/// Runs the items of a batch.
pub(super) async fn run_batch(gate: Arc<GateState>, state: Arc<CallState>, batch: PlannedBatch) -> Envelope {
    let PlannedBatch { entry, command, items, mode, .. } = batch;
    let all = items.len();
    let mut results: Vec<Value> = Vec::with_capacity(all);
    let mut content: Vec<Content> = Vec::new();
    let mut failed = Vec::new();
    let mut bytes = 0;
    for (index, item) in items.into_iter().enumerate() {
        if state.cancel.is_cancelled() {
            return Envelope::new(command, Err(Failure::new(code::CANCELLED, "cancelled")));
        }
        #[allow(clippy::cast_precision_loss, reason = "at most fifty")]
        let (done, total) = (index as f64, Some(all as f64));
        state.record_progress(Progress { done, total, message: item.command.name.clone() });
        let mut envelope = answer_root(Arc::clone(&gate), Arc::clone(&state), item).await;
        let next = take_next(&mut envelope, &entry, &gate, &state);
        let ok = envelope.is_ok();
        let (fields, blocks) = envelope.into_parts();
        let mut result = json!({ "index": index });
        result.as_object_mut().into_iter().for_each(|result| result.extend(fields.clone()));
        if let Some(next) = next {
            result["next"] = gate.catalog.snapshot().address_next(state.list, &next);
        }
        bytes += text_size(&result) + blocks.iter().map(content_size).sum::<usize>();
        if bytes > MAX_RESULTS {
            let reason = format!("the batch's results are larger than {} MiB together", MAX_RESULTS >> 20);
            let failure = Failure::new(code::UNAVAILABLE, format!("item {index} was run, but {reason}"));
            let hint = "its items up to there were run: make smaller batches, or ask for less detail";
            let details = json!({ "results": results, "failed": failed });
            let failure = Failure { details: Some(details), ..failure.hint(hint) };
            return Envelope::new(command, Err(failure));
        }
        content.extend(blocks);
        results.push(result);
        if !ok {
            failed.push(index);
            if mode == BatchMode::Stop {
                break;
            }
        }
    }
    let ran = results.len();
    let outcome = match failed.first() {
        None => {
            let page = Page { count: u64::try_from(ran).ok(), ..Page::default() };
            let data = json!({ "results": results }).into();
            Ok(Reply { data, page: Some(page), content, ..Reply::default() })
        }
        Some(first) => Err(partial_failure(first, &failed, results, all)),
    };
    Envelope::new(command, outcome)
}

/// Renders the failure of a batch in which some items failed.
fn partial_failure(first: &usize, failed: &[usize], results: Vec<Value>, all: usize) -> Failure {
    let ran = results.len();
    let text = |key: &str| results[*first][key].as_str().unwrap_or_default().to_owned();
    let message = match failed.len() {
        1 => format!("item {first} failed: {}", text("error")),
        count => format!("{count} of {all} items failed; the first, item {first}: {}", text("error")),
    };
    let hint = match all - ran {
        0 => "the other items worked; see `details.results`".to_owned(),
        left => {
            format!("the items before it worked, the {left} after it were not run; see `details.results`")
        }
    };
    let code = text("code");
    let details = json!({ "results": results, "failed": failed });
    Failure { details: Some(details), ..Failure::new(&code, message).hint(hint) }
}

/// Estimates the size of a content block, in bytes.
pub(super) fn content_size(content: &Content) -> usize {
    use loggia_facade::Block;
    match &content.block {
        Block::Text(text) => text.len(),
        Block::Image { data, .. } | Block::Audio { data, .. } => data.len(),
        Block::Embedded { text, blob, .. } => {
            text.as_ref().map_or(0, String::len) + blob.as_ref().map_or(0, Vec::len)
        }
        Block::Link { uri, .. } => uri.len(),
    }
}
