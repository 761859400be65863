//! Index of ToolHive's forty key cases: the tests that cover each, and deliberate differences.

use std::{fs, path::Path};

use serde_json::json;

use super::{
    plans::{plan, plan_with},
    simulator::{ok, run},
};
use crate::definition;

/// Number, subject, covering tests as `file::name`, and difference, if any.
type Case = (u8, &'static str, &'static [&'static str], &'static str);

const GIVEN: &str = "template/tests/given.rs::toolhives_own_cases";
const MESSAGES: &str = "definition/tests/messages.rs::messages_of_steps_are_toolhives";
const OUTPUT: &str = "engine/tests/results.rs::an_output_is_built_from_the_steps";
const RETRIES: &str = "engine/tests/scheduling.rs::a_step_is_tried_again_as_often_as_it_says";
const ARGUMENTS: &str = "engine/tests/results.rs::arguments_are_converted_to_the_action_types";
const CIRCLES: &str = "definition/tests/messages.rs::messages_of_circles_name_the_whole_circle";

const CASES: [Case; 40] = [
    (1, "a parameter in a text", &[GIVEN], ""),
    (2, "templates in nested maps and lists", &[HERE[0]], ""),
    (3, "numbers and booleans stay what they are", &[HERE[0]], ""),
    (4, "json", &[GIVEN], ""),
    (5, "a missing parameter", &[GIVEN], "in our own files it is an error that names it"),
    (6, "an action that is not closed", &[GIVEN], ""),
    (
        7,
        "output and content are independent",
        &[GIVEN, "engine/data/reply.rs::data_is_the_output_and_text_the_content"],
        "",
    ),
    (8, "an embedded resource", &[GIVEN, "engine/data/reply.rs::media_is_reduced_to_type_and_size"], ""),
    (
        9,
        "conditions",
        &[
            HERE[1],
            "engine/data/condition.rs::only_the_words_of_truth_are_taken",
            "engine/tests/results.rs::skipped_steps_have_their_default",
            "engine/tests/results.rs::a_condition_that_is_neither_fails_the_step",
        ],
        "white space around it is no reason to fail",
    ),
    (10, "fromJson", &[GIVEN], ""),
    (11, "what a run tells of itself", &[GIVEN, HERE[2]], ""),
    (
        12,
        "the last step's output",
        &["engine/tests/results.rs::without_an_output_the_result_is_that_of_the_deepest_and_last_step"],
        "found without a clock, so it is the same each time",
    ),
    (13, "data that is too deep", &["template/tests/bounds.rs::deep_data_is_not_followed_to_its_end"], ""),
    (
        14,
        "output that is too large",
        &["template/tests/bounds.rs::output_is_bounded_while_it_is_written"],
        "",
    ),
    (
        15,
        "too many steps",
        &["definition/tests/messages.rs::too_many_steps_are_refused"],
        "told when the file is read",
    ),
    (
        16,
        "a thousand retries are ten",
        &[RETRIES, "definition/tests/mod.rs::every_part_of_a_workflow_is_read"],
        "",
    ),
    (17, "no function but those that there are", &[GIVEN], ""),
    (
        18,
        "circles",
        &[
            CIRCLES,
            "engine/tests/scheduling.rs::a_run_without_steps_that_can_begin_ends_and_one_without_steps_does_too",
        ],
        "told when the file is read, with all that are on them",
    ),
    (19, "no secret in an error", &["engine/tests/aborts.rs::secrets_are_in_no_error"], ""),
    (20, "two steps, one after the other", &[HERE[2], HERE[3]], ""),
    (21, "one retry", &[RETRIES], ""),
    (22, "a result that says that it is an error is tried again", &[RETRIES], ""),
    (23, "retries that come to nothing", &[RETRIES], ""),
    (24, "a condition that is false", &["engine/tests/results.rs::skipped_steps_have_their_default"], ""),
    (
        25,
        "definitions that are none",
        &["definition/tests/messages.rs::messages_of_composite_tools_are_toolhives", MESSAGES, CIRCLES],
        "a missing definition is none that could be given",
    ),
    (
        26,
        "a workflow that takes too long",
        &["engine/tests/aborts.rs::a_workflow_that_takes_too_long_ends"],
        "",
    ),
    (
        27,
        "defaults of parameters",
        &[ARGUMENTS],
        "the gate puts them in; in our own files a number stays one",
    ),
    (
        28,
        "a text for a number",
        &[ARGUMENTS, "engine/tests/results.rs::literal_arguments_are_converted_too"],
        "",
    ),
    (29, "a tool whose parameters say nothing", &[ARGUMENTS], "in our own files a number stays one"),
    (
        30,
        "steps at once",
        &["engine/tests/scheduling.rs::a_step_begins_as_soon_as_its_own_dependencies_have_ended"],
        "",
    ),
    (31, "an embedded resource in a template", &[GIVEN], ""),
    (
        32,
        "levels",
        &["engine/tests/scheduling.rs::a_step_begins_as_soon_as_its_own_dependencies_have_ended"],
        "there are none: a step waits for its own dependencies alone",
    ),
    (
        33,
        "failures at once with others, how many run, and an end from outside",
        &[
            "engine/tests/scheduling.rs::a_failure_that_is_continued_does_not_stop_others",
            "engine/tests/scheduling.rs::ten_run_at_once_and_the_others_follow_in_the_definitions_order",
            "engine/tests/aborts.rs::a_failure_ends_the_run_at_once_with_a_report",
            "engine/tests/aborts.rs::cancellation_ends_the_run_at_once",
        ],
        "",
    ),
    (
        34,
        "a yes",
        &["engine/tests/questions.rs::an_answer_is_where_the_documentation_says_and_where_the_code_has_it"],
        "",
    ),
    (
        35,
        "a no, a closed form, no answer, nobody to ask",
        &[
            "engine/tests/questions.rs::a_refusal_follows_the_definition",
            "engine/tests/questions.rs::skipping_the_rest_completes_the_run",
            "engine/tests/questions.rs::a_question_that_cannot_be_put_fails_its_step",
        ],
        "skip_remaining skips",
    ),
    (
        36,
        "forEach",
        &[
            "engine/tests/items.rs::each_item_is_a_call_and_the_results_stand_in_the_lists_order",
            "engine/tests/items.rs::a_collection_is_a_list_or_a_text_that_spells_one",
            "engine/tests/items.rs::a_failure_stops_the_others_unless_they_go_on",
        ],
        "a collection may be a list, and not only its JSON",
    ),
    (37, "types of the result", &[OUTPUT], "a whole number from 1,000,000 on is one"),
    (38, "what is missing in the result", &[OUTPUT], ""),
    (
        39,
        "a part of the result that cannot be made",
        &[OUTPUT, "engine/tests/results.rs::required_properties_must_exist"],
        "",
    ),
    (
        40,
        "defaultResults",
        &[
            "definition/check/tests/mod.rs::references_to_skippable_steps_need_defaults",
            "template/tests/references.rs::a_key_that_is_data_is_a_reference_too",
        ],
        "the whole path is found, and more places are looked at",
    ),
];

/// Tests outside the usual files.
const HERE: [&str; 4] = [
    "engine/tests/toolhive.rs::templates_expand_at_any_depth_and_literals_stay",
    "engine/tests/toolhive.rs::an_empty_condition_is_none",
    "engine/tests/toolhive.rs::a_run_exposes_its_own_data",
    "engine/tests/questions.rs::an_answer_is_where_the_documentation_says_and_where_the_code_has_it",
];

#[test]
fn each_case_has_its_tests() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (place, (number, what, tests, _)) in CASES.iter().enumerate() {
        assert_eq!(usize::from(*number), place + 1);
        assert!(!tests.is_empty(), "case {number} ({what}) has no test");
        for test in *tests {
            let (file, name) = test.split_once("::").unwrap();
            let source =
                fs::read_to_string(sources.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(
                source.contains(&format!("#[test]\nfn {name}("))
                    || source.contains(&format!("#[test]\n    fn {name}(")),
                "case {number} ({what}): there is no test {test}"
            );
        }
    }
}

#[test]
fn templates_expand_at_any_depth_and_literals_stay() {
    let arguments = json!({"title": "{{.params.title}}", "num": 42, "flag": true, "none": null, "half": 0.5,
        "map": {"list": ["{{.params.title}}", 1, {"deeper": "a {{.params.title}}"}]}});
    let plan = plan_with(json!([{"id": "a", "tool": "t.run", "arguments": arguments}]), json!({}));
    let expected = json!({"title": "Test", "num": 42, "flag": true, "none": null, "half": 0.5,
        "map": {"list": ["Test", 1, {"deeper": "a Test"}]}});
    assert_eq!(*run(&plan, json!({"title": "Test"}), |_| ok(1, json!({}))).params("a"), expected);
}

#[test]
fn an_empty_condition_is_none() {
    let condition = |condition: &str| {
        let text =
            format!("name: t\ndescription: d\nsteps: [{{id: a, tool: x.y, condition: {condition}}}]\n");
        definition::parse_file(&text).unwrap().workflows[0].steps[0].condition.is_some()
    };
    assert!(!condition("''") && !condition("null") && condition("'true'") && condition("true"));
}

#[test]
fn a_run_exposes_its_own_data() {
    const OF_RUN: &str = "{{.workflow.id}} {{.workflow.status}} {{.workflow.start_time}} {{.workflow.step_count}} {{.workflow.duration_ms}}";
    let plan = plan(json!({
        "steps": [
            {"id": "a", "tool": "t.run"},
            {"id": "b", "tool": "t.run", "dependsOn": ["a"], "arguments": {"run": OF_RUN, "all": "{{len .steps}}", "a": "{{.steps.a.status}}",
                "b": "{{.steps.b.status}}", "c": "{{.steps.c}}"}},
            {"id": "c", "tool": "t.run", "dependsOn": ["b"]},
        ],
        "output": {"properties": {"run": {"type": "string", "value": OF_RUN}}},
    }));
    let run = run(&plan, json!({}), |_| ok(500, json!({})));
    // A step that is about to start has no entry yet.
    let seen = json!({"run": "run-1 pending 2024-01-01T12:00:00Z 0 0", "all": "1", "a": "completed", "b": "<no value>", "c": "<no value>"});
    assert_eq!(*run.params("b"), seen);
    assert_eq!(*run.result(), json!({"run": "run-1 completed 2024-01-01T12:00:00Z 3 1500"}));
}
