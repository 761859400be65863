//! `check`.

use std::fmt::Write;

use super::*;

/// Programs, most of them with mistakes.
const PROGRAMS: [&str; 20] = [
    "return (await memories.list()).length",
    "const [m] = await memories.list.full({ limit: 5 }); await memories.delete({ id: m.id })",
    "const x = ;",
    "await memorys.list()",
    "await memories.lst()",
    "await memories.lst.full()",
    "await memories['remember']({ title: 'a' })",
    "await memories.add({ titel: 'a', tags })",
    "const title = 'a';\nawait memories.add({ titel: title })",
    "await memories.add({ tags: [input] })",
    "await memories.add({ ...input, tags: [] })",
    "await memories.add('tea')",
    "await memories.add({ title: 'a' }, 5)",
    "await call('memory', 'list'); await call('memories', 'add', {})",
    "const memories = { x() {} }; memories.x()",
    "function f({ files }) { files.x() } f(input); Math.max(1); console.log(1); foo.bar()",
    "for (const m of input) { m.go() } try { } catch (e) { e.stack.trim() }",
    "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1)))))",
    "await import('fs')",
    "const all = []; all.push(1); [1].map(x => x.y()); 'a'.trim()",
];

#[test]
fn mistakes_are_found_without_running() {
    let missing = Failure::invalid_params("`title` is required").hint("Pass it.");
    let host = world().refuse("memories", "remember", missing.clone()).refuse("memories", "add", missing);
    let mut text = String::new();
    for code in PROGRAMS {
        let verdict = host.call(&Script, "check", json!({"code": code})).unwrap().data;
        writeln!(text, "{code}\n=> {verdict}\n").unwrap();
    }
    assert!(host.requests().is_empty());
    insta::assert_snapshot!(text);
}

/// `check` reads, and so may not call what it checks.
#[test]
fn effects_do_not_fail_a_check() {
    let denied =
        Failure::denied("access denied: a read action may not call it").details(json!({"effect": "write"}));
    let host = world().refuse("memories", "add", denied);
    let verdict =
        host.call(&Script, "check", json!({"code": "await memories.add({ title: 'a' })"})).unwrap().data;
    assert_eq!((&verdict["valid"], &verdict["action"]), (&json!(true), &json!("run")));
}
