//! Guests that exhaust the host's memory, and results that are built to be misread.

use std::fmt::Write;

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, Raw, memory};
use serde_json::{Value, json};

use super::{
    stage::check_in,
    wat::{Guest, REPLY},
};

/// Disables the breaker: these tests cause faults.
const RESTLESS: &str = "[limits]\nbreaker-faults = 1000\n";

/// Calls a WAT guest's only action under a policy; returns the envelope.
async fn answer(guest: &Guest, limits: &str) -> Result<Value> {
    let folder = Folder::new();
    guest.put(&folder);
    folder.write(&format!("{}.toml", guest.name), &format!("[limits]\n{limits}\n"));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let told = client.envelope(guest.name, json!({"action": "go"})).await?;
    client.end().await?;
    Ok(told)
}

/// Why a component is refused before it serves.
async fn refusal(bytes: &[u8]) -> Result<String> {
    let (folder, cache) = (Folder::new(), tempfile::tempdir()?);
    let path = folder.path().join("odd.wasm");
    std::fs::write(&path, bytes)?;
    let output = check_in(&path, cache.path()).await?;
    let said = String::from_utf8(output.stdout)?;
    assert_eq!(output.status.code(), Some(10), "{said}");
    Ok(said.lines().nth(1).context("no line")?.trim_end().to_owned())
}

/// Stores a string's place and length as the answer's data.
fn data(pointer: u32, length: u32) -> String {
    let (at, then) = (REPLY + 8, REPLY + 12);
    format!(
        "(i32.store (i32.const {at}) (i32.const {pointer})) (i32.store (i32.const {then}) (i32.const {length}))"
    )
}

/// Grows something step by step until it is refused, and counts in `$a`.
fn grow(step: &str) -> String {
    format!(
        "(block $full (loop $more (br_if $full (i32.eq {step} (i32.const -1)))
        (local.set $a (i32.add (local.get $a) (i32.const 1))) (br $more)))"
    )
}

/// Answers with the number in `$a`, which is below a million.
fn tell_count() -> String {
    let digits: String = (0..6)
        .map(|digit| {
            let (at, unit) = (HEAP_TEXT + 5 - digit, 10u32.pow(digit));
            let value = format!("(i32.rem_u (i32.div_u (local.get $a) (i32.const {unit})) (i32.const 10))");
            format!("(i32.store8 (i32.const {at}) (i32.add {value} (i32.const 48)))")
        })
        .collect();
    // In quotes, since a number cannot begin with zeros.
    let quotes =
        [HEAP_TEXT - 1, HEAP_TEXT + 6].map(|at| format!("(i32.store8 (i32.const {at}) (i32.const 34))"));
    digits + &quotes.concat() + &data(HEAP_TEXT - 1, 8)
}

/// A place that nothing else uses.
const HEAP_TEXT: u32 = 3500;

/// H07, H08.
#[tokio::test]
async fn the_sum_of_memories_is_limited() -> Result<()> {
    let one = grow("(memory.grow (i32.const 1))");
    let three = ["$a1", "$a2", "$a3"].map(|memory| grow(&format!("(call {memory})"))).concat();
    let in_turns = grow("(call $a1)").replace("(br $more)", "(drop (call $a2)) (br $more)");
    let others: &[&str] = &["a1", "a2", "a3"];
    // Pages of 64 KiB: 16 MiB minus the initial ones.
    let cases = [(&[][..], one, 255), (others, three, 252), (others, in_turns, 126)];
    for (others, grows, expected) in cases {
        let guest = Guest { dispatch: grows + &tell_count(), ..Guest::default() }.with_memories(others);
        let told = answer(&guest, "memory = \"16MiB\"").await?;
        assert_eq!(told["data"], json!(format!("{expected:06}")), "{others:?}: {told}");
    }
    Ok(())
}

