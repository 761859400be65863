//! The entry of a server, in the form of each client.

use serde_json::{Map, Value, json};

use super::facts::{ClientRow, FixedMember, FixedValue, HttpForm, TokenForm};

/// How a client is to reach a server.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerTarget {
    /// It starts the server.
    Stdio {
        /// Absolute path, or a name in `PATH`.
        command: String,
        /// Arguments.
        args: Vec<String>,
    },
    /// It connects to the server.
    Http {
        /// Address of the endpoint.
        url: String,
        /// Where the token is.
        token: TokenOrigin,
    },
}

/// Where the token of a server is. Never in the entry.
#[derive(Debug, Clone, PartialEq)]
pub enum TokenOrigin {
    /// The server needs none.
    None,
    /// In an environment variable of the client.
    Variable(String),
    /// In a file, which a bridge reads.
    File(String),
}

/// A program that a client starts, and that connects to a server over HTTP. The package of npm.
pub const BRIDGE: &str = "mcp-remote";

/// Script of a shell that reads the token for a bridge: it stays out of the list of processes. Arguments: file, URL.
const READ_TOKEN: &str = "LOGGIA_BRIDGE_TOKEN=$(cat \"$1\") exec npx -y mcp-remote \"$2\" --allow-http --header \
                          'Authorization: Bearer ${LOGGIA_BRIDGE_TOKEN}'";

/// Writes the entry of a server.
///
/// # Errors
///
/// If the client cannot be given the token in this way: what to do instead.
pub fn render_entry(
    client: &ClientRow,
    name: &str,
    target: &ServerTarget,
) -> Result<Map<String, Value>, String> {
    let keys = &client.keys;
    let (url, token) = match target {
        ServerTarget::Stdio { command, args } => {
            return Ok(stdio(client, name, command, args.iter().map(String::as_str)));
        }
        ServerTarget::Http { url, token } => (url, token),
    };
    let form = match &client.http {
        HttpForm::Native(form) => form,
        HttpForm::Bridge => return bridge(client, name, url, token, false),
    };
    let variable = match (form, token) {
        (TokenForm::Bridge, TokenOrigin::Variable(_) | TokenOrigin::File(_)) => {
            return bridge(client, name, url, token, true);
        }
        (_, TokenOrigin::File(_)) => {
            return Err(format!(
                "{} reads the token from its environment: use --token-env NAME",
                client.title
            ));
        }
        (_, TokenOrigin::Variable(variable)) => Some(variable),
        (_, TokenOrigin::None) => None,
    };
    let mut entry = fixed(keys.http, name);
    entry.insert(keys.url.into(), url.clone().into());
    let bearer = |value: String| json!({"Authorization": format!("Bearer {value}")});
    match (form, variable) {
        (_, None) | (TokenForm::Bridge, _) => {}
        (TokenForm::Reference(before, after), Some(variable)) => {
            entry.insert(keys.headers.into(), bearer(format!("{before}{variable}{after}")));
        }
        (TokenForm::Listed(list), Some(variable)) => {
            entry.insert(keys.headers.into(), bearer(format!("${{{variable}}}")));
            entry.insert((*list).into(), json!([variable]));
        }
        (TokenForm::Member(member), Some(variable)) => {
            entry.insert((*member).into(), variable.clone().into());
        }
    }
    entry.append(&mut fixed(keys.last, name));
    Ok(entry)
}

fn stdio<'a>(
    client: &ClientRow,
    name: &str,
    command: &str,
    args: impl Iterator<Item = &'a str>,
) -> Map<String, Value> {
    let keys = &client.keys;
    let mut entry = fixed(keys.stdio, name);
    entry.insert(keys.command.into(), command.into());
    entry.insert(keys.args.into(), args.collect());
    entry.append(&mut fixed(keys.last, name));
    entry
}

