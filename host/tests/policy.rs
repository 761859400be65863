//! `loggia policy` as a process. Nothing is compiled: there are only policies.

use std::{fs, path::Path, process::Command};

/// Runs a command in a folder; returns exit code, stdout and stderr.
fn policy(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loggia"));
    command.arg("policy").args(words).current_dir(folder).env("LOGGIA_CACHE", folder.join("cache"));
    let output = command.env("EXAMPLE_TOKEN", "hunter2-hunter2").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_reference_is_the_page_in_docs() {
    let page = include_str!("../../docs/operators/policy.md");
    let (code, stdout, _) = policy(Path::new("."), &["reference"]);
    assert_eq!((code, stdout.as_str()), (Some(0), page));
}

#[test]
fn a_policy_is_explained_before_its_plugin_exists() {
    let folder = tempfile::tempdir().unwrap();
    let plugins = folder.path().join("plugins");
    fs::create_dir(&plugins).unwrap();
    let text = "[grants]\nstore = true\nenv = { TOKEN = \"${EXAMPLE_TOKEN}\" }\n[limits]\ncpu = \"5s\"\n";
    fs::write(plugins.join("notes.toml"), text).unwrap();
    let expected = "notes may\n  env    read the environment variables TOKEN\n  store  store up to 16MiB of \
                    durable state\n\nchanged limits\n  cpu  5s (default 2s)\n";
    for name in ["notes", "plugins/notes.toml", "./plugins/notes.wasm"] {
        let (code, stdout, _) = policy(folder.path(), &["explain", name]);
        assert_eq!((code, stdout.as_str()), (Some(0), expected), "{name}");
    }
    let (_, stdout, _) = policy(&plugins, &["explain", "notes.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["limits"][0]["value"], "5s");
    assert!(!stdout.contains("hunter2"));
}

#[test]
fn explain_failures_have_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let plugins = folder.path().join("plugins");
    fs::create_dir(&plugins).unwrap();
    fs::write(plugins.join("notes.toml"), "[grants]\nstor = true\n").unwrap();
    let check = |words: &[&str], expected: i32, reason: &str| {
        let (code, stdout, stderr) = policy(folder.path(), words);
        assert_eq!((code, stdout.as_str()), (Some(expected), ""), "{words:?}: {stderr}");
        assert!(stderr.contains(reason), "{words:?}: {stderr}");
    };
    check(&["explain", "notes"], 10, "line 2: unknown key `stor` in `grants`; did you mean `store`?");
    check(&["explain", "other"], 11, "there is no plugin `other` in plugins");
    check(&["explain", "notes", "--plugins", "nowhere"], 1, "there is no folder nowhere");
    check(&["init", "plugins/none.wasm"], 1, "failed to read plugins/none.wasm");
    check(&["init", "plugins/notes.toml"], 2, "is not a plugin: pass a .wasm file");
    fs::write(plugins.join("notes.wasm"), "nonsense").unwrap();
    check(&["init", "plugins/notes.wasm"], 1, "already exists");
    check(&["init", "plugins/notes.wasm", "--force"], 10, "does not load");
    check(&["explain", "notes"], 10, "line 2: unknown key `stor`");
    assert_eq!(fs::read_to_string(plugins.join("notes.toml")).unwrap(), "[grants]\nstor = true\n");
}
