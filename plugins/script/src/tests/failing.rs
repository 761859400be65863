//! Failures of programs: what a model reads.

use std::fmt::Write;

use super::*;

/// Programs that fail.
const PROGRAMS: [&str; 22] = [
    "const x = ;",
    "return (1 + 2",
    "const s = 'no end",
    "await import('fs')",
    "import fs from 'fs'",
    "let a = 1;\nlet b = {};\nreturn b.c.d",
    "const f = () => { throw new TypeError('bad') };\nawait 1;\nf()",
    "return memory.list()",
    "return await fetch('https://example.com')",
    "return await memories.lst()",
    "return await call('memory', 'list')",
    "const all = await memories.list();\nfor (const m of all) {\n  await memories.get({ id: m.title });\n}",
    "memories.get({ id: 'm_0009' });\nreturn 1",
    "await Promise.all([memories.list(), memories.get({ id: 'm_0008' })])",
    "await memories.list('tea')",
    "try { await memories.get({ id: 'm_0009' }) } catch (e) { throw new Error('wrapped: ' + e.message) }",
    "throw { code: 5 }",
    "throw null",
    "await new Promise(() => {})",
    "return () => 1",
    "return { at: [{ now: memories.list() }] }",
    "for (;;) {}",
];

#[test]
fn each_failure_names_line_and_call() {
    let mut text = String::new();
    for code in PROGRAMS {
        let failure = world().call(&Script, "run", json!({"code": code})).unwrap_err().into_parts();
        writeln!(text, "{code}\n=> {}: {}", failure.code, failure.message).unwrap();
        if let Some(hint) = failure.hint {
            writeln!(text, "   hint: {hint}").unwrap();
        }
        if let Some(details) = failure.details {
            writeln!(text, "   details: {details}").unwrap();
        }
        if let Some(next) = failure.next {
            writeln!(text, "   next: {:?}.{}", next.facade, next.action).unwrap();
        }
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn output_before_a_failure_is_kept() {
    let code = "console.log('step 1'); await memories.list(); throw new Error('stop')";
    let failure = world().call(&Script, "run", json!({"code": code})).unwrap_err();
    assert_eq!(failure.details.as_ref().unwrap()["console"], json!(["step 1"]));
    assert_eq!(failure.details.as_ref().unwrap()["calls"], 1);
}

#[test]
fn nothing_is_called_without_a_grant() {
    let host = Host::new();
    let run = |code: &str| host.call(&Script, "run", json!({"code": code}));
    assert_eq!(run("return 1").unwrap().data["result"], 1);
    assert_eq!(run("return memories.list()").unwrap_err().code, "failed");
    assert_eq!(run("return call('memories', 'list')").unwrap_err().code, "denied");
    assert_eq!(host.call(&Script, "types", json!({})).unwrap_err().code, "denied");
    assert_eq!(host.call(&Script, "check", json!({"code": "1"})).unwrap_err().code, "denied");
}

#[test]
fn the_operator_limits_calls_and_steps() {
    let host = world().config("calls", 2);
    let code = "for (let i = 0; i < 3; i++) await memories.list()";
    let failure = host.call(&Script, "run", json!({"code": code})).unwrap_err();
    assert!(failure.message.contains("a program may make 2 calls"), "{failure}");
    assert_eq!(host.requests().len(), 2);
    let host = world().config("steps", 1000);
    let failure =
        host.call(&Script, "run", json!({"code": "for (let i = 0; i < 1000; i++) {}"})).unwrap_err();
    assert_eq!(failure.code, "timed_out");
    let host = world().config("steps", "many");
    assert_eq!(host.call(&Script, "run", json!({"code": "return 1"})).unwrap_err().code, "internal");
}
