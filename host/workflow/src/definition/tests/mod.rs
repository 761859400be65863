//! Parsing of whole files.

mod bad_input;
mod messages;

use super::*;
use crate::FileProblems;

/// Outline of a file: its workflows by name, with their paths; or its problems.
fn outline(text: &str) -> String {
    match parse_file(text) {
        Err(problems) => problems.0.iter().map(|problem| format!("{problem}\n")).collect(),
        Ok(file) => {
            let names = file.workflows.iter().map(|w| format!("{} at {}:{}", w.name, w.path, w.line));
            format!("{:?} {}", file.form, names.collect::<Vec<_>>().join(", "))
        }
    }
}

const STEPS_OF_ONE: &str = "steps: [{id: a, tool: x.y}]";

#[test]
fn a_file_is_written_in_one_of_four_forms() {
    let check = |text: &str, expected: &str| assert_eq!(outline(text), expected, "{text}");
    check(&format!("facade: f\nname: one\ndescription: d\n{STEPS_OF_ONE}\n"), "Bare one at :1");
    let tool = format!("{{name: one, description: d, {STEPS_OF_ONE}}}");
    let other = format!("{{name: two, description: d, {STEPS_OF_ONE}}}");
    check(
        &format!("title: T\ncompositeTools:\n- {tool}\n- {other}\n"),
        "List one at compositeTools[0]:3, two at compositeTools[1]:4",
    );
    check(
        &format!("kind: VirtualMCPCompositeToolDefinition\nmetadata: {{name: r}}\nspec: {tool}\n"),
        "Resource one at spec:3",
    );
    check(&format!("spec: {tool}\n"), "Resource one at spec:1");
    let server = format!("spec: {{config: {{compositeTools: [{tool}]}}}}\n");
    check(&format!("kind: VirtualMCPServer\n{server}"), "Server one at spec.config.compositeTools[0]:2");
    check(&server, "Server one at spec.config.compositeTools[0]:1");
}

#[test]
fn every_part_of_a_workflow_is_read() {
    let text = r#"
facade: deploys
title: Deploys
description: Several things.
compositeTools:
- name: deploy
  description: Deploys.
  timeout: 1h
  failureMode: continue
  parameters: {type: object, properties: {env: {type: string, default: production}}}
  annotations: {title: Deploy, readOnlyHint: false, destructiveHint: true}
  steps:
  - id: get
    tool: github.get
    timeout: 90s
    arguments: {env: '{{.params.env}}', limit: 10, deep: [{at: '{{.params.env}}', n: 1}, x]}
    onError: {action: retry, retryCount: 1000, retryDelay: 250ms}
    defaultResults: {sha: null}
  - id: ask
    type: elicitation
    message: Deploy to {{.params.env}}?
    schema: {properties: {ok: {type: boolean}}}
    timeout: 2h
    onDecline: {action: skip_remaining}
    onCancel: {action: continue}
    dependsOn: [get, get]
  - id: each
    type: forEach
    collection: '{{json .steps.get.output.files}}'
    itemVar: file
    maxParallel: 2
    dependsOn: [get]
    condition: true
    onError: {action: continue}
    step: {tool: deploy.file, arguments: {name: '{{.forEach.file}}'}, onError: {action: retry, maxRetries: 2}}
  output:
    properties:
      sha: {type: string, description: The commit., value: '{{.steps.get.output.sha}}', default: none}
      more: {type: object, description: More., properties: {n: {type: integer, description: A number., value: '1'}}}
    required: [sha]
"#;
    let file = parse_file(text).unwrap_or_else(|problems| panic!("{problems}"));
    insta::assert_debug_snapshot!(file);
}

