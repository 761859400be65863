//! Messages: all of ToolHive's for a definition (§1.3 of the research page, and case 25 of §1.15), and our own.

use super::parse_file;

/// Text of a list with one tool, some of whose fields are given.
fn tool(fields: &str) -> String {
    let given = |name: &str| fields.lines().any(|line| line.starts_with(&format!("{name}:")));
    let mut text = "compositeTools:\n- ".to_owned();
    for (name, line) in
        [("name", "name: t"), ("description", "description: d"), ("steps", "steps: [{id: a, tool: x.y}]")]
    {
        if !given(name) {
            text += &format!("{line}\n  ");
        }
    }
    text + &fields.replace('\n', "\n  ") + "\n"
}

/// Text of a list with one tool and these steps.
fn steps(steps: &str) -> String {
    tool(&format!("steps:\n{steps}"))
}

/// Messages of a file's problems, without hints.
fn said(text: &str) -> Vec<String> {
    match parse_file(text) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.0.into_iter().map(|problem| problem.message).collect(),
    }
}

fn check(cases: &[(String, &str)]) {
    for (text, expected) in cases {
        let said = said(text);
        assert_eq!(said, [*expected], "{text}");
    }
}

#[test]
fn messages_of_composite_tools_are_toolhives() {
    check(&[
        (tool("name: ''"), "compositeTools[0].name is required"),
        (tool("description: ''"), "compositeTools[0].description is required"),
        (tool("steps: []"), "compositeTools[0].steps must have at least one step"),
        (tool("steps:"), "compositeTools[0].steps must have at least one step"),
        (tool("timeout: -5s"), "compositeTools[0].timeout cannot be negative"),
        (
            tool("timeout: 1m\n") + "- {name: t, description: d, steps: [{id: a, tool: x.y}]}\n",
            "duplicate composite tool name: t",
        ),
        (
            tool("parameters: {properties: {}}"),
            "compositeTools[0].parameters: must have 'type' field (should be 'object' for JSON Schema)",
        ),
        (tool("parameters: {type: [object]}"), "compositeTools[0].parameters: 'type' field must be a string"),
        (
            tool("parameters: {type: array}"),
            "compositeTools[0].parameters: 'type' must be 'object' (got 'array')",
        ),
        (
            tool("parameters: {type: object, properties: {p: {type: text}}}"),
            "compositeTools[0].parameters: invalid JSON Schema: `type` must be one of string, integer, number, \
             boolean, array, object, null, or a list of these (at /properties/p/type)",
        ),
    ]);
}

#[test]
fn messages_of_steps_are_toolhives() {
    check(&[
        (steps("- tool: x.y"), "compositeTools[0].steps[0].id is required"),
        (
            steps("- {id: a, tool: x.y}\n- {id: a, tool: x.y}"),
            "compositeTools[0].steps[1].id \"a\" is duplicated",
        ),
        (
            steps("- {id: a, type: tol, tool: x.y}"),
            "compositeTools[0].steps[0].type must be one of: tool, elicitation, forEach",
        ),
        (
            steps("- {id: a, tool: x.y, message: m}"),
            "compositeTools[0].steps[0] cannot have both tool and message fields - use explicit type to clarify intent",
        ),
        (steps("- {id: a}"), "compositeTools[0].steps[0].tool is required when type is tool"),
        (steps("- {id: a, message: m}"), "compositeTools[0].steps[0].tool is required when type is tool"),
        (steps("- {id: a, tool: 'x y'}"), "compositeTools[0].steps[0].tool must be a valid tool name"),
        (
            steps("- {id: a, type: elicitation, schema: {type: object}}"),
            "compositeTools[0].steps[0].message is required when type is elicitation",
        ),
        (
            steps("- {id: a, type: elicitation, message: m}"),
            "compositeTools[0].steps[0].schema is required for elicitation steps",
        ),
        (
            steps("- {id: a, type: elicitation, message: m, schema: {type: boolean}}"),
            "compositeTools[0].steps[0].schema: invalid JSON Schema: its type must be object",
        ),
        (
            steps("- {id: a, type: elicitation, message: m, schema: {type: object}, onDecline: {}}"),
            "compositeTools[0].steps[0].onDecline.action is required",
        ),
        (
            steps(
                "- {id: a, type: elicitation, message: m, schema: {type: object}, onCancel: {action: skip}}",
            ),
            "compositeTools[0].steps[0].onCancel.action must be one of: abort, continue, skip_remaining",
        ),
        (
            steps("- {id: a, tool: x.y, dependsOn: [non-existent]}"),
            "compositeTools[0].steps[0].dependsOn references unknown step \"non-existent\"",
        ),
        (
            steps("- {id: a, tool: x.y, onError: {action: ignore}}"),
            "compositeTools[0].steps[0].onError.action must be one of: abort, continue, retry",
        ),
        (
            steps("- {id: a, tool: x.y, onError: {action: retry}}"),
            "compositeTools[0].steps[0].onError.retryCount must be at least 1 when action is retry",
        ),
        (
            steps("- {id: a, tool: x.y, onError: {action: retry, retryCount: 0}}"),
            "compositeTools[0].steps[0].onError.retryCount must be at least 1 when action is retry",
        ),
        (
            steps("- {id: a, tool: x.y, timeout: -1s}"),
            "compositeTools[0].steps[0].timeout cannot be negative",
        ),
        (steps("- {id: a, tool: x.y, timeout: 30}"), "compositeTools[0].steps[0].timeout needs a unit"),
    ]);
}

