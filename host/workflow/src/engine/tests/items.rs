//! Loops. Case 36.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    super::{RunPlan, StepChange},
    plans::plan,
    simulator::{Asked, fails, ok, run},
};

fn each(more: Value) -> RunPlan {
    let mut step = json!({"id": "each", "type": "forEach", "collection": "{{json .params.items}}", "step": {"tool": "t.run",
        "arguments": {"item": "{{.forEach.item}}", "place": "{{.forEach.index}}"}}});
    more.as_object().unwrap().iter().for_each(|(name, value)| step[name] = value.clone());
    plan(json!([step]))
}

#[test]
fn each_item_is_a_call_and_the_results_stand_in_the_lists_order() {
    let plan = each(json!({}));
    // The first item takes longest.
    let run = run(&plan, json!({"items": ["a", "b", "c"]}), |asked| {
        let item = asked.task.item.unwrap();
        ok(30 - 10 * item as u64, json!({"of": asked.params["item"]}))
    });
    let one = |index: usize, item: &str| json!({"index": index, "item": item, "status": "completed", "output": {"of": item}});
    assert_eq!(
        *run.result(),
        json!({"iterations": [one(0, "a"), one(1, "b"), one(2, "c")], "count": 3, "completed": 3, "failed": 0})
    );
    let given: Vec<&Value> = run.asked.iter().map(|(_, asked)| &asked.params).collect();
    assert_eq!(given[1], &json!({"item": "b", "place": "1"}));
    let keys: Vec<&str> = run.asked.iter().map(|(_, asked)| asked.idempotency_key.as_str()).collect();
    assert_eq!(keys, ["run-1/each#0", "run-1/each#1", "run-1/each#2"]);
    assert!(run.news.iter().any(|news| news.item == Some(2) && news.change == StepChange::Completed));
}

#[test]
fn a_collection_is_a_list_or_a_text_that_spells_one() {
    for (collection, items, count) in [
        ("{{.params.items}}", json!(["a", "b", "c"]), 3),
        ("{{.params.items}}", json!("[\"a\",\"b\",\"c\"]"), 3),
        ("[1, 2]", json!(null), 2),
        ("{{json .params.items}}", json!([]), 0),
    ] {
        let run =
            run(&each(json!({"collection": collection})), json!({"items": items}), |_| ok(1, json!({})));
        assert_eq!(run.result()["count"], count, "{collection} of {items}");
    }
    for (more, items, message) in [
        (json!({}), json!("abc"), "forEach step each: collection must resolve to a JSON array, got: \"abc\""),
        (
            json!({"collection": "{{.params.nope}}"}),
            json!([]),
            "forEach step each: collection must resolve to a JSON array, got: <no value>",
        ),
        (
            json!({"maxIterations": 2}),
            json!([1, 2, 3]),
            "forEach step each: collection size 3 exceeds maxIterations 2",
        ),
    ] {
        let run = run(&each(more), json!({"items": items}), |_| ok(1, json!({})));
        assert_eq!(run.report().message, message);
    }
}

#[test]
fn items_run_as_many_at_once_as_both_bounds_allow() {
    let items: Vec<u32> = (0..25).collect();
    for (parallel, most, took) in [(2, 2, 130), (10, 10, 30), (50, 10, 30), (0, 1, 250)] {
        let run =
            run(&each(json!({"maxParallel": parallel})), json!({"items": items}), |_| ok(10, json!({})));
        assert_eq!((run.most, run.took), (most, Duration::from_millis(took)), "{parallel}");
    }
}

fn second_fails(asked: &Asked) -> super::simulator::Told {
    if asked.task.item == Some(1) { fails(5, "no") } else { ok(10, json!({})) }
}

#[test]
fn a_failure_stops_the_others_unless_they_go_on() {
    let items = json!({"items": [1, 2, 3]});
    let aborted =
        run(&each(json!({"onError": {"action": "retry", "retryCount": 3}})), items.clone(), second_fails);
    assert_eq!(
        aborted.report().message,
        "forEach step each iteration 1: tool call failed: tool t.run in step each: no"
    );
    assert_eq!(aborted.report().inputs, Some(json!({"item": "2", "place": "1"})));
    assert_eq!((aborted.dropped.len(), aborted.took), (2, Duration::from_millis(5)));
    let plan = each(json!({"onError": {"action": "continue"}}));
    let went_on = run(&plan, items, second_fails);
    assert_eq!(*went_on.ended(&plan, "each"), StepChange::Completed);
    let result = went_on.result();
    assert_eq!((&result["completed"], &result["failed"]), (&json!(2), &json!(1)));
    assert_eq!(
        result["iterations"][1],
        json!({"index": 1, "item": 2, "status": "failed", "output": null, "error": "tool call failed: tool t.run in step each: no"})
    );
}

#[test]
fn an_item_is_tried_again_by_itself_and_the_step_has_one_clock() {
    let step = json!({"tool": "t.run", "onError": {"action": "retry", "retryCount": 2, "retryDelay": 10}});
    let run_two = run(&each(json!({"step": step})), json!({"items": [1, 2]}), |asked| {
        if asked.task.item == Some(0) && asked.task.attempt < 2 { fails(1, "busy") } else { ok(1, json!({})) }
    });
    assert_eq!((run_two.asked.len(), &run_two.result()["completed"]), (4, &json!(2)));
    let late = json!({"timeout": 50, "onError": {"action": "continue"}});
    let plan = each(late);
    let stuck = run(&plan, json!({"items": [1, 2]}), |asked| {
        if asked.task.item == Some(0) { ok(1, json!({})) } else { None }
    });
    assert_eq!(*stuck.ended(&plan, "each"), StepChange::Failed("step each timed out after 50ms".into()));
    let known = serde_json::to_value(&stuck.state).unwrap();
    let output = &known["context"]["steps"]["each"]["output"];
    assert_eq!((&output["completed"], &output["iterations"][1]["status"]), (&json!(1), &json!("cancelled")));
}
