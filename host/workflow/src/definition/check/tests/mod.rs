use crate::definition::{parse_file, parse_file_with_notes};

/// Text of a strict workflow at the root, with these steps and optional fields before `---`.
fn workflow(steps: &str) -> String {
    let (more, steps) = steps.split_once("---\n").unwrap_or(("", steps));
    format!("name: t\ndescription: d\n{more}steps:\n{steps}")
}

/// Text of the workflow as ToolHive's resource, which is not strict.
fn wrapped(steps: &str) -> String {
    format!("spec:\n  {}\n", workflow(steps).trim_end().replace('\n', "\n  "))
}

fn problems(text: &str) -> Vec<String> {
    match parse_file(text) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.0.iter().map(ToString::to_string).collect(),
    }
}

fn warnings(text: &str) -> Vec<String> {
    parse_file(text).expect(text).warnings.iter().map(ToString::to_string).collect()
}

/// Text of a step that may be skipped, and a step that refers to it.
fn skippable(defaults: &str, other: &str) -> String {
    workflow(&format!(
        "parameters: {{type: object, properties: {{on: {{type: boolean}}}}}}\n---\n\
         - {{id: s, tool: x.y, condition: '{{{{.params.on}}}}'{defaults}}}\n\
         - {{id: t, dependsOn: [s], {other}}}\n"
    ))
}

const SEED: &str =
    "step 's' can be skipped but is referenced by downstream steps without defaultResults defined";

/// Case 40 of the research page's §1.15.
#[test]
fn references_to_skippable_steps_need_defaults() {
    let needs = |text: &str, field: &str, by: &str| {
        let told = problems(text);
        let expected = format!(
            "line 5: steps[s].defaultResults[{field}] is required: step \"s\" may be skipped and field \"{field}\" is \
             referenced by {by}; {SEED} (add `{field}` to the defaultResults of `s`)"
        );
        assert_eq!(told, [expected], "{text}");
    };
    let fine = |text: &str| assert_eq!(problems(text), [""; 0], "{text}");
    const DATA: &str = "'{{.steps.s.output.data}}'";
    let argument = |argument: &str| format!("tool: x.y, arguments: {{p: {argument}}}");

    needs(&skippable("", &argument(DATA)), "data", "step t");
    needs(
        &skippable("", &argument("'{{.steps.s.output.data.more}} {{.steps.s.output.data}}'")),
        "data",
        "step t",
    );
    needs(&skippable("", &argument("'{{index .steps.s.output.items 0}}'")), "items", "step t");
    needs(&skippable(", defaultResults: {other: 1}", &argument(DATA)), "data", "step t");
    needs(&skippable("", "tool: x.y, condition: '{{.steps.s.output.ok}}'"), "ok", "step t");
    let ask = "type: elicitation, schema: {type: object}, message: '{{.steps.s.output.text}}?'";
    needs(&skippable("", ask), "text", "step t");
    let output = "tool: x.y}\noutput: {properties: {p: {type: string, description: d, value: '{{.steps.s.output.data}}'}}";
    needs(&skippable("", output), "data", "output");
    // ToolHive does not check these.
    needs(&skippable("", &argument("{q: [{r: '{{.steps.s.output.data}}'}]}")), "data", "step t");
    needs(&skippable("", &argument("'{{(index .steps \"s\").output.data}}'")), "data", "step t");
    needs(
        &skippable("", "type: forEach, collection: '{{json .steps.s.output.items}}', step: {tool: x.y}"),
        "items",
        "step t",
    );
    let inner = format!("type: forEach, collection: '[]', step: {{{}}}", argument(DATA));
    needs(&skippable("", &inner), "data", "step t");

    fine(&skippable(", defaultResults: {data: null}", &argument(DATA)));
    fine(&skippable("", &argument("'{{.steps.s.status}} {{.steps.s.error}}'")));
    let bare = skippable("", &argument("'{{json .steps.s.output}}'"));
    fine(&bare);
    assert!(warnings(&bare)[0].ends_with(SEED), "{:?}", warnings(&bare));

    let failing = |on_error: &str| {
        workflow(&format!(
            "---\n\n- {{id: s, tool: x.y, onError: {{{on_error}}}}}\n\
             - {{id: t, dependsOn: [s], tool: x.y, arguments: {{p: {DATA}}}}}\n"
        ))
    };
    needs(&failing("action: continue"), "data", "step t");
    fine(&failing("action: abort"));
    fine(&failing("action: retry, retryCount: 3"));
}

