//! `loggia client`: files of clients in a home folder of the test, and a doctor that looks at servers that run.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use loggia_tests::{Folder, Served, Token, binary, cache, scratch};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

/// Clients, their files, a text with others' entries, and one that cannot be read.
const CLIENTS: [(&str, &str, &str, &str); 9] = [
    (
        "claude-code",
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"git\":   {\"command\": \"git-mcp\"}\n  },\n  \"tips\": [1,2]\n}",
        "{",
    ),
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        "{\"mcpServers\":{\"git\":{\"command\":\"git-mcp\"}}}",
        "{\"mcpServers\": }",
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "// mine\n{\n\t\"inputs\": [], // asked\n\t\"servers\": {\n\t\t\"git\": { \"command\": \"git-mcp\" }, /* old */\n\t},\n}\n",
        "{\"servers\": {}",
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        "{\r\n    \"mcpServers\": {\r\n        \"git\": {\r\n            \"command\": \"git-mcp\"\r\n        }\r\n    }\r\n}\r\n",
        "nonsense",
    ),
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel = \"x\"   # why\n\n[mcp_servers.git]\ncommand = 'git-mcp'\n\n[projects.\"/a\"] # trusted\ntrust_level = \"trusted\"",
        "[mcp_servers",
    ),
    (
        "zed",
        ".config/zed/settings.json",
        "// Zed settings\n//\n// see its documentation\n{\n  \"theme\": \"One\",\n  \"context_servers\": {\n    // git\n    \"git\": {\"command\": \"git-mcp\", \"args\": []}\n    // none follows\n  }\n}\n",
        "{\"theme\" \"One\"}",
    ),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "{\n  \"mcpServers\": {}\n}\n", "[}"),
    ("gemini-cli", ".gemini/settings.json", "{\n  // mine\n  \"theme\": \"x\"\n}\n", "{\"a\": 1,, }"),
    (
        "goose",
        ".config/goose/config.yaml",
        "# mine\nGOOSE_MODEL: x # why\nextensions:\n  git:\n    enabled: true\n    type: stdio\n    cmd: git-mcp\n    args: []\n\n  # last\nGOOSE_MODE: auto\n",
        "extensions: [\n",
    ),
];

/// A home folder, in which clients are installed, and a project.
struct Home(TempDir);

impl Home {
    fn new() -> Result<Self> {
        let home = tempfile::tempdir()?;
        for (_, file, ..) in CLIENTS {
            fs::create_dir_all(home.path().join(file).parent().context("a folder")?)?;
        }
        fs::create_dir_all(home.path().join(".claude"))?;
        fs::create_dir_all(home.path().join("project"))?;
        Ok(Self(home))
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .arg("client")
            .args(words)
            .current_dir(self.path("project"))
            .stdin(std::process::Stdio::null());
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "LOGGIA_CONFIG"] {
            command.env_remove(name);
        }
        command.env("HOME", self.0.path()).env("XDG_CONFIG_HOME", self.path(".config"));
        command
            .env("APPDATA", self.path("AppData"))
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", scratch());
        command
    }

    async fn run(&self, words: &[&str]) -> Result<(i32, String, String)> {
        output(self.command(words)).await
    }
}

