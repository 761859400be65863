//! Facades with more actions than a list shows.

use std::fmt::Write as _;

use loggia_schema::{Contract, ExposeOptions, SchemaForm, ToolSplit, testing::api_surface};

use loggia_policy::model::Exposed;

use super::*;
use crate::{catalog::ToolPublisher, tokens};

/// The goal for the tool of a facade, however many actions it has.
const MOST: usize = 1500;

fn contract(surface: Surface) -> Contract {
    Contract::from_checked(Arc::new(surface)).unwrap_or_else(|problems| panic!("{problems}"))
}

fn slots(actions: usize, exposure: FacadeExposure) -> BTreeMap<String, CatalogSlot> {
    let contract = contract(api_surface(actions));
    let surface = Arc::clone(contract.surface());
    let name = surface.name.clone();
    let act = |call: Call| async move { Ok(Reply::data(call.action)) }.boxed();
    let facade =
        Arc::new(PuppetFacade { surface, act: Box::new(act), is_io_bound: false, start_rules: Vec::new() });
    let entry = CatalogEntry::new(facade, contract, FacadeRules::default(), exposure, "test".to_owned());
    BTreeMap::from([(name, CatalogSlot::Serving(Arc::new(entry)))])
}

fn hub(actions: usize) -> Gate {
    let gate = gate(Vec::new());
    gate.catalog().swap(slots(actions, FacadeExposure::default()));
    gate
}

fn expose(form: SchemaForm, split: ToolSplit) -> ExposeOptions {
    ExposeOptions { form, split, ..ExposeOptions::default() }
}

/// Fails if any form of the facade takes too many tokens. Returns the figures of its tools.
fn figures(contract: &Contract) -> String {
    let mut out = String::new();
    for split in [ToolSplit::None, ToolSplit::Effect] {
        let short = contract.publish(&expose(SchemaForm::Names, split));
        for form in SchemaForm::ALL {
            assert_eq!(contract.publish(&expose(form, split)), short, "{}", form.as_str());
        }
        for tool in short {
            let tokens::TokenFootprint { tokens, bytes } = tokens::measure_tool(&tool);
            assert!(tokens <= MOST, "{tokens} tokens: {}", tool.description);
            assert_eq!(tool.input_schema["properties"]["action"].get("enum"), None);
            let _ = writeln!(out, "  {}: {tokens} tokens, {bytes} bytes", tool.name);
        }
    }
    out
}

#[test]
fn a_large_facade_costs_few_tokens() {
    let mut out = String::new();
    for actions in [100, 500, 1200] {
        let _ = write!(out, "{actions} actions\n{}", figures(&contract(api_surface(actions))));
    }
    insta::assert_snapshot!("large_tokens", out);
}

#[test]
fn the_worst_texts_stay_within_the_goal() {
    let grouped = |group: fn(usize) -> Option<String>| {
        let mut surface = api_surface(1200);
        surface.summary = "語彙".repeat(133);
        for (index, action) in surface.actions.iter_mut().enumerate() {
            action.name = format!("{}{index:04}", "q7".repeat(30));
            action.group = group(index);
            (action.long_running, action.details) = (true, true);
        }
        surface.default_action = Some(surface.actions[0].name.clone());
        surface
    };
    let surfaces = [
        grouped(|_| None),
        grouped(|index| Some(format!("\"{}\" {index}", "語".repeat(18)))),
        grouped(|index| (index % 2 == 0).then(|| format!("{index}"))),
    ];
    let out: Vec<String> = surfaces.into_iter().map(|surface| figures(&contract(surface))).collect();
    insta::assert_snapshot!("large_tokens_worst", out.join("--\n"));
}