/// H07.
#[tokio::test]
async fn a_hoarding_guest_stays_within_its_limit() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    folder.write("misbehaves.toml", RESTLESS);
    let mut host = Raw::start(folder.path()).await?;
    let process = host.child.id().context("an id")?;
    let before = memory(process, "VmRSS")?;
    for id in 1..=4 {
        host.call(id, "misbehaves", &json!({"action": "hoard"})).await?;
        let told = host.answer().await?["result"]["structuredContent"].take();
        assert_eq!(told["error"], "the plugin `misbehaves` asked for more memory than it may have", "{told}");
        assert!(
            told["hint"].as_str().is_some_and(|hint| hint.contains("`limits.memory` (now 64MiB)")),
            "{told}"
        );
    }
    // One call's memory, since each of the four gave it back.
    let most = memory(process, "VmHWM")? - before;
    assert!(most < 100 << 20, "{most} bytes");
    host.finish().await?;
    Ok(())
}

/// A component with so many instances of a module of these fields.
fn crowd(instances: usize, fields: &str) -> Guest {
    let items = format!("(core module $m {fields})") + &"(core instance (instantiate $m))".repeat(instances);
    Guest { items, ..Guest::default() }
}

/// H08, H36.
#[tokio::test]
async fn a_component_of_too_many_parts_is_refused() -> Result<()> {
    let nested = {
        let part = "(component $part (core module $m (memory 320)) (core instance (instantiate $m)))";
        let items = part.to_owned() + &"(instance (instantiate $part))".repeat(4);
        Guest { items, ..Guest::default() }
    };
    let sum = "asked for more memory than it may have";
    let parts = "is made of more than 48 core instances, 4 memories or 16 tables";
    for (what, guest, expected) in [
        ("100 instances of 60 MiB", crowd(100, "(memory 960)"), sum),
        ("five memories that are empty", crowd(4, "(memory 0)"), parts),
        ("three memories of 30 MiB", crowd(3, "(memory 480)"), sum),
        ("four memories of 20 MiB in nested components", nested, sum),
        ("10,000 empty instances", crowd(10_000, ""), "instances count exceeds limit"),
        ("900 empty instances", crowd(900, ""), parts),
        ("one instance too many", crowd(48, ""), parts),
    ] {
        let said = refusal(&guest.bytes()).await?;
        assert!(said.contains(expected), "{what}: {said}");
    }
    let whole = answer(&crowd(47, ""), "").await?;
    assert_eq!(whole["data"], "gone", "{whole}");
    Ok(())
}

/// H09.
#[tokio::test]
async fn tables_are_bounded_in_number_and_in_sum() -> Result<()> {
    let grow = |table: &str| grow(&format!("(table.grow {table} (ref.null func) (i32.const 1000))"));
    let tables = "(table $t1 0 funcref) (table $t2 0 funcref)";
    let fields = tables.to_owned();
    let dispatch = grow("$t1") + &grow("$t2") + &tell_count();
    let told = answer(&Guest { fields, dispatch, ..Guest::default() }, "tables = 50_000").await?;
    assert_eq!(told["data"], "000050", "thousands: {told}");

    let bomb = "(drop (table.grow $t1 (ref.null func) (i32.const 1000000000)))".to_owned();
    let told =
        answer(&Guest { fields: tables.into(), dispatch: bomb + "unreachable", ..Guest::default() }, "")
            .await?;
    assert_eq!(told["error"], "the plugin `odd` asked for larger tables than it may have", "{told}");
    assert!(
        told["hint"].as_str().is_some_and(|hint| hint.contains("`limits.tables` (now 100000)")),
        "{told}"
    );

    for (fields, expected) in [
        ("(table 1000000000 funcref)".to_owned(), "table"),
        ("(table 100001 funcref)".to_owned(), "asked for larger tables than it may have"),
        ("(table 60000 funcref)".repeat(2), "asked for larger tables than it may have"),
        ("(table 1 funcref)".repeat(17), "table"),
        ("(table 1 funcref)".repeat(10_000), "table"),
    ] {
        let said = refusal(&Guest { fields: fields.clone(), ..Guest::default() }.bytes()).await?;
        assert!(said.contains(expected), "{fields:.60}: {said}");
    }
    Ok(())
}

