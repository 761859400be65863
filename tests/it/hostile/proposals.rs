//! WebAssembly proposals that no supported toolchain needs: plugins that use one are refused before any of their code
//! runs.

use std::fmt::Write;

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, cache, eventually};
use serde_json::json;

use super::{stage::check_in, wat::Guest};

/// Function types with subtypes, functions of them, and tables that hold them.
const SUBTYPES: &str = "(type $a (sub (func))) (type $b (sub $a (func))) (func $f (type $b))
    (table $t 1 (ref null $a)) (table $u 1 funcref) (elem declare func $f)";
/// Puts one of these functions into both tables.
const FILL: &str = "(table.set $t (i32.const 0) (ref.func $f)) (table.set $u (i32.const 0) (ref.func $f))";
/// Instructions that test whether a function's type is a subtype. wasmtime 48 without garbage collection validates
/// them, compiles them into a libcall that it lacks, and aborts the process when they run.
const SHAPES: [(&str, &str); 9] = [
    ("test", "(drop (ref.test (ref $b) (table.get $t (i32.const 0))))"),
    ("testnull", "(drop (ref.test (ref null $b) (table.get $u (i32.const 0))))"),
    ("cast", "(drop (ref.cast (ref $b) (table.get $t (i32.const 0))))"),
    (
        "branch",
        "(block $x (result (ref $b)) (drop (br_on_cast $x (ref null $a) (ref $b) (table.get $t (i32.const 0)))) unreachable) drop",
    ),
    (
        "branchfail",
        "(block $x (result (ref null $a)) (drop (br_on_cast_fail $x (ref null $a) (ref $b) (table.get $t (i32.const 0)))) (ref.null $a)) drop",
    ),
    ("calls", "(call_indirect $u (type $b) (i32.const 0))"),
    ("callsup", "(call_indirect $u (type $a) (i32.const 0))"),
    ("callstyped", "(call_indirect $t (type $b) (i32.const 0))"),
    ("tailcalls", "(call $tail)"),
];

/// A guest for each instruction, which runs it when called or when instantiated.
fn subtypes(starts: bool) -> Vec<Guest> {
    let tail = "(func $tail (table.set $u (i32.const 0) (ref.func $f)) (return_call_indirect $u (type $a) (i32.const 0)))";
    let guest = |(name, shape): (&'static str, &str)| match starts {
        true => Guest {
            name,
            fields: format!("{SUBTYPES} {tail} (func $start {FILL} {shape}) (start $start)"),
            ..Guest::default()
        },
        false => Guest {
            name,
            fields: format!("{SUBTYPES} {tail}"),
            dispatch: format!("{FILL} {shape}"),
            ..Guest::default()
        },
    };
    SHAPES.map(guest).into()
}

