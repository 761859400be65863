//! A client that we did not write: the official Python SDK, over stdio and HTTP, on the real `files` plugin.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Folder, HttpHost, binary, cache, plugin};
use tokio::process::Command;

/// The release of the SDK that the tests were written against.
const SDK: &str = "mcp==2.3.0";

const CLIENT: &str = include_str!("python/client.py");

/// A Python with the SDK. Installed once, and kept with the other build results.
pub async fn python() -> Result<PathBuf> {
    let home = cache().join(SDK);
    let python = home.join("bin/python");
    if python.exists() && run(Command::new(&python).args(["-c", "import mcp"])).await.is_ok() {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))
        .await
        .context("no python3 with venv")?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", SDK]))
        .await?;
    Ok(python)
}

/// What a command prints, if it ends well.
pub async fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
    Ok(stdout.into_owned())
}

fn files(granted: &Path) -> Folder {
    let folder = Folder::new();
    folder.put("files", &plugin("files"));
    let dir = format!("{{ path = {granted:?}, at = \"/data\", access = \"read-write\" }}");
    folder.write("files.toml", &format!("[grants]\ndirs = [{dir}]\n"));
    folder
}

#[tokio::test]
async fn the_official_python_client_uses_files() -> Result<()> {
    let python = python().await?;
    let granted = tempfile::tempdir()?;
    let folder = files(granted.path());
    let host = HttpHost::start(folder.path()).await?;
    let (host_binary, cache) = (binary(), cache());
    let stdio = [
        host_binary.as_os_str(),
        "serve".as_ref(),
        folder.path().as_os_str(),
        "--cache".as_ref(),
        cache.as_os_str(),
    ];
    for target in [&stdio[..], &[host.url.as_ref()]] {
        let told = run(Command::new(&python).args(["-c", CLIENT]).args(target)).await?;
        insta::assert_snapshot!("python_client", told);
        let written = granted.path().join("hello.txt");
        assert_eq!(std::fs::read_to_string(&written)?, "hello\nworld\n");
        std::fs::remove_file(written)?;
    }
    Ok(())
}