#[test]
fn descriptions_of_large_facades_cost_few_tokens() {
    let contract = contract(api_surface(1200));
    let view = loggia_schema::ToolView::all_actions();
    let request = |query: Option<&str>, group: Option<&str>| loggia_schema::DescribeRequest {
        query: query.map(str::to_owned),
        group: group.map(str::to_owned),
        ..Default::default()
    };
    let requests =
        [(None, None), (Some("delete a branch"), None), (None, Some("teams")), (Some("list"), Some("users"))];
    let mut out = String::new();
    for (query, group) in requests {
        for detail in [Detail::Minimal, Detail::Standard] {
            let reply = contract.describe_page(&request(query, group), detail, &view).unwrap();
            let text =
                json_of(Envelope::new(loggia_facade::Command::action("describe"), Ok(reply))).to_string();
            let tokens = loggia_tokens::count(&text);
            assert!(tokens <= MOST, "{query:?} {group:?}: {tokens} tokens: {text}");
            let (query, group) = (query.unwrap_or("-"), group.unwrap_or("-"));
            let _ =
                writeln!(out, "{query}, {group}, {}: {tokens} tokens, {} bytes", detail.as_str(), text.len());
        }
    }
    insta::assert_snapshot!("large_describe_tokens", out);
}

#[tokio::test]
async fn actions_are_found_and_called() {
    let gate = hub(1200);
    let describe = async |params: Value| finish(tool(&gate, "hub", params)).await;
    let first = describe(json!({"action": "describe", "query": "protect branch delete"})).await;
    assert_eq!(
        first["data"]["actions"][0]["summary"].as_str().map(|text| &text[..19]),
        Some("Permanently deletes")
    );
    assert_eq!((first["count"].as_u64(), first["cursor"].as_str()), (Some(20), Some("20")), "{first}");
    let next = json!({"action": "describe", "params": {"query": "protect branch delete", "cursor": first["cursor"]}});
    let next = describe(next).await;
    assert_eq!(next["total"], first["total"]);
    assert_ne!(next["data"]["actions"][0], first["data"]["actions"][0]);
    let call = json!({"action": "deleteBranch", "owner": "octo", "repo": "loggia"});
    assert_eq!(describe(call).await["data"], "branches_delete");
    let unknown = describe(json!({"action": "branch_remove_all"})).await;
    let message = "Unknown action: \"branch_remove_all\". There are 1200 actions: find the right one by `describe` with `query`.";
    assert_eq!(failed(&unknown), ("invalid_params", message));
}

#[tokio::test]
async fn callers_find_only_what_they_may_call() {
    let gate = hub(1200);
    let ask = async |scopes: &str, params: Value| {
        let scopes = scopes.split_whitespace().map(|scope| scope.parse().unwrap());
        let origin = CallOrigin::named("ada", CallerRights::from_scopes(scopes));
        let Value::Object(params) = params else { unreachable!() };
        finish(gate.call_tool(origin, "hub", params).unwrap()).await
    };
    let query = json!({"action": "describe", "query": "delete branch"});
    let mine = "hub:branches_delete hub:gists_get hub:nothing other:*";
    let found = ask(mine, query.clone()).await;
    let actions = found["data"]["actions"].as_array().unwrap();
    assert_eq!(actions.len(), 1, "{found}");
    assert!(actions[0]["signature"].as_str().unwrap().starts_with("branches_delete("), "{found}");
    assert_eq!(found["total"].as_u64(), Some(actions.len() as u64));
    // Few actions are listed one by one.
    let all = ask(mine, json!({"action": "describe"})).await;
    assert_eq!(all["data"]["actions"].as_array().map(Vec::len), Some(2), "{all}");
    let other = ask(mine, json!({"action": "describe", "group": "teams"})).await;
    assert_eq!(failed(&other).1, "Unknown group: \"teams\". Groups: branches, gists.");
    let whole = ask("hub:*", query.clone()).await;
    assert_eq!(whole, finish(tool(&gate, "hub", query)).await);
}

#[test]
fn forms_of_large_facades_fall_back() {
    for (form, budget) in
        [(SchemaForm::Granular, None), (SchemaForm::Flat, Some(10)), (SchemaForm::Flat, Some(9_000))]
    {
        let publisher = ToolPublisher { form, budget, ..ToolPublisher::default() };
        let exposure =
            FacadeExposure::new(&Exposed { form: budget.is_none().then_some(form), ..Exposed::default() });
        let shown = publisher.publish(&slots(100, exposure));
        assert_eq!(shown[0].expose.form, SchemaForm::Names);
        assert_eq!(shown[0].tools.len(), 1);
    }
    let figures = tokens::measure_facades([(&contract(api_surface(100)), ToolSplit::None)]);
    let forms: Vec<&str> = figures.total.keys().map(String::as_str).collect();
    assert_eq!(forms, ["granular", "names"]);
}