#[test]
fn unused_fields_are_warnings() {
    let text = r#"apiVersion: toolhive.stacklok.dev/v1alpha1
kind: VirtualMCPServer
metadata:
  name: research
  namespace: toolhive-system
spec:
  incomingAuth: {type: anonymous}
  config:
    groupRef: tools
    aggregation: {conflictResolution: prefix}
    compositeTool: []
    compositeTools:
    - name: one
      description: d
      steps:
      - {id: a, tool: x.y, schema: {}, onError: {retryCount: 2}}
      - {id: b, type: elicitation, message: m, schema: {type: object}, tool: x.y, onError: {action: retry, retryCount: 11}}
      - {id: c, type: forEach, collection: '[]', step: {tool: x.y, condition: 'true', arguments: {'{{x}}': 1}}}
"#;
    let file = parse_file(text).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!((file.resource.as_deref(), file.workflows[0].strict), (Some("research"), false));
    insta::assert_snapshot!(
        FileProblems(file.warnings).0.iter().map(|w| format!("{w}\n")).collect::<String>()
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    let text = r#"facade: My Deploys
compositeTool: []
compositeTools:
- name: Deploy_
  descripton: Deploys.
  timeout: 30
  parameters: {type: object, properties: {env: {type: string}, action: {type: string}, n: {type: number, maximum: .inf}}}
  steps:
  - id: get
    tool: github.get
    argments: {}
    arguments: {env: '{{.params.evn}}', a: '{{.params.env'}
    timeout: soon
  - id: get
    tool: github/get
    dependsOn: [gte, ask]
  - id: ask
    type: elicitation
    message: Well?
    schema: {type: boolean}
    defaultResponse: {ok: true}
    onDecline: {action: skip}
    dependsOn: get
  - type: foreach
    collection: []
  - 7
  output: {properties: {sha: {type: strin, value: 'x'}}, required: [sah]}
  annotations: {readOnlyHint: 'yes'}
- steps: {}
- name: deploy
  description: d
  steps: [{id: a, tool: x.y}]
  title: two
  title: three
"#;
    insta::assert_snapshot!(outline(text));
}

#[test]
fn files_without_workflows_are_rejected() {
    let check =
        |text: &str, expected: &str| assert_eq!(outline(text).trim_end(), expected.trim_end(), "{text}");
    check("just a text\n", "line 1: the file must be an object, not a text");
    check(
        "- name: a\n",
        "line 1: the file must be an object, not a list (write compositeTools: before the list)",
    );
    check("{}\n", "line 1: the file is not a workflow: it has neither `steps` nor `compositeTools`");
    check(
        "compositTools: []\n",
        "line 1: the file is not a workflow: it has neither `steps` nor `compositeTools` (did you mean `compositeTools`?)",
    );
    check("compositeTools: []\n", "line 1: compositeTools must have at least one tool");
    check(
        "kind: VirtualMcpServer\n",
        "line 1: kind must be VirtualMCPCompositeToolDefinition or VirtualMCPServer, not \"VirtualMcpServer\" (did you \
         mean `VirtualMCPServer`?)",
    );
    check("kind: VirtualMCPServer\n", "line 1: spec is required");
    check("kind: VirtualMCPServer\nspec: {a: 1}\n", "line 2: spec.config is required");
    check("spec: []\n", "line 1: spec must be an object, not a list");
    check("\u{0}", "line 1: invalid YAML: found unprintable character");
}

#[test]
fn how_strict_a_file_is_follows_from_its_form_or_is_said() {
    let check = |text: &str, expected: bool| {
        assert_eq!(
            parse_file(text).unwrap_or_else(|p| panic!("{text}: {p}")).workflows[0].strict,
            expected,
            "{text}"
        );
    };
    let tool = format!("{{name: one, description: d, {STEPS_OF_ONE}}}");
    check(&format!("name: one\ndescription: d\n{STEPS_OF_ONE}\n"), true);
    check(&format!("name: one\ndescription: d\n{STEPS_OF_ONE}\nstrict: false\n"), false);
    check(&format!("compositeTools: [{tool}]\n"), true);
    check(&format!("spec: {tool}\n"), false);
    check(&format!("strict: true\nspec: {tool}\n"), true);
    check(&format!("spec: {{config: {{compositeTools: [{tool}]}}}}\n"), false);
}

#[test]
fn references_to_other_files_are_put_in_their_place() {
    let tool = |name: &str| format!("{{name: {name}, description: d, {STEPS_OF_ONE}}}");
    let resource = |name: &str, tool_name: &str| {
        parse_file(&format!("metadata: {{name: {name}}}\nspec: {}\n", tool(tool_name))).unwrap()
    };
    let server = |refs: &str| {
        let text = format!(
            "spec: {{config: {{compositeTools: [{}],\n compositeToolRefs: [{refs}]}}}}\n",
            tool("one")
        );
        parse_file(&text).unwrap()
    };
    let others = [resource("my-flow", "two"), resource("other-flow", "one")];
    let linked = link(server("{name: my-flow}"), &others).unwrap();
    let names: Vec<&str> = linked.workflows.iter().map(|workflow| workflow.name.as_str()).collect();
    assert_eq!((names, linked.refs.len(), linked.workflows[1].line), (vec!["one", "two"], 0, 2));
    let refused = |refs: &str| link(server(refs), &others).unwrap_err().to_string();
    assert_eq!(
        refused("{name: my-flwo}"),
        "line 2: there is no VirtualMCPCompositeToolDefinition \"my-flwo\" (did you mean `my-flow`?)"
    );
    assert_eq!(
        refused("{name: other-flow}"),
        "line 2: duplicate composite tool name: one (the other one is on line 1)"
    );
    // A file may consist of references alone.
    let alone = parse_file("compositeToolRefs: [{name: my-flow}]\n").unwrap();
    assert_eq!(link(alone, &others).unwrap().workflows.len(), 1);
}

#[test]
fn common_mistakes_are_reported_once_with_a_remedy() {
    let check = |text: &str, expected: &[&str]| {
        let told = parse_file(text).expect_err(text).0;
        let told: Vec<String> = told.iter().map(ToString::to_string).collect();
        assert_eq!(told, expected, "{text}");
    };
    let step =
        |fields: &str| format!("name: t\ndescription: d\nsteps:\n- {{id: a, tool: x.y}}\n- {{{fields}}}\n");
    check(
        &step("id: b, tool: x.y, onError: retry"),
        &[
            "line 5: steps[1].onError must be an object, not a text (write onError: {action: retry, retryCount: 3})",
        ],
    );
    check(
        &step("id: b, tool: x.y, dependsOn: a"),
        &["line 5: steps[1].dependsOn must be a list, not a text (write dependsOn: [a])"],
    );
    check(
        &step("id: b, tool: x.y, onError: {action: retry, retryCount: three}"),
        &["line 5: steps[1].onError.retryCount must be a whole number, not a text"],
    );
    check(&step("id: [b], tool: x.y"), &["line 5: steps[1].id must be a text, not a list"]);
    check(
        &step("id: b, tool: x.y, arguments: {q: '{{.params}'}"),
        &["line 5: steps[1].arguments[q]: invalid template: an action ends with two braces: `}}`"],
    );
    let tool = |fields: &str| format!("{fields}\nsteps: [{{id: a, tool: x.y}}]\n");
    check(&tool("name: t\ndescription: [d]"), &["line 2: description must be a text, not a list"]);
    check(&tool("name: [t]\ndescription: d"), &["line 1: name must be a text, not a list"]);
    check(
        &tool("name: t\ndescription: d\noutput: {properties: {p: '{{.steps.a.output.p}}'}}"),
        &["line 3: output.properties.p must be an object, not a text \
           (write {type: string, description: …, value: '{{…}}'})"],
    );
    check(
        "- {name: t, description: d, steps: [{id: a, tool: x.y}]}\n",
        &["line 1: the file must be an object, not a list (write compositeTools: before the list)"],
    );
}
