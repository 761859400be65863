//! Text for terminals, logs and people: without control characters and forged lines.

use std::{fs::File, process::Stdio};

use anyhow::{Context, Result};
use loggia_tests::{Folder, PATIENCE, binary, cache, scratch};
use nix::pty::openpty;
use serde_json::Value;
use tokio::process::Command;

use crate::terminal::read_screen;

/// Sets the title, clears the screen, paints, forges a line, and turns letters round, by C0, C1 and bidi controls.
const PAINT: &str = "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{1b}[1;1H\u{9b}31mall is well\u{202e}gnp.exe\u{e0041}\n\
                     error: forged\r\nerror: forged too";

fn call(folder: &Folder, words: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.arg("call").args(words).arg("--plugins").arg(folder.path());
    command.env("LOGGIA_CACHE", cache()).env("LOGGIA_STATE", scratch());
    command
}

/// Output of a command whose stdout and stderr are a terminal.
async fn on_a_terminal(mut command: Command) -> Result<String> {
    let pty = openpty(None, None)?;
    let (out, err) = (pty.slave.try_clone()?, pty.slave);
    let mut child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn()?;
    // The command holds the other end of the terminal too.
    drop(command);
    let reading = read_screen(File::from(pty.master));
    let written = tokio::time::timeout(PATIENCE, reading).await???;
    anyhow::ensure!(child.wait().await?.success(), "{}", String::from_utf8_lossy(&written));
    // Terminals end lines with CR LF.
    Ok(String::from_utf8(written)?.replace("\r\n", "\n"))
}

/// Checks for control characters and forged lines.
#[track_caller]
fn is_plain(text: &str) {
    let steers = |c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{e0000}'..='\u{e0fff}')
    };
    assert!(!text.contains(steers), "{text:?}");
    assert!(text.contains("all is well") && !text.lines().any(|line| line.starts_with("error")), "{text}");
}

/// H83.
#[tokio::test]
async fn plugins_cannot_inject_terminal_escapes() -> Result<()> {
    let folder = Folder::with(&["shouts"]);
    let text = format!("text={PAINT}");
    let seen = on_a_terminal(call(&folder, &["shouts", "tell", &text])).await?;
    is_plain(&seen);
    let at = seen.find("\n{").context("no result")?;
    let envelope: Value = serde_json::from_str(&seen[at..])?;
    assert_eq!(envelope["data"], PAINT);

    // In a pipe the result is raw data; notes on stderr are still for people.
    let output = call(&folder, &["shouts", "tell", &text]).output().await?;
    let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    is_plain(&err);
    assert!(out.contains("\u{9b}31m") && out.lines().count() == 1, "{out}");
    assert_eq!(serde_json::from_str::<Value>(&out)?["data"], PAINT);
    Ok(())
}

/// H84.
#[tokio::test]
async fn logs_and_faults_leak_no_secrets_or_escapes() -> Result<()> {
    const SECRET: &str = "cut-canary-0a1b2c3d4e5f";
    let folder = Folder::with(&["shouts"]);
    folder.write(
        "shouts.toml",
        "[grants]\nhttp = [\"https://api.example.com\"]\nsecrets = [{ from-env = \"LIBRARY_TOKEN\", \
         host = \"api.example.com\", header = \"Authorization\", format = \"Bearer {}\" }]\n",
    );
    let run = async |words: &[&str]| -> Result<String> {
        let mut command = call(&folder, words);
        let output = command.env("LIBRARY_TOKEN", SECRET).env("LOGGIA_LOG", "debug").output().await?;
        Ok(String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?)
    };
    // Every place at which the host breaks or cuts a text goes through the secret, at several of its bytes.
    for (words, cuts) in [
        (&["say", "by=stdout", "times=1"][..], &[4 << 10, 8 << 10][..]),
        (&["say", "by=stderr", "times=1"], &[4 << 10]),
        (&["say", "by=log", "times=1"], &[4 << 10, 6 << 10]),
        (&["panic"], &[300, 4 << 10]),
    ] {
        for cut in cuts {
            for shown in [4, 12, SECRET.len() - 1] {
                let text = format!("text={}{SECRET} was sent", "x".repeat(cut - shown));
                let told = run(&[&["shouts"], words, &[&text]].concat()).await?;
                assert!(told.contains("xxx"), "{words:?} {told:.300}");
                for from in 0..=SECRET.len() - 4 {
                    let part = &SECRET[from..from + 4];
                    assert!(!told.contains(part), "{words:?} at {cut}, {shown}: {part} is told");
                }
            }
        }
    }
    for by in ["by=stdout", "by=stderr", "by=log"] {
        let text = format!("text={PAINT}");
        let told = run(&["shouts", "say", by, "times=1", &text]).await?;
        is_plain(&told);
    }
    let told = run(&["shouts", "panic", &format!("text={PAINT}")]).await?;
    is_plain(&told);
    Ok(())
}
