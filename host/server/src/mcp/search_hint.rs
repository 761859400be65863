//! What Claude Code reads in a tool's `_meta`. It loads tools when a search finds them, so their names, these words and the
//! server's instructions decide whether a facade is found.

use loggia_gate::catalog::CatalogEntry;
use loggia_policy::clients::ClientTraits;
use loggia_schema::PublishedTool;
use rmcp::model::MetaObject;
use serde_json::json;

/// Longest hint in bytes: a line that is read with each tool's name.
const MAX_HINT: usize = 160;

/// Most characters of a token in ordinary text and JSON.
const CHARS_PER_TOKEN: usize = 5;
/// Largest `maxResultSizeChars` that is accepted.
const MAX_RESULT_CHARS: usize = 500_000;

/// Builds the `_meta` of a tool.
pub fn to_meta(entry: &CatalogEntry, tool: &PublishedTool, client: &ClientTraits) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.insert("anthropic/searchHint".into(), search_hint(entry, tool).into());
    // Longer results would be written to a file, although they are cut to fit the model.
    let answer =
        if entry.rules.answer > 0 { entry.rules.answer } else { client.answer_budget().unwrap_or_default() };
    let most = answer.saturating_mul(CHARS_PER_TOKEN).min(MAX_RESULT_CHARS);
    meta.insert("anthropic/maxResultSizeChars".into(), json!(most));
    if entry.exposure.always_load {
        meta.insert("anthropic/alwaysLoad".into(), json!(true));
    }
    let mut actions = shown_actions(entry, tool).peekable();
    // A tool whose other actions need no person is not held up by the one that does: that one asks by itself.
    if actions.peek().is_some() && actions.all(|action| entry.contract.needs_confirmation(action)) {
        meta.insert("anthropic/requiresUserInteraction".into(), json!(true));
    }
    meta
}

/// Names of the facade's actions that the tool offers.
fn shown_actions<'a>(entry: &'a CatalogEntry, tool: &'a PublishedTool) -> impl Iterator<Item = &'a str> {
    let names = entry.surface().actions.iter().map(|action| action.name.as_str());
    names.filter(|name| entry.contract.offers(name, &tool.view).is_some())
}

/// The facade's title and what its actions do, in the words of their names: `Notes: add, list, search`.
fn search_hint(entry: &CatalogEntry, tool: &PublishedTool) -> String {
    let mut hint = tool.title.clone();
    for (at, action) in shown_actions(entry, tool).enumerate() {
        let words = action.replace(['_', '-'], " ");
        if hint.len() + 2 + words.len() > MAX_HINT {
            break;
        }
        hint.push_str(if at == 0 { ": " } else { ", " });
        hint.push_str(&words);
    }
    hint
}
