//! `loggia state` as a process.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Output, Stdio},
};

const EXPORT: &str = "\
{\"format\":\"loggia-state\",\"version\":1,\"facade\":\"notes\",\"entries\":2}
{\"space\":\"shared\",\"key\":\"a\",\"text\":\"milk\"}
{\"space\":\"abababababababababababababababababababababababababababababababab\",\"key\":\"b\",\"base64\":\"/w==\"}
";

/// Runs a command; returns exit code, stdout and stderr.
fn state(folder: &Path, words: &[&str], stdin: Option<&Path>) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_loggia"))
        .arg("state")
        .args(words)
        .env("LOGGIA_STATE", folder)
        .stdin(stdin.map_or_else(Stdio::null, |path| File::open(path).unwrap().into()))
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().replace(&folder.display().to_string(), "DIR");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn state_is_listed_exported_imported_and_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, file, out) =
        (dir.path().join("state"), dir.path().join("in.jsonl"), dir.path().join("out.jsonl"));
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    fs::write(file, EXPORT).unwrap();
    let run = |words: &[&str]| state(&folder, words, None);
    let expected = |code, stdout: &str, stderr: &str| (Some(code), stdout.to_owned(), stderr.to_owned());

    assert_eq!(run(&["list"]), expected(0, "", "no plugin has stored anything in DIR\n"));
    assert!(!folder.exists());
    assert_eq!(run(&["export", "notes"]), expected(11, "", "there is no state of `notes` in DIR\n"));
    assert_eq!(run(&["import", "notes", file]), expected(0, "", "imported 2 entries for `notes`\n"));
    assert_eq!(run(&["export", "notes"]), expected(0, EXPORT, ""));
    assert_eq!(run(&["list"]), expected(0, "name\tentries\tbytes\nnotes\t2\t263\n", ""));
    let (code, listed, _) = run(&["list", "notes"]);
    let listed: Vec<_> = listed.lines().map(|line| line.split('\t').take(3).collect::<Vec<_>>()).collect();
    assert_eq!(
        (code, &listed[..2]),
        (Some(0), &[vec!["key", "space", "bytes"], vec!["a", "shared", "4"]][..])
    );

    let (code, _, stderr) = run(&["export", "notes", "--out", out]);
    assert_eq!((code, fs::read_to_string(out).unwrap()), (Some(0), EXPORT.to_owned()));
    assert!(stderr.starts_with("exported 2 entries to "), "{stderr}");
    let refused = "error: nothing was cleared: confirmation requires a terminal; `loggia state clear notes --yes` \
                   skips it, and `loggia state export notes` makes a backup\n";
    assert_eq!(run(&["clear", "notes"]), expected(1, "", refused));
    assert_eq!(run(&["clear", "notes", "--yes"]), expected(0, "", "cleared 2 entries of `notes`\n"));
    assert_eq!(run(&["list"]), expected(0, "name\tentries\tbytes\nnotes\t0\t0\n", ""));
    let piped = state(&folder, &["import", "other", "-", "--replace"], Some(out.as_ref()));
    assert_eq!(piped, expected(0, "", "imported 2 entries for `other`; they were exported from `notes`\n"));

    fs::write(file, EXPORT.replace("\"text\"", "\"txt\"")).unwrap();
    let (code, _, stderr) = run(&["import", "notes", file]);
    assert!(code == Some(1) && stderr.contains("line 2: unknown field `txt`"), "{stderr}");
    let (code, _, stderr) = run(&["list", "Notes"]);
    assert!(code == Some(1) && stderr.contains("`Notes` is not a store name"), "{stderr}");
}

#[test]
fn a_damaged_store_hides_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("in.jsonl");
    fs::write(&file, EXPORT).unwrap();
    let folder = dir.path().join("state");
    state(&folder, &["import", "notes", file.to_str().unwrap()], None);
    fs::write(folder.join("stores/broken.db"), "no database, but a text that is long enough").unwrap();
    let (code, listed, stderr) = state(&folder, &["list"], None);
    assert_eq!((code, stderr.as_str()), (Some(1), "1 of 2 stores cannot be read\n"));
    assert!(
        listed.contains("\nbroken\tthe state cannot be used: DIR/stores/broken.db is damaged or "),
        "{listed}"
    );
    assert!(listed.ends_with("\nnotes\t2\t263\n"), "{listed}");
}
