//! Logging in with the token of operators, and out.

use std::{net::SocketAddr, sync::Arc, time::Instant};

use axum::{
    Extension,
    extract::{ConnectInfo, RawQuery, Request, State as Axum},
    http::{
        HeaderMap, StatusCode,
        header::{RETRY_AFTER, SET_COOKIE},
    },
    response::{IntoResponse, Redirect, Response},
};
use loggia_gate::call::TARGET as AUDIT;
use loggia_policy::settings::credential::parse_hash;
use loggia_server::auth::token;
use loggia_text::{sanitise_line, shorten};
use maud::{Markup, html};

use super::{
    context::{PageContext, PageExtract},
    form::FormFields,
    guard::{SessionId, cookie_name},
    layout::{FORM_TOKEN, render_plain},
    return_path::ReturnPath,
    session::OperatorSession,
};

/// Characters of the name that an operator gives.
const NAME: usize = 64;

fn render_form(context: &PageContext, to: &ReturnPath, problem: Option<&str>) -> Markup {
    let content = html! {
        @if let Some(problem) = problem {
            p.notice.bad role="alert" { (problem) }
        }
        form method="post" action="/operator/login" {
            input type="hidden" name=(FORM_TOKEN) value=(context.login_token);
            @if *to != ReturnPath::default() { input type="hidden" name="to" value=(to.as_str()); }
            label for="token" { "Operator token" }
            input id="token" name="token" type="password" required autocomplete="current-password" autofocus;
            label for="name" { "Your name, for the audit trail (optional)" }
            input id="name" name="name" maxlength=(NAME) autocomplete="username";
            button type="submit" { "Log in" }
        }
        p.faint { "The token is the one whose hash is " code { "admin.token" } " in the settings file." }
    };
    render_plain("Log in", &content)
}

/// Shows the form.
pub(super) async fn show(Axum(context): PageExtract, RawQuery(query): RawQuery) -> Markup {
    let to = query.as_deref().and_then(|query| ReturnPath::parse(query.strip_prefix("to=")?));
    render_form(&context, &to.unwrap_or_default(), None)
}

/// Opens a session for the token.
pub(super) async fn log_in(
    Axum(context): PageExtract,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (address, headers, now) = (peer.ip(), request.headers().clone(), Instant::now());
    if !context.attempts.may_try(address, now) {
        let problem = "Too many logins have failed. Wait a minute and try again.";
        let page = render_form(&context, &ReturnPath::default(), Some(problem));
        return (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "60")], page).into_response();
    }
    let fields = match FormFields::read(request, &context.login_token).await {
        Ok(fields) => fields,
        Err(refusal) => return refusal,
    };
    let to = fields.get("to").and_then(ReturnPath::parse).unwrap_or_default();
    let sent = fields.get("token").unwrap_or_default().trim();
    // Hashes, so that the time of comparing reveals nothing of the token.
    if parse_hash(&token::hash(sent)).is_none_or(|hash| hash != context.token) {
        context.attempts.record_failure(address, now);
        tracing::debug!(target: AUDIT, event = "operator_login", outcome = "denied", %address, "a login to the operator's page failed");
        let page = render_form(&context, &to, Some("This is not the token of operators."));
        return (StatusCode::UNAUTHORIZED, page).into_response();
    }
    let name = shorten(&sanitise_line(fields.get("name").unwrap_or_default().trim(), NAME), NAME);
    tracing::debug!(target: AUDIT, event = "operator_login", outcome = "ok", %address, name, "an operator logged in");
    let id = context.sessions.open(name, now);
    ([(SET_COOKIE, render_cookie(&headers, &id))], Redirect::to(to.as_str())).into_response()
}

/// Ends the session.
pub(super) async fn log_out(
    Axum(context): Axum<Arc<PageContext>>,
    Extension(session): Extension<OperatorSession>,
    Extension(SessionId(id)): Extension<SessionId>,
    request: Request,
) -> Response {
    let headers = request.headers().clone();
    if let Err(refusal) = FormFields::of_session(request, &session).await {
        return refusal;
    }
    context.sessions.close(&id);
    tracing::debug!(target: AUDIT, event = "operator_logout", name = session.name, "an operator logged out");
    let cookie = format!("{}; Max-Age=0", render_cookie(&headers, ""));
    ([(SET_COOKIE, cookie)], Redirect::to("/operator/login")).into_response()
}

/// Renders the cookie of a session. It ends with the browser; the server ends it earlier.
fn render_cookie(headers: &HeaderMap, id: &str) -> String {
    let name = cookie_name(headers);
    // Whoever sends a wrong value loses only the own session.
    let is_tls = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    let secure = if is_tls { "; Secure" } else { "" };
    format!("{name}={id}; Path=/operator; HttpOnly; SameSite=Strict{secure}")
}
