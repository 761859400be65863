//! Servers in the configuration files of MCP clients.
//!
//! | client | form |
//! |---|---|
//! | Claude Code (`.mcp.json`), Claude Desktop, Cursor, Windsurf | `{"mcpServers": {NAME: …}}` |
//! | VS Code (`.vscode/mcp.json`) | `{"servers": {NAME: …}, "inputs": […]}` |
//! | VS Code (`settings.json`) | `{"mcp": {"servers": …, "inputs": …}}` |

use std::collections::{BTreeMap, BTreeSet};

use loggia_facade::Object;
use loggia_text::mention;
use serde_json::Value;

use super::{
    commented_json::parse_commented,
    references::{rewrite_references, variable_of},
};
use crate::{
    secret_name::is_secret,
    spec::{HttpSpec, StdioSpec, TransportSpec, UpstreamSpec},
};

/// What a client's file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportedUpstreams {
    /// The servers that can be upstreams.
    pub upstreams: Vec<ImportedUpstream>,
    /// Servers that cannot, and why: one line each.
    pub problems: Vec<String>,
}

/// One server of a client's file.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedUpstream {
    /// Its name in the file.
    pub original: String,
    /// Its settings. Their strings may hold `${NAME}`, as those of `loggia.toml` may.
    pub spec: UpstreamSpec,
    /// What the operator should know: one line each.
    pub notes: Vec<String>,
}

/// Servers of one file.
const SERVERS: usize = 256;
/// Bytes of a facade's name.
const NAME: usize = 32;
/// Characters of a name in a message.
const MENTION: usize = 64;

/// Reads a client's file.
///
/// # Errors
///
/// If it is no JSON, or holds no list of servers.
pub fn import_clients(text: &str) -> Result<ImportedUpstreams, String> {
    let file = parse_commented(text)?;
    let find =
        |of: &Value| ["mcpServers", "servers"].iter().find_map(|key| of.get(key)?.as_object().cloned());
    let (servers, inputs) = match (find(&file), file.get("mcp")) {
        (Some(servers), _) => (servers, file.get("inputs")),
        (None, Some(nested)) => (find(nested).unwrap_or_default(), nested.get("inputs")),
        (None, None) => (Object::new(), None),
    };
    if servers.is_empty() {
        return Err(
            "the file names no servers: expected `mcpServers` (Claude, Cursor) or `servers` (VS Code)".into(),
        );
    }
    if servers.len() > SERVERS {
        return Err(format!("the file names more than {SERVERS} servers"));
    }
    let inputs = input_texts(inputs);
    let mut out = ImportedUpstreams::default();
    let mut names = BTreeSet::new();
    for (original, server) in servers {
        let read = facade_name(&original).and_then(|name| {
            if !names.insert(name.clone()) {
                return Err(format!("another server has the name `{name}` already; rename it"));
            }
            read_server(name, &server, &inputs)
        });
        match read {
            Ok((spec, notes)) => out.upstreams.push(ImportedUpstream { original, spec, notes }),
            Err(problem) => {
                out.problems.push(format!("`{}` is left out: {problem}", mention(&original, MENTION)))
            }
        }
    }
    Ok(out)
}

/// What VS Code asks for, by the variable that replaces it.
fn input_texts(inputs: Option<&Value>) -> BTreeMap<String, String> {
    let inputs = inputs.and_then(Value::as_array).into_iter().flatten();
    let text = |input: &Value, key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    inputs.filter_map(|input| Some((variable_of(&text(input, "id")?), text(input, "description")?))).collect()
}

/// Rewrites a server's name as the name of a facade.
fn facade_name(original: &str) -> Result<String, String> {
    let mut name = String::new();
    for c in original.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' | '_' => name.push(c),
            _ if !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    let name = name.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    let name = name[..name.len().min(NAME)].trim_end_matches('-');
    if name.is_empty() {
        return Err("its name cannot become a facade name; rename it".to_owned());
    }
    Ok(name.to_owned())
}

