//! `loggia client`: files of clients in a home folder of the test.

mod doctor;

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use loggia_tests::{binary, cache, scratch};
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
