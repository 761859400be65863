//! Questions of a call, asked and answered at a terminal.

use std::{
    fs::File,
    io::{Read, Write},
    process::Stdio,
};

use anyhow::Result;
use loggia_tests::{Folder, PATIENCE, binary, cache, scratch};
use nix::pty::openpty;
use serde_json::{Value, json};
use tokio::{process::Command, task::spawn_blocking, time::timeout};

/// End of the input, as typed.
const CONTROL_D: &str = "\u{4}";

/// Calls with stdin and stderr at a terminal, where these texts are typed. Returns the envelope and the screen.
async fn call_at_terminal(folder: &Folder, words: &[&str], typed: &str) -> Result<(Value, String)> {
    let pty = openpty(None, None)?;
    let (input, screen) = (pty.slave.try_clone()?, pty.slave);
    let mut terminal = File::from(pty.master);
    terminal.write_all(typed.as_bytes())?;
    let mut command = Command::new(binary());
    command.arg("call").args(words).arg("--plugins").arg(folder.path());
    command.env("LOGGIA_CACHE", cache()).env("LOGGIA_STATE", scratch());
    let child = command.stdin(input).stdout(Stdio::piped()).stderr(screen).spawn()?;
    // The command holds the other end of the terminal too.
    drop(command);
    let reading = spawn_blocking(move || {
        let (mut shown, mut piece) = (Vec::new(), [0; 4096]);
        // A terminal without writers ends with an error.
        while let Ok(more @ 1..) = terminal.read(&mut piece) {
            shown.extend_from_slice(&piece[..more]);
        }
        shown
    });
    let output = timeout(PATIENCE, child.wait_with_output()).await??;
    let screen = String::from_utf8(timeout(PATIENCE, reading).await??)?;
    Ok((serde_json::from_slice(&output.stdout)?, screen))
}

#[tokio::test]
async fn questions_are_answered_at_the_terminal() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", "[grants]\nelicit = true\n");
    for (typed, expected, shown) in [
        ("y\n3\ndust\n", "kept 3 because dust", "Delete the old notes?"),
        // Asked again.
        ("\nmany\n\n\n7\n\n", "kept 7 because ", "the answer does not fit: `newest` does not fit `type`"),
        ("n\n", "declined", "Answer? [Y/n]"),
        (CONTROL_D, "cancelled", "Answer? [Y/n]"),
    ] {
        let (envelope, screen) = call_at_terminal(&folder, &["worker", "clean"], typed).await?;
        assert_eq!(envelope["data"], json!(expected), "{typed:?} {envelope} {screen}");
        assert!(screen.contains(shown), "{typed:?} {screen}");
    }
    Ok(())
}
