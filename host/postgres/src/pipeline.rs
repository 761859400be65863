//! Statements that are sent together.

use std::{future::poll_fn, task::Poll};

use futures_util::future::BoxFuture;
use tokio_postgres::Error;

/// A statement, or several that are sent when it is first polled.
pub(crate) type PipelineStep<'a> = BoxFuture<'a, Result<(), Error>>;

/// Sends steps in this order in one round trip, and waits for all. Returns the first error.
pub(crate) async fn send_together(mut steps: Vec<PipelineStep<'_>>) -> Result<(), Error> {
    // Polled once, in this order, each has sent its statements.
    let mut sent = Vec::with_capacity(steps.len());
    poll_fn(|context| {
        sent = steps.iter_mut().map(|step| step.as_mut().poll(context)).collect();
        Poll::Ready(())
    })
    .await;
    let mut first = Ok(());
    for (step, sent) in steps.into_iter().zip(sent) {
        let result = match sent {
            Poll::Ready(result) => result,
            Poll::Pending => step.await,
        };
        first = first.and(result);
    }
    first
}
