//! Receives the answer of an authorization server: a browser's request to a port of this machine.

use std::{io, sync::Arc};

use axum::{
    Router,
    extract::{RawQuery, State as Axum},
    http::StatusCode,
    response::{Html, IntoResponse, Response},
    routing::get,
};
use loggia_credentials::oauth::RedirectAnswer;
use tokio::{net::TcpListener, sync::mpsc};

const DONE: &str = "<!doctype html><title>Loggia</title><p>Loggia has the answer. You can close this page.";

/// Waits for the answer of one login. Requests that are no answer to it are refused, and change nothing.
///
/// # Errors
///
/// If connections cannot be accepted.
pub async fn receive(
    listener: TcpListener,
    is_own: impl Fn(&RedirectAnswer) -> bool,
) -> io::Result<RedirectAnswer> {
    let (sender, mut answers) = mpsc::channel::<(RedirectAnswer, mpsc::Sender<bool>)>(4);
    let router = Router::new().route("/callback", get(answer)).with_state(Arc::new(sender));
    let mut serving = std::pin::pin!(async { axum::serve(listener, router).await });
    loop {
        let (answer, verdict) = tokio::select! {
            ended = &mut serving => match ended {
                Ok(()) => return Err(io::Error::other("the listener ended")),
                Err(error) => return Err(error),
            },
            Some(answer) = answers.recv() => answer,
        };
        let accepted = is_own(&answer);
        // The browser may have left.
        let _ = verdict.try_send(accepted);
        if accepted {
            // Lets the browser read the page.
            let _ = tokio::time::timeout(std::time::Duration::from_millis(200), &mut serving).await;
            return Ok(answer);
        }
    }
}

type Answers = Arc<mpsc::Sender<(RedirectAnswer, mpsc::Sender<bool>)>>;

async fn answer(Axum(answers): Axum<Answers>, RawQuery(query): RawQuery) -> Response {
    let refused = || (StatusCode::BAD_REQUEST, "this is not the answer to a login\n").into_response();
    let Some(answer) = query.as_deref().and_then(RedirectAnswer::parse) else { return refused() };
    let (verdict, mut accepted) = mpsc::channel(1);
    if answers.send((answer, verdict)).await.is_err() || accepted.recv().await != Some(true) {
        return refused();
    }
    Html(DONE).into_response()
}
