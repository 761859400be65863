//! Names of actions, from names of tools.

use std::collections::{BTreeMap, BTreeSet};

use loggia_schema::HOST_ACTIONS;
use loggia_text::mention;

/// A tool's name, and the name that the operator gives it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameRequest<'a> {
    pub(super) tool: &'a str,
    pub(super) wanted: Option<&'a str>,
}

/// The names of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ActionName {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
}

/// Bytes of an action's name.
const NAME: usize = 64;
/// Bytes of an alias.
const ALIAS: usize = 32;

/// Words that begin the name of an operation. A common prefix ends before them: `get_issue` and `get_label` stay whole.
const VERBS: [&str; 36] = [
    "add", "ask", "call", "check", "clear", "close", "copy", "count", "create", "delete", "download",
    "execute", "fetch", "find", "get", "insert", "is", "list", "make", "move", "new", "open", "query",
    "read", "remove", "run", "search", "send", "set", "show", "start", "stop", "update", "upload", "use",
    "write",
];

/// Derives the name and the aliases of every tool.
///
/// The result has one entry per tool, in their order: its names, or the reason why it has none. A name that two tools would
/// share is given to neither, so that an upstream cannot take over a name by listing another tool before it.
pub(super) fn plan_names(requests: &[NameRequest<'_>]) -> Vec<Result<ActionName, String>> {
    let derived: Vec<String> = requests.iter().map(|request| normalised(request.tool)).collect();
    let shared: Vec<&str> = derived
        .iter()
        .zip(requests)
        .filter(|(name, request)| request.wanted.is_none() && !name.is_empty())
        .map(|(name, _)| name.as_str())
        .collect();
    let prefix = common_prefix(&shared);
    let names: Vec<String> = derived
        .iter()
        .zip(requests)
        .map(|(derived, request)| match request.wanted {
            Some(wanted) => wanted.to_owned(),
            None => unreserved(derived.get(prefix..).unwrap_or_default()),
        })
        .collect();
    let mut users: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        users.entry(name).or_default().push(index);
    }
    // Names go before aliases, whatever their order.
    let mut taken: BTreeSet<String> = names.iter().cloned().collect();
    names
        .iter()
        .zip(requests)
        .enumerate()
        .map(|(index, (name, request))| {
            let rivals: Vec<String> = users
                .get(name.as_str())
                .into_iter()
                .flatten()
                .filter(|other| **other != index)
                .map(|other| format!("`{}`", mention(requests[*other].tool, NAME)))
                .collect();
            check(name, request, &rivals)?;
            let aliases = aliases(request.tool, &derived[index])
                .into_iter()
                .filter(|alias| taken.insert(alias.to_ascii_lowercase()))
                .collect();
            Ok(ActionName { name: name.clone(), aliases })
        })
        .collect()
}

fn check(name: &str, request: &NameRequest<'_>, rivals: &[String]) -> Result<(), String> {
    let tool = mention(request.tool, NAME);
    if !is_action_name(name) {
        let name = mention(name, NAME);
        return Err(match request.wanted {
            Some(_) => format!(
                "the tool `{tool}` is left out: its new name `{name}` must be 1 to {NAME} characters of a-z, 0-9, `_` \
                 and `-`, begin with a letter or a digit, and not be one of {}",
                HOST_ACTIONS.join(", ")
            ),
            None => format!(
                "the tool `{tool}` is left out: its name cannot become an action name; give it another in `overrides`"
            ),
        });
    }
    if !rivals.is_empty() {
        return Err(format!(
            "the tool `{tool}` is left out: its action would be named `{name}`, like that of {}; give one of them another \
             name in `overrides`",
            rivals.join(" and ")
        ));
    }
    Ok(())
}

/// `^[a-z0-9][a-z0-9_-]{0,63}$`, and no action of the host.
fn is_action_name(name: &str) -> bool {
    (1..=NAME).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
        && !HOST_ACTIONS.contains(&name)
}

/// The original name, and the normalised one with its prefix, as far as an alias can have this form.
fn aliases(tool: &str, derived: &str) -> Vec<String> {
    let is_alias = |name: &str| {
        (1..=ALIAS).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
            && !HOST_ACTIONS.iter().any(|host| host.eq_ignore_ascii_case(name))
    };
    [tool, derived].into_iter().filter(|name| is_alias(name)).map(str::to_owned).collect()
}

