//! A server on loopback to which plugins send requests.

use std::net::SocketAddr;

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";

/// Answers every request at once, until the process ends; where.
pub async fn start() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    Ok(address)
}

/// Requests without bodies, one after another, until the other end closes.
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
