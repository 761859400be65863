//! A server on loopback to which plugins send requests.

use std::net::SocketAddr;

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";

/// Answers every request immediately, until the process ends.
pub struct Upstream {
    /// Listening address.
    pub address: SocketAddr,
    hang_up: watch::Sender<()>,
}

impl Upstream {
    /// Listens on a port of its own.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let hang_up = watch::Sender::new(());
        let told = hang_up.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut hung_up = told.subscribe();
                tokio::spawn(async move {
                    tokio::select! {
                        () = serve(stream) => {}
                        _ = hung_up.changed() => {}
                    }
                });
            }
        });
        Ok(Self { address, hang_up })
    }

    /// Closes all connections. Hosts keep idle ones for half a minute, and their memory during pauses must not depend
    /// on their number.
    pub fn hang_up(&self) {
        self.hang_up.send_replace(());
    }
}

/// Serves requests without bodies in sequence until the client closes.
async fn serve(mut stream: TcpStream) {
    let mut head = Vec::new();
    while let Ok(1..) = stream.read_buf(&mut head).await {
        while let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            head.drain(..end + 4);
            if stream.write_all(ANSWER).await.is_err() {
                return;
            }
        }
    }
}
