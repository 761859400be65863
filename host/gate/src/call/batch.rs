//! Several calls of one facade in one.
//!
//! Each item is a call like any other, one after another, with its own permit and clock; the batch itself holds neither,
//! so its items cannot wait for it. All run on the version that checked them.

use std::sync::Arc;

use loggia_facade::{Content, Envelope, Failure, Page, Progress, Reply, code};
use loggia_schema::BatchMode;
use serde_json::{Value, json};

use super::{answer::root, chain::advise, shared::Shared};
use crate::{
    plan::{Batch, length},
    run::Run,
};

/// What the results of all items may take together, in bytes: each has a limit of its own.
const RESULTS: usize = 4 << 20;

/// Makes the calls of a batch.
pub async fn run(shared: Arc<Shared>, run: Arc<Run>, batch: Batch) -> Envelope {
    let Batch { entry, command, items, mode, .. } = batch;
    let all = items.len();
    let mut results: Vec<Value> = Vec::with_capacity(all);
    let mut content: Vec<Content> = Vec::new();
    let mut failed = Vec::new();
    let mut bytes = 0;
    for (index, item) in items.into_iter().enumerate() {
        if run.cancel.is_cancelled() {
            return Envelope::new(command, Err(Failure::new(code::CANCELLED, "cancelled")));
        }
        #[allow(clippy::cast_precision_loss, reason = "at most fifty")]
        let (done, total) = (index as f64, Some(all as f64));
        run.progress(Progress { done, total, message: item.command.name.clone() });
        let mut envelope = root(Arc::clone(&shared), Arc::clone(&run), item).await;
        let next = advise(&mut envelope, &entry, &shared, &run);
        let ok = envelope.is_ok();
        let (told, blocks) = envelope.into_parts();
        let mut result = json!({ "index": index });
        result.as_object_mut().into_iter().for_each(|result| result.extend(told.clone()));
        if let Some(next) = next {
            result["next"] = shared.catalog.snapshot().address(&next);
        }
        bytes += length(&result) + blocks.iter().map(size).sum::<usize>();
        if bytes > RESULTS {
            let said = format!("the batch's results are larger than {} MiB together", RESULTS >> 20);
            let failure = Failure::new(code::UNAVAILABLE, format!("item {index} was run, but {said}"));
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
            Ok(Reply { data: json!({ "results": results }), page: Some(page), content, ..Reply::default() })
        }
        Some(first) => Err(partly(first, &failed, results, all)),
    };
    Envelope::new(command, outcome)
}

/// What is told of a batch of which not all items worked.
fn partly(first: &usize, failed: &[usize], results: Vec<Value>, all: usize) -> Failure {
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

/// About how many bytes a content block takes.
pub fn size(content: &Content) -> usize {
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
