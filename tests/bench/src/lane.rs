//! One connection to a server: pending output, and the decoder of its input.

use std::{
    fs::File,
    io::{ErrorKind, Write},
    net::{TcpStream, ToSocketAddrs},
    os::fd::OwnedFd,
    time::Duration,
};

use anyhow::{Context, Result, bail};

use crate::wire::Decoder;

/// One connection. Reads and writes do not block.
pub struct Lane {
    /// The server's answers.
    pub read: File,
    /// The server's input.
    pub write: File,
    /// Pending output.
    pub out: Vec<u8>,
    /// Number of bytes of `out` that are written.
    out_at: usize,
    /// Turns bytes into messages.
    pub decoder: Decoder,
    /// HTTP: a response is still to end on this connection.
    pub busy: bool,
    /// HTTP: must be dialled again before use.
    pub closed: bool,
    /// The listening stream of the old SSE transport; nothing is sent on it.
    pub listener: bool,
}

impl Lane {
    /// A lane over two descriptors.
    pub fn new(read: OwnedFd, write: OwnedFd, decoder: Decoder) -> Result<Self> {
        for fd in [&read, &write] {
            let flags = rustix::fs::fcntl_getfl(fd)?;
            rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(Self {
            read: read.into(),
            write: write.into(),
            out: Vec::new(),
            out_at: 0,
            decoder,
            busy: false,
            closed: false,
            listener: false,
        })
    }

    /// Connects to an HTTP server.
    pub fn dial(addr: &str) -> Result<Self> {
        let target = addr.to_socket_addrs()?.next().context("no address")?;
        let stream = TcpStream::connect_timeout(&target, Duration::from_secs(2))?;
        stream.set_nodelay(true)?;
        let write = stream.try_clone()?;
        Self::new(stream.into(), write.into(), Decoder::http())
    }

    /// Writes as much as possible without blocking.
    pub fn flush(&mut self) -> Result<()> {
        while self.out_at < self.out.len() {
            match self.write.write(&self.out[self.out_at..]) {
                Ok(0) => bail!("the server closed its input"),
                Ok(n) => self.out_at += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e).context("writing to the server"),
            }
        }
        if self.out_at == self.out.len() {
            self.out.clear();
            self.out_at = 0;
        }
        Ok(())
    }
}
