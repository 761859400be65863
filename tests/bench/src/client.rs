//! A single-threaded MCP client driven by poll(2), so that on a small machine the client takes as little of the
//! processor from the server as it can.

use std::{
    collections::HashMap,
    io::{ErrorKind, Read, Write},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use crate::{
    call::{self, Call, reply_id},
    config::Http,
    crowd::Crowd,
    flood::Flood,
    lane::Lane,
    process::Process,
    revision::{RequestForm, SESSION},
    wire::{Decoder, Item},
};

/// Silence after which open calls count as lost.
const SILENCE: Duration = Duration::from_secs(5);

/// One reply, with the moment its last byte was seen.
pub struct Reply {
    /// When.
    pub at: Instant,
    /// The whole message.
    pub body: Vec<u8>,
}

impl Reply {
    /// Returns the result, or the error.
    pub fn result(&self) -> Result<Value> {
        let mut value: Value = serde_json::from_slice(&self.body)?;
        if let Some(error) = value.get("error") {
            bail!("{error}");
        }
        Ok(value["result"].take())
    }
}

enum Mode {
    Stdio,
    Http { addr: String, path: String, stateless: bool, session: Option<String> },
}

/// A client of one server.
pub struct Client {
    lanes: Vec<Lane>,
    mode: Mode,
    next_id: u64,
    scratch: Vec<u8>,
    replies: HashMap<u64, Reply>,
    endpoint: Option<String>,
}

impl Client {
    /// Over a process's stdin and stdout.
    pub fn stdio(process: &mut Process) -> Result<Self> {
        let stdin = process.child.stdin.take().context("no stdin")?;
        let stdout = process.child.stdout.take().context("no stdout")?;
        let lane = Lane::new(stdout.into(), stdin.into(), Decoder::lines())?;
        Ok(Self::with(vec![lane], Mode::Stdio))
    }

    /// Waits until the server accepts connections, then opens `lanes` of them.
    pub fn http(http: &Http, lanes: usize, deadline: Duration) -> Result<Self> {
        let until = Instant::now() + deadline;
        let first = loop {
            match Lane::dial(&http.addr) {
                Ok(lane) => break lane,
                Err(e) if Instant::now() > until => return Err(e.context("no listener")),
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        let mode = Mode::Http {
            addr: http.addr.clone(),
            path: http.path.clone(),
            stateless: http.stateless,
            session: None,
        };
        let mut client = Self::with(vec![first], mode);
        if http.legacy_sse {
            client.listen(http, deadline)?;
        }
        while client.lanes.len() < lanes + usize::from(http.legacy_sse) {
            client.lanes.push(Lane::dial(&http.addr)?);
        }
        Ok(client)
    }

    fn with(lanes: Vec<Lane>, mode: Mode) -> Self {
        Self { lanes, mode, next_id: 1, scratch: vec![0; 1 << 18], replies: HashMap::new(), endpoint: None }
    }

    fn listen(&mut self, http: &Http, deadline: Duration) -> Result<()> {
        let lane = &mut self.lanes[0];
        lane.listener = true;
        let (path, addr) = (&http.path, &http.addr);
        write!(lane.out, "GET {path} HTTP/1.1\r\nHost: {addr}\r\nAccept: text/event-stream\r\n\r\n")?;
        let until = Instant::now() + deadline;
        while self.endpoint.is_none() {
            if Instant::now() > until {
                bail!("no endpoint event");
            }
            self.pump(Duration::from_millis(100))?;
        }
        if let (Mode::Http { path, .. }, Some(endpoint)) = (&mut self.mode, &self.endpoint) {
            path.clone_from(endpoint);
        }
        Ok(())
    }

    /// The handshake; the moment of the reply to `initialize`, or without a session of that to `server/discover`.
    pub fn initialize(&mut self, timeout: Duration) -> Result<Instant> {
        if self.is_stateless() {
            let reply = self.request("server/discover", "{}", timeout)?;
            return match call::error(&reply.body) {
                Some(error) => bail!("server/discover: {error}"),
                None => Ok(reply.at),
            };
        }
        let params = format!(
            r#"{{"protocolVersion":"{SESSION}","capabilities":{{}},"clientInfo":{{"name":"loggia-bench","version":"0.1.0"}}}}"#
        );
        let reply = self.request("initialize", &params, timeout)?;
        if let Some(error) = call::error(&reply.body) {
            bail!("initialize: {error}");
        }
        self.notify("notifications/initialized", "{}")?;
        Ok(reply.at)
    }

    /// Sends one request and waits for its reply.
    pub fn request(&mut self, method: &str, params: &str, timeout: Duration) -> Result<Reply> {
        let id = self.send(method, params)?;
        self.wait(id, timeout)?.with_context(|| format!("no reply to {method} in {timeout:?}"))
    }

    /// Sends one request and does not wait; [`Self::wait`] collects its reply.
    pub fn send(&mut self, method: &str, params: &str) -> Result<u64> {
        let id = self.next_id;
        self.next_id += 1;
        let RequestForm { headers, params } = self.form(method, params);
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        self.post(&headers, message.as_bytes())?;
        Ok(id)
    }

    /// Sends one notification.
    pub fn notify(&mut self, method: &str, params: &str) -> Result<()> {
        let RequestForm { headers, params } = self.form(method, params);
        let message = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        self.post(&headers, message.as_bytes())?;
        // Let an HTTP lane finish its 202 before the next measurement.
        while matches!(self.mode, Mode::Http { .. }) && self.lanes.iter().any(|l| l.busy && !l.listener) {
            self.pump(Duration::from_millis(200))?;
        }
        Ok(())
    }

    /// Waits for the response to a request; `None` after the timeout.
    pub fn wait(&mut self, id: u64, timeout: Duration) -> Result<Option<Reply>> {
        let until = Instant::now() + timeout;
        loop {
            if let Some(reply) = self.replies.remove(&id) {
                return Ok(Some(reply));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.pump(left)?;
        }
    }

    /// Makes one call and checks its answer.
    pub fn call(&mut self, call: &mut Call, timeout: Duration) -> Result<()> {
        let reply = self.request("tools/call", &call.params, timeout)?;
        call.check(&reply.body)
    }

    /// Makes `total` calls with at most `window` unanswered; starts none after `budget`, so a slow server makes fewer.
    /// A wrong response is an error.
    pub fn flood(&mut self, call: &mut Call, total: usize, window: usize, budget: Duration) -> Result<Flood> {
        let RequestForm { headers, params } = self.form("tools/call", &call.params);
        let tail = format!(r#","method":"tools/call","params":{params}}}"#);
        let mut sent: HashMap<u64, Instant> = HashMap::with_capacity(window);
        let mut flood = Flood::default();
        let (mut total, mut left) = (total, total);
        let mut message = Vec::with_capacity(tail.len() + 64);
        // A server may have closed idle connections while others had their turn.
        self.pump(Duration::ZERO)?;
        let begun = Instant::now();
        let mut heard = begun;
        while flood.latencies.len() + flood.lost < total {
            while left > 0 && sent.len() < window && self.free_lane().is_some() {
                let id = self.next_id;
                self.next_id += 1;
                message.clear();
                write!(message, r#"{{"jsonrpc":"2.0","id":{id}"#)?;
                message.extend_from_slice(tail.as_bytes());
                sent.insert(id, Instant::now());
                self.post(&headers, &message)?;
                left -= 1;
            }
            self.pump(Duration::from_millis(500))?;
            if !self.replies.is_empty() {
                heard = Instant::now();
            } else if heard.elapsed() > SILENCE {
                flood.lost += sent.len();
                sent.clear();
            }
            for (id, reply) in self.replies.drain() {
                if let Some(start) = sent.remove(&id) {
                    call.check(&reply.body)?;
                    flood.latencies.push(reply.at - start);
                }
            }
            if begun.elapsed() > budget {
                left = 0;
                total = flood.latencies.len() + flood.lost + sent.len();
            }
            if begun.elapsed() > budget * 10 {
                bail!("{} of {total} calls answered in {:?}", flood.latencies.len(), begun.elapsed());
            }
        }
        flood.wall = heard - begun;
        Ok(flood)
    }

    /// Makes calls in sequence for this long, while a neighbour's calls, if any, are kept in flight. A wrong response
    /// is an error.
    pub fn beside(
        &mut self,
        call: &mut Call,
        mut crowd: Option<&mut Crowd>,
        time: Duration,
    ) -> Result<Flood> {
        let mut flood = Flood::default();
        let begun = Instant::now();
        let mut open: Option<(u64, Instant)> = None;
        while begun.elapsed() < time || open.is_some() {
            if let Some(crowd) = &mut crowd {
                crowd.fill(self)?;
            }
            let (id, start) = match open {
                Some(open) => open,
                None => {
                    let start = Instant::now();
                    (self.send("tools/call", &call.params)?, start)
                }
            };
            open = Some((id, start));
            for (answered, reply) in self.replies(SILENCE)? {
                if answered == id {
                    call.check(&reply.body)?;
                    flood.latencies.push(reply.at - start);
                    open = None;
                } else if let Some(crowd) = &mut crowd {
                    crowd.take(answered, reply);
                }
            }
            if open.is_some() && start.elapsed() > SILENCE {
                flood.lost += 1;
                open = None;
            }
        }
        flood.wall = begun.elapsed();
        Ok(flood)
    }

    /// Returns the responses that have arrived, or else waits this long for some.
    pub fn replies(&mut self, timeout: Duration) -> Result<Vec<(u64, Reply)>> {
        if self.replies.is_empty() {
            self.pump(timeout)?;
        }
        Ok(self.replies.drain().collect())
    }

    fn free_lane(&self) -> Option<usize> {
        self.lanes.iter().position(|l| !l.busy && !l.listener)
    }

    fn is_stateless(&self) -> bool {
        matches!(self.mode, Mode::Http { stateless: true, .. })
    }

    fn form<'a>(&self, method: &str, params: &'a str) -> RequestForm<'a> {
        match self.is_stateless() {
            true => RequestForm::stateless(method, params),
            false => RequestForm::of_session(params),
        }
    }

    fn post(&mut self, headers: &str, message: &[u8]) -> Result<()> {
        let index = loop {
            match self.free_lane() {
                Some(index) => break index,
                None => self.pump(Duration::from_millis(500))?,
            }
        };
        match &self.mode {
            Mode::Stdio => {
                let lane = &mut self.lanes[index];
                lane.out.extend_from_slice(message);
                lane.out.push(b'\n');
            }
            Mode::Http { addr, path, session, .. } => {
                if self.lanes[index].closed {
                    self.lanes[index] = Lane::dial(addr)?;
                }
                let lane = &mut self.lanes[index];
                write!(
                    lane.out,
                    "POST {path} HTTP/1.1\r\nHost: {addr}\r\nContent-Type: application/json\r\n\
                     Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n",
                    message.len()
                )?;
                if let Some(session) = session {
                    write!(lane.out, "Mcp-Session-Id: {session}\r\n")?;
                }
                lane.out.extend_from_slice(b"\r\n");
                lane.out.extend_from_slice(message);
                lane.busy = true;
            }
        }
        self.lanes[index].flush()
    }

    /// Polls once: writes and reads as far as possible without blocking.
    fn pump(&mut self, timeout: Duration) -> Result<()> {
        let mut fds = Vec::with_capacity(self.lanes.len() * 2);
        let mut owners = Vec::with_capacity(fds.capacity());
        for (index, lane) in self.lanes.iter().enumerate().filter(|(_, l)| !l.closed) {
            fds.push(PollFd::new(&lane.read, PollFlags::IN));
            owners.push((index, false));
            if !lane.out.is_empty() {
                fds.push(PollFd::new(&lane.write, PollFlags::OUT));
                owners.push((index, true));
            }
        }
        let timeout =
            Timespec { tv_sec: timeout.as_secs().try_into()?, tv_nsec: timeout.subsec_nanos().into() };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        let ready: Vec<(usize, bool)> = fds
            .iter()
            .zip(owners)
            .filter(|(fd, _)| !fd.revents().is_empty())
            .map(|(_, owner)| owner)
            .collect();
        drop(fds);
        for (index, writing) in ready {
            if writing {
                self.lanes[index].flush()?;
            } else {
                self.read_lane(index)?;
            }
        }
        Ok(())
    }

    fn read_lane(&mut self, index: usize) -> Result<()> {
        let lane = &mut self.lanes[index];
        let got = match lane.read.read(&mut self.scratch) {
            Ok(0) if matches!(self.mode, Mode::Http { .. }) && !lane.busy && !lane.listener => {
                lane.closed = true;
                return Ok(());
            }
            Ok(0) => bail!("the server closed the connection"),
            Ok(n) => n,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(()),
            Err(e) => return Err(e).context("reading from the server"),
        };
        let mut items = Vec::new();
        lane.decoder.feed(&self.scratch[..got], &mut items)?;
        let at = Instant::now();
        for item in items {
            match item {
                Item::Message(body) => {
                    if let Some(id) = reply_id(&body) {
                        self.replies.insert(id, Reply { at, body });
                    }
                }
                Item::Endpoint(path) => self.endpoint = Some(path),
                Item::Session(id) => {
                    if let Mode::Http { session, .. } = &mut self.mode {
                        *session = Some(id);
                    }
                }
                Item::End { status, close } => {
                    let lane = &mut self.lanes[index];
                    lane.busy = false;
                    lane.closed = close;
                    if status >= 400 {
                        bail!("HTTP status {status}");
                    }
                }
            }
        }
        Ok(())
    }
}
