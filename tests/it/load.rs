//! What is wrong with a plugin is told in its author's words, before anything of it runs.

use std::{path::Path, process::Output};

use anyhow::Result;
use loggia_tests::{Folder, binary, cache, fixture, scratch};
use tokio::process::Command;

async fn check(path: &Path) -> Result<Output> {
    Ok(Command::new(binary())
        .arg("check")
        .arg(path)
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .output()
        .await?)
}

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

#[tokio::test]
async fn a_plugin_that_does_not_load_is_told_why() -> Result<()> {
    let facade = "loggia:plugin/facade@0.1.0";
    let all =
        r#"(export "describe" (func $one)) (export "schema" (func $echo)) (export "dispatch" (func $echo))"#;
    let wat = |text: &str| wat::parse_str(text).map_err(anyhow::Error::from);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("text", b"#!/bin/sh\necho hello\n".to_vec()),
        ("native", std::fs::read(binary())?[..4096].to_vec()),
        ("core_module", wat("(module)")?),
        ("truncated", std::fs::read(fixture("echo"))?[..20_000].to_vec()),
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
        ("depends_on_chance", std::fs::read(fixture("unstable"))?),
    ];
    let mut told = String::new();
    for (name, bytes) in cases {
        let folder = Folder::new();
        let path = folder.path().join(format!("{name}.wasm"));
        std::fs::write(&path, bytes)?;
        let output = check(&path).await?;
        assert_eq!(output.status.code(), Some(10), "{name}");
        let stdout = String::from_utf8(output.stdout)?;
        // How long the whole file is changes with the SDK.
        let line = stdout.lines().nth(1).unwrap_or_default().trim_end();
        let (said, range) = line.split_once("section range ").unwrap_or((line, ""));
        told.push_str(said);
        if let Some((_, said)) = range.split_once(" is ") {
            told.push_str("section range … is ");
            told.push_str(said);
        }
        told.push('\n');
    }
    insta::assert_snapshot!("load_errors", told);
    Ok(())
}

#[tokio::test]
async fn a_pipe_or_a_folder_that_is_called_like_a_plugin_is_no_plugin() -> Result<()> {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("folder.wasm"))?;
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.wasm")).status()?;
    assert!(made.success());
    let output = check(folder.path()).await?;
    assert_eq!(output.status.code(), Some(10));
    let lines: Vec<String> =
        String::from_utf8(output.stdout)?.lines().map(|l| l.trim_end().to_owned()).collect();
    let reason = "does not load: not a regular file";
    assert_eq!(lines[1..], [format!("folder\t{reason}"), format!("pipe\t{reason}")]);
    Ok(())
}

#[tokio::test]
async fn the_check_of_a_folder_is_a_table_of_its_plugins() -> Result<()> {
    let folder = Folder::with(&["echo", "version_one"]);
    let output = check(folder.path()).await?;
    assert_eq!(output.status.code(), Some(0));
    let stdout = String::from_utf8(output.stdout)?;
    let rows: Vec<Vec<&str>> = stdout.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["name", "actions", "imports", "size"]);
    assert_eq!(rows[1][..2], ["echo", "say, add, wait, steps, forget"]);
    assert_eq!(rows[2][..2], ["version", "get"]);
    let empty = Folder::new();
    assert_eq!(check(empty.path()).await?.status.code(), Some(11));
    Ok(())
}

#[tokio::test]
async fn a_host_that_is_short_of_address_space_still_serves() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let script = r#"ulimit -v 3000000; exec "$0" call echo add a=1 b=2 --plugins "$1""#;
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(binary())
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .output()
        .await?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8(output.stdout)?.trim(),
        r#"{"ok":true,"action":"add","data":3.0,"resolved_inputs":{"a":1,"b":2}}"#,
        "{stderr}"
    );
    assert!(stderr.contains("address space is short"), "{stderr}");
    Ok(())
}
