//! Facades with more actions than a list shows.

use std::{collections::HashSet, fmt::Write as _, sync::Arc};

use loggia_facade::{Action, Detail, Object, Reply, Surface, code};
use serde_json::{Value, json};

use crate::{
    contract::{
        build::Contract,
        routed::{CallTarget, DescribeRequest},
    },
    model::{action_policy::ActionPolicy, compiled::COMPILED, surface_limits::SurfaceLimits, view::ToolView},
    publish::expose::{ExposeOptions, SchemaForm, ToolSplit},
    testing::api_surface,
    tests::fixture,
};

/// A facade that the host made of an API.
fn hub(actions: usize) -> Contract {
    Contract::from_checked(Arc::new(api_surface(actions))).unwrap()
}

/// Actions without groups, as an upstream server has them.
fn flat(actions: usize) -> Surface {
    let mut surface = api_surface(actions);
    surface.actions.iter_mut().for_each(|action| action.group = None);
    surface
}

fn object(value: Value) -> Object {
    value.as_object().cloned().unwrap()
}

fn describe(contract: &Contract, params: Value, view: &ToolView) -> Result<Reply, String> {
    let mut arguments = object(params);
    arguments.insert("action".into(), "describe".into());
    let routed = contract.route(arguments, view).map_err(|refused| refused.failure.to_string())?;
    let CallTarget::Describe(request) = routed.target else { panic!("{:?}", routed.target) };
    contract.describe_page(&request, routed.detail, view).map_err(|failure| failure.to_string())
}

