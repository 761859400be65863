//! Searching the audit trail.

use axum::{
    Extension,
    extract::RawQuery,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use loggia_audit::{AuditFilter, last_lines};
use loggia_telemetry::trail;
use maud::{Markup, html};
use serde_json::Value;
use url::form_urlencoded;

use super::{
    layout::PageFrame,
    session::OperatorSession,
    text::{json_block, untrusted},
};

/// Lines that are shown: the last that match.
const SHOWN: usize = 100;

/// What is searched for. An empty field matches all.
#[derive(Debug, Default)]
pub(super) struct AuditSearch {
    event: String,
    caller: String,
    facade: String,
    action: String,
    outcome: String,
    since: String,
}

impl AuditSearch {
    fn parse(query: &str) -> Self {
        let mut search = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let field = match &*name {
                "event" => &mut search.event,
                "caller" => &mut search.caller,
                "facade" => &mut search.facade,
                "action" => &mut search.action,
                "outcome" => &mut search.outcome,
                "since" => &mut search.since,
                _ => continue,
            };
            *field = value.into_owned();
        }
        search
    }

    fn to_filter(&self) -> AuditFilter {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        AuditFilter {
            event: given(&self.event),
            caller: given(&self.caller),
            facade: given(&self.facade),
            action: given(&self.action),
            outcome: given(&self.outcome),
            since: given(&self.since),
            until: None,
        }
    }

    fn fields(&self) -> [(&'static str, &'static str, &str, &'static str); 6] {
        [
            ("event", "Event", &self.event, "call"),
            ("caller", "Caller", &self.caller, "ada"),
            ("facade", "Facade", &self.facade, "notes"),
            ("action", "Action", &self.action, "delete"),
            ("outcome", "Outcome", &self.outcome, "denied"),
            ("since", "Since (UTC)", &self.since, "2026-11-24T10:00"),
        ]
    }
}

/// Shows the last lines that match.
pub(super) async fn show(
    RawQuery(query): RawQuery,
    Extension(session): Extension<OperatorSession>,
) -> Response {
    let search = AuditSearch::parse(query.as_deref().unwrap_or_default());
    let filter = search.to_filter();
    let found =
        tokio::task::spawn_blocking(move || trail::file().map(|path| last_lines(path, &filter, SHOWN)));
    let content = match found.await {
        Ok(None) => {
            html! { p { "There is no audit trail: " code { "[audit] file" } " in the settings file names one." } }
        }
        Ok(Some(Ok(lines))) => html! { (search_form(&search)) (results(&lines)) },
        Ok(Some(Err(_))) | Err(_) => {
            return (StatusCode::INTERNAL_SERVER_ERROR, "the audit trail cannot be read\n").into_response();
        }
    };
    PageFrame { path: "/operator/audit", title: "Audit", notice: None }
        .render(&session, &content)
        .into_response()
}

fn search_form(search: &AuditSearch) -> Markup {
    html! {
        form.search method="get" action="/operator/audit" role="search" {
            @for (name, label, value, example) in search.fields() {
                label { (label) " " input name=(name) value=(value) placeholder=(example) maxlength="200"; }
            }
            button type="submit" { "Search" }
        }
    }
}

fn results(lines: &[Value]) -> Markup {
    html! {
        @if lines.is_empty() { p { "No line matches." } }
        @else {
            div.table role="region" aria-label="Audit lines" tabindex="0" { table {
                caption { "The last " (SHOWN) " lines that match, the newest first. " code { "loggia audit verify" }
                    " shows whether the trail was changed." }
                thead { tr {
                    th scope="col" { "Time" } th scope="col" { "Event" } th scope="col" { "Caller" }
                    th scope="col" { "Call" } th scope="col" { "Outcome" } th scope="col" { "Line" }
                } }
                tbody { @for line in lines.iter().rev() { (row(line)) } }
            } }
        }
    }
}

fn row(line: &Value) -> Markup {
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    let facade = line["facade"].as_str().or(line["tool"].as_str()).unwrap_or_default();
    let call = match line["action"].as_str() {
        Some(action) => format!("{facade}.{action}"),
        None => facade.to_owned(),
    };
    let time: String = text("timestamp").chars().take(19).collect();
    html! { tr {
        td { (untrusted(&time.replace('T', " "))) }
        td { (untrusted(text("event"))) }
        td { (untrusted(text("caller"))) }
        td { (untrusted(&call)) }
        td { (untrusted(text("outcome"))) }
        td { details { summary { (line["seq"].to_string()) } (json_block("Line", line)) } }
    } }
}