fn bridge(
    client: &ClientRow,
    name: &str,
    url: &str,
    token: &TokenOrigin,
    inherits: bool,
) -> Result<Map<String, Value>, String> {
    Ok(match token {
        TokenOrigin::None => stdio(client, name, "npx", ["-y", BRIDGE, url, "--allow-http"].into_iter()),
        TokenOrigin::Variable(_) if !inherits => {
            return Err(format!(
                "{} starts servers without the variables of your environment: use --token-file FILE",
                client.title
            ));
        }
        TokenOrigin::Variable(variable) => {
            let header = format!("Authorization: Bearer ${{{variable}}}");
            let words = ["-y", BRIDGE, url, "--allow-http", "--header", &header];
            stdio(client, name, "npx", words.into_iter())
        }
        TokenOrigin::File(_) if cfg!(windows) => {
            return Err(format!(
                "{} cannot be given a token on Windows without writing it into its configuration",
                client.title
            ));
        }
        TokenOrigin::File(file) => {
            stdio(client, name, "sh", ["-c", READ_TOKEN, BRIDGE, file, url].into_iter())
        }
    })
}

fn fixed(members: &[FixedMember], name: &str) -> Map<String, Value> {
    let value = |value: FixedValue| match value {
        FixedValue::Text(text) => text.into(),
        FixedValue::Flag(flag) => flag.into(),
        FixedValue::Number(number) => number.into(),
        FixedValue::Name => name.into(),
    };
    members.iter().map(|(key, member)| ((*key).to_owned(), value(*member))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{CLIENTS, find_client};

    fn http(token: TokenOrigin) -> ServerTarget {
        ServerTarget::Http { url: "http://127.0.0.1:8080/mcp".into(), token }
    }

    fn entry(client: &str, target: &ServerTarget) -> Result<Value, String> {
        render_entry(find_client(client).unwrap(), "loggia", target).map(Value::Object)
    }

    #[test]
    fn a_token_is_named_and_never_written() {
        let variable = http(TokenOrigin::Variable("LOGGIA_TOKEN".into()));
        let url = "http://127.0.0.1:8080/mcp";
        let bearer = |value: &str| json!({"Authorization": format!("Bearer {value}")});
        for (client, expected) in [
            ("claude-code", json!({"type": "http", "url": url, "headers": bearer("${LOGGIA_TOKEN}")})),
            ("vscode", json!({"type": "http", "url": url, "headers": bearer("${env:LOGGIA_TOKEN}")})),
            ("cursor", json!({"url": url, "headers": bearer("${env:LOGGIA_TOKEN}")})),
            ("codex", json!({"url": url, "bearer_token_env_var": "LOGGIA_TOKEN"})),
            ("windsurf", json!({"serverUrl": url, "headers": bearer("${env:LOGGIA_TOKEN}")})),
            ("gemini-cli", json!({"type": "http", "url": url, "headers": bearer("${LOGGIA_TOKEN}")})),
            (
                "zed",
                json!({"command": "npx", "args": ["-y", "mcp-remote", url, "--allow-http", "--header",
                    "Authorization: Bearer ${LOGGIA_TOKEN}"]}),
            ),
            (
                "goose",
                json!({"enabled": true, "type": "streamable_http", "name": "loggia",
                    "description": "Plugins served by Loggia", "uri": url, "headers": bearer("${LOGGIA_TOKEN}"),
                    "env_keys": ["LOGGIA_TOKEN"], "timeout": 300}),
            ),
        ] {
            assert_eq!(entry(client, &variable), Ok(expected), "{client}");
        }
        let refused = entry("claude-desktop", &variable).unwrap_err();
        assert!(refused.contains("use --token-file"), "{refused}");
    }

    #[test]
    fn a_file_is_read_by_a_bridge() {
        let file = http(TokenOrigin::File("/home/ada/token".into()));
        for client in CLIENTS {
            match (client.name, entry(client.name, &file)) {
                ("claude-desktop" | "zed", Ok(entry)) => {
                    assert_eq!(
                        (&entry["command"], &entry["args"][3]),
                        (&json!("sh"), &json!("/home/ada/token"))
                    );
                }
                ("claude-desktop" | "zed", Err(error)) => panic!("{error}"),
                (_, refused) => {
                    let refused = refused.unwrap_err();
                    assert!(refused.contains("--token-env"), "{refused}");
                }
            }
        }
    }

    #[test]
    fn servers_without_a_token_need_no_header() {
        for client in CLIENTS {
            let text = entry(client.name, &http(TokenOrigin::None)).unwrap().to_string();
            assert!(text.contains("http://127.0.0.1:8080/mcp") && !text.contains("Bearer"), "{text}");
        }
    }
}
