//! Runs that plan their steps.

use serde_json::{Value, json};

use super::{
    plans::plan,
    simulator::{Asked, Run, Told, ok, run},
};

const ITEMS: &str = "{{json .steps.find.output.items}}";

fn order() -> Value {
    json!([
        {"id": "find", "tool": "t.look", "arguments": {"name": "{{.params.name}}"}},
        {"id": "pay", "tool": "t.pay", "arguments": {"what": "{{.steps.find.output.id}}", "sum": "7"}, "dependsOn": ["find"],
            "compensate": {"tool": "t.refund"}},
        {"id": "sure", "type": "elicitation", "message": "Ship {{.params.name}}?"},
        {"id": "ship", "tool": "t.ship", "arguments": {"to": ["{{.steps.pay.output.address}}", "x"]}, "dependsOn": ["pay", "sure"],
            "condition": "{{eq .steps.sure.action \"accept\"}}"},
        {"id": "each", "type": "forEach", "collection": ITEMS, "dependsOn": ["find"],
            "step": {"tool": "t.pack", "arguments": {"item": "{{.forEach.item}}"}}},
        {"id": "rest", "tool": "t.look", "dependsOn": ["pay"], "arguments": {"of": "{{.steps.pay.output.id}}"}},
        {"id": "never", "tool": "t.pay", "condition": "{{eq .params.name \"other\"}}"},
    ])
}

fn look(_: &Asked) -> Told {
    ok(1, json!({"id": "found", "items": ["a", "b"]}))
}

fn planned(run: &Run) -> Vec<String> {
    run.result()["steps"].as_array().unwrap().iter().map(Value::to_string).collect()
}

#[test]
fn a_dry_run_calls_nothing_and_shows_what_follows_from_its_parameters() {
    let run = run(&plan(order()), json!({"dry_run": true, "name": "tea"}), look);
    assert_eq!((run.asked.len(), &run.result()["dry_run"]), (0, &json!(true)));
    insta::assert_snapshot!(planned(&run).join("\n"), @r#"
    {"step":"find","tool":"t.look","changes":false,"arguments":{"name":"tea"},"status":"planned"}
    {"step":"pay","tool":"t.pay","changes":true,"arguments":{"sum":"7","what":"{{.steps.find.output.id}}"},"unresolved":["what"],"undone_by":"t.refund","status":"planned"}
    {"step":"sure","asks":"Ship tea?","status":"planned"}
    {"step":"ship","condition":"{{eq .steps.sure.action \"accept\"}}","tool":"t.ship","changes":true,"arguments":{"to":["{{.steps.pay.output.address}}","x"]},"unresolved":["to"],"status":"planned"}
    {"step":"each","items":"{{json .steps.find.output.items}}","tool":"t.pack","changes":true,"arguments":{"item":"{{.forEach.item}}"},"unresolved":["item"],"status":"planned"}
    {"step":"rest","tool":"t.look","changes":false,"arguments":{"of":"{{.steps.pay.output.id}}"},"unresolved":["of"],"status":"planned"}
    {"step":"never","status":"skipped"}
    "#);
}

#[test]
fn a_dry_run_with_reads_calls_what_changes_nothing() {
    let run = run(&plan(order()), json!({"dry_run": "reads", "name": "tea"}), look);
    assert_eq!(run.order(), ["find"], "what depends on a planned step is unknown");
    insta::assert_snapshot!(planned(&run).join("\n"), @r#"
    {"step":"find","tool":"t.look","changes":false,"arguments":{"name":"tea"},"status":"called"}
    {"step":"sure","asks":"Ship tea?","status":"planned"}
    {"step":"never","status":"skipped"}
    {"step":"pay","tool":"t.pay","changes":true,"arguments":{"what":"found","sum":"7"},"undone_by":"t.refund","status":"planned"}
    {"step":"ship","condition":"{{eq .steps.sure.action \"accept\"}}","tool":"t.ship","changes":true,"arguments":{"to":["{{.steps.pay.output.address}}","x"]},"unresolved":["to"],"status":"planned"}
    {"step":"each","items":2,"tool":"t.pack","changes":true,"arguments":{"item":"a"},"status":"planned"}
    {"step":"rest","tool":"t.look","changes":false,"arguments":{"of":"{{.steps.pay.output.id}}"},"unresolved":["of"],"status":"planned"}
    "#);
}

#[test]
fn a_dry_run_fails_where_the_run_would() {
    let steps = json!({"strict": true, "steps": [{"id": "a", "tool": "t.pay", "arguments": {"p": "{{.params.gone}}"}}]});
    let run = run(&plan(steps), json!({"dry_run": true}), look);
    assert!(run.report().message.contains("failed to expand arguments for step a"), "{:?}", run.report());
}
