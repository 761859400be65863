//! Questions of a call, asked and answered at a terminal.

use std::{
    fs::File,
    io::{self, Read, Write},
    process::Stdio,
};

use anyhow::Result;
use loggia_tests::{Folder, PATIENCE, binary, cache, scratch};
use nix::{errno::Errno, pty::openpty};
use serde_json::{Value, json};
use tokio::{
    process::Command,
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};

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
    let reading = read_screen(terminal);
    let output = timeout(PATIENCE, child.wait_with_output()).await??;
    let screen = String::from_utf8(timeout(PATIENCE, reading).await???)?;
    Ok((serde_json::from_slice(&output.stdout)?, screen))
}

/// Reads what is written to a terminal, until nobody holds its other end.
pub fn read_screen(mut terminal: File) -> JoinHandle<io::Result<Vec<u8>>> {
    spawn_blocking(move || {
        let (mut shown, mut piece) = (Vec::new(), [0; 4096]);
        loop {
            match terminal.read(&mut piece) {
                Ok(0) => return Ok(shown),
                Ok(more) => shown.extend_from_slice(&piece[..more]),
                // A terminal without writers ends with EIO.
                Err(error) if error.raw_os_error() == Some(Errno::EIO as i32) => return Ok(shown),
                Err(error) => return Err(error),
            }
        }
    })
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