#[test]
fn the_example_of_the_seed_has_its_message() {
    let text = "compositeTools:\n- name: t\n  description: d\n  parameters: {type: object, properties: {enabled: {type: boolean}}}\n  \
                steps:\n  - id: conditional_step\n    tool: backend.fetch\n    condition: '{{.params.enabled}}'\n  \
                - id: use_result\n    tool: backend.process\n    arguments:\n      \
                data: '{{.steps.conditional_step.output.value}}'\n    dependsOn: [conditional_step]\n";
    let told = problems(text);
    assert_eq!(told.len(), 1, "{told:?}");
    for part in [
        "line 6: ",
        "compositeTools[0].steps[conditional_step].defaultResults[value] is required",
        "step 'conditional_step' can be skipped but is referenced by downstream steps without defaultResults defined",
    ] {
        assert!(told[0].contains(part), "{part}: {told:?}");
    }
}

#[test]
fn references_must_lead_somewhere() {
    let check = |steps: &str, expected: &[&str]| {
        assert_eq!(problems(&workflow(steps)), expected, "{steps}");
        assert_eq!(problems(&wrapped(steps)), [""; 0], "{steps}");
        let told: Vec<String> = expected.iter().map(|said| after_line(said)).collect();
        let warned: Vec<String> = warnings(&wrapped(steps)).iter().map(|said| after_line(said)).collect();
        assert_eq!(warned, told, "{steps}");
    };
    const PARAMS: &str = "parameters: {type: object, properties: {query: {type: string}}}\n---\n";
    check(&format!("{PARAMS}- {{id: a, tool: x.y, arguments: {{p: '{{{{.params.query}}}}'}}}}\n"), &[]);
    check(
        &format!("{PARAMS}- {{id: a, tool: x.y, arguments: {{p: '{{{{.params.qurey}}}}'}}}}\n"),
        &[
            "line 5: step `a` refers to `.params.qurey`, which the parameters do not define (did you mean `query`?)",
        ],
    );
    check(
        &format!("{PARAMS}- {{id: a, tool: x.y, arguments: {{p: '{{{{.query}}}}'}}}}\n"),
        &["line 5: step `a` refers to `.query`, which does not exist (write `.params.query`)"],
    );
    let open = PARAMS.replace("{query", "{}, additionalProperties: true, patternProperties: {query");
    check(&format!("{open}- {{id: a, tool: x.y, arguments: {{p: '{{{{.params.other}}}}'}}}}\n"), &[]);
    check(
        "- {id: fetch, tool: x.y}\n- {id: b, tool: x.y, dependsOn: [fetch], condition: '{{.steps.fecth.output.x}}'}\n",
        &["line 5: step `b` refers to step `fecth`, which does not exist (did you mean `fetch`?)"],
    );
    check(
        "- {id: a, tool: x.y}\n- {id: b, tool: x.y, arguments: {p: ['{{.steps.a.output.x}} {{.steps.a.output.y}}']}}\n",
        &["line 5: step `b` refers to `.steps.a`, but does not depend on it: add a to its dependsOn"],
    );
    check(
        "- {id: a, tool: x.y}\n- {id: b, tool: x.y, dependsOn: [a]}\n\
         - {id: c, tool: x.y, dependsOn: [b], arguments: {p: '{{.steps.a.output.x}}'}}\n",
        &[],
    );
    check(
        "- {id: a, tool: x.y, arguments: {p: '{{.steps.a.output.x}}'}}\n",
        &["line 4: step `a` refers to `.steps.a`, its own step"],
    );
    check(
        "- {id: a, tool: x.y}\n- {id: b, tool: x.y, dependsOn: [a], arguments: {p: '{{.steps.a.outptu}}'}}\n",
        &["line 5: step `b` refers to `.steps.a.outptu`, which does not exist (did you mean `output`?)"],
    );
    check(
        "- {id: a, tool: x.y, arguments: {p: '{{.workflow.uuid}} {{.workflow.id}}'}}\n",
        &["line 4: step `a` refers to `.workflow.uuid`, which does not exist"],
    );
    check(
        "- {id: a, tool: x.y, arguments: {p: '{{.forEach.item}}'}}\n",
        &["line 4: step `a` refers to `.forEach`, which only a forEach's inner step sees"],
    );
    check(
        "- {id: a, type: forEach, itemVar: file, collection: '[]', \
         step: {tool: x.y, arguments: {p: '{{.forEach.file.name}} {{.forEach.index}} {{.forEach.item}}'}}}\n",
        &["line 4: step `a` refers to `.forEach.item`, which does not exist"],
    );
    // A result may refer to any step.
    check(
        "output: {properties: {p: {type: string, description: d, value: '{{.steps.a.output.x}}'}}}\n---\n\
         - {id: a, tool: x.y}\n- {id: b, tool: x.y}\n",
        &[],
    );
}

