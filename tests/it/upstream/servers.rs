//! The reference servers of MCP, and settings that serve them.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use anyhow::Result;
use loggia_tests::Folder;

use crate::clients::{installed, stdio};

/// Names of the reference servers.
pub const SERVERS: [&str; 5] = ["everything", "filesystem", "memory", "fetch", "git"];

/// One MCP server: its facade's name and its command.
pub struct ServerCommand {
    pub name: String,
    pub command: Vec<String>,
}

impl ServerCommand {
    /// A reference server that works in a folder. Its environment is the same whoever starts it.
    pub async fn reference(name: &str, work: &Path) -> Result<Self> {
        let home = installed().await?;
        let (node, work_text) = (text(&home.join("node")), text(work));
        let package = |package: &str| {
            text(&home.join(format!("typescript/node_modules/@modelcontextprotocol/{package}/dist/index.js")))
        };
        let script = |script: &str| text(&home.join(format!("python/bin/{script}")));
        let command = match name {
            "filesystem" => vec![node, package("server-filesystem"), work_text],
            "fetch" => {
                vec![script("mcp-server-fetch"), "--allow-private-ips".into(), "--ignore-robots-txt".into()]
            }
            "git" => vec![script("mcp-server-git"), "--repository".into(), work_text],
            _ => vec![node, package(&format!("server-{name}"))],
        };
        let environment = environment(name, work).into_iter().map(|(name, value)| format!("{name}={value}"));
        let command = ["env".to_owned(), "-i".into()].into_iter().chain(environment).chain(command).collect();
        Ok(Self { name: name.to_owned(), command })
    }

    /// Its table of the settings.
    pub fn settings(&self) -> String {
        format!(
            "[upstream.{}]\ncommand = {:?}\nargs = {:?}\n",
            self.name,
            self.command[0],
            &self.command[1..]
        )
    }
}

/// The variables of a reference server.
pub fn environment(name: &str, work: &Path) -> Vec<(&'static str, String)> {
    // With Node, `fetch` would install a package.
    let path = if name == "fetch" { String::new() } else { std::env::var("PATH").unwrap_or_default() };
    let beside = |name: &str| text(&work.with_file_name(name));
    let mut all = vec![("HOME", beside("home")), ("PATH", path)];
    match name {
        "memory" => all.push(("MEMORY_FILE_PATH", text(&work.join("memory.jsonl")))),
        "git" => {
            for (name, email, date) in [
                ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"),
                ("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE"),
            ] {
                // The hash of a commit depends on them.
                all.extend([(name, "Ada".into()), (email, "ada@example.com".into())]);
                all.push((date, "1767322800 +0000".into()));
            }
        }
        _ => {}
    }
    all
}

/// Writes settings beside a folder; their path.
pub fn write_settings(folder: &Folder, settings: &str) -> Result<PathBuf> {
    let file = folder.beside("config").join("loggia.toml");
    std::fs::write(&file, settings)?;
    Ok(file)
}

/// The command of a host on stdio with these settings.
pub fn host_command(folder: &Folder, settings: &str) -> Result<Vec<OsString>> {
    let file = write_settings(folder, settings)?;
    Ok(stdio(folder.path()).into_iter().chain(["--config".into(), file.into()]).collect())
}

pub fn text(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}
