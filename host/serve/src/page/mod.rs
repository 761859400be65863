//! The page of operators, below `/operator/` on the admin listener: HTML rendered here, one style sheet and one small script,
//! all embedded. Reads and actions work without the script.
//!
//! | file | concept |
//! |---|---|
//! | `context.rs` | what the pages show and change |
//! | `guard.rs` | headers, sessions and origins of requests |
//! | `form.rs` | fields of posted forms |
//! | `login.rs` | logging in and out |
//! | `return_path.rs` | pure: the page to which a login leads |
//! | `session.rs` | sessions of operators |
//! | `attempts.rs` | limits on failed logins |
//! | `overview.rs`, `facades.rs`, `runs.rs`, `callers.rs`, `approvals.rs`, `versions.rs`, `audit.rs` | the pages |
//! | `question.rs` | pure: fields for the form of a question, and their answer |
//! | `events.rs` | tells open pages of changes |
//! | `samples.rs` | counters of the last half hour |
//! | `chart.rs` | pure: charts as SVG |
//! | `layout.rs` | pure: what all pages have in common |
//! | `text.rs` | pure: untrusted values as HTML |
//! | `assets.rs` | style sheet, script and icon |

mod approvals;
mod assets;
mod attempts;
mod audit;
mod callers;
mod chart;
mod context;
mod events;
mod facades;
mod form;
mod guard;
mod layout;
mod login;
mod overview;
mod question;
mod return_path;
mod runs;
mod samples;
mod session;
mod text;
mod versions;

use std::sync::Arc;

use axum::{
    Router,
    http::StatusCode,
    middleware,
    response::{IntoResponse, Redirect, Response},
    routing::{any, get, post},
};
use tokio_util::sync::CancellationToken;

pub use self::context::OperatorPage;
use self::context::PageContext;

/// Builds the routes. Without a token of operators, they say how to set one. Must be called within a runtime.
pub(super) fn routes(page: Option<OperatorPage>, stop: &CancellationToken) -> Router {
    let Some(page) = page else {
        let closed = any(refuse);
        return Router::new()
            .route("/operator", closed.clone())
            .route("/operator/{*path}", closed.clone())
            .route("/operator/", closed);
    };
    let context = Arc::new(PageContext::new(page, stop.clone()));
    context.start_sampling();
    let pages = Router::new()
        .route("/operator/", get(overview::show))
        .route("/operator/facades", get(facades::show))
        .route("/operator/runs", get(runs::list))
        .route("/operator/runs/{id}", get(runs::show))
        .route("/operator/runs/{id}/cancel", post(runs::cancel))
        .route("/operator/callers", get(callers::show))
        .route("/operator/audit", get(audit::show))
        .route("/operator/tokens", get(callers::show_tokens))
        .route("/operator/approvals", get(approvals::list))
        .route("/operator/approvals/{id}", get(approvals::show).post(approvals::decide))
        .route("/operator/versions", get(versions::list).post(versions::decide))
        .route("/operator/events", get(events::stream))
        .route("/operator/logout", post(login::log_out))
        .route_layer(middleware::from_fn_with_state(Arc::clone(&context), guard::require_session));
    Router::new()
        .route("/operator", get(async || Redirect::permanent("/operator/")))
        .route("/operator/login", get(login::show).post(login::log_in))
        .route("/operator/assets/{name}", get(assets::serve))
        .merge(pages)
        .route_layer(middleware::from_fn(guard::check_origin))
        .layer(middleware::map_response(guard::set_headers))
        .with_state(context)
}

async fn refuse() -> Response {
    let message = "the operator's page needs `admin.token` in the settings file: `loggia token new operator --scope '*'` makes one\n";
    (StatusCode::FORBIDDEN, message).into_response()
}
