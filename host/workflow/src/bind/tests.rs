use serde_json::json;

use std::sync::Arc;

use loggia_facade::{Action, Effect, Failure, code};

use super::{BoundWorkflow, bind};
use crate::{FileProblem, definition::parse_file};

/// Looks up: `notes` adds and lists, `shop` sells for good, `clock` has one action.
fn peers(facade: &str, action: &str) -> Result<Action, Failure> {
    let known: &[(&str, &str, Effect)] = &[
        ("notes", "add", Effect::Write),
        ("notes", "list", Effect::Read),
        ("shop", "sell", Effect::Destructive),
        ("clock", "now", Effect::Read),
        ("my_shop", "look_up", Effect::Read),
    ];
    if !known.iter().any(|(name, ..)| *name == facade) {
        return Err(Failure::new(
            code::UNAVAILABLE,
            format!("`{facade}` is unavailable: it is not served now"),
        ));
    }
    let meant = if action.is_empty() && facade == "clock" { "now" } else { action };
    let found = known.iter().find(|(name, own, _)| (*name, *own) == (facade, meant));
    let Some((_, name, effect)) = found else {
        let failure = Failure::new(code::INVALID_PARAMS, format!("Unknown action: \"{meant}\"."));
        return Err(failure.hint("Did you mean \"add\"?"));
    };
    let params = json!({"type": "object", "properties": {"title": {"type": "string"}},
        "required": if *name == "add" { json!(["title"]) } else { json!([]) }, "additionalProperties": false});
    Ok(Action {
        name: (*name).to_owned(),
        summary: String::new(),
        effect: *effect,
        idempotent: false,
        open_world: *facade == *"shop",
        long_running: false,
        details: false,
        aliases: Vec::new(),
        needs: Vec::new(),
        group: None,
        resource: None,
        view: None,
        params: Arc::new(params.as_object().cloned().unwrap_or_default()),
        data: None,
        examples: Vec::new(),
    })
}

/// Binds a workflow of these steps, with these lines before them.
fn bound(head: &str, steps: &str) -> Result<BoundWorkflow, Vec<FileProblem>> {
    let text = format!("name: w\ndescription: d\n{head}steps:\n{steps}");
    let definition = parse_file(&text).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    bind(&Arc::new(definition.workflows[0].clone()), &peers)
}

#[test]
fn a_tool_is_named_by_facade_and_action_in_three_ways() {
    let check = |step: &str, expected: (&str, &str, Option<&str>)| {
        let bound = bound("", &format!("  - {{id: a, {step}}}\n"));
        let bound = bound.unwrap_or_else(|problems| panic!("{step}: {problems:?}"));
        let target = bound.plan.targets[0].as_ref().unwrap();
        let got = (target.facade.as_str(), target.action.as_str(), target.action_argument.as_deref());
        assert_eq!(got, expected, "{step}");
    };
    check("tool: notes.list", ("notes", "list", None));
    check("tool: notes, arguments: {action: add, title: x}", ("notes", "add", Some("action")));
    check("tool: notes, arguments: {cmd: list}", ("notes", "list", Some("cmd")));
    check("tool: clock", ("clock", "now", None));
    check("tool: notes_list", ("notes", "list", None));
    check("tool: my_shop_look_up", ("my_shop", "look_up", None));
    let each = "type: forEach, collection: '[1]', step: {type: tool, tool: notes.list}";
    check(each, ("notes", "list", None));
}

#[test]
fn all_binding_problems_are_reported() {
    let check = |head: &str, step: &str, expected: &[&str]| {
        let problems = bound(head, &format!("  - {{id: a, {step}}}\n")).err().unwrap_or_default();
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(said, expected, "{head}{step}");
    };
    check("", "tool: notes.list", &[]);
    check("", "tool: gone.add", &["line 4: step `a`: `gone` is unavailable: it is not served now"]);
    check("", "tool: notes.ad", &["line 4: step `a`: Unknown action: \"ad\". (Did you mean \"add\"?)"]);
    check("", "tool: notes_ad", &["line 4: step `a`: Unknown action: \"ad\". (Did you mean \"add\"?)"]);
    check("", "tool: notes.add", &["line 4: step `a`: `notes.add` needs the argument `title`"]);
    check(
        "",
        "tool: notes.add, arguments: {titel: x}",
        &[
            "line 4: step `a`: `notes.add` needs the argument `title`",
            "line 4: step `a`: `notes.add` has no argument `titel` (did you mean `title`?)",
        ],
    );
    let safer = "remove the annotation, or the step";
    check(
        "annotations: {readOnlyHint: true}\n",
        "tool: notes.add, arguments: {title: x}",
        &[&format!("line 1: `w` declares `readOnlyHint: true`, but one of its steps is write ({safer})")],
    );
    check(
        "annotations: {destructiveHint: false}\n",
        "tool: shop.sell",
        &[&format!(
            "line 1: `w` declares `destructiveHint: false`, but one of its steps is destructive ({safer})"
        )],
    );
}

#[test]
fn only_a_missing_facade_is_temporary() {
    let check = |head: &str, step: &str, expected: &[bool]| {
        let problems = bound(head, &format!("  - {{id: a, {step}}}\n")).err().unwrap_or_default();
        let temporary: Vec<bool> = problems.iter().map(|problem| problem.temporary).collect();
        assert_eq!(temporary, expected, "{head}{step}");
    };
    check("", "tool: gone.add", &[true]);
    check("", "tool: notes.ad", &[false]);
    check("", "tool: notes.add, arguments: {titel: x}", &[false, false]);
    check("annotations: {readOnlyHint: true}\n", "tool: notes.add, arguments: {title: x}", &[false]);
}

