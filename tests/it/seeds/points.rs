//! The table.

use super::Point;

const fn point(seed: &'static str, point: &'static str, test: &'static str) -> Point {
    Point { seed, point, test, deviation: None }
}

impl Point {
    /// Adds a deviation.
    const fn but(self, deviation: &'static str) -> Self {
        Self { deviation: Some(deviation), ..self }
    }
}

/// In the order of the seeds and of their texts.
pub const POINTS: &[Point] = &[
    point("000", "Related operations share one tool with an `action`", "composite::one_tool_holds_and_describes_the_operations"),
    point("000", "The description names and explains each action", "composite::one_tool_holds_and_describes_the_operations"),
    point("000", "Each parameter has a description", "composite::one_tool_holds_and_describes_the_operations"),
    point("000", "Required parameters are visible for each action", "composite::one_tool_holds_and_describes_the_operations")
        .but("Not a union at the root, which several clients reject: one flat object whose parameters say `[create*, update]`."),
    point("000", "A discriminated union has a schema for each action", "composite::each_action_can_have_a_schema")
        .but("On request (`expose.schema = \"union\"`), below `params`; the gate checks by the action's own schema in every form."),
    point("000", "Test 1, isolation: with required parameters only", "composite::each_action_works_alone"),
    point("000", "Test 1, isolation: with optional parameters and boundary values", "composite::each_action_works_alone"),
    point("000", "Test 1, isolation: a deletion reports success", "composite::each_action_works_alone")
        .but("`success: true` is `ok: true` here, in every answer."),
    point("000", "Test 2, invalid action: refused as an error, with a clear text", "composite::unknown_actions_are_refused_with_the_available_ones"),
    point("000", "Test 2, invalid action: the available actions are listed", "composite::unknown_actions_are_refused_with_the_available_ones"),
    point("000", "Test 3, validation: missing parameters are named, for each action", "composite::each_action_checks_its_own_parameters")
        .but("A result with `isError` and the code `invalid_params`, not a protocol error: a model sees only the former."),
    point("000", "Test 3, validation: a value of the wrong type is refused", "composite::each_action_checks_its_own_parameters")
        .but("A number or boolean sent as a string is converted (`docs/integrators/input.md`); a number for a string is refused."),
    point("000", "Test 3, validation: another action's parameter is refused", "composite::each_action_checks_its_own_parameters"),
    point("000", "Test 3, validation: an empty name is refused", "composite::each_action_checks_its_own_parameters"),
    point("000", "Test 4, integration: create, update, delete, from end to end", "composite::a_project_is_made_changed_and_deleted"),
    point("000", "Test 5, errors: a missing item is reported as \"not found\"", "failures::failures_have_plain_texts_and_one_form"),
    point("000", "Test 5, errors: a forbidden operation is reported as \"access denied\"", "failures::failures_have_plain_texts_and_one_form"),
    point("000", "Test 5, errors: invalid input is an error", "failures::failures_have_plain_texts_and_one_form"),
    point("000", "Test 5, errors: a slow backend is reported as \"timed out\"", "failures::slow_backends_time_out"),
    point("000", "Errors are handled in one place, with a fallback for all others", "failures::faults_are_errors_without_internals")
        .but("The host does that; a panic is a fault of the plugin, reported without internals."),
    point("000", "All errors have one form, with `isError`", "failures::failures_have_plain_texts_and_one_form")
        .but("Not the plain text `Error: …`: the text is the JSON envelope, whose `error` starts with the same plain words."),
    point("000", "A success has a message and the data", "results::results_have_message_data_and_page")
        .but("The data is under `data`, not under a specific name (`project`), so that all answers have one shape."),
    point("000", "A list has its total and a cursor", "results::results_have_message_data_and_page")
        .but("`count`, `total` and `cursor` are at the top level, not under `pagination`; the last page has no cursor instead of null."),
    point("000", "One call creates a whole hierarchy, resolves dependencies by index, and returns all ids", "results::a_hierarchy_is_created_atomically"),
    point("000", "Such a call is atomic: all or nothing", "results::a_hierarchy_is_created_atomically")
        .but("Within one plugin. Across plugins there are no transactions: a workflow stops at the failed step, and lists the completed ones."),
    point("000", "A plan of 20 to 30 calls is one call", "it::facades::savings::one_call_replaces_the_seeds_sequence")
        .but("`plugins/projects/README.md` has calls, bytes and tokens of both ways."),
    point("000", "Completion validates first, and lists open items", "results::completion_validates_and_lists_open_items"),
    point("000", "Failed validations are returned in detail", "it::facades::projects::validations_read_files_through_their_facade"),
    point("000", "Items without validations are completed", "results::completion_validates_and_lists_open_items"),
    point("000", "Sequences of 15 to 30 calls become one", "results::batches_are_checked_before_any_call_runs")
        .but("Also without a dedicated action: `batch`, if the policy allows it, checks all calls before any runs."),
    point("000", "Actions with different permissions are separated", "results::actions_of_other_rights_can_be_separate")
        .but("The operator's choice rather than the author's: `expose.split = \"effect\"`, `actions.deny`."),
    point("000", "Heavy actions need not time out", "runs::one_flag_selects_waiting_for_a_run")
        .but("Heavy actions need not be omitted: `long_running` turns them into runs."),
    point("000", "The tool's help is documented", "told::describe_returns_only_what_callers_need")
        .but("Generated from the code, as `describe`."),
    point("000", "Consolidation saves 40 to 60 percent of the definitions", "savings::one_tool_costs_half_of_separate_tools")
        .but("In bytes here."),
    point("000", "Savings are measured, before against after", "it::tokens::figures_compare_with_a_file_or_folder"),
    point("001", "1: one tool shows exactly `action` and `params`", "lessons::one_tool_can_show_exactly_two_fields")
        .but("By `expose.schema = \"signatures\"` or `\"names\"`; the default is flat, so that the parameters are visible. In addition `wait`, for long-running actions."),
    point("001", "2: the action is a field of the schema, with its values", "lessons::the_action_is_a_field_with_its_values"),
    point("001", "2: no JSON hides in a string", "it::tools::accepted_shapes_of_a_call_mean_the_same")
        .but("`params` as JSON text is never requested, but accepted."),
    point("001", "3: results are structures, not encoded twice", "lessons::results_are_not_encoded_twice")
        .but("The text block holds the same JSON once more, for clients that show only text."),
    point("001", "4: describe returns names, types, defaults, values", "told::describe_returns_only_what_callers_need")
        .but("In short form (`xs|s|m|l`, `default m`); as JSON Schema with `detail: \"full\"`."),
    point("001", "4: describe returns hints, also `when_to_change`", "told::describe_returns_only_what_callers_need"),
    point("001", "4: describe returns no complete definition", "told::describe_returns_only_what_callers_need"),
    point("001", "5: without waiting, a run answers at once with its id", "runs::one_flag_selects_waiting_for_a_run")
        .but("Under `data.run.id`, with the next call, `run_status`, filled in."),
    point("001", "5: with waiting, the same action answers with its outputs", "runs::one_flag_selects_waiting_for_a_run")
        .but("Waiting is the default; after 40 s the call continues as a run."),
    point("001", "5: a run can be cancelled", "runs::a_run_is_cancelled_by_its_caller"),
    point("001", "6: the inputs used are echoed, including defaults and converted values", "runs::the_inputs_that_were_used_are_echoed")
        .but("All of them for a run; for an answer only those that a default or a conversion changed."),
    point("001", "7: a list holds summaries with terse inputs", "told::lists_are_brief_and_load_is_complete"),
    point("001", "7: load returns the whole item", "told::lists_are_brief_and_load_is_complete"),
    point("001", "7: a list of runs omits results and traces", "runs::lists_of_runs_omit_results_and_traces"),
    point("001", "8: status and result are one action, with `include_trace`", "runs::one_action_returns_a_runs_state_and_result")
        .but("It is the host's, `run_status`, and the same for every facade."),
    point("001", "8: the old names still work, and `result` includes the trace", "runs::one_action_returns_a_runs_state_and_result"),
    point("001", "9: an error contains the received and the allowed values", "told::errors_help_the_next_call"),
    point("001", "9: an error contains the parameter's hint", "told::errors_help_the_next_call")
        .but("In `hint`, not in the sentence."),
    point("001", "9: an error contains the range", "told::errors_help_the_next_call"),
    point("001", "9: the next call is right", "told::errors_help_the_next_call")
        .but("The error also holds the signature and a call that works."),
    point("001", "10: no action returns internal state, neither run nor restart", "lessons::internal_fields_are_removed")
        .but("Every member whose name begins with `_`, at every depth, whatever the plugin does."),
    point("001", "10: neither does a run's result, a trace, an error or a schema", "lessons::internal_fields_are_removed"),
    point("001", "11: the injected context is not a parameter, at any position", "lessons::the_call_context_is_never_a_parameter")
        .but("FastMCP's rule is Python's; here `call: &Call` may be at any position."),
    point("001", "12: instructions give the order: describe, call, status", "told::instructions_give_the_order_of_calls"),
    point("001", "13: the dispatch is tested without MCP", "lessons::a_facade_is_called_without_mcp")
        .but("`testing::call` takes and returns JSON values, with the gate's defaults and checks."),
    point("002", "A result names the next tool and its arguments in `_meta.nextTool`", "chaining::a_locked_account_names_the_next_call")
        .but("Also as `_meta[\"loggia/nextTool\"]` and, for models, as `next` in the envelope."),
    point("002", "The same call always suggests the same next call", "chaining::a_locked_account_names_the_next_call"),
    point("002", "Arguments are structured, with the context of the call", "chaining::the_next_call_carries_the_reason"),
    point("002", "The person gets a clear text, in content for the user", "chaining::the_person_gets_a_separate_text")
        .but("The first block is the envelope, the text for the person comes after it."),
    point("002", "An unlocked account is handled normally", "chaining::an_unlocked_account_suggests_no_call"),
    point("002", "A picker asks for missing values", "chaining::the_person_is_asked_for_missing_values")
        .but("By MCP's elicitation instead of a widget."),
    point("002", "Tools with the same rule share it as a separate tool", "chaining::two_actions_share_a_next_call"),
    point("002", "Errors suggest a call that recovers from them", "chaining::a_failure_can_name_a_recovery_call"),
    point("002", "Clients without support keep working", "chaining::a_client_that_knows_no_chains_loses_nothing"),
    point("002", "The chain is made without a model", "following::the_host_makes_next_calls_by_policy")
        .but("By the host, if the policy sets `chain = \"follow\"`; the default is advice to the client, since no known client follows it."),
    point("002", "Intermediate steps are recorded for audits", "following::the_host_makes_next_calls_by_policy")
        .but("As `trail`; the person still sees all content for the user."),
    point("002", "A chain is limited to permitted calls", "following::only_granted_calls_are_followed")
        .but("The seed leaves safety to another page; here `grants.invoke` and the effect of the suggesting action decide."),
    point("002", "`name` is the tool, `arguments` is optional", "following::the_words_of_other_servers_are_read")
        .but("Its text says `name`, its code `tool`: both are read, `tool` is written; `parameters` is read, too."),
    point("002", "Approvals are part of the flow", "it::asks::a_confirmed_action_asks_before_anything_runs")
        .but("By the operator's `actions.confirm`, asked of the person, not routed to a manager."),
    point("003", "Several calls across servers are one tool", "it::workflows::examples::a_topic_is_searched_downloaded_and_read")
        .but("An action of the facade that its file is; under its own name by `expose.schema = \"granular\"`."),
    point("003", "It is published under its own name", "it::workflows::shown::composite_tools_can_have_their_own_names"),
    point("003", "Steps without dependencies run at once", "it::workflows::examples::an_incident_is_investigated_in_parallel"),
    point("003", "A step waits for its dependencies", "it::workflows::examples::steps_wait_for_dependencies_and_conditions")
        .but("Only for these: ToolHive's code waits for whole levels."),
    point("003", "Arguments are built from parameters and results of steps", "it::workflows::examples::a_topic_is_searched_downloaded_and_read"),
    point("003", "The person is asked between steps", "it::workflows::approvals::a_deployment_waits_for_its_approval")
        .but("In both lifecycles of MCP, over both transports."),
    point("003", "A step's time is bounded", "it::workflows::failures::a_step_that_takes_too_long_is_stopped"),
    point("003", "A workflow's time is bounded", "it::workflows::failures::a_workflow_that_takes_too_long_is_stopped")
        .but("Time spent waiting for a person does not count."),
    point("003", "Tools are under `spec.config.compositeTools` of a VirtualMCPServer", "it::workflows::examples::the_tools_of_a_server_are_found")
        .but("A file `<name>.workflow.yaml` in the plugin folder; fields without meaning here cause a warning. A bare tool, and a list of tools, are accepted too."),
    point("003", "`compositeToolRefs` refer to VirtualMCPCompositeToolDefinitions", "it::workflows::examples::references_lead_to_other_files")
        .but("To those of the same folder, by `metadata.name`."),
    point("003", "Simple example: a topic is searched, and the first paper downloaded and read", "it::workflows::examples::a_topic_is_searched_downloaded_and_read"),
    point("003", "The result is that of the last step", "it::workflows::examples::a_topic_is_searched_downloaded_and_read")
        .but("Under `data`, as every result here."),
    point("003", "Use case: an incident is investigated in parallel", "it::workflows::examples::an_incident_is_investigated_in_parallel"),
    point("003", "Use case: a deployment needs an approval", "it::workflows::approvals::a_deployment_waits_for_its_approval")
        .but("`.steps.approval.content.approved` works as the page says; in ToolHive's code the content is only under `output`, which works too."),
    point("003", "Use case: without approval nothing is deployed", "it::workflows::approvals::unapproved_steps_are_skipped"),
    point("003", "Use case: scans are combined in one issue", "it::workflows::examples::scans_are_reported_in_one_issue"),
    point("003", "Parameters are JSON Schema, with types, defaults and required fields", "it::workflows::examples::parameters_have_types_and_defaults")
        .but("Calls are checked by it; ToolHive leaves that to the steps."),
    point("003", "A step has a tool, arguments, dependencies, a condition, a timeout, and error handling", "it::workflows::examples::steps_wait_for_dependencies_and_conditions"),
    point("003", "A step may be a question with a schema and a timeout", "it::workflows::approvals::a_question_may_be_the_only_step"),
    point("003", "A question's time is bounded", "it::workflows::approvals::a_question_times_out"),
    point("003", "`abort` stops the workflow immediately", "it::workflows::failures::running_steps_stop_when_the_workflow_aborts"),
    point("003", "`continue` continues with the next step", "it::workflows::examples::scans_are_reported_in_one_issue"),
    point("003", "`retry` tries again with exponential backoff", "it::workflows::examples::a_step_is_retried_as_configured")
        .but("By half more each time, give or take a half, as ToolHive's code does."),
    point("003", "A step that is skipped has its default results", "it::workflows::examples::a_skipped_scan_has_default_results"),
    point("003", "A step that failed has its default results", "it::workflows::examples::a_source_that_fails_has_default_results")
        .but("However it failed; ToolHive's code gives them for failed calls only."),
    point("003", "Missing default results are an error when the file is read", "it::workflows::examples::missing_default_results_are_refused")
        .but("The page's sentence, with the field and its line."),
    point("003", "Default results have any type, without validation", "it::workflows::failures::default_results_are_of_any_type"),
    point("003", "Templates reach parameters, outputs, texts, and a person's content and action", "it::workflows::examples::every_template_of_the_page_expands")
        .but("A single reference keeps its type where the server takes it; in ToolHive everything is text."),
    point("003", "`fromJson`, `json`, `quote` and `index`", "it::workflows::examples::every_template_of_the_page_expands"),
    point("003", "All functions of Go's templates", "it::workflows::examples::every_template_of_the_page_expands")
        .but("Here `if`, `and`, `or`, `eq`, `len`, `printf`; the others are tested where templates are."),
    point("003", "Structured content is reached directly", "it::workflows::examples::a_source_that_fails_has_default_results"),
    point("003", "JSON as text is parsed first", "it::workflows::examples::a_topic_is_searched_downloaded_and_read"),
    point("003", "The complete example", "it::workflows::examples::the_complete_example_runs_with_everything_around_it")
        .but("`groupRef`, `incomingAuth` and `aggregation` have no meaning here, and cause a warning."),
    point("003", "All examples, unmodified", "it::workflows::pages::the_examples_are_the_pages_to_the_letter")
        .but("The page lost its indentation, which was put back."),
    point("004", "One tool for each domain", "envelopes::each_domain_is_one_tool")
        .but("Called `memories`, not `MemoriesExecute`."),
    point("004", "A request is `cmd`, `params` and `detail`", "details::a_memory_is_added_found_changed_and_forgotten")
        .but("`action` is published, `cmd` is accepted; parameters also at the top level."),
    point("004", "Add, get, list, search, update, delete", "details::a_memory_is_added_found_changed_and_forgotten"),
    point("004", "A response is `ok`, `cmd`, `data`, `count`, `error`", "envelopes::every_domain_answers_in_the_same_shape")
        .but("And more where there is more: `code`, `hint`, `expected`, `example`, `total`, `cursor`, `message`, `next`."),
    point("004", "The same shape across all domains", "envelopes::every_domain_answers_in_the_same_shape"),
    point("004", "The command is always echoed, errors included", "envelopes::the_command_is_echoed_under_the_callers_key")
        .but("Under the caller's key, `cmd` or `action`, and by the action's own name where it was found."),
    point("004", "It distinguishes overlapping calls", "envelopes::overlapping_calls_get_their_own_answers"),
    point("004", "Commands are found in any case", "envelopes::commands_are_found_in_any_case"),
    point("004", "An unknown command is an error", "envelopes::commands_are_found_in_any_case")
        .but("\"Unknown action\" for both keys, with the available ones."),
    point("004", "What an action throws becomes `ok: false` with its text", "envelopes::every_domain_answers_in_the_same_shape"),
    point("004", "`minimal` returns id and title", "details::replies_follow_the_requested_detail"),
    point("004", "`standard` returns key fields and excerpts, and is the default", "details::replies_follow_the_requested_detail"),
    point("004", "`full` returns everything", "details::replies_follow_the_requested_detail")
        .but("Except fields that begin with `_`."),
    point("004", "Lists are counted", "details::a_search_ranks_and_obeys_its_limit"),
    point("004", "Conservative injection: no unrequested context", "details::replies_hold_only_requested_data")
        .but("The host has no context of its own; suggestions are up to the plugin."),
    point("004", "Search finds relevant items, at most `topK`", "details::a_search_ranks_and_obeys_its_limit")
        .but("Ranking is up to the plugin: the fixture counts words, the host has no embeddings."),
    point("004", "Graceful degradation: an unavailable domain says so", "envelopes::an_unavailable_domain_does_not_affect_the_others"),
    point("004", "The other domains keep working", "envelopes::an_unavailable_domain_does_not_affect_the_others"),
    point("004", "All domains together cost a fraction of their verbs", "savings::all_domains_cost_a_fraction_of_their_verbs")
        .but("`names` reaches the seed's 83 percent on large facades, `signatures` 80; `flat`, the default, saves about half and shows every parameter."),
    point("004", "Simple servers may show their verbs", "envelopes::a_small_server_may_show_its_verbs")
        .but("With `expose.schema = \"granular\"`."),
    point("004", "Round trip: start gives a manifest of hashes and the content", "it::facades::files::a_round_trip_starts_with_hashes_and_contents"),
    point("004", "Round trip: preview shows the differences and the conflicts", "it::facades::files::a_preview_shows_differences_and_conflicts"),
    point("004", "Round trip: commit is atomic, with `replace`, `add_only`, `update_only`", "it::facades::files::a_killed_commit_is_atomic"),
];
