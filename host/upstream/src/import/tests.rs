//! Tests of whole files, as clients write them.

use proptest::prelude::*;

use super::*;

fn rendered(file: &str) -> (String, Vec<String>) {
    let imported = import_clients(file).expect("servers");
    (render_toml(&imported.upstreams), imported.problems)
}

#[test]
fn files_of_claude_are_imported() {
    let (toml, problems) = rendered(
        r#"{"mcpServers": {
            "File System": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}"]},
            "github": {"type": "http", "url": "https://api.example.com/mcp/", "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}},
            "db": {"command": "uvx", "env": {"DB_PASSWORD": "hunter2hunter2", "PORT": 5432, "a b": "\"quoted\"\n"}, "cwd": "/srv"}
        }}"#,
    );
    assert_eq!(
        toml,
        r#"[upstream.file-system]
args = ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}"]
command = "npx"

# needs the environment variable GITHUB_TOKEN
[upstream.github]
url = "https://api.example.com/mcp/"

[upstream.github.headers]
Authorization = "Bearer ${GITHUB_TOKEN}"

# `env.DB_PASSWORD` seems to hold a credential: move it to the environment, and write `${DB_PASSWORD}`
[upstream.db]
command = "uvx"
cwd = "/srv"

[upstream.db.env]
DB_PASSWORD = "hunter2hunter2"
PORT = "5432"
"a b" = """
"quoted"
"""
"#
    );
    assert_eq!(problems, [""; 0]);
    let read: toml::Table = toml.parse().expect("TOML");
    assert_eq!(read["upstream"]["db"]["env"]["a b"].as_str(), Some("\"quoted\"\n"));
}

#[test]
fn files_of_vs_code_are_imported() {
    let servers = r#"{
        // Asked once.
        "inputs": [{"id": "api-key", "type": "promptString", "description": "The key of the API", "password": true}],
        "servers": {"api": {"command": "api-server", "args": ["${workspaceFolder}"], "env": {"API_KEY": "${input:api-key}"}, "envFile": ".env"},},
    }"#;
    let (toml, problems) = rendered(servers);
    assert_eq!(
        toml,
        r#"# `args` holds ${workspaceFolder}, which has no meaning here: replace it
# needs the environment variable API_KEY (The key of the API)
# `envFile` is not read: write its variables into `env`
[upstream.api]
args = ["$${workspaceFolder}"]
command = "api-server"

[upstream.api.env]
API_KEY = "${API_KEY}"
"#
    );
    assert_eq!(problems, [""; 0]);
    assert_eq!(rendered(&format!("{{\"mcp\": {servers}}}")).0, toml);
}

#[test]
fn servers_that_cannot_be_upstreams_are_problems() {
    let (toml, problems) = rendered(
        r#"{"mcpServers": {"old": {"type": "sse", "url": "x"}, "off": {"command": "c", "disabled": true}, "none": {},
            "odd": {"type": "ws", "url": "x"}, "bad": 5, "worse": {"command": ["c"]}, "args": {"command": "c", "args": "x"},
            "日本": {"command": "c"}, "A B": {"command": "c"}, "a-b": {"command": "c"}}}"#,
    );
    assert_eq!(toml, "[upstream.a-b]\ncommand = \"c\"\n");
    assert_eq!(
        problems,
        [
            "`old` is left out: HTTP with SSE (2024-11-05) is not supported; use the server's streamable HTTP address",
            "`off` is left out: it is disabled",
            "`none` is left out: it has neither `command` nor `url`",
            "`odd` is left out: its `type` \"ws\" is unknown",
            "`bad` is left out: it is not an object",
            "`worse` is left out: its `command` is not a string",
            "`args` is left out: its `args` is not a list of strings",
            "`日本` is left out: its name cannot become a facade name; rename it",
            "`a-b` is left out: another server has the name `a-b` already; rename it",
        ]
    );
    for file in ["{", "[]", "{}", "5", r#"{"mcpServers": {}}"#, r#"{"mcp": 5}"#] {
        assert!(import_clients(file).is_err(), "{file}");
    }
}

#[test]
fn comments_cannot_be_left() {
    let file = r#"{"mcpServers": {"x": {"command": "c", "env": {"TOKEN\n[upstream.evil]\ncommand = \"rm\"": "literal"}}}}"#;
    let (toml, _) = rendered(file);
    let read: toml::Table = toml.parse().expect("TOML");
    assert_eq!(read["upstream"].as_table().expect("a table").keys().collect::<Vec<_>>(), ["x"]);
}

proptest! {
    /// Whatever a file holds, its TOML names the same commands and variables.
    #[test]
    fn toml_keeps_every_string(command in "[^$]{0,12}", name in "[^$]{1,12}", value in "[^$]{0,12}", server in "[a-z]{1,8}") {
        let mut env = serde_json::Map::new();
        env.insert(name.clone(), value.clone().into());
        let file = serde_json::json!({"mcpServers": {server.clone(): {"command": command, "env": env}}});
        let imported = import_clients(&file.to_string()).map_err(TestCaseError::fail)?;
        let read: toml::Table = render_toml(&imported.upstreams).parse().expect("TOML");
        let table = &read["upstream"][server.as_str()];
        prop_assert_eq!(table["command"].as_str(), Some(command.as_str()));
        prop_assert_eq!(table["env"][name.as_str()].as_str(), Some(value.as_str()));
    }

    #[test]
    fn any_text_is_read(text in ".{0,64}|[\\[\\]{}\",:/* \n]{0,32}") {
        let _ = import_clients(&text);
    }
}
