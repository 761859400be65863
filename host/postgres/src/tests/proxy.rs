//! A proxy whose connections can be cut and frozen.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
};

/// What the proxy does with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forwarding {
    Pass,
    /// Nothing moves, and nothing is closed.
    Freeze,
    /// All connections are closed, and new ones are, too.
    Refuse,
    /// Closes the connection that sends the next `COMMIT`, before the server gets it; then passes.
    CutBefore,
    /// Closes the connection on which the server says that it has committed, before the client learns it; then passes.
    CutAfter,
}

/// A proxy before a server. Its threads end with their connections.
pub(super) struct CutProxy {
    pub port: u16,
    shared: Arc<SharedMode>,
}

struct SharedMode {
    mode: Mutex<Forwarding>,
    changed: Condvar,
    open: Mutex<Vec<TcpStream>>,
}

impl CutProxy {
    pub(super) fn start(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(SharedMode {
            mode: Mutex::new(Forwarding::Pass),
            changed: Condvar::new(),
            open: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if accepting.mode() == Forwarding::Refuse {
                    continue;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let both = [client.try_clone().unwrap(), server.try_clone().unwrap()];
                accepting.open.lock().unwrap().extend(both);
                for (from, to, is_answer) in [
                    (client.try_clone().unwrap(), server.try_clone().unwrap(), false),
                    (server, client, true),
                ] {
                    let shared = Arc::clone(&accepting);
                    thread::spawn(move || shared.forward(from, to, is_answer));
                }
            }
        });
        Self { port, shared }
    }

    pub(super) fn set(&self, mode: Forwarding) {
        *self.shared.mode.lock().unwrap() = mode;
        if mode == Forwarding::Refuse {
            for stream in self.shared.open.lock().unwrap().drain(..) {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.shared.changed.notify_all();
    }

    pub(super) fn mode(&self) -> Forwarding {
        self.shared.mode()
    }
}

impl SharedMode {
    fn mode(&self) -> Forwarding {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forward(&self, mut from: TcpStream, mut to: TcpStream, is_answer: bool) {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let bytes = &buffer[..count];
            // The statement ends with a zero; so does the answer.
            let commits = bytes.windows(7).any(|window| window == b"COMMIT\0");
            let mut mode = self.mode.lock().unwrap();
            while *mode == Forwarding::Freeze {
                mode = self.changed.wait(mode).unwrap();
            }
            let cuts = match *mode {
                Forwarding::CutBefore => commits && !is_answer,
                Forwarding::CutAfter => commits && is_answer,
                Forwarding::Refuse => true,
                _ => false,
            };
            if cuts && *mode != Forwarding::Refuse {
                *mode = Forwarding::Pass;
            }
            drop(mode);
            if cuts || to.write_all(bytes).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}
