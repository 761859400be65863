//! Callers with their rates, and the tokens of the settings.

use axum::{Extension, extract::State as Axum};
use chrono::DateTime;
use loggia_gate::flow::OTHER_NAME;
use maud::{Markup, html};

use super::{
    context::PageExtract,
    layout::{PageFrame, live_part},
    session::OperatorSession,
    text::{BadgeTone, badge, untrusted},
};

/// Shows the callers.
pub(super) async fn show(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
) -> Markup {
    let callers = context.samples.callers(context.gate.meters());
    let table = html! {
        @if callers.is_empty() { p { "There have been no calls since the start." } }
        @else {
            div.table role="region" aria-label="Callers" tabindex="0" { table {
                caption { "Calls since the start, without those that plugins and workflows make. At most 500 callers are "
                    "counted by name; the others are " code { (OTHER_NAME) } "." }
                thead { tr {
                    th scope="col" { "Caller" } th.number scope="col" { "Last minute" }
                    th.number scope="col" { "Calls" } th.number scope="col" { "Failed" }
                } }
                tbody { @for caller in &callers { tr {
                    th scope="row" { (untrusted(&caller.name)) }
                    td.number { (caller.recent) } td.number { (caller.calls) } td.number { (caller.failed) }
                } } }
            } }
        }
    };
    PageFrame { path: "/operator/callers", title: "Callers", notice: None }
        .render(&session, &live_part("callers", &table))
}

/// Shows the tokens.
pub(super) async fn show_tokens(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
) -> Markup {
    let table = match &context.authenticator {
        None => html! { p { "Callers need no token: this server does not authenticate them." } },
        Some(authenticator) => {
            let tokens = authenticator.list_tokens();
            html! {
                @if tokens.is_empty() { p { "The settings file has no tokens; callers have those of an authorization server." } }
                @else {
                    div.table role="region" aria-label="Tokens" tabindex="0" { table {
                        caption { "Tokens of the settings file. The server knows only their hashes; " code { "loggia token" }
                            " makes and revokes them." }
                        thead { tr {
                            th scope="col" { "Name" } th scope="col" { "State" } th scope="col" { "Scopes" }
                            th scope="col" { "Profile" } th scope="col" { "Expires" }
                        } }
                        tbody { @for token in &tokens { tr {
                            th scope="row" { (untrusted(&token.name)) }
                            td {
                                @if token.is_revoked { (badge(BadgeTone::Bad, "revoked")) }
                                @else if token.has_expired { (badge(BadgeTone::Warning, "expired")) }
                                @else { (badge(BadgeTone::Good, "valid")) }
                            }
                            td { (untrusted(&token.scopes.join(", "))) }
                            td { (token.profile.as_deref().unwrap_or("all")) }
                            td { (token.expires.and_then(|at| DateTime::from_timestamp(at, 0)).map_or_else(|| "never".to_owned(), |at| at.format("%Y-%m-%d").to_string())) }
                        } } }
                    } }
                }
            }
        }
    };
    PageFrame { path: "/operator/tokens", title: "Tokens", notice: None }
        .render(&session, &live_part("tokens", &table))
}