/// H10.
#[tokio::test]
async fn oversized_results_are_refused_before_allocation() -> Result<()> {
    const GIB: u32 = 1 << 30;
    // Some 256 KiB, and a list of 4,000 pairs that all are this text: more than the guest's whole memory, many times.
    let (text, list, pairs) = (65_536, 65_536 + (256 << 10), 4000);
    let pair = |at: u32, value: u32| {
        format!("(i32.store (i32.add (local.get $a) (i32.const {at})) (i32.const {value}))")
    };
    let pairs_of_one_text = format!(
        "(drop (memory.grow (i32.const 8))) (local.set $a (i32.const {list}))
        (memory.fill (i32.const {text}) (i32.const 120) (i32.const {}))
        (loop $more {} {} {} {} (local.set $a (i32.add (local.get $a) (i32.const 16)))
            (br_if $more (i32.lt_u (local.get $a) (i32.const {}))))
        (i32.store (i32.const {}) (i32.const {list})) (i32.store (i32.const {}) (i32.const {pairs}))",
        256 << 10,
        pair(0, text),
        pair(4, 0),
        pair(8, text),
        pair(12, 256 << 10),
        list + pairs * 16,
        REPLY + 8 + 132,
        REPLY + 8 + 136,
    );
    let one_text =
        format!("(drop (memory.grow (i32.const {}))) {}", (GIB >> 16) - 1, data(65_536, GIB - 65_536));
    let folder = Folder::new();
    let names = ["pairs", "one_text"];
    for (name, dispatch) in names.into_iter().zip([pairs_of_one_text, one_text]) {
        Guest { name, dispatch, ..Guest::default() }.put(&folder);
        folder.write(&format!("{name}.toml"), "[limits]\nmemory = \"1024MiB\"\n");
    }
    let mut host = Raw::start(folder.path()).await?;
    let process = host.child.id().context("an id")?;
    let before = memory(process, "VmHWM")?;
    for (id, name) in (1..).zip(names) {
        host.call(id, name, &json!({"action": "go"})).await?;
        let told = host.answer().await?["result"]["structuredContent"].take();
        let error = format!("the plugin `{name}` gave a result that is too large");
        assert_eq!(told["error"], error, "{told}");
        assert!(
            told["hint"].as_str().is_some_and(|hint| hint.contains("`limits.result` (now 1MiB)")),
            "{told}"
        );
    }
    let more = memory(process, "VmHWM")? - before;
    assert!(more < 64 << 20, "{more} bytes");
    host.finish().await?;
    Ok(())
}

