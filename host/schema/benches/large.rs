//! Measures what grows with the number of actions, for surfaces as an importer makes them of an API: loading,
//! publishing, finding and calling. The goal is to load and publish 1,200 actions in 500 ms.
//!
//! `cargo bench -p loggia-schema --features testing --bench large`

#![allow(missing_docs, reason = "a program")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "it measures and prints"
)]

use std::{hint::black_box, sync::Arc, time::Instant};

use loggia_facade::{Detail, Object};
use loggia_schema::{
    CallTarget, Contract, DescribeRequest, ExposeOptions, SchemaForm, SurfaceLimits, ToolView,
    testing::api_surface,
};
use serde_json::{Value, json};

/// Measures the sizes given as arguments. Memory is right for the first alone, since what is freed is used again.
fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|text| text.parse().ok()).collect();
    for actions in if sizes.is_empty() { vec![1200, 500, 100, 60] } else { sizes } {
        println!("{actions} actions");
        measure(actions);
    }
}

fn measure(actions: usize) {
    let surface = timed("make the surface", || Arc::new(api_surface(actions)));
    let size = |value: &Object| serde_json::to_string(value).map_or(0, |text| text.len());
    let schemas: usize = surface.actions.iter().map(|action| size(&action.params)).sum();
    println!("  schemas: {schemas} bytes");
    let known = timed("load, checked before", || Contract::from_checked(Arc::clone(&surface)));
    let contract = timed("load and check", || Contract::within(Arc::clone(&surface), &SurfaceLimits::HOSTED));
    let contract = contract.unwrap_or_else(|problems| panic!("{problems}"));
    drop(known);
    for form in SchemaForm::ALL {
        let expose = ExposeOptions { form, ..ExposeOptions::default() };
        let tools = timed(&format!("publish as {}", form.as_str()), || contract.publish(&expose));
        let bytes: usize = tools.iter().map(|tool| tool.description.len() + size(&tool.input_schema)).sum();
        println!("    {} tools, {bytes} bytes", tools.len());
    }
    let compiled = timed("prepare in the background", || contract.compile());
    assert!(compiled.is_ok());
    let view = ToolView::all_actions();
    let describe = |request: DescribeRequest| {
        let reply = contract.describe_page(&request, Detail::Standard, &view);
        reply.map_or(Value::Null, |reply| reply.data.into_value()).to_string().len()
    };
    let query = Some("delete a branch of a repository".to_owned());
    println!("    {} bytes", timed("describe", || describe(DescribeRequest::default())));
    let searched = DescribeRequest { query, ..DescribeRequest::default() };
    println!("    {} bytes", timed("describe with query, first", || describe(searched.clone())));
    println!("    {} bytes", timed("describe with query, again", || describe(searched.clone())));

    let last = contract.surface().actions[actions - 1].name.clone();
    let call = object(json!({"action": last, "owner": "octo", "repo": "loggia", "per_page": 10}));
    let prepare = || match contract.route(call.clone(), &view).map(|routed| routed.target) {
        Ok(CallTarget::Action { action, params }) => {
            black_box(contract.prepare(&contract.surface().actions[action], params).is_ok())
        }
        _ => false,
    };
    assert!(timed("first call of an action", prepare));
    repeated("route and prepare a call", || assert!(prepare()));
    let narrow = || contract.narrow(&view, |name| name.ends_with("_list"));
    repeated("narrow by a predicate", || drop(black_box(narrow())));
    let names: Vec<String> = contract.surface().actions.iter().take(5).map(|a| a.name.clone()).collect();
    let narrow_to = || contract.narrow_to(&view, names.iter().map(String::as_str));
    repeated("narrow to five names", || drop(black_box(narrow_to())));
    let unknown = || contract.route(object(json!({"action": "branch_delet_all"})), &view);
    repeated("refuse an unknown action", || drop(black_box(unknown())));
    let nulls: Object = (0..2_000).map(|n| (format!("p{n}"), Value::Null)).collect();
    let action = &contract.surface().actions[0];
    repeated("refuse 2,000 unknown nulls", || drop(black_box(contract.prepare(action, nulls.clone()))));
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (before, begun) = (resident(), Instant::now());
    let made = work();
    let took = begun.elapsed();
    println!("  {what}: {took:.1?}, resident memory +{} KiB", resident().saturating_sub(before));
    made
}

fn repeated(what: &str, mut work: impl FnMut()) {
    const TIMES: u32 = 200;
    let mut best = std::time::Duration::MAX;
    for _ in 0..5 {
        let begun = Instant::now();
        (0..TIMES).for_each(|_| work());
        best = best.min(begun.elapsed() / TIMES);
    }
    println!("  {what}: {best:.2?}");
}

/// Resident memory in KiB, where the system reports it.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4
}

fn object(value: Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}