fn read_server(
    name: String,
    server: &Value,
    inputs: &BTreeMap<String, String>,
) -> Result<(UpstreamSpec, Vec<String>), String> {
    let server = server.as_object().ok_or("it is not an object")?;
    if server.get("disabled") == Some(&Value::Bool(true)) {
        return Err("it is disabled".to_owned());
    }
    let mut reader = ServerReader { server, inputs, notes: Vec::new() };
    let kind = reader.optional("type")?.unwrap_or_default();
    let transport = match (kind.as_str(), server.contains_key("command"), server.contains_key("url")) {
        ("sse", ..) => {
            return Err(
                "HTTP with SSE (2024-11-05) is not supported; use the server's streamable HTTP address"
                    .to_owned(),
            );
        }
        ("" | "stdio", true, _) => TransportSpec::Stdio(StdioSpec {
            command: reader.optional("command")?.unwrap_or_default(),
            args: reader.list("args")?,
            env: reader.map("env")?,
            cwd: reader.optional("cwd")?.map(Into::into),
        }),
        ("" | "http" | "streamable-http" | "streamableHttp", _, true) => TransportSpec::Http(HttpSpec {
            url: reader.optional("url")?.unwrap_or_default(),
            headers: reader.map("headers")?,
            caller_header: None,
        }),
        ("" | "stdio" | "http" | "streamable-http" | "streamableHttp", ..) => {
            return Err("it has neither `command` nor `url`".to_owned());
        }
        (other, ..) => return Err(format!("its `type` \"{}\" is unknown", mention(other, MENTION))),
    };
    if server.contains_key("envFile") {
        reader.notes.push("`envFile` is not read: write its variables into `env`".to_owned());
    }
    Ok((UpstreamSpec::new(name, transport), reader.notes))
}

struct ServerReader<'a> {
    server: &'a Object,
    inputs: &'a BTreeMap<String, String>,
    notes: Vec<String>,
}

impl ServerReader<'_> {
    fn optional(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.server.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(self.rewrite(key, text))),
            Some(_) => Err(format!("its `{key}` is not a string")),
        }
    }

    fn list(&mut self, key: &str) -> Result<Vec<String>, String> {
        let malformed = || format!("its `{key}` is not a list of strings");
        match self.server.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| {
                    let text = item.as_str().ok_or_else(malformed)?;
                    if loggia_text::redact(text) != text {
                        self.notes
                            .push(format!("`{key}` seems to hold a credential: move it to the environment"));
                    }
                    Ok(self.rewrite(key, text))
                })
                .collect(),
            Some(_) => Err(malformed()),
        }
    }

    fn map(&mut self, key: &str) -> Result<BTreeMap<String, String>, String> {
        let malformed = || format!("its `{key}` is not an object of strings");
        let members = match self.server.get(key) {
            None | Some(Value::Null) => return Ok(BTreeMap::new()),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(malformed()),
        };
        members
            .iter()
            .map(|(name, value)| {
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    _ => return Err(malformed()),
                };
                let place = format!("{key}.{}", mention(name, MENTION));
                if is_secret(name) && !text.is_empty() && !text.contains("${") {
                    self.notes.push(format!(
                        "`{place}` seems to hold a credential: move it to the environment, and write `${{{}}}`",
                        variable_of(name)
                    ));
                }
                Ok((name.clone(), self.rewrite(&place, &text)))
            })
            .collect()
    }

    /// Rewrites the references of a string, and notes what they need.
    fn rewrite(&mut self, place: &str, text: &str) -> String {
        let rewritten = rewrite_references(text);
        for name in rewritten.variables.iter().filter(|name| *name != "HOME") {
            let asked = self.inputs.get(name).map(|text| format!(" ({})", mention(text, MENTION)));
            let note = format!("needs the environment variable {name}{}", asked.unwrap_or_default());
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        for unknown in &rewritten.unknown {
            self.notes.push(format!(
                "`{place}` holds {}, which has no meaning here: replace it",
                mention(unknown, MENTION)
            ));
        }
        rewritten.text
    }
}