#[test]
fn messages_of_extensions_name_what_is_allowed() {
    let step = |fields: &str| steps(&format!("- {{id: a, tool: x.y, {fields}}}"));
    let retry = |fields: &str| step(&format!("onError: {{action: retry, retryCount: 1, {fields}}}"));
    check(&[
        (step("onUnknown: again"), "compositeTools[0].steps[0].onUnknown must be one of: retry, ask, fail"),
        (retry("then: stop"), "compositeTools[0].steps[0].onError.then must be one of: abort, continue"),
        (retry("retryOn: []"), "compositeTools[0].steps[0].onError.retryOn must name at least one code"),
        (
            retry("retryOn: unavailable"),
            "compositeTools[0].steps[0].onError.retryOn must be a list, not a text",
        ),
    ]);
    for text in [step("onUnknown: ask"), retry("retryOn: [unavailable, timed_out], then: continue")] {
        assert_eq!(said(&text), [""; 0], "{text}");
    }
}

#[test]
fn messages_of_circles_name_the_whole_circle() {
    let circle = |deps: &[&[&str]]| {
        let steps: Vec<String> = deps
            .iter()
            .zip(["a", "b", "c"])
            .map(|(deps, id)| format!("- {{id: {id}, tool: x.y, dependsOn: [{}]}}", deps.join(", ")))
            .collect();
        self::steps(&steps.join("\n"))
    };
    const P: &str = "compositeTools[0].steps: dependency cycle detected involving step \"a\"";
    for (deps, expected) in [
        (&[&["a"][..]][..], "a -> a"),
        (&[&["b"], &["a"]], "a -> b -> a"),
        (&[&["b"], &["c"], &["a"]], "a -> b -> c -> a"),
    ] {
        assert_eq!(said(&circle(deps)), [format!("{P}: {expected}")]);
    }
    assert_eq!(said(&circle(&[&[], &["a"], &["a", "b"]])), [""; 0]);
}

#[test]
fn messages_of_templates_are_toolhives() {
    let begins = |text: String, expected: &str| {
        let said = said(&text);
        assert!(said.len() == 1 && said[0].starts_with(expected), "{text}: {said:?}");
    };
    const P: &str = "compositeTools[0].steps[0]";
    let invalid = |part: &str| format!("{P}{part}: invalid template: ");
    begins(steps("- {id: a, tool: x.y, arguments: {p: '{{.params.x'}}"), &invalid(".arguments[p]"));
    begins(steps("- {id: a, tool: x.y, arguments: {p: {q: ['{{'] } } }"), &invalid(".arguments[p].q[0]"));
    begins(steps("- {id: a, tool: x.y, condition: '{{end}}'}"), &invalid(".condition"));
    begins(
        steps("- {id: a, type: elicitation, message: '{{exec \"rm\"}}', schema: {type: object}}"),
        &invalid(".message"),
    );
    begins(steps("- {id: a, type: forEach, collection: '{{.x', step: {tool: x.y}}"), &invalid(".collection"));
}