/// One use of each other proposal: name, fields of its core module, body of `dispatch`, items of the component, words
/// of the error.
const OTHERS: [(&str, &str, &str, &str, &str); 28] = [
    ("smallint", "", "(drop (ref.i31 (i32.const 1)))", "", "garbage-collected types"),
    (
        "same",
        "",
        "(drop (ref.eq (ref.i31 (i32.const 1)) (ref.i31 (i32.const 2))))",
        "",
        "garbage-collected types",
    ),
    ("convert", "", "(drop (extern.convert_any (ref.i31 (i32.const 1))))", "", "garbage-collected types"),
    (
        "struct",
        "(type $s (struct (field i32)))",
        "(drop (struct.new $s (i32.const 1)))",
        "",
        "garbage-collected types",
    ),
    ("array", "(type $s (array i32))", "", "", "garbage-collected types"),
    ("recgroup", "(rec (type (func)) (type (func)))", "", "", "garbage-collected types"),
    ("external", "(table 1 externref)", "", "", "`externref`"),
    (
        "callref",
        "(type $f (func)) (func $g (type $f)) (elem declare func $g)",
        "(call_ref $f (ref.func $g))",
        "",
        "typed function references",
    ),
    ("typedtable", "(type $f (func)) (table 1 (ref null $f))", "", "", "typed function references"),
    ("nonnull", "(func (local (ref func)))", "", "", "typed function references"),
    ("tailcall", "(func $g (result i32) (return_call $g))", "", "", "tail calls"),
    (
        "tailindirect",
        "(table 1 funcref) (type $f (func)) (func (return_call_indirect (type $f) (i32.const 0)))",
        "",
        "",
        "tail calls",
    ),
    (
        "tailref",
        "(type $f (func)) (func $g (type $f) (return_call_ref $f (ref.func $g))) (elem declare func $g)",
        "",
        "",
        "typed function references",
    ),
    (
        "relaxed",
        "",
        "(drop (i8x16.relaxed_swizzle (v128.const i32x4 0 1 2 3) (v128.const i32x4 0 1 2 3)))",
        "",
        "relaxed SIMD",
    ),
    ("memories", "(memory $m 1)", "(drop (memory.grow $m (i32.const 1)))", "", "several memories"),
    ("shared", "", "", "(core module (memory 1 1 shared))", "threads or atomics"),
    ("atomics", "", "(drop (i32.atomic.load (i32.const 0)))", "", "threads or atomics"),
    (
        "waits",
        "",
        "(drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const 1)))",
        "",
        "threads or atomics",
    ),
    ("fence", "", "(atomic.fence)", "", "threads or atomics"),
    ("wide64", "", "", "(core module (memory i64 1))", "64-bit memories"),
    ("table64", "(table i64 1 funcref)", "", "", "64-bit memories or tables"),
    ("throws", "(tag $e (param i32))", "(throw $e (i32.const 1))", "", "exceptions"),
    ("catches", "(func (block (try_table (catch_all 0))))", "", "", "exceptions"),
    ("pages", "", "", "(core module (memory 1 (pagesize 1)))", "custom page sizes"),
    (
        "wide",
        "",
        "(i64.add128 (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4)) (drop) (drop)",
        "",
        "wide arithmetic",
    ),
    ("stacks", "(type $f (func)) (type (cont $f))", "", "", "stack switching"),
    ("futures", "", "", "(type (future u8))", ASYNC),
    ("asynclift", "", "", "(core func (canon backpressure.inc))", ASYNC),
];
/// Some tools generate such functions unless they are told not to; the error says how.
const ASYNC: &str = "asynchronous component functions, which Loggia does not run: generate synchronous bindings (`--sync` where the \
     tool has it) (";

fn others() -> Vec<(Guest, &'static str)> {
    let guest = |(name, fields, dispatch, items, words): (&'static str, &str, &str, &str, &'static str)| {
        let [fields, dispatch, items] = [fields, dispatch, items].map(str::to_owned);
        (Guest { name, fields, dispatch, items, ..Guest::default() }, words)
    };
    OTHERS.map(guest).into()
}

/// H56.
#[tokio::test]
async fn unsupported_wasm_proposals_are_refused_by_name() -> Result<()> {
    let subtypes =
        |starts| subtypes(starts).into_iter().map(|guest| (guest, "garbage-collected types or subtypes"));
    let (calls, starts) = (subtypes(false).collect::<Vec<_>>(), subtypes(true).collect::<Vec<_>>());
    for guests in [calls, starts, others()] {
        let folder = Folder::new();
        guests.iter().for_each(|(guest, _)| guest.put(&folder));
        let output = check_in(folder.path(), &cache()).await?;
        // An exit code, so no signal killed it.
        assert_eq!(output.status.code(), Some(10), "{}", String::from_utf8_lossy(&output.stderr));
        let told = String::from_utf8(output.stdout)?;
        let mut missing = String::new();
        for (guest, words) in &guests {
            let line = told.lines().find(|line| line.split_whitespace().next() == Some(guest.name));
            let line = line.with_context(|| format!("{}: {told}", guest.name))?;
            let refused = line.contains(&format!("does not compile: it uses {words}"))
                && line.contains(", which Loggia does not run: ");
            if !refused {
                let _ = writeln!(missing, "{line}");
            }
        }
        assert_eq!(missing, "");
    }
    Ok(())
}

/// H56.
#[tokio::test]
async fn unsupported_files_in_a_served_folder_are_harmless() -> Result<()> {
    for starts in [false, true] {
        let folder = Folder::with(&["echo"]);
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        let fine = async || -> Result<()> {
            let added = client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await?;
            anyhow::ensure!(added["data"] == 3.0, "{added}");
            Ok(())
        };
        fine().await?;
        let guests = subtypes(starts);
        guests.iter().for_each(|guest| guest.put(&folder));
        for guest in &guests {
            eventually(async || {
                let told = client.envelope(guest.name, json!({"action": "go"})).await;
                match told {
                    Ok(told) if told["code"] == "unavailable" => Ok(()),
                    told => Err(format!("{}: {told:?}", guest.name)),
                }
            })
            .await;
        }
        fine().await?;
        client.end().await?;
    }
    Ok(())
}
