//! Suggestions for the name of a tool that does not exist.

use crate::text::{
    near::nearest,
    show,
    verbs::{self, VerbCandidate},
};

/// Tools that a message names.
const NAMED: usize = 20;

/// Says that a tool does not exist, which one may be meant, and which exist. `tools` are those that the caller may know,
/// each with whether it may lose data. Of more than 20, those with the most similar names are listed.
pub fn explain_unknown_tool(name: &str, tools: &[(&str, bool)]) -> String {
    let mut message = format!("Unknown tool: {:?}.", show::name(name));
    let meant = similar_tools(name, tools);
    if !meant.is_empty() {
        message.push_str(&format!(" Did you mean {}?", show::names(&meant, "or")));
    }
    let mut names: Vec<&str> = tools.iter().map(|(name, _)| *name).collect();
    let more = names.len().saturating_sub(NAMED);
    if more > 0 {
        let sent = show::cut(name, show::VALUE_CHARS).to_lowercase();
        names.sort_by_cached_key(|known| {
            // Rounded, because floats have no order. Smaller is more similar.
            -(strsim::jaro_winkler(&sent, &known.to_lowercase()) * 1e6) as i64
        });
        names.truncate(NAMED);
    }
    let listed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    message.push_str(&format!(" Available tools: {listed}"));
    message.push_str(&if more > 0 { format!(", and {more} more.") } else { ".".to_owned() });
    message
}

/// The tools that may be meant. Where names begin with the same words (`notes_ad`, `notes_add`), only the rests are
/// compared: a long beginning in common would make any two look close.
fn similar_tools<'a>(name: &str, tools: &[(&'a str, bool)]) -> Vec<&'a str> {
    if name.len() > show::VALUE_CHARS {
        return Vec::new();
    }
    let common = tools.iter().map(|(known, _)| common_words(name, known)).max().unwrap_or(0);
    if common == 0 {
        return nearest(name, tools.iter().map(|(known, _)| *known)).into_iter().collect();
    }
    let siblings = || tools.iter().filter(|(known, _)| common_words(name, known) == common);
    let rest = rest_of(name, common);
    let near = nearest(rest, siblings().map(|(known, _)| rest_of(known, common)));
    let near = siblings().find(|(known, _)| near == Some(rest_of(known, common)));
    match near {
        Some((known, _)) => vec![known],
        None => verbs::synonyms(
            name,
            siblings().map(|(name, destructive)| VerbCandidate { name, destructive: *destructive }),
        ),
    }
}

/// How many words two names begin with in common, if both go on.
fn common_words(one: &str, other: &str) -> usize {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split('_').collect(), other.split('_').collect());
    let most = one.len().min(other.len()) - 1;
    (0..most).take_while(|at| one[*at].eq_ignore_ascii_case(other[*at])).count()
}

/// A name without its first words.
fn rest_of(name: &str, words: usize) -> &str {
    name.splitn(words + 1, '_').last().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_tool_is_suggested() {
        let tools = [
            ("memories_add", false),
            ("memories_delete", true),
            ("memories_get", false),
            ("memories_list", false),
            ("memories_pin", false),
            ("memories_search", false),
            ("files_list", false),
            ("files_move", true),
            ("notes", false),
        ];
        for (name, expected) in [
            ("memories_ad", &["memories_add"][..]),
            ("memories_lits", &["memories_list"]),
            ("Memories_Get", &["memories_get"]),
            ("memoreis_add", &["memories_add"]),
            ("memories_do_add", &["memories_add"]),
            // Spelling alone leads to `memories_pin`.
            ("memories_find", &["memories_search"]),
            ("memories_store", &["memories_add"]),
            ("memories_show", &["memories_get", "memories_list"]),
            ("memories_remove", &["memories_delete"]),
            ("files_rename", &["files_move"]),
            ("files_remove", &[]),
            ("note", &["notes"]),
            ("notes_add", &["notes"]),
            ("mcp__loggia__notes", &["notes"]),
            ("weather", &[]),
            ("", &[]),
            ("_", &[]),
        ] {
            assert_eq!(similar_tools(name, &tools), expected, "{name}");
        }
        assert_eq!(similar_tools(&"notes_".repeat(1 << 16), &tools), [""; 0]);
    }

    #[test]
    fn few_tools_are_listed_in_their_order() {
        assert_eq!(
            explain_unknown_tool("b_ad", &[("a", false), ("b_add", false)]),
            "Unknown tool: \"b_ad\". Did you mean `b_add`? Available tools: a, b_add."
        );
        assert_eq!(explain_unknown_tool("a", &[]), "Unknown tool: \"a\". Available tools: none.");
    }

    #[test]
    fn of_many_tools_the_most_similar_are_listed() {
        let names: Vec<String> =
            (0..100).map(|index| format!("{}_{index}", ["files", "notes"][index % 2])).collect();
        let tools: Vec<(&str, bool)> = names.iter().map(|name| (name.as_str(), false)).collect();
        let message = explain_unknown_tool("notes_list", &tools);
        let (before, listed) = message.split_once("Available tools: ").unwrap();
        let (listed, more) = listed.split_once(", and ").unwrap();
        assert_eq!((before, more), ("Unknown tool: \"notes_list\". ", "80 more."));
        let listed: Vec<&str> = listed.split(", ").collect();
        assert_eq!(listed.len(), NAMED);
        assert!(listed.iter().all(|name| name.starts_with("notes_")), "{listed:?}");
        let long = explain_unknown_tool(&"x".repeat(1 << 20), &tools);
        assert!(long.len() < 500, "{}", long.len());
    }
}
