//! The declaration of one facade.

use loggia_sdk::{
    host::{Peer, PeerAction},
    prelude::*,
    serde_json,
};

use super::schema::{is_identifier, member, one_line, render_parameters, render_type};

/// Characters of a summary.
const SUMMARY: usize = 120;
/// Names in the line of a facade whose actions are not declared.
const INDEXED: usize = 30;
/// Bytes of a type that is worth a name if it occurs again.
const NAMED: usize = 60;

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

/// Actions of a facade that were added.
pub struct Declaration<'a> {
    peer: &'a Peer,
    documented: bool,
    actions: Vec<DeclaredAction>,
    size: usize,
}

struct DeclaredAction {
    /// Comment, name and parameters.
    head: String,
    /// Type of the result, without `[]`.
    data: String,
    is_list: bool,
}

impl<'a> Declaration<'a> {
    pub fn new(peer: &'a Peer, documented: bool) -> Self {
        Self { peer, documented, actions: Vec::new(), size: 0 }
    }

    pub fn facade(&self) -> &str {
        &self.peer.name
    }

    /// Size of the text so far, about.
    pub fn len(&self) -> usize {
        self.size
    }

    /// Adds an action, with its effect unless it only reads.
    pub fn add(&mut self, action: &PeerAction) {
        let effect = match action.effect {
            Effect::Read => "",
            Effect::Write => " [write]",
            Effect::Destructive => " [destructive]",
        };
        let summary = one_line(&action.summary, SUMMARY);
        let (parameters, data) = match host::lookup(&self.peer.name, &action.name) {
            Ok(schema) => {
                let (text, is_optional) = render_parameters(&schema.params, self.documented);
                let mark = if is_optional { "?" } else { "" };
                let parameters = if text.is_empty() { String::new() } else { format!("p{mark}: {text}") };
                (parameters, schema.data.map_or_else(|| "any".to_owned(), |data| render_type(&data, false)))
            }
            Err(_) => ("p?: any".to_owned(), "any".to_owned()),
        };
        let head = format!("  /** {summary}{effect} */\n  {}({parameters})", member(&action.name));
        let (data, is_list) = match data.strip_suffix("[]") {
            Some(item) => (item.to_owned(), true),
            None => (data, false),
        };
        let is_known = data.len() > NAMED && self.actions.iter().any(|action| action.data == data);
        self.size += head.len() + if is_known { 20 } else { data.len() } + 16;
        self.actions.push(DeclaredAction { head, data, is_list });
    }

    /// Renders the declaration; nothing if no action was added.
    pub fn finish(self) -> String {
        if self.actions.is_empty() {
            return String::new();
        }
        let names = self.repeated_types();
        let summary = one_line(&self.peer.summary, SUMMARY);
        let is_name = is_identifier(&self.peer.name) && !RESERVED.contains(&&*self.peer.name);
        let mut text = String::new();
        for (data, name) in &names {
            text.push_str(&format!("type {name} = {data};\n"));
        }
        text.push_str(&if is_name {
            format!("/** {summary} */\ndeclare const {}: {{\n", self.peer.name)
        } else {
            // Only `call` reaches a facade whose name is no identifier.
            let name = serde_json::to_string(&self.peer.name).unwrap_or_default();
            format!("/** {summary} Use call({name}, action, p). */\n({{\n")
        });
        for action in self.actions {
            let data =
                names.iter().find(|(data, _)| *data == action.data).map_or(&action.data, |(_, name)| name);
            let list = if action.is_list { "[]" } else { "" };
            text.push_str(&format!("{}: Promise<{data}{list}>;\n", action.head));
        }
        text.push_str(if is_name { "};\n" } else { "})\n" });
        text
    }

    /// Names the long types that occur more than once.
    fn repeated_types(&self) -> Vec<(String, String)> {
        let mut names: Vec<(String, String)> = Vec::new();
        for (at, action) in self.actions.iter().enumerate() {
            let data = &action.data;
            let is_repeated = self.actions[at + 1..].iter().any(|other| other.data == *data);
            if data.len() > NAMED && is_repeated && !names.iter().any(|(known, _)| known == data) {
                names.push((data.clone(), self.type_name(names.len())));
            }
        }
        names
    }

    /// `memories` → `Memories`, `Memories2`.
    fn type_name(&self, index: usize) -> String {
        let mut name: String = self.peer.name.chars().filter(char::is_ascii_alphanumeric).collect();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        if index > 0 { format!("{name}{}", index + 1) } else { name }
    }
}

/// Names actions that are not declared.
pub fn index_line(peer: &Peer, actions: &[&PeerAction]) -> String {
    let names: Vec<&str> = actions.iter().take(INDEXED).map(|action| action.name.as_str()).collect();
    let more = match actions.len().saturating_sub(INDEXED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("// {}: {}{more}\n", peer.name, names.join(", "))
}
