//! `loggia client doctor`, at servers that run.

use std::{fs, os::unix::fs::PermissionsExt};

use anyhow::{Context, Result};
use loggia_tests::{Folder, Served, Token, binary};
use serde_json::Value;

use super::{Home, output, text};

#[tokio::test]
async fn the_doctor_starts_what_a_client_would_start() -> Result<()> {
    let home = Home::new()?;
    let folder = Folder::with(&["echo"]);
    let plugins = text(folder.path()).to_owned();
    for client in ["cursor", "codex", "goose"] {
        let (code, _, said) = home.run(&["add", client, "--plugins", &plugins, "--yes"]).await?;
        assert_eq!(code, 0, "{said}");
    }
    let (code, table, said) = home.run(&["doctor", "--timeout", "90s"]).await?;
    assert_eq!((code, said.as_str()), (0, ""), "{table}");
    assert_eq!(table.matches("ok\tthe server lists 1 tool: echo").count(), 3, "{table}");
    assert!(table.contains("codex\tuser\tnote\tCodex loads a tool when a search finds it"), "{table}");
    // One plugin that does not load does not hide the other.
    folder.write("bad.wasm", "not wasm");
    let (code, table, _) = home.run(&["doctor", "cursor", "--timeout", "90s"]).await?;
    assert!(code == 10 && table.contains("problem\tthe plugin `bad`: does not load"), "{table}");
    assert!(table.contains("ok\tthe server lists 1 tool: echo"), "{table}");
    let mcp = home.path(".cursor/mcp.json");
    let good = fs::read_to_string(&mcp)?;
    let exe = text(&binary()).to_owned();
    for (from, to, told) in [
        (exe.as_str(), "/nowhere/loggia", "there is no /nowhere/loggia"),
        (exe.as_str(), "bin/loggia", "is a relative path"),
        (exe.as_str(), "no-such-loggia", "is not found in PATH"),
        (exe.as_str(), plugins.as_str(), "is not executable"),
        (plugins.as_str(), "plugins", "the plugin folder plugins is a relative path"),
        (plugins.as_str(), "/nowhere", "there is no plugin folder /nowhere"),
        (
            "\"serve\"",
            "\"serve\", \"--nonsense\"",
            "does not take the entry's arguments: unexpected argument '--nonsense'",
        ),
        ("\"serve\"", "\"serve\", \"--http\", \"127.0.0.1:0\"", "would serve HTTP"),
        ("\"serve\"", "\"check\"", "does not start `loggia serve`"),
        ("\"mcpServers\"", "\"servers\"", "`loggia` stands under `servers`, where Cursor does not look"),
        ("\"command\"", "\"cmd\"", "the entry has neither `command` nor `url`"),
        ("\"loggia\":", "\"other\":", "has no entry `loggia`"),
        ("{", "{,", "line 1, column 2"),
    ] {
        fs::write(&mcp, good.replacen(from, to, 1))?;
        let (code, table, _) = home.run(&["doctor", "cursor"]).await?;
        assert!(code == 10 && table.contains(told), "{to}: {code} {table}");
        let remedies = table.lines().filter(|line| line.contains("\tproblem\t"));
        assert!(remedies.into_iter().all(|line| !line.ends_with('\t')), "{table}");
    }
    Ok(())
}

#[tokio::test]
async fn the_doctor_knows_switches_and_keys() -> Result<()> {
    let home = Home::new()?;
    for (client, file, text, told) in [
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers.loggia]\nurl = \"http://127.0.0.1:9/mcp\"\nenabled = false\n",
            "switched off by `enabled`",
        ),
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers.loggia]\nurl = \"http://127.0.0.1:9/mcp\"\nheaders = { a = \"b\" }\n",
            "`headers`, which Codex ignores",
        ),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            r#"{"mcpServers": {"loggia": {"url": "http://127.0.0.1:9/mcp"}}}"#,
            "needs `serverUrl`",
        ),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            r#"{"mcpServers": {"loggia": {"serverUrl": "http://127.0.0.1:9/mcp", "disabled": true}}}"#,
            "switched off by `disabled`",
        ),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            r#"{"mcpServers": {"loggia": {"url": "http://127.0.0.1:9/mcp"}}}"#,
            "reads no `url` from this file",
        ),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            "{\"mcpServers\": {\"loggia\": {\"command\": \"/bin/x\",}}}",
            "remove comments and trailing commas",
        ),
        (
            "claude-code",
            ".claude.json",
            r#"{"mcpServers": {"loggia": {"url": "http://127.0.0.1:9/mcp"}}}"#,
            "has no `type` \"http\"",
        ),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            r#"{"mcpServers": {"loggia": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}}"#,
            "move it under `servers`",
        ),
        (
            "gemini-cli",
            ".gemini/settings.json",
            r#"{"mcp": {"allowed": ["x"]}, "mcpServers": {"loggia": {"httpUrl": "http://127.0.0.1:9/mcp"}}}"#,
            "`mcp.allowed` does not name `loggia`",
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            r#"{"mcpServers": {"loggia": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${T}"}}}}"#,
            "Cursor sends ${T} as it is",
        ),
        ("zed", ".config/zed/settings.json", "{}", "has no entry `loggia`"),
    ] {
        fs::write(home.path(file), text)?;
        let (code, table, _) = home.run(&["doctor", client]).await?;
        assert!(code == 10 && table.contains(told), "{client}: {code} {table}");
    }
    // The scope of `claude mcp add`: an entry of one project in the user's file.
    let project = fs::canonicalize(home.path("project"))?;
    let local = serde_json::json!({"projects": {text(&project): {"mcpServers": {"loggia": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}}}});
    fs::write(home.path(".claude.json"), local.to_string())?;
    let (_, table, _) = home.run(&["doctor", "claude-code"]).await?;
    assert!(
        table.contains(".claude.json, for this project") && table.contains("nothing listens on 127.0.0.1:9"),
        "{table}"
    );
    let empty = Home(tempfile::tempdir()?);
    fs::create_dir_all(empty.path("project"))?;
    let (code, _, said) = empty.run(&["doctor"]).await?;
    assert!(code == 11 && said.starts_with("no client has an entry `loggia`"), "{said}");
    Ok(())
}