#[test]
fn a_workflow_is_as_harmful_as_the_worst_of_its_steps_or_as_it_says() {
    let check = |head: &str, tools: &[&str], expected: (Effect, bool)| {
        let steps: String = tools
            .iter()
            .enumerate()
            .map(|(at, tool)| format!("  - {{id: s{at}, tool: {tool}, arguments: {{title: x}}}}\n"))
            .collect();
        let bound = bound(head, &steps).unwrap_or_else(|problems| panic!("{problems:?}"));
        assert_eq!((bound.effect, bound.open_world), expected, "{head}{tools:?}");
    };
    check("", &["notes.list"], (Effect::Read, false));
    check("", &["notes.list", "notes.add"], (Effect::Write, false));
    check("", &["shop.sell", "notes.list"], (Effect::Destructive, true));
    check("annotations: {readOnlyHint: false}\n", &["notes.list"], (Effect::Write, false));
    check("annotations: {destructiveHint: true}\n", &["notes.list"], (Effect::Destructive, false));
    check("annotations: {readOnlyHint: true}\n", &["notes.list"], (Effect::Read, false));
}

#[test]
fn everything_in_a_saga_can_be_undone_or_comes_last() {
    const SAGA: &str = "transaction: saga\n";
    let check = |head: &str, steps: &str, expected: &[&str]| {
        let problems = bound(head, steps).err().unwrap_or_default();
        let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{steps}");
    };
    let add =
        |id: &str, more: &str| format!("- {{id: {id}, tool: notes.add, arguments: {{title: x}}{more}}}\n");
    let undo = ", compensate: {tool: shop.sell}";
    let last = ", irreversible: true";
    let needs = |line: usize, id: &str| {
        format!(
            "line {line}: step `{id}`: in a saga, a call that changes something must be undone: `notes.add` \
             (add `compensate: {{tool: …}}`, or `irreversible: true` if nothing undoes it)"
        )
    };
    check("", &add("a", ""), &[]);
    check(SAGA, "- {id: a, tool: notes.list}\n", &[]);
    check(SAGA, &(add("a", undo) + &add("b", ", irreversible: true, dependsOn: [a]")), &[]);
    check(SAGA, &add("a", ""), &[&needs(5, "a")]);
    check(
        SAGA,
        &(add("a", undo) + &add("b", last)),
        &[
            "line 6: step `b`: an irreversible step must be the last that changes something, but `a` may follow \
           (add a to its dependsOn)",
        ],
    );
    check(
        SAGA,
        &(add("a", last) + &add("b", ", irreversible: true, dependsOn: [a]")),
        &[
            "line 5: step `a`: an irreversible step must be the last that changes something, but `b` may follow (add b to its dependsOn)",
        ],
    );
    let each = "- {id: a, type: forEach, collection: '[1]', step: {tool: shop.sell, irreversible: true}}\n";
    check(
        SAGA,
        each,
        &[
            "line 5: step `a`: an irreversible loop must not fail after some of its items (add `onError: {action: continue}`)",
        ],
    );
    check(SAGA, &each.replace("}}", "}, onError: {action: continue}}"), &[]);
    // The compensation is checked like any call.
    check(
        SAGA,
        &add("a", ", compensate: {tool: notes.add}"),
        &["line 5: step `a`: `notes.add` needs the argument `title`"],
    );
    check(
        SAGA,
        &add("a", ", compensate: {tool: gone.x}"),
        &["line 5: step `a`: `gone` is unavailable: it is not served now"],
    );
}

#[test]
fn a_workflow_has_the_effect_of_its_compensations() {
    let step = "- {id: a, tool: notes.add, arguments: {title: x}, compensate: {tool: shop.sell}}\n";
    assert_eq!(bound("", step).unwrap().effect, Effect::Write, "it is no saga");
    let saga = bound("transaction: saga\n", step).unwrap();
    assert_eq!((saga.effect, saga.open_world), (Effect::Destructive, true));
    assert_eq!(saga.plan.compensations[0].as_ref().unwrap().action, "sell");
}

#[test]
fn stated_effects_are_never_weaker_than_the_actions() {
    let step =
        |effect: &str| format!("- {{id: a, tool: notes.add, arguments: {{title: x}}, effect: {effect}}}\n");
    let destructive = bound("", &step("destructive")).unwrap();
    assert_eq!(destructive.effect, Effect::Destructive);
    let problem = bound("", &step("read")).unwrap_err()[0].to_string();
    assert_eq!(
        problem,
        "line 4: step `a`: declares `effect: read`, but `add` is write (a step can only state a stronger effect)"
    );
}

#[test]
fn steps_may_be_skipped_where_what_they_call_is_missing() {
    let step = |tool: &str| format!("- {{id: a, tool: {tool}, onMissing: continue}}\n");
    for missing in ["gone.x", "gone"] {
        assert!(bound("", &step(missing)).unwrap().plan.targets[0].is_none(), "{missing}");
    }
    assert!(bound("", &step("notes.list")).unwrap().plan.targets[0].is_some());
    assert!(bound("", &step("notes.add")).is_err(), "it is there, and the call is wrong");
}
