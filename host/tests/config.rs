//! `loggia config` and settings files as processes. Nothing is served.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Runs a command in a folder with a stdin; returns exit code, stdout and stderr.
fn loggia(folder: &Path, words: &[&str], stdin: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loggia"));
    command.args(words).current_dir(folder).env("LOGGIA_CACHE", folder.join("cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The process may exit without reading stdin.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Mistakes of every kind in every section.
const WRONG: &str = r#"folder = 1
wasm-stack = "1KiB"
drian = "25s"

[publish]
schema = "flot"
split = "efect"

[log]
level = "loud"

[http]
listen = "127.0.0.1:8080"
bodi = "4MiB"
connections = 0
header-time = "10"
hosts = ["tools.example.com",
  "http://b"]

[http.per-caller]
rate = 1
burst = 0

[auth]
resource = "tools.example.com"

[[auth.tokens]]
name = "a b"
hash = 1
scopes = []

[[auth.tokens]]
name = "ci"
hash = "sha256:00"
expires = "30.6.2027"

[auth.oauth]
issuer = 5
jwks = "none.json"
leeway = "1h"
algorithms = ["HS256"]

[telemetry]
endpoint = "collector:4318"
headers = { "a b" = "secret" }
interval = "0s"
sample = "5"

[admin]
listen = "127.0.0.1:8080"
"#;

#[test]
fn all_mistakes_are_reported_with_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("loggia.toml"), WRONG).unwrap();
    let check = |words: &[&str]| {
        let (code, stdout, stderr) = loggia(folder.path(), words, "");
        assert_eq!(stdout, "", "{words:?}");
        (code, stderr.replace(&fs::canonicalize(folder.path()).unwrap().display().to_string(), "DIR"))
    };
    let (code, stderr) = check(&["config", "check"]);
    assert_eq!(code, Some(10));
    insta::assert_snapshot!(stderr);
    // The command line of `serve` may override addresses.
    let (code, by_serve) = check(&["serve", "plugins", "--config", "loggia.toml"]);
    let of_the_file = |line: &&str| !line.contains("the admin listener");
    assert_eq!(code, Some(1));
    assert_eq!(by_serve.lines().collect::<Vec<_>>(), stderr.lines().filter(of_the_file).collect::<Vec<_>>());
}

#[test]
fn settings_are_checked_together_as_they_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("loggia.toml");
    let token = format!("[[auth.tokens]]\nname = 'ci'\nhash = 'sha256:{}'\nscopes = ['*']\n", "0".repeat(64));
    let check = |text: &str, expected: i32, why: &str| {
        fs::write(&file, text).unwrap();
        let (code, stdout, stderr) = loggia(folder.path(), &["config", "check"], "");
        assert_eq!(code, Some(expected), "{text}: {stderr}");
        assert_eq!(stdout.contains("is valid"), expected == 0, "{text}: {stdout}");
        assert!(if why.is_empty() { stderr.is_empty() } else { stderr.contains(why) }, "{text}: {stderr}");
    };
    let at = |http: &str, admin: &str| format!("[http]\nlisten = '{http}'\n[admin]\nlisten = '{admin}'\n");
    check(&at("127.0.0.1:8080", "127.0.0.1:9090"), 0, "");
    check(&at("127.0.0.1:0", "127.0.0.1:0"), 0, "");
    check(
        &at("127.0.0.1:8080", "127.0.0.1:8080"),
        10,
        "line 4: the admin listener cannot use 127.0.0.1:8080",
    );
    check("[http]\nlisten = '0.0.0.0:8080'\n", 10, "line 2: 0.0.0.0:8080 can be reached from other machines");
    check("[http]\nlisten = '0.0.0.0:8080'\nallow-anonymous = true\n", 0, "");
    let telemetry =
        |endpoint: &str| format!("[telemetry]\nendpoint = '{endpoint}'\nheaders = {{ a = 'b' }}\n");
    check(&telemetry("http://127.0.0.1:4318"), 0, "");
    check(&telemetry("https://otlp.example.com"), 0, "");
    check(&telemetry("http://otlp.example.com"), 10, "line 3: `telemetry.headers` need an https:// endpoint");
    check(&token, 0, "warning: `auth` has no effect over stdio");
    check(&format!("[http]\n{token}"), 0, "");
    fs::write(&file, "[http]\nlisten = '127.0.0.1:8080'").unwrap();
    let words = ["serve", "plugins", "--config", "loggia.toml", "--admin", "127.0.0.1:8080"];
    let (code, _, stderr) = loggia(folder.path(), &words, "");
    assert!(code == Some(1) && stderr.contains("the admin listener cannot use"), "{stderr}");
}

#[test]
fn settings_files_may_be_pipes_of_bounded_size() {
    let folder = tempfile::tempdir().unwrap();
    let check = |words: &[&str], stdin: &str, expected: (i32, &str)| {
        let (code, stdout, stderr) = loggia(folder.path(), words, stdin);
        assert_eq!(code, Some(expected.0), "{words:?}: {stderr}");
        assert!(format!("{stdout}{stderr}").contains(expected.1), "{words:?}: {stdout}{stderr}");
    };
    let (large, good) = ("it is larger than 1MiB", "[http]\nlisten = '127.0.0.1:0'\n");
    check(&["config", "check", "/dev/stdin"], good, (0, "/dev/stdin is valid"));
    check(&["config", "check", "/dev/stdin"], &"#".repeat(1 << 20), (0, "is valid"));
    check(&["config", "check", "/dev/stdin"], &"#".repeat((1 << 20) + 1), (10, large));
    check(&["config", "check", "/dev/zero"], "", (10, large));
    check(&["serve", "plugins", "--config", "/dev/zero"], "", (1, large));
    check(
        &["serve", "plugins", "--config", "/dev/stdin"],
        "[log]\nlevel = 'loud'\n",
        (1, "  line 2: `log.level`"),
    );
    check(&["token", "new", "ci", "--scope", "*", "--file", "/dev/zero"], "", (1, large));
}
