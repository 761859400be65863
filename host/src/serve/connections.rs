//! Connections that are accepted: so many at once, counted, and where it is wanted only for a while.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Sleep,
};

use crate::telemetry::meters::{Gauge, Inside};

/// A listener whose connections are bounded.
pub struct Connections {
    listener: TcpListener,
    most: Arc<Semaphore>,
    /// Counts those that are open.
    open: Arc<Gauge>,
    /// How long each may last.
    lasts: Option<Duration>,
}

impl Connections {
    /// Accepts at most so many at once; further ones wait to be accepted.
    pub fn new(listener: TcpListener, most: usize, open: Arc<Gauge>) -> Self {
        let most = Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
        Self { listener, most, open, lasts: None }
    }

    /// The same, and each ends after so long, whatever it does.
    #[must_use]
    pub fn lasting(self, lasts: Duration) -> Self {
        Self { lasts: Some(lasts), ..self }
    }
}

impl Listener for Connections {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        // Never closed, so there is always one to be had.
        let permit = Arc::clone(&self.most).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Without it a small answer waits 40 ms for the client's acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let ends = self.lasts.map(|lasts| Box::pin(tokio::time::sleep(lasts)));
        (Connection { stream, ends, _open: self.open.enter(), _permit: permit }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection, counted for as long as it is open.
pub struct Connection {
    stream: TcpStream,
    ends: Option<Pin<Box<Sleep>>>,
    _open: Inside,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Connection {
    /// Fails once its time is over.
    fn in_time(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let over = self.ends.as_mut().is_some_and(|ends| ends.as_mut().poll(context).is_ready());
        if over { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.in_time(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.in_time(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.in_time(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn listening(most: usize) -> (Connections, Arc<Gauge>, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (open, address) = (Arc::<Gauge>::default(), listener.local_addr().unwrap());
        (Connections::new(listener, most, Arc::clone(&open)), open, address)
    }

    #[tokio::test]
    async fn only_so_many_are_open_at_once_and_they_are_counted() {
        let (mut connections, open, address) = listening(2).await;
        let mut clients = Vec::new();
        for _ in 0..3 {
            clients.push(TcpStream::connect(address).await.unwrap());
        }
        let first = connections.accept().await;
        let _second = connections.accept().await;
        assert_eq!(open.get(), 2);
        let mut third = Box::pin(connections.accept());
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(third.as_mut().poll(&mut context).is_pending());
        drop(first);
        drop(third.await);
        assert_eq!(open.get(), 1);
    }

    #[tokio::test]
    async fn one_that_may_last_for_a_while_ends_when_it_is_over() {
        let (connections, _, address) = listening(2).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        let mut connections = connections.lasting(Duration::from_secs(3600));
        let (mut connection, _) = connections.accept().await;
        client.write_all(b"x").await.unwrap();
        let mut byte = [0];
        connection.read_exact(&mut byte).await.unwrap();
        // The client says nothing, and stays.
        let _client = TcpStream::connect(address).await.unwrap();
        let (mut connection, _) = connections.lasting(Duration::from_millis(1)).accept().await;
        assert_eq!(connection.read(&mut byte).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(connection.write(b"x").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