/// H11.
#[tokio::test]
async fn ill_typed_results_are_the_plugins_fault() -> Result<()> {
    const TAG: u32 = 1 << 31;
    let bytes = |encoding, bytes: &[u8], units: u32| {
        let stored: String = (0u32..)
            .zip(bytes)
            .map(|(at, byte)| format!("(i32.store8 (i32.const {}) (i32.const {byte}))", HEAP_TEXT + at))
            .collect();
        (encoding, stored + &data(HEAP_TEXT, units))
    };
    let byte = |at: u32, value: u32| {
        ("utf8", format!("(i32.store8 (i32.const {}) (i32.const {value}))", REPLY + at))
    };
    let list = |at: u32, pointer: u32, length: u32| {
        let (place, then) = (REPLY + 8 + at, REPLY + 12 + at);
        let stored = format!(
            "(i32.store (i32.const {place}) (i32.const {pointer})) (i32.store (i32.const {then}) (i32.const {length}))"
        );
        ("utf8", stored)
    };
    let lone = [b'"', 0, 0x00, 0xd8, b'"', 0];
    let cases = [
        ("a text that is longer than all memory", ("utf8", data(2048, 1 << 31))),
        ("a text that begins behind all memory", ("utf8", data(0xffff_fff0, 32))),
        ("a text that ends one byte behind memory", ("utf8", data(65_530, 7))),
        ("a text whose bytes are not UTF-8", bytes("utf8", b"\"\xff\xfe\"", 4)),
        ("a text that ends in the midst of a character", bytes("utf8", b"\"\xe2\x82", 3)),
        ("an overlong zero", bytes("utf8", b"\"\xc0\x80\"", 4)),
        ("a surrogate in UTF-8", bytes("utf8", b"\"\xed\xa0\x80\"", 5)),
        ("half a pair in UTF-16", bytes("utf16", &lone, 3)),
        ("half a pair in UTF-16, marked in a length", bytes("latin1+utf16", &lone, 3 | TAG)),
        ("UTF-16 at an odd place", ("utf16", data(2049, 4))),
        ("UTF-16 at an odd place, marked in a length", ("latin1+utf16", data(2049, 4 | TAG))),
        ("Latin-1 at an odd place", ("latin1+utf16", data(2049, 4))),
        ("UTF-16 of 2^31 units", ("utf16", data(2048, 1 << 31))),
        ("UTF-16 of 2^30 units, marked in a length", ("latin1+utf16", data(2048, (1 << 30) | TAG))),
        ("2^31 blocks at a bogus place", list(124, 0xdead_beec, 1 << 31)),
        ("blocks at an odd place", list(124, 4097, 1)),
        ("2^31 pairs", list(132, 4096, 1 << 31)),
        ("blocks enough to wrap all sizes around", list(124, 4096, 0xffff_ffff)),
        ("neither a reply nor a failure", byte(0, 2)),
        ("neither a message nor none", byte(16, 9)),
        ("a record at an odd place", ("utf8", format!("(return (i32.const {}))", REPLY + 1))),
        ("a record that ends behind memory", ("utf8", "(return (i32.const 65528))".to_owned())),
        ("a record at -8", ("utf8", "(return (i32.const -8))".to_owned())),
    ];
    let folder = Folder::with(&["echo"]);
    let mut said = String::new();
    for (what, (encoding, dispatch)) in cases {
        Guest { dispatch, encoding, ..Guest::default() }.put(&folder);
        let (client, log) = Client::stdio_logged(folder.path(), |command| {
            command.env("LOGGIA_LOG", "debug");
        })
        .await?;
        let told = client.envelope("odd", json!({"action": "go"})).await?;
        assert_eq!(told["error"], "the plugin `odd` gave a result that cannot be read", "{what}: {told}");
        let added = client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await?;
        assert_eq!(added["data"], 3.0, "after {what}: {added}");
        client.end().await?;
        let log = log.await??;
        let reason =
            log.lines().find_map(|line| line.split_once("WARN   ")?.1.strip_suffix(" facade=\"odd\""));
        writeln!(said, "{what}: {}", reason.with_context(|| log.clone())?)?;
    }
    insta::assert_snapshot!("bogus_answers", said);
    Ok(())
}

/// H11.
#[tokio::test]
async fn invalid_allocations_are_the_guests_fault() -> Result<()> {
    // The allocation is requested when its schema is read.
    for place in [-64, 65_536 - 8, i32::MAX] {
        let describe = format!("(global.set $heap (i32.const {place}))");
        // A name that is longer than the remaining memory.
        let guest = Guest { describe, action: "long_enough", ..Guest::default() };
        let said = refusal(&guest.bytes()).await?;
        let expected = "`schema(\"long_enough\")` failed: it gave a result that cannot be read";
        assert!(said.ends_with(expected), "{place}: {said}");
    }
    Ok(())
}

/// H12.
#[tokio::test]
async fn handles_that_are_never_given_back_run_out() -> Result<()> {
    let folder = Folder::with(&["hoards"]);
    // The guest's own resources are entries of the engine's, not of its memory.
    let items = r#"(type $thing (resource (rep i32))) (core func $new (canon resource.new $thing))
        (core instance $things (export "new" (func $new)))"#;
    let makes = r#"(import "things" "new" (func $new (param i32) (result i32)))"#;
    let dispatch = grow("(call $new (i32.const 7))") + &tell_count();
    let own = Guest {
        name: "own",
        imports: makes.into(),
        with: r#"(with "things" (instance $things))"#.into(),
        items: items.into(),
        dispatch,
        ..Guest::default()
    };
    own.put(&folder);
    let policy = "[limits]\nhandles = 100\nbreaker-faults = 1000\n";
    for name in ["hoards", "own"] {
        folder.write(&format!("{name}.toml"), policy);
    }
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    for (name, arguments) in [
        ("hoards", json!({"action": "handles", "n": 101})),
        ("hoards", json!({"action": "handles", "n": 1_000_000})),
        ("hoards", json!({"action": "waits", "n": 1_000_000})),
        ("own", json!({"action": "go"})),
    ] {
        let told = client.envelope(name, arguments).await?;
        let error = format!("the plugin `{name}` held more than 100 handles at once");
        assert_eq!(told["error"], error, "{told}");
        assert!(
            told["hint"].as_str().is_some_and(|hint| hint.contains("`limits.handles` (now 100)")),
            "{told}"
        );
    }
    let fine = client.envelope("hoards", json!({"action": "handles", "n": 90})).await?;
    assert_eq!(fine["data"], 90, "{fine}");
    client.end().await
}