fn after_line(said: &str) -> String {
    said.split_once(": ").map_or(said, |(_, rest)| rest).to_owned()
}

#[test]
fn constructs_that_never_worked_in_toolhive_are_noted() {
    let notes = |text: &str| -> Vec<String> {
        let (_, notes) = parse_file_with_notes(text).unwrap_or_else(|problems| panic!("{text}: {problems}"));
        notes.iter().map(ToString::to_string).collect()
    };
    let text = workflow(
        r"facade: deploys
failureMode: continue
parameters:
  type: object
  properties: {id: {type: integer}, small: {type: integer, maximum: 99}, all: {type: array}}
output:
  properties:
    total: {type: integer, description: d, value: '{{.steps.find.output.total}}'}
    items: {type: array, description: d, value: '{{.steps.find.output.items}}'}
    json: {type: array, description: d, value: '{{json .steps.find.output.items}}'}
---
- id: find
  tool: x.y
  arguments: {id: '{{.params.id}}', small: '{{.params.small}}', all: '{{.params.all}}'}
  onError: {action: retry, maxRetries: 3}
- id: ask
  type: elicitation
  message: Go on?
  schema: {type: object, properties: {ok: {type: boolean}}}
  onDecline: {action: skip_remaining}
- id: each
  type: forEach
  dependsOn: [ask, find]
  collection: '{{.steps.find.output.items}}'
  step: {tool: x.y, arguments: {all: '{{.steps.find.output}}'}}
- id: last
  tool: x.y
  dependsOn: [each]
  condition: |
    {{and .steps.ask.content.ok (gt .steps.find.output.count 10) (gt .steps.each.output.failed 0)}}
  arguments: {action: '{{.steps.ask.action}}', well: '{{.steps.ask.output.content.ok}}'}
",
    );
    insta::assert_snapshot!(notes(&text).join("\n"));
    let quiet =
        workflow("- {id: a, tool: x.y, condition: '{{gt (len .steps) 3}}', arguments: {p: 10000000}}\n");
    assert_eq!(notes(&quiet), [""; 0]);
}

#[test]
fn circles_do_not_bring_echoes() {
    let text = workflow(
        "- {id: a, tool: x.y, dependsOn: [b], arguments: {p: '{{.steps.c.output.x}}'}}\n\
         - {id: b, tool: x.y, dependsOn: [a]}\n- {id: c, tool: x.y}\n",
    );
    let told = problems(&text);
    assert_eq!(told, ["line 4: steps: dependency cycle detected involving step \"a\": a -> b -> a"]);
}

#[test]
fn all_that_there_is_of_a_step_may_be_referred_to() {
    let of = |name: &str| {
        workflow(&format!(
            "- {{id: a, tool: x.y}}\n- {{id: b, tool: x.y, dependsOn: [a], arguments: {{v: '{{{{.steps.a.{name}}}}}'}}}}\n"
        ))
    };
    for name in
        ["status", "output.x", "content.text", "error", "action", "message", "count", "total", "cursor"]
    {
        assert_eq!(problems(&of(name)), [""; 0], "{name}");
    }
    assert!(problems(&of("ouput"))[0].contains("did you mean `output`?"));
}

