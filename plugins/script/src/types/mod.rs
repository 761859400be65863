//! `types`: the facades as TypeScript declarations.

mod schema;

use loggia_sdk::{
    host::{Peer, PeerAction},
    prelude::*,
};

use self::schema::{is_identifier, member, one_line, render_parameters, render_type};
use ranking::suggest;

/// Characters of a summary.
const SUMMARY: usize = 120;
/// Repetitions of a name, which is the best description of an action.
const NAME_WEIGHT: usize = 3;
/// Actions that a query considers.
const FOUND: usize = 50;

/// What all programs have.
const HEADER: &str = "\
// Each action f also has f.full(p): Promise<{ data, message?, page?, next? }>.
// A failed call throws CallError { code, message, hint?, details?, next? }.
declare function call(facade: string, action: string, p?: object): Promise<any>;
declare const input: any;
";

/// Words that a variable cannot have as its name, and names that programs have already.
const RESERVED: [&str; 45] = [
    "await",
    "break",
    "call",
    "case",
    "catch",
    "class",
    "console",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "input",
    "instanceof",
    "new",
    "null",
    "package",
    "private",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
];

/// Declares the facades that may be called: all, one, or the actions that a query finds.
pub fn types(
    facade: Option<&str>,
    query: Option<&str>,
    limit: usize,
    detail: Detail,
) -> Result<Reply<String>> {
    let peers = host::facades()?;
    let peers = match facade {
        Some(name) => vec![find_peer(&peers, name)?.clone()],
        None => peers,
    };
    let documented = detail == Detail::Full;
    let mut text = if detail == Detail::Minimal { String::new() } else { HEADER.to_owned() };
    if let Some(query) = query {
        return declare_found(&peers, query, limit, documented, text);
    }
    let mut omitted = Vec::new();
    for peer in &peers {
        let room = limit.saturating_sub(text.len());
        let declared =
            if omitted.is_empty() { declare(peer, peer.actions.iter(), room, documented) } else { None };
        match declared {
            Some(declared) => text.push_str(&declared),
            None => omitted.push(peer),
        }
    }
    for peer in &omitted {
        text.push_str(&index_line(peer));
    }
    let is_cut = text.len() > limit;
    text.truncate(text.floor_char_boundary(limit));
    let reply = Reply::new(text);
    Ok(if peers.is_empty() {
        reply.message("No facade can be called.")
    } else if omitted.is_empty() {
        reply
    } else if is_cut {
        reply.message("Not all facades fit into `limit`. `query` finds actions by words.")
    } else {
        reply.message("Not all declarations fit into `limit`: give `facade` or `query`.")
    })
}

/// Finds a facade by name, ignoring case.
pub fn find_peer<'a>(peers: &'a [Peer], name: &str) -> Result<&'a Peer> {
    let found = peers.iter().find(|peer| peer.name.eq_ignore_ascii_case(name.trim()));
    found.ok_or_else(|| {
        let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
        let name: String = name.chars().take(64).collect();
        Failure::not_found(format!("not found: there is no facade `{name}` to call"))
            .hint(suggest(&name, &names, "Facades"))
    })
}

/// Declares the actions that have the words of a query, best first, until the limit.
fn declare_found(
    peers: &[Peer],
    query: &str,
    limit: usize,
    documented: bool,
    mut text: String,
) -> Result<Reply<String>> {
    let actions: Vec<(&Peer, &PeerAction)> =
        peers.iter().flat_map(|peer| peer.actions.iter().map(move |action| (peer, action))).collect();
    let texts: Vec<String> = actions.iter().map(|(peer, action)| words(peer, action)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = ranking::rank(&query.replace(['_', '.'], " "), &texts);
    let mut ranked: Vec<_> = scores.into_iter().zip(actions).filter(|(score, _)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total = ranked.len();
    // By facade, in the order of the best action of each.
    let mut found: Vec<(&Peer, Vec<&PeerAction>)> = Vec::new();
    let mut size = text.len();
    let mut shown = 0;
    for (_, (peer, action)) in ranked.into_iter().take(FOUND) {
        let length = declare_action(peer, action, documented).len();
        if shown > 0 && size + length > limit {
            break;
        }
        size += length;
        shown += 1;
        match found.iter_mut().find(|(other, _)| other.name == peer.name) {
            Some((_, actions)) => actions.push(action),
            None => found.push((peer, vec![action])),
        }
    }
    for (peer, actions) in found {
        if let Some(declared) = declare(peer, actions.into_iter(), usize::MAX, documented) {
            text.push_str(&declared);
        }
    }
    let reply = Reply::new(text);
    Ok(match total {
        0 => reply.message("No action has these words. Without `query`, all are declared."),
        _ if shown < total => {
            reply.message(format!("{shown} of {total} actions; a larger `limit` shows more."))
        }
        _ => reply,
    })
}

/// Returns the searched text of an action.
fn words(peer: &Peer, action: &PeerAction) -> String {
    let name = format!("{} {} ", peer.name, action.name).replace('_', " ");
    name.repeat(NAME_WEIGHT) + &action.aliases.join(" ") + " " + &action.summary
}

/// Declares actions of a facade, unless that takes more than `room`.
fn declare<'a>(
    peer: &Peer,
    actions: impl Iterator<Item = &'a PeerAction>,
    room: usize,
    documented: bool,
) -> Option<String> {
    let summary = one_line(&peer.summary, SUMMARY);
    let mut text = if is_name(&peer.name) {
        format!("/** {summary} */\ndeclare const {}: {{\n", peer.name)
    } else {
        // Its name is no identifier: only `call` reaches it.
        format!("/** {summary} By call({}, action, p): */\n({{\n", member_text(&peer.name))
    };
    for action in actions {
        text.push_str(&declare_action(peer, action, documented));
        if text.len() > room {
            return None;
        }
    }
    text.push_str(if is_name(&peer.name) { "};\n" } else { "});\n" });
    (text.len() <= room).then_some(text)
}

fn member_text(name: &str) -> String {
    format!("\"{name}\"")
}

fn is_name(name: &str) -> bool {
    is_identifier(name) && !RESERVED.contains(&name)
}

/// Declares one action, with its effect unless it only reads.
fn declare_action(peer: &Peer, action: &PeerAction, documented: bool) -> String {
    let effect = match action.effect {
        Effect::Read => "",
        Effect::Write => " [write]",
        Effect::Destructive => " [destructive]",
    };
    let summary = one_line(&action.summary, SUMMARY);
    let (parameters, data) = match host::lookup(&peer.name, &action.name) {
        Ok(schema) => {
            let (text, is_optional) = render_parameters(&schema.params, documented);
            let mark = if is_optional { "?" } else { "" };
            let parameters = if text.is_empty() { String::new() } else { format!("p{mark}: {text}") };
            (parameters, schema.data.map_or_else(|| "any".to_owned(), |data| render_type(&data, false)))
        }
        Err(_) => ("p?: any".to_owned(), "any".to_owned()),
    };
    format!("  /** {summary}{effect} */\n  {}({parameters}): Promise<{data}>;\n", member(&action.name))
}

/// Names a facade and its actions.
fn index_line(peer: &Peer) -> String {
    let names: Vec<&str> = peer.actions.iter().map(|action| action.name.as_str()).collect();
    format!("// {}: {}\n", peer.name, names.join(", "))
}
