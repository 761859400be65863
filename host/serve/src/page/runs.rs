//! Runs of all callers, and one run with its trace.

use axum::{
    Extension,
    extract::{Path, RawQuery, Request, State as Axum},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use loggia_gate::{
    call::{ListedRun, ShownRun, TARGET as AUDIT},
    journal::JournalError,
};
use loggia_workflow::facade::summarize_steps;
use maud::{Markup, html};
use serde_json::Value;
use url::form_urlencoded;

use super::{
    context::PageExtract,
    form::{FormFields, refuse},
    layout::{PageFrame, form_token, live_part},
    session::OperatorSession,
    text::{BadgeTone, badge, format_latency, json_block, show_time, untrusted},
};

/// Runs on a page.
const PER_PAGE: usize = 50;
/// Pages. `loggia runs list` shows older runs.
const PAGES: usize = 20;

/// Value of a parameter of a query.
fn parameter(query: Option<&str>, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Lists runs.
pub(super) async fn list(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
    RawQuery(query): RawQuery,
) -> Response {
    let page = parameter(query.as_deref(), "page").and_then(|page| page.parse().ok()).unwrap_or(1);
    let page: usize = std::cmp::Ord::clamp(page, 1, PAGES);
    let (runs, has_more) = match context.gate.list_runs((page - 1) * PER_PAGE, PER_PAGE).await {
        Ok(found) => found,
        Err(error) => return broken(&error),
    };
    let content = html! {
        @if runs.is_empty() { p { "No run is recorded here. A run is a call that outlives its request." } }
        @else { (render_table(&runs)) }
        (render_pages(page, has_more))
    };
    let frame = PageFrame { path: "/operator/runs", title: "Runs", notice: None };
    frame.render(&session, &live_part("runs", &content)).into_response()
}

fn render_table(runs: &[ListedRun]) -> Markup {
    html! {
        div.table role="region" aria-label="Runs" tabindex="0" { table {
            thead { tr {
                th scope="col" { "Run" } th scope="col" { "State" } th scope="col" { "Action" }
                th scope="col" { "Caller" } th scope="col" { "Began" }
            } }
            tbody { @for run in runs { tr {
                th scope="row" { a.id href=(path_of(&run.id)) { (short_id(&run.id)) } }
                td { (run_badge(run)) }
                td { (untrusted(&format!("{}.{}", run.facade, run.action))) }
                td { (untrusted(&run.caller)) }
                td { (show_time(run.began)) }
            } } }
        } }
    }
}

/// The beginning of a handle, which tells runs apart.
fn short_id(id: &str) -> String {
    id.chars().take(10).collect::<String>() + "…"
}

fn path_of(id: &str) -> String {
    let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("/operator/runs/{id}")
}

fn run_badge(run: &ListedRun) -> Markup {
    let tone = match run.state.as_str() {
        "running" | "unfinished" => BadgeTone::Busy,
        "waiting" => BadgeTone::Warning,
        "succeeded" => BadgeTone::Good,
        "cancelled" => BadgeTone::Quiet,
        _ => BadgeTone::Bad,
    };
    badge(tone, &run.state)
}

fn render_pages(page: usize, has_more: bool) -> Markup {
    let last = if has_more { (page + 1).min(PAGES) } else { page };
    html! {
        @if last > 1 {
            nav aria-label="Pages of the list" { ul.pages {
                @for number in 1..=last {
                    li { a href={ "/operator/runs?page=" (number) } aria-current=[(number == page).then_some("page")]
                        aria-label={ "Page " (number) } { (number) } }
                }
            } }
        }
        @if has_more && page == PAGES {
            p.more { "Older runs: " code { "loggia runs list --limit 5000" } "." }
        }
    }
}

/// Shows a run.
pub(super) async fn show(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let shown = match context.gate.load_run(&id).await {
        Ok(Some(shown)) => shown,
        Ok(None) => {
            return refuse(StatusCode::NOT_FOUND, "There is no such run. Ended ones are kept for a week.");
        }
        Err(error) => return broken(&error),
    };
    let notice = match parameter(query.as_deref(), "done").as_deref() {
        Some("cancelled") => Some("The run is being cancelled. What it has done remains."),
        Some("ended") => Some("The run had ended already."),
        _ => None,
    };
    let title = format!("{}.{}", shown.run.facade, shown.run.action);
    let content = html! {
        (live_part("run", &render_facts(&shown)))
        @if shown.run.is_unfinished {
            form.actions method="post" action={ (path_of(&shown.run.id)) "/cancel" } {
                (form_token(&session))
                button.second type="submit" { "Cancel the run" }
            }
        }
        (live_part("record", &render_record(&shown)))
    };
    PageFrame { path: "/operator/runs", title: &title, notice }.render(&session, &content).into_response()
}

fn render_facts(shown: &ShownRun) -> Markup {
    let ShownRun { run, ended, waits_for, .. } = shown;
    html! {
        dl.pairs {
            dt { "State" } dd { (run_badge(run)) }
            dt { "Caller" } dd { (untrusted(&run.caller)) }
            dt { "Began" } dd { (show_time(run.began)) }
            @if let Some(ended) = ended { dt { "Ended" } dd { (show_time(*ended)) } }
            dt { "Handle" } dd { code { (untrusted(&run.id)) } }
            @for text in waits_for { dt { "Waits for" } dd { (untrusted(text)) } }
        }
    }
}

fn render_record(shown: &ShownRun) -> Markup {
    let ShownRun { inputs, trace, entries, result, .. } = shown;
    html! {
        @if !inputs.is_empty() {
            h2 { "Parameters" }
            (json_block("Parameters", &Value::Object(inputs.clone())))
        }
        @if !entries.is_empty() { h2 { "Steps" } (render_steps(entries)) }
        @if let Some(result) = result { h2 { "Result" } (json_block("Result", result)) }
        @if trace.as_array().is_some_and(|lines| !lines.is_empty()) {
            h2 { "Trace" }
            p.faint { "Newest first." }
            (render_trace(trace))
        }
    }
}

fn render_steps(entries: &[Vec<u8>]) -> Markup {
    match summarize_steps(entries) {
        Err(error) => html! { p { (untrusted(&error)) } },
        Ok(steps) => html! {
            div.table { table {
                thead { tr { th scope="col" { "Step" } th scope="col" { "State" } } }
                tbody { @for step in steps { tr {
                    th scope="row" { (untrusted(&step.step)) }
                    td { (step_badge(step.status)) }
                } } }
            } }
        },
    }
}

fn step_badge(status: &str) -> Markup {
    let tone = match status {
        "completed" => BadgeTone::Good,
        "running" | "retrying" => BadgeTone::Busy,
        "waiting" => BadgeTone::Warning,
        "failed" | "not undone" => BadgeTone::Bad,
        _ => BadgeTone::Quiet,
    };
    badge(tone, status)
}

fn render_trace(trace: &Value) -> Markup {
    let lines = trace.as_array().map(Vec::as_slice).unwrap_or_default();
    html! {
        div.table.tall role="region" aria-label="Trace" tabindex="0" { table {
            thead { tr { th scope="col" { "After" } th scope="col" { "Kind" } th.wide scope="col" { "Text" } } }
            tbody { @for line in lines.iter().rev() {
                @let text = line["log"].as_str().or(line["message"].as_str()).unwrap_or_default();
                tr {
                    td.time { @if let Some(at) = line["at_ms"].as_u64() { (format_latency(std::time::Duration::from_millis(at).as_secs_f64())) } }
                    @if let Some(dropped) = line["dropped"].as_u64() {
                        td { "dropped" } td { (dropped) " earlier lines" }
                    } @else if let Some(level) = line["level"].as_str() {
                        td { (untrusted(level)) } td { (untrusted(text)) }
                    } @else {
                        td { "progress" }
                        td { (line["progress"]["done"]) @if !line["progress"]["total"].is_null() { " of " (line["progress"]["total"]) } " " (untrusted(text)) }
                    }
                }
            } }
        } }
    }
}

/// Cancels a run.
pub(super) async fn cancel(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    if let Err(refusal) = FormFields::of_session(request, &session).await {
        return refusal;
    }
    match context.gate.cancel_run(&id).await {
        Ok(cancels) => {
            let outcome = if cancels { "cancelled" } else { "ended" };
            tracing::debug!(target: AUDIT, event = "operator_cancel", run = short_id(&id), name = session.name, outcome, "an operator cancelled a run");
            Redirect::to(&format!("{}?done={outcome}", path_of(&id))).into_response()
        }
        Err(error) => broken(&error),
    }
}

/// Reports that the journal cannot be used.
fn broken(error: &JournalError) -> Response {
    tracing::error!("the operator's page cannot show runs: {error}");
    refuse(
        StatusCode::INTERNAL_SERVER_ERROR,
        "The journal of runs cannot be used; the server's log has the reason.",
    )
}
