//! The table.

use super::Point;

const fn point(seed: &'static str, point: &'static str, test: &'static str) -> Point {
    Point { seed, point, test, deviation: None }
}

impl Point {
    /// Says where we do otherwise.
    const fn but(self, deviation: &'static str) -> Self {
        Self { deviation: Some(deviation), ..self }
    }
}

/// In the order of the seeds and of their texts.
pub const POINTS: &[Point] = &[
    point("000", "Related operations stand behind one tool with an `action`", "composite::one_tool_holds_the_operations_and_says_what_each_takes"),
    point("000", "The description names each action and what it does", "composite::one_tool_holds_the_operations_and_says_what_each_takes"),
    point("000", "Each parameter has a description", "composite::one_tool_holds_the_operations_and_says_what_each_takes"),
    point("000", "What an action requires is visible for each action", "composite::one_tool_holds_the_operations_and_says_what_each_takes")
        .but("Not a union at the root, which several clients reject: one flat object whose parameters say `[create*, update]`."),
    point("000", "A discriminated union has a schema for each action", "composite::a_schema_can_stand_for_each_action")
        .but("On request (`expose.schema = \"union\"`), below `params`; the gate checks by the action's own schema in every form."),
    point("000", "Test 1, isolation: with what is required alone", "composite::each_action_works_alone"),
    point("000", "Test 1, isolation: with optional parameters and at the bounds", "composite::each_action_works_alone"),
    point("000", "Test 1, isolation: a deletion says that it worked", "composite::each_action_works_alone")
        .but("`success: true` is `ok: true` here, in every answer."),
    point("000", "Test 2, invalid action: refused as an error, with a clear text", "composite::unknown_actions_are_refused_and_the_available_ones_listed"),
    point("000", "Test 2, invalid action: the available actions are listed", "composite::unknown_actions_are_refused_and_the_available_ones_listed"),
    point("000", "Test 3, validation: what is missing is named, for each action", "composite::each_action_checks_its_own_parameters")
        .but("A result with `isError` and the code `invalid_params`, not a protocol error: a model sees only the former."),
    point("000", "Test 3, validation: a value of the wrong type is refused", "composite::each_action_checks_its_own_parameters")
        .but("A number or boolean sent as a string is mended (`docs/integrators/input.md`); a number for a string is refused."),
    point("000", "Test 3, validation: another action's parameter is refused", "composite::each_action_checks_its_own_parameters"),
    point("000", "Test 3, validation: an empty name is refused", "composite::each_action_checks_its_own_parameters"),
    point("000", "Test 4, integration: create, update, delete, from end to end", "composite::a_project_is_made_changed_and_deleted"),
    point("000", "Test 5, errors: what does not exist is told as \"not found\"", "failures::what_goes_wrong_is_told_plainly_and_in_one_form"),
    point("000", "Test 5, errors: what is not allowed is told as \"access denied\"", "failures::what_goes_wrong_is_told_plainly_and_in_one_form"),
    point("000", "Test 5, errors: what is invalid is an error", "failures::what_goes_wrong_is_told_plainly_and_in_one_form"),
    point("000", "Test 5, errors: a slow backend is told as \"timed out\"", "failures::what_hangs_times_out"),
    point("000", "Errors are handled in one place, with a fallback for all others", "failures::what_breaks_is_an_error_without_its_insides")
        .but("The host is that place; a panic is a fault of the plugin, told without its insides."),
    point("000", "All errors have one form, with `isError`", "failures::what_goes_wrong_is_told_plainly_and_in_one_form")
        .but("Not the plain text `Error: …`: the text is the JSON envelope, whose `error` begins as plainly."),
    point("000", "A success has a message and the data", "results::results_have_a_message_and_data_and_lists_a_page")
        .but("The data stands under `data`, not under a name of its kind (`project`), so that all answers have one shape."),
    point("000", "A list has its total and a cursor", "results::results_have_a_message_and_data_and_lists_a_page")
        .but("`count`, `total` and `cursor` stand at the top, not under `pagination`; the last page has no cursor instead of null."),
    point("000", "One call makes a whole hierarchy, resolves what depends on what by index, and tells all ids", "results::a_hierarchy_is_made_in_one_call_or_not_at_all"),
    point("000", "Such a call is atomic: all or nothing", "results::a_hierarchy_is_made_in_one_call_or_not_at_all")
        .but("Within one plugin. Across plugins there are no transactions: a workflow stops at the step that failed, and tells which were done."),
    point("000", "Completion validates first, and tells what is open", "results::completion_checks_first_and_says_what_is_open"),
    point("000", "What has no validations is completed", "results::completion_checks_first_and_says_what_is_open"),
    point("000", "Sequences of 15 to 30 calls become one", "results::many_calls_go_in_one_and_are_checked_before_any_runs")
        .but("Also without an action made for it: `batch`, where the policy allows it, checks all calls before any runs."),
    point("000", "Actions of other permissions do not stand together", "results::actions_of_other_rights_can_stand_apart")
        .but("The operator's choice rather than the author's: `expose.split = \"effect\"`, `actions.deny`."),
    point("000", "What is heavy is not bound to time out", "runs::a_run_is_waited_for_or_not_by_one_flag")
        .but("Heavy actions need not be left out: `long_running` makes runs of them."),
    point("000", "The tool's help is documented", "told::describe_tells_what_a_caller_must_know_and_no_more")
        .but("Made from the code, as `describe`."),
    point("000", "Consolidation saves 40 to 60 percent of the definitions", "savings::one_tool_costs_half_of_a_tool_for_each_action")
        .but("In bytes here."),
    point("000", "Savings are measured, before against after", "it::tokens::figures_are_compared_with_other_figures_or_with_what_is_there_now"),
    point("001", "1: one tool shows exactly `action` and `params`", "lessons::one_tool_can_show_two_fields_and_no_more")
        .but("By `expose.schema = \"signatures\"` or `\"names\"`; the default is flat, so that the parameters are visible. Beside them `wait`, where actions run long."),
    point("001", "2: the action is a field of the schema, with its values", "lessons::the_action_is_a_field_with_its_values"),
    point("001", "2: no JSON hides in a string", "it::tools::accepted_shapes_of_a_call_mean_the_same")
        .but("`params` as JSON text is never asked for, but taken where a model sends it."),
    point("001", "3: results are structures, not encoded twice", "lessons::results_are_not_encoded_twice")
        .but("The text block holds the same JSON once more, for clients that show only text."),
    point("001", "4: describe tells names, types, defaults, values", "told::describe_tells_what_a_caller_must_know_and_no_more")
        .but("In short words (`xs|s|m|l`, `default m`); as JSON Schema with `detail: \"full\"`."),
    point("001", "4: describe tells hints, also `when_to_change`", "told::describe_tells_what_a_caller_must_know_and_no_more"),
    point("001", "4: describe tells no whole definition", "told::describe_tells_what_a_caller_must_know_and_no_more"),
    point("001", "5: without waiting, a run answers at once with its id", "runs::a_run_is_waited_for_or_not_by_one_flag")
        .but("Under `data.run.id`, with the next call, `run_status`, filled in."),
    point("001", "5: with waiting, the same action answers with its outputs", "runs::a_run_is_waited_for_or_not_by_one_flag")
        .but("Waiting is the default; after 40 s the call goes on as a run."),
    point("001", "5: a run can be ended", "runs::a_run_is_ended_by_who_began_it"),
    point("001", "6: the inputs that were used are echoed, defaults and mended values too", "runs::the_inputs_that_were_used_are_echoed")
        .but("All of them for a run; for an answer only those that a default or a mended slip changed."),
    point("001", "7: a list holds summaries with terse inputs", "told::lists_are_brief_and_load_tells_the_whole"),
    point("001", "7: load tells the whole", "told::lists_are_brief_and_load_tells_the_whole"),
    point("001", "7: a list of runs leaves results and traces out", "runs::a_list_of_runs_leaves_results_and_traces_out"),
    point("001", "8: status and result are one action, with `include_trace`", "runs::one_action_tells_how_a_run_stands_and_what_came_of_it")
        .but("It is the host's, `run_status`, and the same for every facade."),
    point("001", "8: the old names go on, and `result` includes the trace", "runs::one_action_tells_how_a_run_stands_and_what_came_of_it"),
    point("001", "9: an error tells what was sent and what is allowed", "told::errors_hold_what_the_next_call_needs"),
    point("001", "9: an error tells the parameter's hint", "told::errors_hold_what_the_next_call_needs")
        .but("In `hint`, not in the sentence."),
    point("001", "9: an error tells a range", "told::errors_hold_what_the_next_call_needs"),
    point("001", "9: the next call is right", "told::errors_hold_what_the_next_call_needs")
        .but("The error also holds the signature and a call that works."),
    point("001", "10: internal state leaves by no action, neither by run nor by restart", "lessons::what_a_plugin_notes_for_itself_stays_inside")
        .but("Every member whose name begins with `_`, at every depth, whatever the plugin does."),
    point("001", "10: nor within a run's result, a trace, an error or a schema", "lessons::what_a_plugin_notes_for_itself_stays_inside"),
    point("001", "11: the injected context is no parameter, wherever it stands", "lessons::the_call_itself_is_no_parameter_wherever_it_stands")
        .but("FastMCP's rule is Python's; here `call: &Call` may stand anywhere."),
    point("001", "12: instructions tell the order: describe, call, status", "told::instructions_say_in_which_order_to_call"),
    point("001", "13: the dispatch is tested without MCP", "lessons::a_facade_is_called_without_mcp")
        .but("`testing::call` takes a value and gives one, with the gate's defaults and checks."),
    point("002", "A result names the next tool and its arguments in `_meta.nextTool`", "chaining::a_locked_account_names_the_next_call")
        .but("Also as `_meta[\"loggia/nextTool\"]` and, for models, as `next` in the envelope."),
    point("002", "The same call always leads to the same call", "chaining::a_locked_account_names_the_next_call"),
    point("002", "Arguments are a structure, with the context of the call", "chaining::who_makes_the_next_call_arrives_with_the_reason"),
    point("002", "The person is told clearly, in content for the user", "chaining::the_person_is_told_in_a_text_of_its_own")
        .but("The first block is the envelope, the text for the person comes after it."),
    point("002", "An account that is not locked goes its normal way", "chaining::an_account_that_is_not_locked_leads_nowhere"),
    point("002", "What is missing is asked for by a picker", "chaining::the_person_is_asked_for_what_is_missing")
        .but("By MCP's elicitation instead of a widget."),
    point("002", "Tools with the same rule share it as a tool of its own", "chaining::two_actions_share_what_follows"),
    point("002", "Errors lead to what recovers from them", "chaining::a_failure_may_name_the_call_that_mends_it"),
    point("002", "Clients that know nothing of it go on working", "chaining::a_client_that_knows_no_chains_loses_nothing"),
    point("002", "The chain is made without a model", "following::the_host_makes_the_next_call_where_the_policy_says_so")
        .but("By the host where the policy says `chain = \"follow\"`; advice to the client is the default, since no client is known to follow it."),
    point("002", "What happened on the way is kept, for an audit", "following::the_host_makes_the_next_call_where_the_policy_says_so")
        .but("As `trail`; what was shown to the person is still shown."),
    point("002", "A chain may do no more than it is allowed", "following::only_what_the_policy_grants_is_followed")
        .but("The seed leaves safety to another page; here `grants.invoke` and the effect of what led to it decide."),
    point("002", "`name` is the tool, `arguments` may be left out", "following::the_words_of_other_servers_are_read")
        .but("Its text says `name`, its code `tool`: both are read, `tool` is written; `parameters` is read, too."),
    point("002", "Approvals are part of the flow", "it::asks::an_action_that_must_be_confirmed_asks_before_anything_runs")
        .but("By the operator's `actions.confirm`, asked of the person, not routed to a manager."),
    point("003", "Several calls across servers are one tool", "it::workflows::examples::a_topic_is_searched_downloaded_and_read")
        .but("An action of the facade that its file is; under its own name by `expose.schema = \"granular\"`."),
    point("003", "It is published under its own name", "it::workflows::shown::each_composite_tool_can_be_published_under_its_own_name"),
    point("003", "Steps that depend on nothing run at once", "it::workflows::examples::an_incident_is_investigated_in_parallel"),
    point("003", "A step waits for those that it depends on", "it::workflows::examples::a_step_waits_for_others_and_for_its_condition")
        .but("For these alone: ToolHive's code waits for whole levels."),
    point("003", "Arguments are made from parameters and from what steps gave", "it::workflows::examples::a_topic_is_searched_downloaded_and_read"),
    point("003", "The person is asked between steps", "it::workflows::approvals::a_deployment_waits_for_its_approval")
        .but("In both lifecycles of MCP, over both transports."),
    point("003", "A step's time is bounded", "it::workflows::failures::a_step_that_takes_too_long_is_stopped"),
    point("003", "A workflow's time is bounded", "it::workflows::failures::a_workflow_that_takes_too_long_is_stopped")
        .but("Time in which it waits for a person does not count."),
    point("003", "Tools stand under `spec.config.compositeTools` of a VirtualMCPServer", "it::workflows::examples::a_server_is_read_where_its_tools_stand")
        .but("A file `<name>.workflow.yaml` in the plugin folder; what means nothing here gives a warning. A single tool, and a list of them, may stand alone."),
    point("003", "`compositeToolRefs` lead to VirtualMCPCompositeToolDefinitions", "it::workflows::examples::references_lead_to_other_files")
        .but("To those of the same folder, by `metadata.name`."),
    point("003", "Simple example: a topic is searched, and the first paper downloaded and read", "it::workflows::examples::a_topic_is_searched_downloaded_and_read"),
    point("003", "The result is that of the last step", "it::workflows::examples::a_topic_is_searched_downloaded_and_read")
        .but("Under `data`, as every result here."),
    point("003", "Use case: an incident is investigated in parallel", "it::workflows::examples::an_incident_is_investigated_in_parallel"),
    point("003", "Use case: a deployment needs an approval", "it::workflows::approvals::a_deployment_waits_for_its_approval")
        .but("`.steps.approval.content.approved` works as the page says; in ToolHive's code the content stands under `output` alone, which works, too."),
    point("003", "Use case: what is not approved is not deployed", "it::workflows::approvals::what_is_not_approved_is_skipped"),
    point("003", "Use case: scans are put together in one issue", "it::workflows::examples::scans_are_reported_in_one_issue_that_may_fail"),
    point("003", "Parameters are JSON Schema, with types, defaults and what is required", "it::workflows::examples::parameters_have_types_and_defaults")
        .but("Calls are checked by it; ToolHive leaves that to the steps."),
    point("003", "A step has a tool, arguments, dependencies, a condition, a timeout, and what follows an error", "it::workflows::examples::a_step_waits_for_others_and_for_its_condition"),
    point("003", "A step may be a question with a schema and a timeout", "it::workflows::approvals::a_question_may_be_the_only_step"),
    point("003", "A question's time is bounded", "it::workflows::approvals::a_question_that_stays_open_too_long_is_closed"),
    point("003", "`abort` stops the workflow immediately", "it::workflows::failures::steps_under_way_are_stopped_when_one_ends_the_workflow"),
    point("003", "`continue` goes on with the next step", "it::workflows::examples::scans_are_reported_in_one_issue_that_may_fail"),
    point("003", "`retry` tries again with exponential backoff", "it::workflows::examples::a_step_is_tried_again_as_often_as_it_says")
        .but("By half more each time, give or take a half, as ToolHive's code does."),
    point("003", "A step that is skipped has its default results", "it::workflows::examples::a_scan_that_is_left_out_has_default_results"),
    point("003", "A step that failed has its default results", "it::workflows::examples::a_source_that_fails_has_default_results")
        .but("However it failed; ToolHive's code gives them for failed calls only."),
    point("003", "Missing default results are an error when the file is read", "it::workflows::examples::an_example_without_default_results_is_refused_with_the_reason")
        .but("The page's sentence, with the field and its line."),
    point("003", "Default results are of any type, and nothing checks it", "it::workflows::failures::default_results_are_of_any_type"),
    point("003", "Templates reach parameters, outputs, texts, and a person's content and action", "it::workflows::examples::every_template_of_the_page_expands")
        .but("A single reference keeps its type where the server takes it; in ToolHive all is text."),
    point("003", "`fromJson`, `json`, `quote` and `index`", "it::workflows::examples::every_template_of_the_page_expands"),
    point("003", "All functions of Go's templates", "it::workflows::examples::every_template_of_the_page_expands")
        .but("Here `if`, `and`, `or`, `eq`, `len`, `printf`; the others are tested where templates are."),
    point("003", "Structured content is reached directly", "it::workflows::examples::a_source_that_fails_has_default_results"),
    point("003", "JSON as text is parsed first", "it::workflows::examples::a_topic_is_searched_downloaded_and_read"),
    point("003", "The complete example", "it::workflows::examples::the_complete_example_runs_with_everything_around_it")
        .but("`groupRef`, `incomingAuth` and `aggregation` mean nothing here, and give a warning."),
    point("003", "All examples as they stand there", "it::workflows::pages::the_examples_are_the_pages_to_the_letter")
        .but("The page lost its indentation, which was put back."),
    point("004", "One tool for each domain", "envelopes::each_domain_is_one_tool")
        .but("Called `memories`, not `MemoriesExecute`."),
    point("004", "A request is `cmd`, `params` and `detail`", "details::a_memory_is_added_found_changed_and_forgotten")
        .but("`action` is published, `cmd` is taken; parameters also beside it."),
    point("004", "Add, get, list, search, update, delete", "details::a_memory_is_added_found_changed_and_forgotten"),
    point("004", "A response is `ok`, `cmd`, `data`, `count`, `error`", "envelopes::every_domain_answers_in_the_same_shape")
        .but("And more where there is more: `code`, `hint`, `expected`, `example`, `total`, `cursor`, `message`, `next`."),
    point("004", "The same shape across all domains", "envelopes::every_domain_answers_in_the_same_shape"),
    point("004", "The command is always echoed, errors included", "envelopes::the_command_is_echoed_under_the_callers_key")
        .but("Under the caller's key, `cmd` or `action`, and by the action's own name where it was found."),
    point("004", "Overlapping calls are told apart by it", "envelopes::answers_are_told_apart_when_calls_overlap"),
    point("004", "Commands are found in any case", "envelopes::commands_are_found_in_any_case"),
    point("004", "An unknown command is an error", "envelopes::commands_are_found_in_any_case")
        .but("\"Unknown action\" for both keys, with the available ones."),
    point("004", "What an action throws becomes `ok: false` with its text", "envelopes::every_domain_answers_in_the_same_shape"),
    point("004", "`minimal` tells id and title", "details::as_much_is_told_as_is_asked_for"),
    point("004", "`standard` tells key fields and excerpts, and is the default", "details::as_much_is_told_as_is_asked_for"),
    point("004", "`full` tells everything", "details::as_much_is_told_as_is_asked_for")
        .but("But never what begins with `_`."),
    point("004", "Lists are counted", "details::a_search_ranks_and_keeps_to_its_limit"),
    point("004", "Conservative injection: nothing comes unasked", "details::nothing_is_told_that_was_not_asked_for")
        .but("The host holds no context of its own; what to suggest is a plugin's affair."),
    point("004", "Search finds what is relevant, and no more than `topK`", "details::a_search_ranks_and_keeps_to_its_limit")
        .but("How is the plugin's affair: the fixture counts words, the host brings no embeddings."),
    point("004", "Graceful degradation: an unavailable domain says so", "envelopes::a_domain_that_is_gone_says_so_and_the_others_go_on"),
    point("004", "The other domains go on", "envelopes::a_domain_that_is_gone_says_so_and_the_others_go_on"),
    point("004", "All domains together cost a fraction of their verbs", "savings::all_domains_together_cost_a_fraction_of_their_verbs")
        .but("`names` reaches the seed's 83 percent on large facades, `signatures` 80; `flat`, the default, saves about half and shows every parameter."),
    point("004", "Not for simple servers: these show their verbs", "envelopes::a_small_server_may_show_its_verbs")
        .but("By `expose.schema = \"granular\"`, without another plugin."),
    point("004", "Round trip: start gives a manifest of hashes and the content", "it::facades::files::a_round_trip_starts_with_hashes_and_contents"),
    point("004", "Round trip: preview tells the difference and the conflicts", "it::facades::files::a_preview_tells_the_difference_and_the_conflicts"),
    point("004", "Round trip: commit is atomic, with `replace`, `add_only`, `update_only`", "it::facades::files::a_commit_that_is_killed_is_made_whole_or_not_at_all"),
];
