//! Programs that misbehave: each ends with its failure. Those under `//!` need the host's limits: see
//! `tests/it/facades/script.rs`, which runs them all.

use std::thread;

use super::*;

/// A program, and how it ends.
struct Case {
    name: &'static str,
    code: String,
    outcome: &'static str,
    text: &'static str,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut is_native = false;
    for line in include_str!("hostile.js").lines() {
        if let Some(heading) = line.strip_prefix("//# ").or_else(|| line.strip_prefix("//! ")) {
            is_native = line.starts_with("//# ");
            let (name, rest) = heading.split_once(" -> ").expect("an arrow");
            let (outcome, text) = rest.split_once(": ").expect("a text");
            if is_native {
                cases.push(Case { name, code: String::new(), outcome, text });
            }
        } else if let Some(case) = cases.last_mut().filter(|_| is_native) {
            case.code.push_str(line);
            case.code.push('\n');
        }
    }
    cases
}

/// Stack of a thread that runs an unoptimised engine.
const STACK: usize = 256 << 20;

#[test]
fn hostile_programs_end_with_their_failure() {
    let cases = cases();
    assert!(cases.len() >= 50, "{}", cases.len());
    let runner = thread::Builder::new().stack_size(STACK).spawn(|| {
        let bad: Vec<String> = cases.into_iter().filter_map(|case| run_case(&case).err()).collect();
        assert!(bad.is_empty(), "{}", bad.join("\n"));
    });
    runner.unwrap().join().unwrap();
}

fn run_case(case: &Case) -> Result<(), String> {
    let Case { name, code, outcome, text } = case;
    // A call takes few steps, and these make as many as they may.
    let host = if name.contains("call") { world().config("steps", 10_000_000) } else { world() };
    let (end, told) = match host.call(&Script, "run", json!({"code": code})) {
        Ok(reply) => ("ok".to_owned(), reply.data.to_string()),
        Err(failure) => (failure.code.clone(), failure.message.clone()),
    };
    let is_right = end == *outcome && told.contains(text);
    if is_right { Ok(()) } else { Err(format!("{name}: {end}: {told}")) }
}