/// H22.
#[tokio::test]
async fn descriptor_leaks_exhaust_only_the_guest() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    let granted = folder.beside("granted");
    std::fs::write(granted.join("file"), "text")?;
    let dir = format!("{{ path = {granted:?}, at = \"/data\", access = \"read\" }}");
    folder.write("misbehaves.toml", &format!("[grants]\ndirs = [{dir}]\n"));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let failed = client.envelope("misbehaves", json!({"action": "open_many", "path": "/data/file"})).await?;
    let hint =
        "it had as many files open as a call may, which is 64; the operator can raise `limits.descriptors`";
    assert_eq!((&failed["ok"], &failed["hint"]), (&json!(false), &json!(hint)), "{failed}");
    let fine = client.envelope("misbehaves", json!({"action": "read", "path": "/data/file"})).await?;
    assert_eq!(fine["data"], "text");
    client.end().await
}

/// H13, H14.
#[tokio::test]
async fn data_between_guest_and_host_is_limited() -> Result<()> {
    let folder = Folder::with(&["pesters"]);
    folder.write("pesters.toml", "[limits]\nmemory = \"128MiB\"\nbreaker-faults = 1000\n");
    let mut host = Raw::start(folder.path()).await?;
    let process = host.child.id().context("an id")?;
    let mut ids = 1..;
    let mut call = async |host: &mut Raw, arguments: Value| -> Result<Value> {
        let id = ids.next().context("an id")?;
        host.call(id, "pesters", &arguments).await?;
        Ok(host.answer().await?["result"]["structuredContent"].take())
    };
    let before = memory(process, "VmHWM")?;
    let (mib, random) = (1 << 20, "asked for more random bytes at once than it may");
    for (arguments, error, key) in [
        (json!({"action": "random", "bytes": 64 * mib, "times": 100}), random, "`limits.random` (now 64KiB)"),
        (
            json!({"action": "random", "bytes": (64 << 10) + 1, "times": 1}),
            random,
            "`limits.random` (now 64KiB)",
        ),
        (
            json!({"action": "random", "bytes": u64::MAX >> 12, "times": 1}),
            random,
            "`limits.random` (now 64KiB)",
        ),
        (
            json!({"action": "shout", "bytes": 100 * mib}),
            "passed more data to the host at once than it may",
            "`limits.host-data` (now 4MiB)",
        ),
    ] {
        let told = call(&mut host, arguments.clone()).await?;
        assert_eq!(told["error"], format!("the plugin `pesters` {error}"), "{arguments}: {told}");
        assert!(told["hint"].as_str().is_some_and(|hint| hint.contains(key)), "{arguments}: {told}");
    }
    // The guest's own hundred mebibytes, and not the host's copy of them.
    let more = memory(process, "VmHWM")? - before;
    assert!(more < 160 << 20, "{more} bytes");
    for arguments in [
        json!({"action": "random", "bytes": 64 << 10, "times": 3}),
        json!({"action": "shout", "bytes": 3 * mib}),
    ] {
        let told = call(&mut host, arguments.clone()).await?;
        assert_eq!(told["ok"], true, "{arguments}: {told}");
    }
    host.finish().await?;
    Ok(())
}

/// H15.
#[tokio::test]
async fn recursion_ends_at_the_stack_limit() -> Result<()> {
    let folder = Folder::with(&["misbehaves", "pesters"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    for (name, action) in [("misbehaves", "recurse"), ("pesters", "dive")] {
        let told = client.envelope(name, json!({"action": action})).await?;
        let error = format!("the plugin `{name}` recursed deeper than 512KiB of stack");
        assert_eq!(told["error"], error, "{told}");
    }
    let fine = client.envelope("misbehaves", json!({"action": "leak"})).await?;
    assert_eq!(fine["ok"], true, "{fine}");
    client.end().await
}
