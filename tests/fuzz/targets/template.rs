//! Any template on any data yields the same result each time, within its limits, or a message without data. It fits a
//! small stack.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loggia_fuzz::told;
use loggia_workflow::template::{EvalError, ExpandedText, TemplateScope, TextTemplate};
use serde_json::{Value, json};

/// Between a template and its data. Without it, the data is this target's own.
const THEN: &str = "\n====\n";
/// Value that occurs only in data.
const SECRET: &str = "hunter2-hunter2";
/// Stack of the thread that evaluates templates: a quarter of tokio's default.
const STACK: usize = 512 << 10;
/// Maximum output of a template: `template/limits.rs`.
const OUTPUT: usize = 10 << 20;

fuzz_target!(|input: &str| {
    let (source, data) = input.split_once(THEN).unwrap_or((input, ""));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(scope, || look(source, data)).expect("a thread");
    });
});

fn look(source: &str, data: &str) {
    let template = match TextTemplate::parse(source) {
        Ok(template) => template,
        Err(error) => {
            assert!(error.at.is_none_or(|at| at <= source.len()), "{error}");
            return told::line("what is wrong with a template", &error.message, 2048);
        }
    };
    assert_eq!(template.source(), source);
    assert!(template.references().iter().all(|reference| !reference.path.is_empty()));
    let Value::Object(base) = serde_json::from_str(data).unwrap_or_else(|_| default()) else { return };
    let item = json!({"item": {"name": SECRET, "n": [1, 2.5, null]}, "index": 0});
    for for_each in [None, Some(&item)] {
        let scope = TemplateScope { base: &base, for_each };
        let [loose, strict] = [false, true].map(|strict| {
            let once = template.expand(&scope, strict);
            assert_eq!(once, template.expand(&scope, strict), "expanded twice");
            came(&once, source);
            once
        });
        if let Ok(strict) = strict {
            assert_eq!(loose.as_ref(), Ok(&strict), "strict gives what is given otherwise, or an error");
        }
    }
}

fn came(of: &Result<ExpandedText, EvalError>, source: &str) {
    match of {
        Ok(expanded) => assert!(expanded.text.len() <= OUTPUT, "{} bytes", expanded.text.len()),
        Err(EvalError { message, hint }) => {
            told::line("a template's error", message, 2048);
            told::line("its hint", hint.as_deref().unwrap_or_default(), 2048);
            assert!(!message.contains("hunter2") || source.contains("hunter2"), "{message}");
        }
    }
}

fn default() -> Value {
    json!({
        "params": {"title": "Test", "n": 3, "frac": 2.5, "nul": null, "list": ["a", "b", {"k": 1}], "empty": "",
            "on": true, "big": 9_007_199_254_740_993_i64, "biggest": u64::MAX, "least": i64::MIN, "tiny": 5e-324,
            "float": 1_234_567.0, "uni": "héllo ☃", "obj": {"key": "value", "a": 1, "z": null}, "secret": SECRET},
        "steps": {
            "fetch": {"status": "completed", "output": {"text": "[\"apple\", {\"k\": 12}]", "data": "D"}},
            "my-step": {"output": {"v": "hv"}}},
        "vars": {"deep": [[[[[[[[1]]]]]]]]},
        "workflow": {"id": "w", "duration_ms": 2500}
    })
}