#[test]
fn messages_of_loops_are_toolhives() {
    let each = |more: &str| steps(&format!("- {{id: a, type: forEach, {more}}}"));
    let whole = |more: &str| each(&format!("collection: '[]', step: {{tool: x.y}}, {more}"));
    const P: &str = "compositeTools[0].steps[0]";
    for (text, expected) in [
        (whole("tool: x.y"), ": forEach step must not have 'tool' field"),
        (whole("message: m"), ": forEach step must not have 'message' field"),
        (each("step: {tool: x.y}"), ".collection is required for forEach steps"),
        (each("collection: '[]'"), ".step is required for forEach steps"),
        (
            each("collection: '[]', step: {type: elicitation, message: m}"),
            ".step.type must be 'tool' (got \"elicitation\"); only tool inner steps are supported",
        ),
        (each("collection: '[]', step: {id: b}"), ".step.tool is required for tool inner steps"),
        (whole("itemVar: 1a"), ".itemVar must be a valid Go identifier (got \"1a\")"),
        (whole("itemVar: index"), ".itemVar cannot be 'index' (reserved)"),
        (whole("maxParallel: 51"), ".maxParallel must be <= 50 (got 51)"),
        (whole("maxIterations: 1001"), ".maxIterations must be <= 1000 (got 1001)"),
        (whole("maxParallel: -1"), ".maxParallel must be >= 0 (got -1)"),
    ] {
        assert_eq!(said(&text), [format!("{P}{expected}")], "{text}");
    }
    assert_eq!(said(&whole("itemVar: größe, maxParallel: 50, maxIterations: 1000")), [""; 0]);
}

#[test]
fn messages_of_outputs_are_toolhives() {
    let output = |output: &str| tool(&format!("output: {{{output}}}"));
    let property = |property: &str| output(&format!("properties: {{p: {{{property}}}}}"));
    const P: &str = "compositeTools[0].output: ";
    let deep = (0..11).fold("type: string, description: d, value: v".to_owned(), |inner, _| {
        format!("type: object, description: d, properties: {{p: {{{inner}}}}}")
    });
    for (text, expected) in [
        (output("required: []"), "output properties cannot be empty"),
        (output("properties: {}"), "output properties cannot be empty"),
        (
            output("properties: {p: {type: string, description: d, value: v}}, required: [q]"),
            "required field \"q\" does not exist in properties",
        ),
        (property("description: d, value: v"), "property \"p\" is missing required field 'type'"),
        (property("type: string, value: v"), "property \"p\" is missing required field 'description'"),
        (
            property("type: text, description: d, value: v"),
            "property \"p\" has invalid type \"text\"; must be one of: string, integer, number, boolean, object, array",
        ),
        (
            property("type: object, description: d, value: v, properties: {}"),
            "property \"p\" cannot have both 'value' and 'properties'",
        ),
        (property("type: object, description: d"), "property \"p\" must have either 'value' or 'properties'"),
        (
            property("type: string, description: d, properties: {}"),
            "property \"p\" must have 'value': only objects have 'properties'",
        ),
        (property(&deep), "output properties are nested more than 10 deep"),
    ] {
        assert_eq!(said(&text), [format!("{P}{expected}")], "{text}");
    }
}

#[test]
fn too_many_steps_are_refused() {
    let many =
        |count: usize| steps(&(0..count).map(|n| format!("- {{id: s{n}, tool: x.y}}\n")).collect::<String>());
    assert_eq!(said(&many(100)), [""; 0]);
    assert_eq!(said(&many(101)), ["compositeTools[0].steps: too many steps: 101 (max 100)"]);
}

#[test]
fn paths_are_those_of_the_form() {
    let broken = "name: t\ndescription: d\nsteps: [{id: a}]\n";
    let inner = broken.replace('\n', "\n    ");
    for (text, expected) in [
        (broken.to_owned(), "steps[0].tool"),
        (format!("compositeTools:\n-   {inner}"), "compositeTools[0].steps[0].tool"),
        (format!("spec:\n    {inner}"), "spec.steps[0].tool"),
        (
            "spec: {config: {compositeTools: [{name: t, description: d, steps: [{id: a}]}]}}".to_owned(),
            "spec.config.compositeTools[0].steps[0].tool",
        ),
    ] {
        let problems = parse_file(&text).unwrap_err().0;
        assert_eq!(problems[0].path, expected, "{text}");
        assert_eq!(problems[0].message, format!("{expected} is required when type is tool"));
    }
}

#[test]
fn attached_resources_have_uris_of_parameters() {
    let with = |attach: &str| {
        tool(&format!("parameters: {{type: object, properties: {{id: {{type: string}}}}}}\nattach: {attach}"))
    };
    assert_eq!(said(&with("['notes://note/{id}', 'notes://all']")), [] as [String; 0]);
    check(&[
        (
            with("['notes://note/{ids}']"),
            "compositeTools[0].attach[0] names \"ids\", which is no parameter of the workflow",
        ),
        (
            with("[note]"),
            "compositeTools[0].attach[0] \"note\" has no scheme; write, for example, `notes://note/{id}`",
        ),
        (with("notes://all"), "compositeTools[0].attach must be a list, not a text"),
        (
            with(&format!("{:?}", ["a://b"; 9])),
            "compositeTools[0].attach has 9 resources; at most 8 are allowed",
        ),
    ]);
}
