//! An HTTP server of the bench's own on loopback, for requests that a plugin sends.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::Result;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";

/// Answers every request immediately with a few bytes, until the process ends.
pub struct Upstream {
    /// Listening address.
    pub address: SocketAddr,
    answered: Arc<AtomicUsize>,
}

impl Upstream {
    /// Listens on a port of its own.
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let answered = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&answered);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                thread::spawn(move || serve(stream, &counted));
            }
        });
        Ok(Self { address, answered })
    }

    /// Requests that were answered so far.
    pub fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }
}

/// Serves requests without bodies in sequence until the client closes.
fn serve(mut stream: TcpStream, answered: &AtomicUsize) {
    let _ = stream.set_nodelay(true);
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(many) => head.extend_from_slice(&buffer[..many]),
        }
        while let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            head.drain(..end + 4);
            if stream.write_all(ANSWER).is_err() {
                return;
            }
            answered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_on_one_connection_are_answered_in_turn() {
        let upstream = Upstream::start().unwrap();
        let mut stream = TcpStream::connect(upstream.address).unwrap();
        let request = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
        for piece in [&request[..10], &request[10..], request] {
            stream.write_all(piece).unwrap();
        }
        let mut answers = vec![0; ANSWER.len() * 2];
        stream.read_exact(&mut answers).unwrap();
        assert_eq!(answers, [ANSWER, ANSWER].concat());
        // Counted after it was written.
        while upstream.answered() < 2 {
            thread::yield_now();
        }
    }
}
