//! Tells open pages that something may have changed, by server-sent events. The page then fetches itself again.

use std::{convert::Infallible, sync::Arc, time::Instant};

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::State as Axum,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Interval, MissedTickBehavior, interval},
};

use super::{
    context::{PageContext, PageExtract},
    guard::SessionId,
    samples::PERIOD,
    session::OperatorSession,
};

/// Events of a stream, before the browser opens another one: a quarter of an hour.
const EVENTS: u32 = 180;

struct EventStream {
    context: Arc<PageContext>,
    session: OperatorSession,
    id: String,
    ticks: Interval,
    sent: u32,
    _place: OwnedSemaphorePermit,
}

impl EventStream {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        tokio::select! {
            _ = self.ticks.tick() => {}
            () = self.session.ended.cancelled() => return None,
        }
        self.context.sessions.find(&self.id, Instant::now(), false)?;
        self.sent += 1;
        let event = Bytes::from_static(b"event: change\ndata: now\n\n");
        (self.sent <= EVENTS).then_some((Ok(event), self))
    }
}

/// Streams events, as long as the session lasts.
pub(super) async fn stream(
    Axum(context): PageExtract,
    Extension(session): Extension<OperatorSession>,
    Extension(SessionId(id)): Extension<SessionId>,
) -> Response {
    let Ok(place) = Arc::clone(&context.streams).try_acquire_owned() else {
        let message = "too many pages are open; this one does not update itself\n";
        return (StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    };
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let stream = EventStream { context, session, id, ticks, sent: 0, _place: place };
    let body = Body::from_stream(stream::unfold(stream, EventStream::next));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}
