//! Snapshots of all help texts. (As an integration test of `loggia`, this also makes cargo build the binary that the
//! tests in `tests/` run.)

use std::process::Command;

#[test]
fn help_texts_match() {
    let mut text = String::new();
    for words in [
        &["--help"][..],
        &["serve", "--help"],
        &["new", "--help"],
        &["dev", "--help"],
        &["build", "--help"],
        &["check", "--help"],
        &["test", "--help"],
        &["client", "--help"],
        &["client", "add", "--help"],
        &["client", "remove", "--help"],
        &["client", "list", "--help"],
        &["client", "doctor", "--help"],
        &["tokens", "--help"],
        &["policy", "--help"],
        &["policy", "explain", "--help"],
        &["policy", "init", "--help"],
        &["policy", "reference", "--help"],
        &["call", "--help"],
        &["state", "--help"],
        &["state", "list", "--help"],
        &["state", "export", "--help"],
        &["state", "import", "--help"],
        &["state", "clear", "--help"],
        &["state", "migrate", "--help"],
        &["runs", "--help"],
        &["runs", "list", "--help"],
        &["runs", "show", "--help"],
        &["runs", "cancel", "--help"],
        &["runs", "retry", "--help"],
        &["approvals", "--help"],
        &["approvals", "list", "--help"],
        &["approvals", "show", "--help"],
        &["approvals", "approve", "--help"],
        &["approvals", "deny", "--help"],
        &["pending", "--help"],
        &["diff", "--help"],
        &["approve", "--help"],
        &["reject", "--help"],
        &["audit", "--help"],
        &["audit", "verify", "--help"],
        &["audit", "query", "--help"],
        &["audit", "tail", "--help"],
        &["audit", "key", "--help"],
        &["fleet", "--help"],
        &["fleet", "status", "--help"],
        &["card", "--help"],
        &["token", "--help"],
        &["token", "new", "--help"],
        &["token", "revoke", "--help"],
        &["token", "revoked", "--help"],
        &["workflow", "--help"],
        &["workflow", "check", "--help"],
        &["workflow", "graph", "--help"],
        &["workflow", "run", "--help"],
        &["workflow", "eval", "--help"],
        &["config", "--help"],
        &["config", "check", "--help"],
        &["completions", "--help"],
        &["man", "--help"],
    ] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_loggia")).args(words).env("COLUMNS", "100").output().unwrap();
        assert!(output.status.success());
        text.push_str(&format!(
            "$ loggia {}\n{}\n",
            words.join(" "),
            String::from_utf8(output.stdout).unwrap()
        ));
    }
    insta::assert_snapshot!(text);
}
