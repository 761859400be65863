//! `loggia card` as a process. Nothing is served.

use std::{fs, process::Command};

use serde_json::Value;

/// Runs `loggia card` with these settings; returns exit code, stdout and stderr.
fn card(settings: Option<&str>, words: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    if let Some(settings) = settings {
        fs::write(folder.path().join("loggia.toml"), settings).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_loggia"));
    let output =
        command.arg("card").args(words).current_dir(folder.path()).env_remove("LOGGIA_CONFIG").output();
    let output = output.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const CARD: &str =
    "[card]\nname = 'io.github.ada/tools'\nurl = 'https://tools.example.com/mcp'\ndescription = 'Notes.'\n";

#[test]
fn card_and_entry_are_printed_as_files() {
    let (code, stdout, stderr) = card(Some(CARD), &[]);
    assert_eq!((code, &*stderr), (Some(0), ""));
    assert!(stdout.starts_with("{\n  \"$schema\""), "{stdout}");
    let printed: Value = serde_json::from_str(&stdout).unwrap();
    assert!(printed["$schema"].as_str().unwrap().ends_with("/v1/server-card.schema.json"));
    assert!(printed["remotes"][0]["supportedProtocolVersions"].is_array());
    let repository = "repository = 'https://codeberg.org/ada/tools'\n";
    let (code, stdout, stderr) = card(Some(&format!("{CARD}{repository}")), &["--registry"]);
    assert!(code == Some(0) && stderr.contains("`repository` is left out"), "{stderr}");
    let printed: Value = serde_json::from_str(&stdout).unwrap();
    assert!(printed["$schema"].as_str().unwrap().ends_with("/2025-12-11/server.schema.json"));
    assert_eq!(printed.get("repository"), None);
}

#[test]
fn each_failure_says_what_to_do() {
    let local = CARD.replace("https://tools.example.com", "http://127.0.0.1:8080");
    let colliding = format!("[profile.server-card]\ntools = ['*']\n{CARD}");
    let unknown = format!("{CARD}[card.profile.x]\ndescription = 'a'\n");
    let other = format!(
        "[auth]\nresource = 'https://other.example/mcp'\n[auth.oauth]\nissuer = 'https://id.example'\n\
         jwks = 'https://id.example/keys'\n{CARD}"
    );
    for (settings, words, code, why) in [
        (None, &[][..], 11, "there is no loggia.toml: --config FILE names another"),
        (Some("[http]\n"), &[], 11, "loggia.toml has no [card]: add one, as in\n\n[card]\nname = "),
        (Some("[card]\nname = 'io.github.ada/tools'\n"), &[], 10, "line 1: `card` needs the key `url`"),
        (Some(&*local), &["--registry"], 10, "`card.url` is an address of this machine"),
        (Some(CARD), &["--profile", "x\u{1b}"], 2, "there is no card for a profile `x\\u{1b}`"),
        (
            Some(&*colliding),
            &[],
            10,
            "line 1: the profile `server-card` would be served where the server card is",
        ),
        (
            Some(&*unknown),
            &[],
            10,
            "line 5: [card.profile.x] describes a profile, but there is no [profile.x]",
        ),
        (Some(&*other), &[], 10, "but `auth.resource` is https://other.example/mcp: "),
    ] {
        let (found, stdout, stderr) = card(settings, words);
        assert_eq!((found, &*stdout), (Some(code), ""), "{settings:?} {words:?}: {stderr}");
        assert!(stderr.contains(why), "{settings:?} {words:?}: {stderr}");
    }
    // The example that is shown is a card.
    let (_, _, stderr) = card(Some(""), &[]);
    let example = &stderr[stderr.find("[card]\n").unwrap()..];
    assert_eq!(card(Some(example), &[]).0, Some(0), "{example}");
}