async fn output(mut command: Command) -> Result<(i32, String, String)> {
    let output = command.output().await?;
    let code = output.status.code().context("an exit code")?;
    Ok((code, String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of words")
}

/// Lines without what separates members.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().map(|line| line.trim_end_matches(['\r', ' ', ',']));
    lines.filter(|line| !line.is_empty()).collect()
}

const URL: &str = "http://127.0.0.1:8080/mcp";

#[tokio::test]
async fn an_entry_is_added_to_every_client_and_others_stay() -> Result<()> {
    let home = Home::new()?;
    for (client, file, before, _) in CLIENTS {
        let file = home.path(file);
        fs::write(&file, before)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640))?;
        let add = ["add", client, "--url", URL];
        let (code, _, said) = home.run(&add).await?;
        assert_eq!(
            (code, fs::read_to_string(&file)?.as_str()),
            (1, before),
            "{client} nobody was asked: {said}"
        );
        assert!(said.contains("+") && said.contains("`loggia client add"), "{client} {said}");
        let yes = [&add[..], &["--yes"]].concat();
        let (code, _, said) = home.run(&yes).await?;
        assert_eq!(code, 0, "{client} {said}");
        let after = fs::read_to_string(&file)?;
        assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o640, "{client}");
        assert_eq!(after.contains("\r\n"), before.contains("\r\n"), "{client} {after:?}");
        // What was there is there, in its order.
        let kept = lines(&after);
        let mut kept = kept.iter();
        for line in lines(before).into_iter().filter(|line| !line.contains("{}")) {
            let found = kept
                .any(|other| *other == line || (client == "claude-desktop" && other.starts_with("{\"mcp")));
            assert!(found, "{client} lost {line:?}\n{after}");
        }
        let (code, _, said) = home.run(&yes).await?;
        assert!(code == 0 && said.starts_with("nothing to change"), "{client} {said}");
        assert_eq!(fs::read_to_string(&file)?, after, "{client}");
        // Another entry of this name needs a word.
        let other = ["add", client, "--url", "http://127.0.0.1:9/mcp", "--yes"];
        let (code, _, said) = home.run(&other).await?;
        assert!(code == 1 && said.contains("--replace"), "{client} {said}");
        let (code, _, said) = home.run(&[&other[..], &["--replace"]].concat()).await?;
        assert_eq!(code, 0, "{client} {said}");
        assert_eq!(fs::read_to_string(&file)?, after.replace("127.0.0.1:8080", "127.0.0.1:9"), "{client}");
        let (code, _, said) = home.run(&["remove", client, "--yes"]).await?;
        assert_eq!(code, 0, "{client} {said}");
        let removed = fs::read_to_string(&file)?;
        let same: Vec<&str> = lines(&removed)
            .into_iter()
            .filter(|line| !line.contains(": {}") && !line.ends_with('{') && *line != "  }")
            .collect();
        let start: Vec<&str> = lines(before)
            .into_iter()
            .filter(|line| !line.contains(": {}") && !line.ends_with('{') && *line != "  }")
            .collect();
        assert_eq!(same, start, "{client}\n{removed}");
        let (code, _, said) = home.run(&["remove", client, "--yes"]).await?;
        assert!(code == 11 && said.starts_with("nothing to remove"), "{client} {said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_file_is_created_only_for_a_client_that_is_installed() -> Result<()> {
    let home = Home(tempfile::tempdir()?);
    fs::create_dir_all(home.path("project"))?;
    for (client, file, ..) in CLIENTS {
        let words = ["add", client, "--url", URL, "--yes"];
        let (code, _, said) = home.run(&words).await?;
        assert!(code == 1 && said.contains("does not seem to be installed"), "{client} {said}");
        assert!(!home.path(file).exists());
        let (code, printed, said) = home.run(&["add", client, "--url", URL, "--print"]).await?;
        assert!(code == 0 && said.contains(text(&home.path(file))), "{client} {said}");
        assert!(!home.path(file).exists(), "{client} only printed");
        let (code, _, said) = home.run(&[&words[..], &["--create"]].concat()).await?;
        assert_eq!(code, 0, "{client} {said}");
        assert_eq!(fs::read_to_string(home.path(file))?.trim_end(), printed.trim_end(), "{client}");
    }
    let (code, table, _) = home.run(&["list"]).await?;
    assert_eq!((code, table.lines().count()), (0, 10), "{table}");
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let kind = if cells[0] == "claude-desktop" { "bridge" } else { "http" };
        assert_eq!(&cells[1..5], ["user", "yes", "yes", kind], "{line}");
    }
    let (_, json, _) = home.run(&["list", "--json"]).await?;
    let listed: Value = serde_json::from_str(&json)?;
    assert_eq!((&listed[3]["client"], &listed[3]["entry"]), (&"cursor".into(), &true.into()));
    Ok(())
}

#[tokio::test]
async fn files_that_cannot_be_edited_stay_as_they_are() -> Result<()> {
    let home = Home::new()?;
    for (client, file, before, broken) in CLIENTS {
        let file = home.path(file);
        let words = ["add", client, "--url", URL, "--yes"];
        fs::write(&file, broken)?;
        let (code, _, said) = home.run(&words).await?;
        assert!(code == 1 && said.contains("cannot be read; nothing was changed: line "), "{client} {said}");
        assert_eq!(fs::read_to_string(&file)?, broken, "{client}");
        fs::write(&file, before)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444))?;
        let (code, _, said) = home.run(&words).await?;
        assert!(code == 1 && said.contains("is read-only"), "{client} {said}");
        assert_eq!(fs::read_to_string(&file)?, before, "{client}");
        // A link, as dotfiles are managed.
        let target = home.path(&format!("{client}.target"));
        fs::rename(&file, &target)?;
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600))?;
        symlink(&target, &file)?;
        let (code, _, said) = home.run(&words).await?;
        assert_eq!(code, 0, "{client} {said}");
        assert!(fs::symlink_metadata(&file)?.is_symlink() && fs::read_to_string(&target)?.contains("8080"));
        let left = fs::read_dir(file.parent().context("a folder")?)?.filter_map(Result::ok);
        assert!(!left.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with(".tmp")));
    }
    Ok(())
}

#[tokio::test]
async fn options_that_do_not_fit_are_refused() -> Result<()> {
    let home = Home::new()?;
    let settings = home.path("loggia.toml");
    fs::write(&settings, "folder = \"plugins\"\n[http]\nlisten = \"127.0.0.1:8080\"\n")?;
    for (words, code, told) in [
        (vec!["cursor"], 2, "--plugins <DIR>|--config <FILE>|--url <URL>"),
        (vec!["cursr", "--url", URL], 2, "similar value exists: 'cursor'"),
        (vec!["cursor", "--url", "ftp://x/mcp"], 2, "must begin with http://"),
        (vec!["cursor", "--url", "http://a:b@x/mcp"], 2, "must not hold credentials"),
        (vec!["cursor", "--url", URL, "--token-env", "loggia_abc-def"], 2, "not a token"),
        (vec!["claude-desktop", "--url", URL, "--token-env", "T"], 2, "use --token-file FILE"),
        (vec!["goose", "--url", URL, "--scope", "project"], 2, "use --scope user"),
        (vec!["cursor", "--plugins", "nowhere"], 1, "there is no folder nowhere"),
        (vec!["cursor", "--config", text(&settings)], 1, "use --url http://127.0.0.1:8080/mcp"),
    ] {
        let (found, _, said) = home.run(&[&["add"][..], &words].concat()).await?;
        assert!(found == code && said.contains(told), "{words:?}: {found} {said}");
        assert!(!said.contains("loggia_abc"), "{said}");
    }
    Ok(())
}

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
    let wrong = format!("{}x", &token.secret[..token.secret.len() - 1]);
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
        (at("https", "/mcp"), 10, "is not accepted"),
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