#[tokio::test]
async fn the_doctor_asks_a_server_with_the_named_token() -> Result<()> {
    let home = Home::new()?;
    let token = Token::new("ada", &["*"]).await?;
    let folder = Folder::with(&["echo"]);
    let served = Served::configured(&folder, "", &[&token]).await?;
    let url = served.host.url.clone();
    let clients = ["claude-code", "codex", "goose", "zed", "vscode"];
    for client in clients {
        let words = ["add", client, "--url", &url, "--token-env", "LOGGIA_DOCTOR_TOKEN", "--yes"];
        let (code, _, said) = home.run(&words).await?;
        assert_eq!(code, 0, "{client} {said}");
    }
    let doctor = async |value: Option<&str>| {
        let mut command = home.command(&["doctor", "--json"]);
        // The bridge of Zed is not started.
        let npx = home.path("npx");
        fs::write(&npx, "#!/bin/sh\n")?;
        fs::set_permissions(&npx, fs::Permissions::from_mode(0o755))?;
        command.env("PATH", home.0.path()).env_remove("LOGGIA_DOCTOR_TOKEN");
        value.map(|value| command.env("LOGGIA_DOCTOR_TOKEN", value));
        output(command).await
    };
    let (code, json, said) = doctor(Some(&token.secret)).await?;
    assert_eq!((code, said.as_str()), (0, ""), "{json}");
    let all: Value = serde_json::from_str(&json)?;
    assert_eq!(all.as_array().context("a list")?.len(), clients.len());
    assert_eq!(json.matches("the server lists 1 tool: echo").count(), clients.len(), "{json}");
    let (rest, last) = token.secret.split_at(token.secret.len() - 1);
    let wrong = format!("{rest}{}", if last == "x" { "y" } else { "x" });
    for (value, told) in [
        (Some(wrong.as_str()), "refuses the token (401)"),
        (None, "LOGGIA_DOCTOR_TOKEN, which holds the token, is not set here"),
    ] {
        let (code, json, said) = doctor(value).await?;
        assert_eq!((code, json.matches(told).count()), (10, clients.len()), "{json}");
        for secret in [&token.secret, &wrong] {
            assert!(!json.contains(secret.as_str()) && !said.contains(secret.as_str()), "{json}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_doctor_tells_why_an_address_does_not_answer() -> Result<()> {
    let home = Home::new()?;
    let folder = Folder::with(&["echo"]);
    let served = Served::configured(&folder, "", &[]).await?;
    let at = |scheme: &str, path: &str| format!("{scheme}://{}{path}", served.host.authority());
    for (url, code, told) in [
        (at("http", "/mcp"), 0, "the server lists 1 tool: echo"),
        (at("http", "/mpc"), 10, "there is no MCP server at the path /mpc (404)"),
        (at("https", "/mcp"), 10, "TLS with 127.0.0.1:"),
        ("http://127.0.0.1:9/mcp".to_owned(), 10, "nothing listens on 127.0.0.1:9"),
        ("http://no-such-host.invalid/mcp".to_owned(), 10, "no-such-host.invalid:80 cannot be reached"),
    ] {
        let words = ["add", "cursor", "--url", &url, "--replace", "--yes", "--create"];
        let (added, _, said) = home.run(&words).await?;
        assert_eq!(added, 0, "{said}");
        let (found, table, said) = home.run(&["doctor", "cursor", "--timeout", "20s"]).await?;
        assert!(found == code && table.contains(told), "{url}: {found} {table}");
        assert_eq!(said, "", "{url}");
    }
    Ok(())
}
