//! The server's instructions, which clients show to their model: how to call, and the purpose of each facade.

use loggia_gate::{
    access::{CallerRights, ListId},
    catalog::{CatalogEntry, CatalogSnapshot},
};
use loggia_schema::{HOST_PARAMETERS_TEXT, SchemaForm, ToolView};

/// Longest instructions in bytes: Claude Code cuts longer ones.
const INSTRUCTIONS: usize = 2000;

/// Shortest useful text in bytes. If less is left for each facade, they are only named.
const MIN_TEXT: usize = 16;

/// Bytes reserved for the last line, which counts the facades that are not named.
const MORE_LINE: usize = 24;

const USAGE: &str = "\
Each tool is one domain; `action` chooses the operation, and the action's parameters stand beside it or in `params`: \
{\"action\": \"…\", …}. A line `add(title, body?, kind?: a|b)` lists an action's parameters; `?` marks optional ones. When unsure, \
call action \"describe\", with `of` naming one action for its parameters and examples. Results are JSON: \
{\"ok\": true, \"data\": …} or {\"ok\": false, \"code\", \"error\", \"hint\", \"expected\", \"example\"}: read `hint`, \
fix the call, try again. `next` names the call that should follow.";

/// Where each tool is one action.
const GRANULAR_USAGE: &str = "\
Each tool is one action of the domain that begins its name. When unsure, call `describe` of the domain. Results are JSON: \
{\"ok\": true, \"data\": …} or {\"ok\": false, \"code\", \"error\", \"hint\", \"expected\", \"example\"}: read `hint`, \
fix the call, try again. `next` names the call that should follow.";

const LONG_CALLS: &str = " A call that takes long answers with a run. ";

/// How to follow a run, where each tool is one action.
const GRANULAR_RUNS: &str =
    "Call `run_status` of the domain with its `run_id` and `wait`: true for the result.";

/// Renders the instructions for clients of a list and a caller of these rights. `own` is the operator's text, which comes first.
pub fn render_instructions(
    snapshot: &CatalogSnapshot,
    list: ListId,
    rights: &CallerRights,
    own: Option<&str>,
) -> String {
    let (whole, tools) = (ToolView::all_actions(), snapshot.list(list));
    let listed = snapshot.serving().filter(|entry| tools.shows(&entry.surface().name));
    let seen = listed.filter_map(|entry| Some((&**entry, rights.narrow(&entry.contract, &whole)?)));
    let mut seen: Vec<(&CatalogEntry, _)> = seen.collect();
    // Clients cut the end: those that are needed most come first, then those that cover others.
    seen.sort_by_key(|(entry, _)| (!entry.exposure.always_load, entry.rules.invoke.is_empty()));
    let is_granular =
        !tools.tools.is_empty() && tools.tools.values().all(|tool| tool.expose.form == SchemaForm::Granular);
    let mut text = own.map(|own| format!("{own}\n\n")).unwrap_or_default();
    text.push_str(if is_granular { GRANULAR_USAGE } else { USAGE });
    if seen.iter().any(|(entry, view)| entry.contract.offers("run_status", view).is_some()) {
        text.push_str(LONG_CALLS);
        // Where each tool is one action, its parameters have texts of their own.
        text.push_str(if is_granular { GRANULAR_RUNS } else { HOST_PARAMETERS_TEXT });
    }
    let facades = seen.iter().map(|(entry, _)| {
        let surface = entry.surface();
        let text = surface.instructions.as_deref().unwrap_or(&surface.summary);
        (surface.name.as_str(), text.lines().next().unwrap_or_default())
    });
    let lines = facade_lines(&facades.collect::<Vec<_>>(), INSTRUCTIONS.saturating_sub(text.len()));
    text + &lines
}

/// Renders a line for each facade, in at most `most` bytes. If they take more, long texts are truncated to the same length,
/// so that every facade is described.
fn facade_lines(facades: &[(&str, &str)], most: usize) -> String {
    let names: usize = facades.iter().map(|(name, _)| name_line(name).len()).sum();
    let marks = facades.len() * ": ".len();
    let share =
        even_share(facades.iter().map(|(_, text)| text.len()).collect(), most.saturating_sub(names + marks));
    if share >= MIN_TEXT {
        let lines =
            facades.iter().map(|(name, text)| format!("{}: {}", name_line(name), shorten(text, share)));
        return lines.collect();
    }
    let mut lines = String::new();
    for (at, (name, _)) in facades.iter().enumerate() {
        let (line, left) = (name_line(name), facades.len() - at);
        if names > most && lines.len() + line.len() + MORE_LINE > most {
            let plural = if left == 1 { "" } else { "s" };
            lines.push_str(&format!("\n- and {left} more tool{plural}"));
            break;
        }
        lines.push_str(&line);
    }
    lines
}

fn name_line(name: &str) -> String {
    format!("\n- {name}")
}

/// Returns the largest length such that all texts fit into `room` once longer ones are truncated to it.
fn even_share(mut lengths: Vec<usize>, room: usize) -> usize {
    lengths.sort_unstable();
    let (mut left, count) = (room, lengths.len());
    for (at, length) in lengths.into_iter().enumerate() {
        let share = left / (count - at);
        if length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

/// Truncates a text between words to at most `most` bytes, and marks the cut.
fn shorten(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(most.saturating_sub('…'.len_utf8()))];
    let words = kept.rfind(char::is_whitespace).map_or(kept, |end| &kept[..end]);
    format!("{}…", words.trim_end_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_summaries_are_cut_evenly() {
        let check = |facades: &[(&str, &str)], most: usize, expected: &str| {
            let lines = facade_lines(facades, most);
            assert_eq!(lines, expected);
            assert!(lines.len() <= most, "{} bytes of {most}", lines.len());
        };
        let long = "Reads and writes files in directories that the operator grants.";
        check(&[], 100, "");
        check(
            &[("notes", "Short notes."), ("files", long)],
            100,
            &format!("\n- notes: Short notes.\n- files: {long}"),
        );
        check(
            &[("files", long), ("notes", "Short notes."), ("tasks", long)],
            110,
            "\n- files: Reads and writes files in…\n- notes: Short notes.\n- tasks: Reads and writes files in…",
        );
        check(&[("files", long), ("notes", long), ("search", long)], 60, "\n- files\n- notes\n- search");
    }

    #[test]
    fn unnamed_facades_are_counted() {
        let names: Vec<String> = (0..9).map(|n| format!("facade_{n}")).collect();
        let facades: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "Something.")).collect();
        let last = |most: usize| facade_lines(&facades, most).lines().last().map(str::to_owned);
        assert_eq!(last(11 * 9).as_deref(), Some("- facade_8"));
        assert_eq!(last(11 * 9 - 1).as_deref(), Some("- and 3 more tools"));
        for most in MORE_LINE..200 {
            let lines = facade_lines(&facades, most);
            assert!(lines.len() <= most, "{} bytes of {most}: {lines}", lines.len());
            assert!(!lines.contains(" 1 more tools"), "{lines}");
        }
    }

    #[test]
    fn a_text_is_cut_between_words() {
        for (text, most, expected) in [
            ("Short notes.", 12, "Short notes."),
            ("Short notes.", 11, "Short…"),
            ("One search over memories, knowledge and files.", 30, "One search over memories…"),
            ("Unbroken", 6, "Unb…"),
            ("Überfahrten", 5, "Ü…"),
        ] {
            assert_eq!(shorten(text, most), expected);
        }
    }
}
