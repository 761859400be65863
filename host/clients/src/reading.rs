//! What an entry of a client's file means.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    entry::BRIDGE,
    facts::{ClientRow, HttpForm, TokenForm},
};

/// A server as a client would reach it. References to variables are as they stand.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryKind {
    /// A program that it starts.
    Stdio(ProgramEntry),
    /// An address.
    Http(AddressEntry),
    /// A program that it starts to reach an address.
    Bridge {
        /// The program.
        program: ProgramEntry,
        /// The address that it reaches.
        address: AddressEntry,
    },
}

/// A program, as an entry has it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgramEntry {
    /// Its path or name.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that it gets, by their names.
    pub env: BTreeMap<String, String>,
    /// The folder in which it starts; `None` for one that the client chooses.
    pub cwd: Option<String>,
}

/// An address, as an entry has it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddressEntry {
    /// The address.
    pub url: String,
    /// Headers of each request, by their names.
    pub headers: BTreeMap<String, String>,
    /// Variable with the token.
    pub variable: Option<String>,
    /// File with the token.
    pub file: Option<String>,
}

/// Members that name an address, in the files of clients.
const ADDRESSES: [&str; 4] = ["url", "serverUrl", "httpUrl", "uri"];

impl EntryKind {
    /// Reads an entry, or says why the client cannot use it: the problem, and what to do.
    pub fn read(client: &ClientRow, entry: &Value) -> Result<Self, (String, String)> {
        let keys = &client.keys;
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        let again = || format!("replace it: `loggia client add {} … --replace`", client.name);
        if !entry.is_object() {
            return Err(("the entry is not an object".into(), again()));
        }
        if let Some(command) = text(keys.command) {
            let program = ProgramEntry {
                command,
                args: list(entry.get(keys.args)),
                env: texts(entry.get(keys.env)),
                cwd: text("cwd"),
            };
            return Ok(match bridged(&program) {
                Some(address) => Self::Bridge { program, address },
                None => Self::Stdio(program),
            });
        }
        let found = ADDRESSES.iter().find_map(|key| text(key).map(|url| (*key, url)));
        let Some((key, url)) = found else {
            return Err((format!("the entry has neither `{}` nor `{}`", keys.command, keys.url), again()));
        };
        if matches!(client.http, HttpForm::Bridge) {
            return Err((
                format!("{} reads no `{key}` from this file", client.title),
                format!("use a bridge: `loggia client add {} --url {url} --replace` writes one", client.name),
            ));
        }
        // `httpUrl` is what Gemini CLI read before `type`.
        if key != keys.url && !(client.name == "gemini-cli" && key == "httpUrl") {
            return Err((
                format!("the entry has `{key}`, but {} needs `{}`", client.title, keys.url),
                format!("rename the key to `{}`", keys.url),
            ));
        }
        if let Some(kind) = text("type").filter(|kind| kind == "sse") {
            return Err((
                format!("the entry has `type` \"{kind}\", an older transport that Loggia does not serve"),
                again(),
            ));
        }
        for (member, value) in keys.http.iter().filter(|(member, _)| *member == "type") {
            let super::facts::FixedValue::Text(expected) = value else { continue };
            if key == keys.url && text(member).as_deref() != Some(expected) {
                return Err((
                    format!(
                        "the entry has no `{member}` \"{expected}\", without which {} may not connect by streamable HTTP",
                        client.title
                    ),
                    format!("add `\"{member}\": \"{expected}\"`"),
                ));
            }
        }
        if keys.headers != "headers" && entry.get("headers").is_some() {
            return Err((
                format!("the entry has `headers`, which {} ignores", client.title),
                format!("rename the key to `{}`", keys.headers),
            ));
        }
        let variable = match &client.http {
            HttpForm::Native(TokenForm::Member(member)) => text(member),
            _ => None,
        };
        Ok(Self::Http(AddressEntry { url, headers: texts(entry.get(keys.headers)), variable, file: None }))
    }

    /// Its word in a table.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::Bridge { .. } => "bridge",
        }
    }
}

/// The address that a bridge is given.
fn bridged(program: &ProgramEntry) -> Option<AddressEntry> {
    let args = &program.args;
    let is_package = |word: &&String| *word == BRIDGE || word.starts_with("mcp-remote@");
    let at = args.iter().position(|word| is_package(&word))?;
    let url = args[at..].iter().find(|word| word.starts_with("http://") || word.starts_with("https://"))?;
    let mut address = AddressEntry { url: url.clone(), ..AddressEntry::default() };
    let reads_file = args.first().is_some_and(|first| first == "-c");
    if reads_file {
        address.file = args.get(at + 1).cloned();
    }
    for pair in args.windows(2).filter(|pair| pair[0] == "--header") {
        if let Some((name, value)) = pair[1].split_once(':') {
            address.headers.insert(name.trim().to_owned(), value.trim().to_owned());
        }
    }
    Some(address)
}

fn list(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn texts(value: Option<&Value>) -> BTreeMap<String, String> {
    let members = value.and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        entry::{ServerTarget, TokenOrigin, render_entry},
        table::CLIENTS,
    };

    #[test]
    fn what_is_written_is_read() {
        let url = "http://127.0.0.1:8080/mcp";
        for client in CLIENTS {
            let read = |target: &ServerTarget| {
                let entry = render_entry(client, "loggia", target).ok()?;
                Some(EntryKind::read(client, &Value::Object(entry)).unwrap_or_else(|why| panic!("{why:?}")))
            };
            let (command, args) = ("/bin/loggia".to_owned(), vec!["serve".to_owned(), "/p".to_owned()]);
            let stdio = ServerTarget::Stdio { command: command.clone(), args: args.clone() };
            let program = ProgramEntry { command, args, ..ProgramEntry::default() };
            assert_eq!(read(&stdio), Some(EntryKind::Stdio(program)), "{}", client.name);
            for token in
                [TokenOrigin::None, TokenOrigin::Variable("T".into()), TokenOrigin::File("/t".into())]
            {
                let target = ServerTarget::Http { url: url.into(), token: token.clone() };
                let Some(kind) = read(&target) else { continue };
                let (EntryKind::Http(address) | EntryKind::Bridge { address, .. }) = kind else {
                    panic!("{} {token:?}", client.name)
                };
                assert_eq!(address.url, url, "{}", client.name);
                let header = address.headers.values().any(|value| value.contains('T'));
                let named = header || address.variable.as_deref() == Some("T");
                assert_eq!(named, matches!(token, TokenOrigin::Variable(_)), "{} {token:?}", client.name);
                assert_eq!(address.file.is_some(), matches!(token, TokenOrigin::File(_)), "{}", client.name);
            }
        }
    }
}
