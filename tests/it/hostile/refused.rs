//! Files that are named like plugins and are not: other formats, and special files.

use std::{
    fs::{self, File},
    os::unix::{fs::symlink, net::UnixListener},
};

use anyhow::Result;
use loggia_tests::{Client, Era, Folder, binary, fixture};
use serde_json::json;

use super::stage::{check, told};

/// A component that exports this instance under this name.
fn exporting(name: &str, functions: &str) -> String {
    format!(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 0)
                (func (export "none"))
                (func (export "one") (result i32) i32.const 0)
                (func (export "echo") (param i32) (result i32) i32.const 0))
            (core instance $i (instantiate $m))
            (func $none (canon lift (core func $i "none")))
            (func $one (result u32) (canon lift (core func $i "one")))
            (func $echo (param "x" u32) (result u32) (canon lift (core func $i "echo")))
            (instance $facade {functions})
            (export "{name}" (instance $facade)))"#
    )
}

/// H34.
#[tokio::test]
async fn files_of_other_kinds_are_refused_by_kind() -> Result<()> {
    let facade = "loggia:plugin/facade@0.1.0";
    let all =
        r#"(export "describe" (func $one)) (export "schema" (func $echo)) (export "dispatch" (func $echo))"#;
    let wat = |text: &str| wat::parse_str(text).map_err(anyhow::Error::from);
    let whole = fs::read(fixture("echo"))?;
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("text", b"#!/bin/sh\necho hello\n".to_vec()),
        ("native", fs::read(binary())?[..4096].to_vec()),
        ("core_module", wat("(module)")?),
        ("only_a_head", whole[..8].to_vec()),
        ("truncated", whole[..20_000].to_vec()),
        ("nothing_but_zeros", vec![0; 1 << 20]),
        ("exports_nothing", wat("(component)")?),
        ("other_world", wat(&exporting("wasi:cli/run@0.2.0", r#"(export "run" (func $none))"#))?),
        ("newer_contract", wat(&exporting("loggia:plugin/facade@0.9.0", r#"(export "run" (func $none))"#))?),
        ("functions_missing", wat(&exporting(facade, r#"(export "dispatch" (func $echo))"#))?),
        ("function_of_another_type", wat(&exporting(facade, r#"(export "describe" (func $none))"#))?),
        ("functions_of_other_types", wat(&exporting(facade, all))?),
        ("unknown_import", {
            let import = r#"(component (import "acme:magic/wand@1.0.0" (instance (export "wave" (func))))"#;
            wat(&exporting(facade, all).replacen("(component", import, 1))?
        }),
    ];
    let mut said = String::new();
    let folder = Folder::new();
    for (name, bytes) in cases {
        let line = told(folder.path(), name, &bytes).await?;
        // The file's end depends on the SDK's version.
        let (begin, _) = line.split_once(" (at offset 0x").unwrap_or((&line, ""));
        said.push_str(begin);
        said.push('\n');
    }
    insta::assert_snapshot!("files_refused", said);
    Ok(())
}

/// Creates special and unreadable files with names of plugins.
fn oddities(folder: &Folder) -> Result<Option<UnixListener>> {
    let path = |name: &str| folder.path().join(format!("{name}.wasm"));
    let beside = folder.beside("elsewhere");
    fs::create_dir(path("a_folder"))?;
    anyhow::ensure!(std::process::Command::new("mkfifo").arg(path("a_pipe")).status()?.success());
    fs::rename(path("a_pipe"), beside.join("pipe"))?;
    anyhow::ensure!(std::process::Command::new("mkfifo").arg(path("a_pipe")).status()?.success());
    symlink(beside.join("pipe"), path("a_link_to_a_pipe"))?;
    symlink("/dev/zero", path("a_link_to_zeros"))?;
    symlink("/", path("a_link_to_everything"))?;
    symlink("/etc/passwd", path("a_link_to_passwords"))?;
    symlink("a_link_to_itself.wasm", path("a_link_to_itself"))?;
    symlink(beside.join("nothing"), path("a_link_to_nothing"))?;
    // A sparse file of five gibibytes, and one a byte above the limit.
    File::create(path("huge"))?.set_len(5 << 30)?;
    File::create(path("too_large"))?.set_len((32 << 20) + 1)?;
    // A socket's path has few characters.
    let socket = folder.path().join("s.wasm");
    Ok(UnixListener::bind(socket).ok())
}

/// H34.
#[tokio::test]
async fn special_files_named_like_plugins_block_nothing() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let socket = oddities(&folder)?;
    let output = check(folder.path()).await?;
    assert_eq!(output.status.code(), Some(10));
    let said = String::from_utf8(output.stdout)?;
    let lines: Vec<&str> =
        said.lines().skip(1).map(str::trim_end).filter(|line| !line.starts_with("echo\t")).collect();
    insta::assert_snapshot!("no_files_refused", lines.join("\n"));
    // The host starts, serves the valid files, and reports the kind of the others but not their targets.
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["echo"]).await;
    for (name, why) in
        [("a_pipe", "not a regular file"), ("a_link_to_zeros", "not a regular file"), ("huge", "too large")]
    {
        let refused = client.envelope(name, json!({"action": "go"})).await?;
        let error = refused["error"].as_str().unwrap_or_default();
        assert!(refused["code"] == "unavailable" && error.contains(why), "{name}: {refused}");
    }
    let unnamed = client.envelope("a_link_to_passwords", json!({"action": "go"})).await?;
    assert!(!unnamed.to_string().contains("/etc"), "{unnamed}");
    client.end().await?;
    drop(socket);
    Ok(())
}
