//! Robustness: any file is parsed or rejected, without panics or hangs.

use proptest::prelude::*;

use super::{link, parse_file, parse_file_with_notes};

const GOOD: &str = r#"
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: server}
spec:
  config:
    compositeTools:
    - name: deploy
      description: Deploys.
      timeout: 1h30m
      parameters: &schema
        type: object
        properties:
          env: {type: string, default: production, enum: [production, "test"]}
        required: [env]
      steps:
      - id: get
        tool: github.get
        arguments: {env: '{{.params.env}}', deep: [{at: "{{ .params.env }}"}, 1, 2.5, null, true]}
        onError: {action: retry, retryCount: 3, retryDelay: 250ms}
      - id: ask
        type: elicitation
        message: >
          Deploy to
          {{.params.env}}?
        schema: {<<: *schema, required: []}
        onDecline: {action: skip_remaining}
        dependsOn: [get]
      - id: each
        type: forEach
        collection: '{{json .steps.get.output.files}}'
        itemVar: file
        maxParallel: 2
        dependsOn: [get]
        condition: |-
          {{if eq .params.env "test"}}true{{else}}false{{end}}
        step: {tool: deploy.file, arguments: {name: '{{.forEach.file}}'}}
      output:
        properties:
          sha: {type: string, description: The commit., value: '{{.steps.get.output.sha}}'}
        required: [sha]
    compositeToolRefs: [{name: other}]
"#;

#[test]
fn the_file_that_is_spoilt_is_good() {
    let definition = parse_file(GOOD).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(definition.workflows[0].steps.len(), 3);
}

/// Parses a file and uses the result as the host does.
fn digest(text: &str) {
    match parse_file_with_notes(text) {
        Ok((definition, _)) => {
            for workflow in &definition.workflows {
                assert!(crate::graph::render_mermaid(workflow).starts_with("flowchart"));
            }
            let others = [definition.clone()];
            let _ = link(definition, &others);
        }
        Err(problems) => {
            assert!(!problems.0.is_empty(), "{text}");
            for problem in &problems.0 {
                assert!(!problem.message.is_empty() && problem.message.len() < 4096, "{text}: {problem}");
            }
        }
    }
}

/// Character boundaries.
fn places() -> Vec<usize> {
    (0..=GOOD.len()).filter(|at| GOOD.is_char_boundary(*at)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn no_spoilt_file_makes_it_panic(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, "[-a\\[\\]{}:,?&*!|>'\"%@`#<~ \n\t.0-9]{0,6}"), 1..4),
    ) {
        let places = places();
        let mut text = GOOD.to_owned();
        for (at, length, instead) in cuts {
            let begin = places[at.index(places.len())].min(text.len());
            let end = (begin + length).min(text.len());
            if text.is_char_boundary(begin) && text.is_char_boundary(end) {
                text.replace_range(begin..end, &instead);
            }
        }
        digest(&text);
    }

    #[test]
    fn no_line_at_another_place_makes_it_panic(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), indent in 0..12usize) {
        let mut lines: Vec<String> = GOOD.lines().map(str::to_owned).collect();
        let line = lines.remove(from.index(lines.len()));
        let to = to.index(lines.len());
        lines.insert(to, format!("{}{}", " ".repeat(indent), line.trim_start()));
        digest(&lines.join("\n"));
    }
}

#[test]
fn a_value_of_any_kind_in_any_place_is_told() {
    let values = [
        "",
        "7",
        "-1",
        "1.5",
        ".nan",
        "true",
        "text",
        "'{{'",
        "[]",
        "[7, [], {}]",
        "{}",
        "{a: {b: []}}",
        "2099-01-01",
    ];
    for line in 0..GOOD.lines().count() {
        for value in values {
            let lines = GOOD.lines().enumerate().map(|(n, text)| match text.split_once(": ") {
                Some((key, _)) if n == line => format!("{key}: {value}"),
                None if n == line => format!("{text} {value}"),
                _ => text.to_owned(),
            });
            digest(&lines.collect::<Vec<_>>().join("\n"));
        }
    }
}
