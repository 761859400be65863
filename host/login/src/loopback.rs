//! Receives the answer of an authorization server: a browser's request to a port of this machine, opened for one login.

use std::{io, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{RawQuery, State as Axum},
    http::StatusCode,
    response::{Html, IntoResponse, Response},
    routing::get,
};
use loggia_credentials::oauth::RedirectAnswer;
use tokio::{net::TcpListener, sync::mpsc};
use url::Url;

const DONE: &str = "<!doctype html><title>Loggia</title><p>Loggia has the answer. You can close this page.";

/// Time for the browser to read the page.
const LAST_PAGE: Duration = Duration::from_millis(200);

/// Opens a port of this machine; 0 is any that is free. The URL is the one to which the browser has to return.
///
/// # Errors
///
/// If the port cannot be opened.
pub async fn open(port: u16) -> io::Result<(TcpListener, Url)> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let url = format!("http://{}/callback", listener.local_addr()?);
    Ok((listener, url.parse().map_err(io::Error::other)?))
}

/// Waits for the answer of one login, which `accept` recognises. Other requests are refused, and change nothing.
///
/// # Errors
///
/// If connections cannot be accepted.
pub async fn receive<T>(
    listener: TcpListener,
    mut accept: impl FnMut(RedirectAnswer) -> Option<T>,
) -> io::Result<T> {
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
        let accepted = accept(answer);
        // The browser may have left.
        let _ = verdict.try_send(accepted.is_some());
        if let Some(accepted) = accepted {
            let _ = tokio::time::timeout(LAST_PAGE, &mut serving).await;
            return Ok(accepted);
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