/// The names of the actions of a reply.
fn found(reply: &Reply) -> Vec<String> {
    let name = |entry: &Value| {
        let text = entry.get("name").or(entry.get("signature")).and_then(Value::as_str).unwrap();
        text.split('(').next().unwrap().to_owned()
    };
    reply.data["actions"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn limits_depend_on_the_origin() {
    let check = |surface: Surface, most: &SurfaceLimits, expected: Result<(), &str>| {
        let problems = Contract::within(Arc::new(surface), most).map(drop).map_err(|error| error.to_string());
        match (problems, expected) {
            (Ok(()), Ok(())) => {}
            (Err(problems), Err(part)) => assert!(problems.contains(part), "{problems}"),
            (problems, expected) => panic!("{problems:?}, not {expected:?}"),
        }
    };
    let many = |actions: usize| {
        let action = |n| fixture::action(&format!("a{n}"), json!({"type": "object"}));
        fixture::surface("many", (0..actions).map(action).collect())
    };
    let sized = |bytes: usize| {
        let schema = json!({"type": "object", "description": "x".repeat(bytes)});
        fixture::surface("sized", vec![fixture::action("go", schema)])
    };
    let grouped = |group: &str| {
        let mut surface = many(1);
        surface.actions[0].group = Some(group.to_owned());
        surface
    };
    let wide = |parameters: usize| {
        let names = (0..parameters).map(|n| (format!("p{n}"), json!({})));
        fixture::one(names.collect::<Object>().into(), json!([]))
    };
    let (plugin, hosted) = (&SurfaceLimits::PLUGIN, &SurfaceLimits::HOSTED);
    check(many(64), plugin, Ok(()));
    check(many(65), plugin, Err("has 65 actions; at most 64 are allowed"));
    check(many(2048), hosted, Ok(()));
    check(many(2049), hosted, Err("has 2049 actions; at most 2048 are allowed"));
    check(sized(40 << 10), plugin, Err("at most 32768 are allowed"));
    check(sized(40 << 10), hosted, Ok(()));
    check(sized(140 << 10), hosted, Err("at most 131072 are allowed"));
    check(wide(65), plugin, Err("has 65 parameters; at most 64 are allowed"));
    check(wide(65), hosted, Ok(()));
    check(grouped("pull requests"), hosted, Ok(()));
    check(grouped(" "), hosted, Err("the group of action `a0` must not be empty"));
    check(grouped(&"x".repeat(65)), hosted, Err("takes 65 bytes; at most 64 are allowed"));
    check(grouped("a\u{200b}b"), hosted, Err("holds control or invisible characters"));
    check(api_surface(65), plugin, Err("has 65 actions"));
}

#[test]
fn a_large_api_is_checked_and_read_lazily() {
    let contract = Contract::within(Arc::new(api_surface(1200)), &SurfaceLimits::HOSTED).unwrap();
    assert_eq!(contract.rules.read_count(), 0);
    contract.compile().unwrap();
    let before = COMPILED.get();
    contract.publish(&ExposeOptions::default());
    describe(&contract, json!({}), &ToolView::all_actions()).unwrap();
    assert_eq!((contract.rules.read_count(), COMPILED.get()), (0, before));
    describe(&contract, json!({"query": "webhook"}), &ToolView::all_actions()).unwrap();
    assert_eq!((contract.rules.read_count(), COMPILED.get()), (20, before));
    // A broken schema among many is found at load.
    let mut surface = api_surface(100);
    surface.actions[99].params =
        Arc::new(object(json!({"type": "object", "properties": {"p": {"type": "strin"}}})));
    let problems = Contract::within(Arc::new(surface), &SurfaceLimits::HOSTED).unwrap_err().to_string();
    assert!(problems.starts_with("action `environments_create`: the schema of its parameters"), "{problems}");
}

#[test]
fn unchecked_surfaces_of_any_size_work() {
    let mut surface = api_surface(100);
    let broken = json!({"type": "object", "properties": {"p": {"$ref": "#/nowhere"}}});
    surface.actions[70].params = Arc::new(object(broken));
    let contract = Contract::from_checked(Arc::new(surface)).unwrap();
    let actions = &contract.surface().actions;
    let failure = contract.prepare(&actions[70], object(json!({"p": 1}))).unwrap_err();
    assert_eq!(failure.code, code::INTERNAL);
    assert!(failure.message.contains("is not defined in this schema"), "{failure}");
    assert!(contract.prepare(&actions[71], object(json!({"owner": "o", "repo": "r"}))).is_ok());
}

#[test]
fn every_action_is_routed() {
    let contract = hub(1200);
    let names: Vec<(usize, String)> = (contract.surface().actions.iter().enumerate())
        .flat_map(|(index, Action { name, aliases, .. })| {
            [name.clone(), name.to_uppercase(), aliases[0].clone()].map(|name| (index, name))
        })
        .collect();
    for (index, name) in names {
        let sent = object(json!({"action": name, "owner": "octo", "repo": "loggia"}));
        let routed = contract.route(sent, &ToolView::all_actions()).unwrap();
        let CallTarget::Action { action, .. } = routed.target else { panic!("{name}") };
        assert_eq!(action, index, "{name}");
        assert_eq!(
            contract.rules_of(&contract.surface().actions[index]).unwrap().signature.split('(').next(),
            Some(&*contract.surface().actions[index].name)
        );
    }
}

#[test]
fn unknown_actions_lead_to_similar_ones() {
    let contract = hub(1200);
    for (name, hint) in [
        ("branches_delet", Some("Did you mean \"branches_delete\"?")),
        ("deleteBranches", Some("Did you mean \"deleteBranch\"?")),
        (
            "delete_this_gist",
            Some("Actions with such words: `gists_delete`, `gists_list` and `gists_create`."),
        ),
        ("xyzzy", None),
    ] {
        let failure = contract.action(name).unwrap_err();
        assert_eq!(
            failure.message,
            format!(
                "Unknown action: \"{name}\". There are 1200 actions: find the right one by `describe` with `query`."
            )
        );
        assert_eq!(failure.hint.as_deref(), hint, "{name}");
    }
}

#[test]
fn words_find_the_right_actions_first() {
    let contract = hub(1200);
    for (query, expected) in [
        ("delete a branch", "branches_delete"),
        ("deleteBranch", "branches_delete"),
        ("branches_delete", "branches_delete"),
        ("create pull request", "pull_requests_create"),
        ("listing the webhooks", "webhooks_list"),
        ("approve deploy", "deployments_approve"),
        ("rename repo", "repositories_rename"),
        ("TEAM members: unassign", "teams_unassign"),
    ] {
        let reply = describe(&contract, json!({"query": query}), &ToolView::all_actions()).unwrap();
        assert_eq!(found(&reply)[0], expected, "{query}");
    }
    let nothing = describe(&contract, json!({"query": "xyzzy"}), &ToolView::all_actions()).unwrap();
    assert!(found(&nothing).is_empty() && nothing.message.is_some());
}

#[test]
fn pages_hold_every_match_once() {
    let contract = hub(1200);
    for (params, total) in [
        (json!({"query": "repository"}), 1200),
        (json!({"group": "Teams"}), 30),
        (json!({"group": "teams", "query": "list"}), 1),
        (json!({}), 40),
    ] {
        let (mut seen, mut count, mut cursor) = (HashSet::new(), 0, Value::Null);
        loop {
            let mut params = params.clone();
            params["cursor"] = cursor;
            let reply = describe(&contract, params, &ToolView::all_actions()).unwrap();
            let page = reply.page.unwrap();
            let list = reply.data.get("groups").unwrap_or(&reply.data["actions"]).as_array().unwrap().clone();
            assert_eq!((page.count, page.total), (Some(list.len() as u64), Some(total)));
            count += list.len();
            seen.extend(list.iter().map(Value::to_string));
            match page.cursor {
                Some(next) => cursor = next.into(),
                None => break,
            }
        }
        assert_eq!((seen.len(), count), (total as usize, total as usize), "{params}");
    }
}

#[test]
fn invalid_requests_are_explained() {
    let contract = hub(1200);
    let mut out = String::new();
    for params in [
        json!({"cursor": "next"}),
        json!({"group": "team"}),
        json!({"group": "xyzzy"}),
        json!({"of": "teams_lst"}),
        json!({"name": "teams_list"}),
        json!({"query": 5}),
    ] {
        let mut arguments = params.clone();
        arguments["action"] = "describe".into();
        let view = ToolView::all_actions();
        let failure = match contract.route(object(arguments), &view) {
            Err(refused) => refused.failure,
            Ok(routed) => {
                let CallTarget::Describe(request) = routed.target else { panic!("{params}") };
                contract.describe_page(&request, routed.detail, &view).unwrap_err()
            }
        };
        let _ = writeln!(out, "{params}\n  {}\n  {}", failure.message, failure.hint.unwrap_or_default());
    }
    insta::assert_snapshot!("large_refused", out);
}

fn text(reply: &Reply) -> String {
    format!(
        "{}\n{:?}\n{:?}\n",
        serde_json::to_string_pretty(&*reply.data).unwrap(),
        reply.message,
        reply.page
    )
}

#[test]
fn descriptions_of_a_large_facade() {
    let contract = hub(1200);
    let view = ToolView::all_actions();
    let show = |params: Value| text(&describe(&contract, params, &view).unwrap());
    insta::assert_snapshot!("large_describe", show(json!({})));
    insta::assert_snapshot!(
        "large_describe_query",
        show(json!({"query": "labels of an issue", "group": "issues"}))
    );
    insta::assert_snapshot!(
        "large_describe_minimal",
        show(json!({"query": "retry check suite", "detail": "minimal"}))
    );
    insta::assert_snapshot!("large_describe_self", show(json!({"of": "describe"})));
    let flat = Contract::from_checked(Arc::new(flat(100))).unwrap();
    insta::assert_snapshot!("large_describe_flat", text(&describe(&flat, json!({}), &view).unwrap()));
}

#[test]
fn tools_of_a_large_facade() {
    let mut out = String::new();
    for surface in [api_surface(1200), flat(100)] {
        let mut surface = surface;
        (surface.actions[0].long_running, surface.actions[1].details) = (true, true);
        surface.default_action = Some("issues_list".to_owned());
        let terms =
            ActionPolicy { confirm: vec!["gists_list".into()], batch: true, ..ActionPolicy::default() };
        let contract = Contract::from_checked(Arc::new(surface)).unwrap().with_policy(terms).unwrap();
        let tool = &contract.publish(&ExposeOptions::default())[0];
        let _ = writeln!(
            out,
            "{}\n{}\n",
            tool.description,
            serde_json::to_string_pretty(&*tool.input_schema).unwrap()
        );
        let rejects = crate::publish::lint::lint(tool)
            .into_iter()
            .filter(|finding| finding.severity == crate::LintSeverity::Rejects);
        assert_eq!(rejects.count(), 0);
    }
    insta::assert_snapshot!("large_tools", out);
    let fallback = |actions: usize, form| hub(actions).form_fallback(form);
    assert_eq!((fallback(60, SchemaForm::Granular), fallback(61, SchemaForm::Names)), (None, None));
    let reason = "has 61 actions, too many for the form `granular` (at most 60): it is published as `names`, and \
                  `describe` with `query` finds its actions";
    assert_eq!(fallback(61, SchemaForm::Granular).as_deref(), Some(reason));
}

#[test]
fn a_split_facade_counts_matches_of_other_tools() {
    let contract = hub(1200);
    let tools = contract.publish(&ExposeOptions { split: ToolSplit::Effect, ..ExposeOptions::default() });
    let [reads, writes] = tools.as_slice() else { panic!("{} tools", tools.len()) };
    let all = describe(&contract, json!({}), &reads.view).unwrap();
    assert_eq!((&all.data["actions"], &all.data["other_tools"]), (&json!(280), &json!({"hub_write": 920})));
    let some = describe(&contract, json!({"query": "delete branch"}), &reads.view).unwrap();
    assert!(some.data["other_tools"]["hub_write"].as_u64() > Some(0));
    let reads: HashSet<String> = found(&some).into_iter().collect();
    let some = describe(&contract, json!({"query": "delete branch"}), &writes.view).unwrap();
    assert_eq!(found(&some)[0], "branches_delete");
    assert!(found(&some).iter().all(|name| !reads.contains(name)));
}

#[test]
fn callers_find_only_their_actions() {
    let contract = hub(1200);
    let may = |name: &str| name.starts_with("gists_") || name == "teams_list";
    let view = contract.narrow(&ToolView::all_actions(), may).unwrap();
    let named = contract.surface().actions.iter().map(|action| action.name.as_str()).filter(|name| may(name));
    assert_eq!(contract.narrow_to(&ToolView::all_actions(), named).as_ref(), Some(&view));
    for query in ["list", "teams", "repository owner", "delete branch", "branches_delete", "reposi"] {
        let reply = describe(&contract, json!({"query": query}), &view).unwrap();
        assert!(found(&reply).iter().all(|name| may(name)), "{query}: {:?}", found(&reply));
        assert!(reply.page.unwrap().total <= Some(31), "{query}");
    }
    let failure = describe(&contract, json!({"group": "branches"}), &view).unwrap_err();
    assert!(failure.contains("Groups: gists, teams."), "{failure}");
    let denied = describe(&contract, json!({"of": "branches_delete"}), &view).unwrap_err();
    assert!(denied.contains("access denied") && !denied.contains("branches_list"), "{denied}");
    let unknown = contract.action_in_view("branch_delete_all", &view).unwrap_err().to_string();
    assert!(!unknown.contains("branches"), "{unknown}");
    for form in SchemaForm::ALL {
        for tool in contract.publish_for(&ExposeOptions { form, ..ExposeOptions::default() }, may) {
            let text = format!("{} {}", tool.description, json!(*tool.input_schema));
            assert!(text.contains("31 actions") && text.contains("gists (30), teams (1)"), "{text}");
            assert!(!text.contains("branch"), "{text}");
        }
    }
}

#[test]
fn denied_actions_are_not_found() {
    let deny: Vec<String> =
        api_surface(1200).actions.into_iter().map(|action| action.name).skip(70).collect();
    let terms =
        ActionPolicy { deny, confirm: vec!["gists_list".into()], batch: false, ..ActionPolicy::default() };
    let contract = hub(1200).with_policy(terms).unwrap();
    let view = ToolView::all_actions();
    let reply = describe(&contract, json!({"query": "repository"}), &view).unwrap();
    assert_eq!(reply.page.unwrap().total, Some(70));
    assert!(
        found(&describe(&contract, json!({"query": "gists_delete"}), &view).unwrap())
            .iter()
            .all(|n| n != "gists_delete")
    );
    assert!(contract.needs_confirmation("gists_list") && !contract.needs_confirmation("gists_get"));
    let denied = contract.action("gists_delete").unwrap_err();
    assert_eq!(denied.code, code::DENIED);
}

#[test]
fn small_facades_are_searched_too() {
    let contract = Contract::new(Arc::new(fixture::notes())).unwrap();
    for (params, names) in [
        (json!({"query": "find words"}), &["search"][..]),
        (json!({"query": "tags"}), &["list", "add"]),
        (json!({"query": ""}), &["add", "search", "list", "get", "delete"]),
        (json!({"query": null, "cursor": null}), &["add", "search", "list", "get", "delete"]),
        (json!({"query": "xyzzy"}), &[]),
    ] {
        let reply = describe(&contract, params.clone(), &ToolView::all_actions()).unwrap();
        assert_eq!(found(&reply), names, "{params}");
    }
    let failure = describe(&contract, json!({"group": "x"}), &ToolView::all_actions()).unwrap_err();
    assert!(failure.contains("Unknown group: \"x\". No action has a group."), "{failure}");
}

#[test]
fn nulls_for_parameters_of_describe_are_dropped() {
    let sent = || {
        object(json!({"owner": "o", "repo": "r", "query": null, "group": null, "cursor": null, "sha": null}))
    };
    let large = hub(100);
    assert!(large.prepare(&large.surface().actions[0], sent()).is_ok());
    // Small facades do not publish them.
    let small = hub(30);
    let failure = small.prepare(&small.surface().actions[0], sent()).unwrap_err();
    assert!(failure.message.contains("`query` is not a parameter"), "{failure}");
}

#[test]
fn unknown_parameters_name_their_owners() {
    let contract = hub(1200);
    let failure = contract
        .prepare(&contract.surface().actions[0], object(json!({"owner": "o", "repo": "r", "gist_id": 1})))
        .unwrap_err();
    let owners = "it belongs to `gists_list`, `gists_get`, `gists_create`, `gists_update` and others";
    assert_eq!(failure.message, format!("`gist_id` is not a parameter of `repositories_list` ({owners})"));
}

#[test]
fn secrets_of_large_facades_stay_hidden() {
    let mut surface = api_surface(100);
    let secret = json!({"type": "object", "properties": {"pin": {"type": "string", "writeOnly": true}}});
    surface.actions[99].params = Arc::new(object(secret));
    for (surface, shown) in [(surface, false), (api_surface(100), true)] {
        let contract = Contract::from_checked(Arc::new(surface)).unwrap();
        let sent = object(json!({"action": "gists_list", "params": "pin=1234"}));
        let failure = contract.route(sent, &ToolView::all_actions()).unwrap_err().failure;
        assert_eq!(failure.message.contains("1234"), shown, "{failure}");
        assert_eq!(contract.rules.read_count(), 0);
    }
}

#[test]
fn tools_of_single_actions_share_their_names() {
    let contract = hub(60);
    let tools = contract.publish(&ExposeOptions { form: SchemaForm::Granular, ..ExposeOptions::default() });
    assert_eq!(tools.len(), 60);
    assert!(tools.iter().all(|tool| Arc::ptr_eq(&tool.view.tools, &tools[0].view.tools)));
    let narrowed = contract.narrow(&tools[0].view, |name| name == "repositories_list").unwrap();
    assert!(Arc::ptr_eq(&narrowed.tools, &tools[0].view.tools));
    let failure = contract.route(object(json!({"action": "gists_list"})), &narrowed).unwrap_err().failure;
    assert_eq!(failure.code, code::DENIED);
    let all = Contract::from_checked(Arc::new(api_surface(1200))).unwrap().baseline_tools();
    assert_eq!(all.len(), 1200);
}

#[test]
fn a_cursor_beyond_the_end_is_harmless() {
    let contract = hub(100);
    let request = |query: &str, cursor: &str| DescribeRequest {
        query: Some(query.to_owned()).filter(|query| !query.is_empty()),
        cursor: Some(cursor.to_owned()),
        ..DescribeRequest::default()
    };
    for cursor in ["100", "18446744073709551615"] {
        for query in ["", "repository"] {
            let reply =
                contract.describe_page(&request(query, cursor), Detail::Standard, &ToolView::all_actions());
            assert_eq!(reply.unwrap().page.unwrap().count, Some(0), "{query} {cursor}");
        }
    }
}
