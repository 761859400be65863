//! Versions of plugins that wait for approval, with what they change.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{RawQuery, Request, State as Axum},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use loggia_load::pins::{DiffSign, ListedVersion, OperatorDecision};
use loggia_policy::settings::PinMode;
use maud::{Markup, html};
use tokio::task::spawn_blocking;

use super::{
    context::PageExtract,
    form::{FormFields, refuse},
    layout::{PageFrame, form_token, live_part},
    session::OperatorSession,
    text::{BadgeTone, badge, untrusted, untrusted_prose},
};

/// Page of the navigation.
const PATH: &str = "/operator/versions";
/// Differences that are shown at once.
const SHOWN: usize = 12;

/// Lists versions.
pub(super) async fn list(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
    RawQuery(query): RawQuery,
) -> Response {
    let pins = Arc::clone(&context.pins);
    let listed = match spawn_blocking(move || pins.list_pending()).await {
        Ok(Ok(listed)) => listed,
        Ok(Err(error)) => return broken(&error),
        Err(error) => return broken(&error.to_string()),
    };
    let (rejected, waiting): (Vec<_>, Vec<_>) = listed.iter().partition(|version| version.rejected.is_some());
    let notice = match query.as_deref() {
        Some("done=approved") => Some("Approved. The version is served within a second."),
        Some("done=rejected") => Some("Rejected. The version is not served."),
        _ => None,
    };
    let (rule, mode) = match context.pins.mode() {
        PinMode::Open => ("Every version is served at once", "open"),
        PinMode::Surface => {
            ("What clients see of a plugin, and what it asks for, changes only after an approval", "surface")
        }
        PinMode::Artifact => ("Nothing new or changed is served without an approval", "artifact"),
    };
    let content = html! {
        p { (rule) ": " code { "pin" } " is " code { (mode) } "." }
        @if let Some(trouble) = context.pins.trouble() { p.notice.bad { (untrusted_prose(&trouble)) } }
        @if waiting.is_empty() { p { "No version waits." } }
        @for version in &waiting { (render_card(version, &session)) }
        @if !rejected.is_empty() { h2 { "Rejected" } }
        @for version in &rejected { (render_card(version, &session)) }
    };
    PageFrame { path: PATH, title: "Versions", notice }
        .render(&session, &live_part("versions", &content))
        .into_response()
}

fn render_card(listed: &ListedVersion, session: &OperatorSession) -> Markup {
    let ListedVersion { pending, rejected, diff } = listed;
    let (version, digest) = (&pending.version, pending.version.digest());
    let id = digest.trim_start_matches("sha256:");
    let changes = pending.changes.iter().map(|change| change.as_str()).collect::<Vec<_>>().join(", ");
    html! {
        article.card id={ "card-" (id) } aria-labelledby={ "name-" (id) } {
            h2 id={ "name-" (id) } {
                (untrusted(&version.name)) " "
                @if rejected.is_some() { (badge(BadgeTone::Bad, "rejected")) } @else { (badge(BadgeTone::Warning, "waits")) }
                @if !pending.flags.is_empty() { " " (badge(BadgeTone::Bad, "suspicious text")) }
            }
            dl.pairs {
                dt { "Changed" } dd { (changes) }
                dt { "File" } dd { (untrusted(&version.file)) }
                dt { "Since" } dd { (untrusted(&pending.since)) }
                dt { "Version" } dd { code { (untrusted(&digest)) } }
                @if let Some(rejected) = rejected { dt { "Rejected" } dd { "by " (untrusted(&rejected.by)) ", " (untrusted(&rejected.at)) } }
            }
            h3 { "Differences" }
            ul.diff { @for line in diff.iter().take(SHOWN) { (render_line(line.sign, &line.to_string())) } }
            @if diff.len() > SHOWN {
                details {
                    summary { (diff.len() - SHOWN) " more" }
                    ul.diff { @for line in diff.iter().skip(SHOWN) { (render_line(line.sign, &line.to_string())) } }
                }
            }
            form method="post" action=(PATH) {
                (form_token(session))
                // What is decided about is what is shown here.
                input type="hidden" name="version" value=(digest);
                div.actions {
                    button type="submit" name="decision" value="approve" { "Approve" }
                    @if rejected.is_none() {
                        button.second type="submit" name="decision" value="reject" { "Reject" }
                    }
                }
            }
        }
    }
}

fn render_line(sign: DiffSign, line: &str) -> Markup {
    let text = untrusted_prose(line);
    match sign {
        DiffSign::Flagged => html! { li { strong { (text) } } },
        _ => html! { li { (text) } },
    }
}

/// Records a decision about what the person has seen.
pub(super) async fn decide(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
    request: Request,
) -> Response {
    let fields = match FormFields::of_session(request, &session).await {
        Ok(fields) => fields,
        Err(refusal) => return refusal,
    };
    let accepted = match fields.get("decision") {
        Some("approve") => true,
        Some("reject") => false,
        _ => return refuse(StatusCode::BAD_REQUEST, "The decision must be to approve or to reject."),
    };
    let digest = fields.get("version").unwrap_or_default().to_owned();
    let (pins, decision) = (Arc::clone(&context.pins), OperatorDecision::now(session.operator()));
    let decided = spawn_blocking(move || pins.decide_pending(&digest, accepted, &decision)).await;
    match decided {
        Ok(Ok(Some(_))) => {
            let done = if accepted { "approved" } else { "rejected" };
            Redirect::to(&format!("{PATH}?done={done}")).into_response()
        }
        Ok(Ok(None)) => refuse(
            StatusCode::CONFLICT,
            "It was not decided: the version that you saw does not wait any more. Load the page again.",
        ),
        Ok(Err(error)) => broken(&error),
        Err(error) => broken(&error.to_string()),
    }
}

/// Reports that the lock cannot be used.
fn broken(error: &str) -> Response {
    tracing::error!("the operator's page cannot use the lock of versions: {error}");
    refuse(
        StatusCode::INTERNAL_SERVER_ERROR,
        "The lock of versions cannot be used; the server's log has the reason.",
    )
}