#[test]
fn rules_of_calls_are_checked() {
    let check = |steps: &str, expected: &[&str]| assert_eq!(problems(&workflow(steps)), expected, "{steps}");
    let saga = |step: &str| format!("transaction: saga\n---\n- {step}\n");
    check(
        &saga("{id: a, tool: x.y, compensate: {tool: x.z, arguments: {p: '{{.steps.a.output.id}}'}}}"),
        &[],
    );
    check(
        &saga(
            "{id: a, type: forEach, collection: '[1]', step: {tool: x.y, compensate: {tool: x.z, arguments: {p: '{{.forEach.output.id}} {{.forEach.item}}'}}}}",
        ),
        &[],
    );
    check(
        &saga("{id: a, tool: x.y, arguments: {p: '{{.steps.a.output.id}}'}}"),
        &["line 5: step `a` refers to `.steps.a`, its own step"],
    );
    check(
        &saga(
            "{id: a, type: forEach, collection: '[1]', step: {tool: x.y, arguments: {p: '{{.forEach.output}}'}}}",
        ),
        &["line 5: step `a` refers to `.forEach.output`, which does not exist"],
    );
    check(
        &saga("{id: a, tool: x.y, compensate: {arguments: {}}}"),
        &["line 5: steps[0].compensate.tool is required for a compensation"],
    );
    check(
        &saga("{id: a, tool: x.y, compensate: x.z}"),
        &["line 5: steps[0].compensate must be an object, not a text (write compensate: {tool: x.z})"],
    );
    check(
        &saga("{id: a, tool: x.y, irreversible: true, compensate: {tool: x.z}}"),
        &["line 5: steps[0].irreversible cannot be true next to compensate"],
    );
    check(
        &saga("{id: a, type: forEach, collection: '[1]', irreversible: true, step: {tool: x.y}}"),
        &[
            "line 5: steps[0].irreversible has no effect here: it states something about a call (move it to the inner step)",
        ],
    );
    check(
        "transaction: sega\n---\n- {id: a, tool: x.y, effect: reed, onMissing: skip}\n",
        &[
            "line 3: transaction must be one of: none, saga",
            "line 5: steps[0].effect must be one of: read, write, destructive",
            "line 5: steps[0].onMissing must be one of: abort, continue",
        ],
    );
    let warned =
        warnings(&workflow("compensationTimeout: 1m\n---\n- {id: a, tool: x.y, compensate: {tool: x.z}}\n"));
    assert_eq!(
        warned,
        [
            "line 3: compensationTimeout has no effect without transaction: saga",
            "line 5: steps[0]: compensate and irreversible have no effect without transaction: saga",
        ]
    );
    let skipped = "- {id: a, tool: x.y, onMissing: continue}\n\
        - {id: b, tool: x.z, dependsOn: [a], arguments: {p: '{{.steps.a.output.id}}'}}\n";
    assert!(problems(&workflow(skipped))[0].contains("may be skipped"));
}

#[test]
fn starts_are_checked() {
    let with = |head: &str| format!("name: t\ndescription: d\n{head}\nsteps: [{{id: a, tool: x.y}}]\n");
    let check = |head: &str, expected: &[&str]| assert_eq!(problems(&with(head)), expected, "{head}");
    check("runAs: reports\nschedule: '0 7 * * 1-5'", &[]);
    check(
        "runAs: reports\nschedule: {cron: '*/5 * * * *', timeZone: Europe/Berlin, parameters: {n: 1}}",
        &[],
    );
    let payload = "parameters: {type: object, properties: {payload: {type: object}}}\n";
    check(&format!("{payload}runAs: reports\nhook: true"), &[]);
    check(
        "schedule: '0 7 * * *'",
        &["line 1: runAs is required next to schedule (name a service of the settings: runAs: reports)"],
    );
    check(
        "runAs: reports\nhook: true",
        &[
            "line 4: hook needs the parameter `payload`, which takes the posted JSON (define it in `parameters`, or name \
           another by hook: {parameter: NAME})",
        ],
    );
    let change = "parameters: {type: object, properties: {change: {type: object}}}\nrunAs: reports\n";
    check(&format!("{change}onState: notes"), &[]);
    check(&format!("{change}onState: {{facade: notes, prefix: orders/, parameter: change}}"), &[]);
    for (on_state, expected) in [
        ("Notes", "line 5: onState \"Notes\" must have 1 to 32"),
        ("{prefix: a}", "line 5: onState.facade is required (name the plugin whose state it watches"),
        ("{facade: a b}", "line 5: onState.facade \"a b\" must have 1 to 32"),
        ("{facade: notes, keys: a}", "line 5: onState"),
        (
            "{facade: notes, parameter: x}",
            "line 5: onState needs the parameter `x`, which takes the changed keys",
        ),
    ] {
        let found = problems(&with(&format!("{change}onState: {on_state}")));
        assert!(found.len() == 1 && found[0].starts_with(expected), "{on_state}: {found:?}");
    }
    const HINT: &str = "(minute hour day month weekday: \"0 7 * * 1-5\")";
    for (cron, reason) in [
        ("61 * * * *", "Component error: Number out of bounds"),
        ("0 0 31 2 *", "it never occurs"),
        ("* * * * * *", ""),
        ("soon", ""),
    ] {
        let found = problems(&with(&format!("runAs: reports\nschedule: '{cron}'")));
        let expected = format!("line 4: schedule \"{cron}\" is no cron expression of five fields: {reason}");
        assert!(found[0].starts_with(&expected) && found[0].ends_with(HINT), "{found:?}");
    }
    assert_eq!(
        warnings(&with("runAs: reports")),
        ["line 3: runAs has no effect without schedule, hook or onState"]
    );
    assert_eq!(problems(&with("runAs: A b\nschedule: '0 7 * * *'")).len(), 1);
}