/// Rewrites a tool's name in the grammar of actions: `getUserByID` and `Get User/by.ID` become `get_user_by_id`. May be
/// empty.
fn normalised(tool: &str) -> String {
    let mut out = String::new();
    let chars: Vec<char> = tool.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let after = |is: fn(&char) -> bool| at > 0 && is(&chars[at - 1]);
        let word = c.is_ascii_uppercase()
            && (after(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
                || (after(char::is_ascii_uppercase)
                    && chars.get(at + 1).is_some_and(char::is_ascii_lowercase)));
        if word && !out.ends_with(['_', '-']) {
            out.push('_');
        }
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9') => out.push(c),
            '-' if !out.is_empty() && !out.ends_with(['_', '-']) => out.push('-'),
            _ if !out.is_empty() && !out.ends_with(['_', '-']) => out.push('_'),
            _ => {}
        }
    }
    out.truncate(NAME);
    out.truncate(out.trim_end_matches(['_', '-']).len());
    out
}

/// Bytes of the prefix that all names share, up to a boundary: 0 if removing it would leave a name empty, reserved or shared.
fn common_prefix(names: &[&str]) -> usize {
    let Some((first, others)) = names.split_first().filter(|(_, others)| !others.is_empty()) else {
        return 0;
    };
    let mut best = 0;
    let mut begin = 0;
    while let Some(length) = first[begin..].find(['_', '-']) {
        let end = begin + length + 1;
        let is_verb = VERBS.contains(&&first[begin..end - 1]);
        if is_verb || !others.iter().all(|name| name.starts_with(&first[..end])) {
            break;
        }
        let rests: BTreeSet<&str> = names.iter().map(|name| &name[end..]).collect();
        if rests.len() == names.len() && rests.iter().all(|rest| is_action_name(rest)) {
            best = end;
        }
        begin = end;
    }
    best
}

/// Changes a name that the host uses itself.
fn unreserved(name: &str) -> String {
    if HOST_ACTIONS.contains(&name) { format!("{name}_tool") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[&str]) -> Vec<String> {
        let requests: Vec<_> = tools.iter().map(|tool| NameRequest { tool, wanted: None }).collect();
        plan_names(&requests).into_iter().map(|name| name.map_or_else(|e| e, |name| name.name)).collect()
    }

    #[test]
    fn tool_names_become_action_names() {
        for (tool, expected) in [
            ("read_file", "read_file"),
            ("getUserByID", "get_user_by_id"),
            ("HTTPGet", "http_get"),
            ("Get User/by.ID", "get_user_by_id"),
            ("a--b__c", "a-b_c"),
            ("_x_", "x"),
            ("2fa", "2fa"),
            ("日本", ""),
        ] {
            assert_eq!(normalised(tool), expected, "{tool}");
        }
        assert_eq!(normalised(&"abc_".repeat(40)).len(), 63);
    }

    #[test]
    fn common_prefixes_are_removed_at_boundaries() {
        for (tools, expected) in [
            (&["git_status", "git_diff"][..], &["status", "diff"][..]),
            (&["gh.repo.list", "gh.repo.get"], &["list", "get"]),
            (&["git_status"], &["git_status"]),
            // Not at a boundary, and not a whole name.
            (&["github", "gitlab"], &["github", "gitlab"]),
            (&["git", "git_diff"], &["git", "git_diff"]),
            // Verbs belong to the name.
            (&["get_issue", "get_label"], &["get_issue", "get_label"]),
            (&["gh_get_issue", "gh_get_label"], &["get_issue", "get_label"]),
            // What is left would be the host's own.
            (&["x_describe", "x_list"], &["x_describe", "x_list"]),
            (&["describe", "list"], &["describe_tool", "list"]),
        ] {
            assert_eq!(names(tools), expected, "{tools:?}");
        }
    }

    #[test]
    fn collisions_name_both_tools() {
        let planned = names(&["getUser", "get_user", "list"]);
        assert!(planned[0].contains("`getUser`") && planned[0].contains("`get_user`"), "{planned:?}");
        assert!(planned[1].contains("`getUser`") && planned[1].contains("`get_user`"), "{planned:?}");
        assert_eq!(planned[2], "list");
    }

    #[test]
    fn original_names_stay_aliases() {
        let requests = [
            NameRequest { tool: "git_status", wanted: None },
            NameRequest { tool: "gitDiff", wanted: None },
            NameRequest { tool: "git_log", wanted: Some("history") },
            // It has the name that would be the first tool's alias.
            NameRequest { tool: "other", wanted: Some("git_status") },
            NameRequest { tool: "bad", wanted: Some("Bad Name") },
        ];
        let planned = plan_names(&requests);
        let named = |name: &str, aliases: &[&str]| {
            Ok(ActionName { name: name.into(), aliases: aliases.iter().map(|a| (*a).to_owned()).collect() })
        };
        assert_eq!(planned[0], named("status", &[]));
        assert_eq!(planned[1], named("diff", &["gitDiff", "git_diff"]));
        assert_eq!(planned[2], named("history", &["git_log"]));
        assert_eq!(planned[3], named("git_status", &["other"]));
        assert!(planned[4].as_ref().is_err_and(|problem| problem.contains("Bad Name")));
    }
}
