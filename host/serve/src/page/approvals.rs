//! Approvals: what people are asked for, and their decisions.

use axum::{
    Extension,
    extract::{Path, RawQuery, Request, State as Axum},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use loggia_gate::{
    approval::{ApprovalContent, ApprovalDecision, ApprovalState, DecisionOutcome, StoredApproval},
    journal::JournalError,
};
use maud::{Markup, html};
use serde_json::Value;

use super::{
    context::PageExtract,
    form::{FormFields, refuse},
    layout::{PageFrame, form_token, live_part},
    question::{read_answer, render_fields},
    session::OperatorSession,
    text::{BadgeTone, badge, format_age, json_block, show_ms, untrusted, untrusted_prose},
};
use crate::approvals::now_ms;

/// Approvals that are listed, open ones first.
const LISTED: usize = 200;
/// Page of the navigation.
const PATH: &str = "/operator/approvals";

/// Lists approvals.
pub(super) async fn list(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(desk) = context.desk() else { return missing_desk(&session) };
    let stored = match desk.list(LISTED).await {
        Ok(stored) => stored,
        Err(error) => return broken(&error),
    };
    let now = now_ms();
    let (open, decided): (Vec<_>, Vec<_>) =
        stored.iter().partition(|stored| stored.state(now) == ApprovalState::Open);
    let notice = match query.as_deref() {
        Some("done=approved") => Some("Approved. The call goes on."),
        Some("done=denied") => Some("Denied. The call fails."),
        _ => None,
    };
    let content = html! {
        @if open.is_empty() { p { "Nothing waits for a decision." } }
        @for stored in &open { (render_card(stored, now, &session)) }
        @if !decided.is_empty() { h2 { "Earlier" } (render_decided(&decided, now)) }
    };
    PageFrame { path: PATH, title: "Approvals", notice }
        .render(&session, &live_part("approvals", &content))
        .into_response()
}

/// Shows an approval.
pub(super) async fn show(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
    Path(id): Path<String>,
) -> Response {
    let Some(desk) = context.desk() else { return missing_desk(&session) };
    match desk.load(&id).await {
        Ok(Some(stored)) => render_page(&stored, None, &session).into_response(),
        Ok(None) => missing(),
        Err(error) => broken(&error),
    }
}

fn render_page(stored: &StoredApproval, notice: Option<&str>, session: &OperatorSession) -> Markup {
    let title = format!("Approval {}", stored.record.id);
    let card = render_card(stored, now_ms(), session);
    PageFrame { path: PATH, title: &title, notice }.render(session, &live_part("approval", &card))
}

fn state_badge(state: ApprovalState) -> Markup {
    let tone = match state {
        ApprovalState::Open => BadgeTone::Warning,
        ApprovalState::Approved => BadgeTone::Good,
        ApprovalState::Denied => BadgeTone::Bad,
        ApprovalState::Expired | ApprovalState::Withdrawn => BadgeTone::Quiet,
    };
    badge(tone, state.as_str())
}

fn effect_badge(effect: &str) -> Markup {
    let tone = match effect {
        "read" => BadgeTone::Quiet,
        "write" => BadgeTone::Busy,
        _ => BadgeTone::Bad,
    };
    badge(tone, effect)
}

fn path_of(id: &str) -> String {
    let id: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("{PATH}/{id}")
}

/// Shows an approval, with buttons while it is open.
fn render_card(stored: &StoredApproval, now: u64, session: &OperatorSession) -> Markup {
    let record = &stored.record;
    let state = stored.state(now);
    let left = std::time::Duration::from_millis(record.expires_ms.saturating_sub(now));
    html! {
        article.card id={ "card-" (record.id) } aria-labelledby={ "name-" (record.id) } {
            h2 id={ "name-" (record.id) } {
                (untrusted(&format!("{}.{}", record.facade, record.action))) " " (effect_badge(&record.effect))
            }
            // The question about a call repeats what stands below.
            @if matches!(record.content, ApprovalContent::Form(_)) { p { (untrusted_prose(&record.question)) } }
            dl.pairs {
                dt { "State" } dd { (state_badge(state)) @if let Some(decision) = &stored.decision {
                    " by " (untrusted(&decision.by)) ", " (show_ms(decision.at_ms)) } }
                dt { "Caller" } dd { (untrusted(&record.caller)) @if let Some(address) = &record.address { ", from " (untrusted(address)) } }
                @if !record.through.is_empty() { dt { "Through" } dd { (untrusted(&record.through.join(" → "))) } }
                dt { "Opened" } dd { (show_ms(record.opened_ms)) }
                dt { "Expires" } dd { (show_ms(record.expires_ms))
                    @if state == ApprovalState::Open { ", in " (format_age(left)) } }
                dt { "Artifact" } dd { code { (untrusted(&record.artifact)) } }
                dt { "Id" } dd { a.id href=(path_of(&record.id)) { (untrusted(&record.id)) } }
            }
            @if let ApprovalContent::Call(arguments) = &record.content {
                h3 { "Arguments" }
                @if arguments.is_empty() { p { "None." } }
                @else { (json_block("Arguments", &Value::Object(arguments.clone()))) }
            }
            @if state == ApprovalState::Open {
                form method="post" action=(path_of(&record.id)) {
                    (form_token(session))
                    // What is decided about is what is shown here.
                    input type="hidden" name="subject" value=(record.subject);
                    @if let ApprovalContent::Form(schema) = &record.content { (render_fields(schema, &record.id)) }
                    div.actions {
                        button type="submit" name="decision" value="approve" { "Approve" }
                        button.second type="submit" name="decision" value="deny" formnovalidate { "Deny" }
                    }
                }
            }
        }
    }
}

fn render_decided(decided: &[&StoredApproval], now: u64) -> Markup {
    html! {
        div.table role="region" aria-label="Earlier approvals" tabindex="0" { table {
            thead { tr {
                th scope="col" { "Approval" } th scope="col" { "State" } th scope="col" { "Action" }
                th scope="col" { "Caller" } th scope="col" { "Decided by" } th scope="col" { "Opened" }
            } }
            tbody { @for stored in decided { tr {
                th scope="row" { a.id href=(path_of(&stored.record.id)) { (untrusted(&stored.record.id)) } }
                td { (state_badge(stored.state(now))) }
                td { (untrusted(&format!("{}.{}", stored.record.facade, stored.record.action))) }
                td { (untrusted(&stored.record.caller)) }
                td { @if let Some(decision) = &stored.decision { (untrusted(&decision.by)) } }
                td { (show_ms(stored.record.opened_ms)) }
            } } }
        } }
    }
}

/// Records a decision about what the person has seen.
pub(super) async fn decide(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let fields = match FormFields::of_session(request, &session).await {
        Ok(fields) => fields,
        Err(refusal) => return refusal,
    };
    let Some(desk) = context.desk() else { return missing_desk(&session) };
    let accepted = match fields.get("decision") {
        Some("approve") => true,
        Some("deny") => false,
        _ => return refuse(StatusCode::BAD_REQUEST, "The decision must be to approve or to deny."),
    };
    let subject = fields.get("subject").unwrap_or_default();
    let stored = match desk.load(&id).await {
        Ok(Some(stored)) => stored,
        Ok(None) => return missing(),
        Err(error) => return broken(&error),
    };
    let answer = match &stored.record.content {
        ApprovalContent::Form(schema) if accepted => Some(read_answer(schema, &fields)),
        _ => None,
    };
    let decision = ApprovalDecision { accepted, answer, by: session.operator(), at_ms: now_ms() };
    match desk.decide(&id, subject, decision).await {
        Ok(Ok(DecisionOutcome::Recorded)) => {
            let done = if accepted { "approved" } else { "denied" };
            Redirect::to(&format!("{PATH}?done={done}")).into_response()
        }
        Ok(Ok(DecisionOutcome::Refused(now))) => {
            let why = match now.state(now_ms()) {
                _ if now.record.subject != subject => "the page that you saw was about another call",
                ApprovalState::Expired => "it has expired",
                ApprovalState::Withdrawn => "its call has ended",
                ApprovalState::Open | ApprovalState::Approved | ApprovalState::Denied => {
                    "another operator was faster"
                }
            };
            let notice = format!("It was not decided: {why}.");
            (StatusCode::CONFLICT, render_page(&now, Some(&notice), &session)).into_response()
        }
        Ok(Ok(DecisionOutcome::Unknown)) => missing(),
        Ok(Err(problem)) => {
            let notice = format!("It was not decided: {problem}");
            (StatusCode::BAD_REQUEST, render_page(&stored, Some(&notice), &session)).into_response()
        }
        Err(error) => broken(&error),
    }
}

fn missing() -> Response {
    refuse(StatusCode::NOT_FOUND, "There is no such approval. Ended ones are kept for a week.")
}

fn missing_desk(session: &OperatorSession) -> Response {
    let content =
        html! { p { "This server keeps no approvals, since it has no journal: the log says why." } };
    PageFrame { path: PATH, title: "Approvals", notice: None }.render(session, &content).into_response()
}

/// Reports that the store cannot be used.
fn broken(error: &JournalError) -> Response {
    tracing::error!("the operator's page cannot use approvals: {error}");
    refuse(
        StatusCode::INTERNAL_SERVER_ERROR,
        "The approvals cannot be used; the server's log has the reason.",
    )
}
