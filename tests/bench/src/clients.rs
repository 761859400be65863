//! Many clients over HTTP: lost calls, and memory afterwards.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{config::Server, process::Process};

/// A generous time for one answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time after which an idle session hibernates, and a wait that covers it.
const SLEEP: (&str, Duration) = ("5s", Duration::from_secs(12));

/// Parameters of a measurement.
pub struct Plan {
    pub loggia: PathBuf,
    pub guest: PathBuf,
    /// Calls one after another.
    pub sequential: usize,
    /// Number of concurrent clients, and of calls of each.
    pub crowd: (usize, usize),
    /// Number of idle sessions without a stream, and with one.
    pub idle: usize,
}

/// Measures; lines to print.
pub fn run(plan: &Plan) -> Result<Vec<String>> {
    let stage = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let folder = stage.path().join("plugins");
    fs::create_dir(&folder)?;
    fs::copy(&plan.guest, folder.join("tools.wasm"))?;
    let address = free()?;
    let most = 2 * plan.idle + 100;
    let settings = format!(
        "folder = 'plugins'\ncache = 'cache'\nstate = 'state'\n[http]\nlisten = '{address}'\nsessions = {most}\nconnections = {most}\nsession-sleep = '{}'\n",
        SLEEP.0
    );
    let file = stage.path().join("loggia.toml");
    fs::write(&file, settings)?;
    let command =
        [&plan.loggia.to_string_lossy(), "serve", "--config", &file.to_string_lossy()].map(str::to_owned);
    let host = Process::start(&Server::default(), &command, false)?;
    let tool = Tool::found(&address, None)?;

    // Until pools and buffers are as large as they get.
    calls(&address, &tool, 500)?;
    crowd(&address, &tool, plan.crowd.0, 20)?;
    let mut lines = Vec::new();
    let mut measure = |label: String, work: &mut dyn FnMut() -> Result<usize>| -> Result<()> {
        let before = held(&host)?;
        let begun = Instant::now();
        let answered = work()?;
        let seconds = begun.elapsed().as_secs_f64();
        let after = held(&host)?;
        lines.push(format!(
            "{label}: {answered} answered, all right, in {seconds:.1} s; resident {before:.1} MiB before, {after:.1} after ({:+.1} %)",
            (after / before - 1.0) * 100.0
        ));
        Ok(())
    };
    measure(format!("{} calls one after another", plan.sequential), &mut || {
        calls(&address, &tool, plan.sequential)
    })?;
    let (clients, each) = plan.crowd;
    measure(format!("{clients} clients at once, {each} calls each"), &mut || {
        crowd(&address, &tool, clients, each)
    })?;
    for listening in [false, true] {
        lines.push(idle(&host, &address, plan.idle, listening)?);
    }
    Ok(lines)
}

/// Measures the memory of idle sessions, and of their next request.
fn idle(host: &Process, address: &str, many: usize, listening: bool) -> Result<String> {
    let before = held(host)?;
    let mut sessions = Vec::new();
    for _ in 0..many {
        let mut connection = Connection::open(address)?;
        let session = connection.session()?;
        if listening {
            connection.listen(&session)?;
        }
        sessions.push((session, listening.then_some(connection)));
    }
    let awake = held(host)? - before;
    thread::sleep(SLEEP.1);
    let asleep = held(host)? - before;
    let mut connection = Connection::open(address)?;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (session, _) in sessions.iter().take(200) {
        for times in [&mut first, &mut second] {
            let begun = Instant::now();
            connection.ping(session)?;
            times.push(begun.elapsed());
        }
    }
    for times in [&mut first, &mut second] {
        times.sort();
    }
    let what = if listening { "that listen for news, with their connections" } else { "that say nothing" };
    Ok(format!(
        "{many} sessions {what}: {awake:.1} MiB while awake, {asleep:.1} MiB asleep, {before:.1} MiB without; \
         a ping that wakes one takes {:.0?}, the next {:.0?}",
        first[first.len() / 2],
        second[second.len() / 2]
    ))
}

/// Returns a loopback address without a listener.
pub fn free() -> Result<String> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// Memory of the host after it has released what is free.
fn held(host: &Process) -> Result<f64> {
    // Connections that were closed are noticed a moment later.
    thread::sleep(Duration::from_millis(500));
    let pid = Pid::from_raw(host.child.id().cast_signed()).context("no process")?;
    kill_process(pid, Signal::USR1)?;
    thread::sleep(Duration::from_millis(500));
    Ok(host.rss_mib())
}

/// Tool whose action `echo` is called.
pub struct Tool {
    name: String,
}

impl Tool {
    /// Waits until the tool is served.
    pub fn found(address: &str, token: Option<&str>) -> Result<Self> {
        let until = Instant::now() + PATIENCE;
        loop {
            match Connection::open(address)
                .and_then(|connection| connection.by(token).ask("tools/list", None, json!({})))
            {
                Ok(told) if told["tools"][0]["name"].is_string() => {
                    let name = told["tools"][0]["name"].as_str().unwrap_or_default().to_owned();
                    return Ok(Self { name });
                }
                other if Instant::now() > until => anyhow::bail!("no tools: {other:?}"),
                _ => thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

/// Makes this many calls on one connection; returns the number of correct responses.
fn calls(address: &str, tool: &Tool, many: usize) -> Result<usize> {
    let mut connection = Connection::open(address)?;
    for number in 0..many {
        let text = format!("n{number}");
        let told = connection.ask(
            "tools/call",
            Some(&tool.name),
            json!({"name": tool.name, "arguments": {"action": "echo", "input": text}}),
        )?;
        ensure!(told["structuredContent"]["data"] == json!(text), "call {number} of {many}: {told}");
    }
    Ok(many)
}

fn crowd(address: &str, tool: &Tool, clients: usize, each: usize) -> Result<usize> {
    thread::scope(|scope| {
        let all: Vec<_> = (0..clients).map(|_| scope.spawn(|| calls(address, tool, each))).collect();
        all.into_iter().map(|one| one.join().ok().context("a client broke")?).sum()
    })
}

/// A persistent connection.
pub struct Connection {
    stream: BufReader<TcpStream>,
    address: String,
    /// `Authorization` line of each request.
    bearer: String,
}

impl Connection {
    /// Connects without a token.
    pub fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream), address: address.to_owned(), bearer: String::new() })
    }

    /// Sets the token.
    pub fn by(mut self, token: Option<&str>) -> Self {
        self.bearer = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
        self
    }

    /// Makes one call; returns the status of the response.
    pub fn echo(&mut self, tool: &Tool, text: &str) -> Result<u16> {
        let call = json!({"name": tool.name, "arguments": {"action": "echo", "input": text}});
        Ok(self.request("tools/call", Some(&tool.name), call)?.0)
    }

    /// A request without a session; its result.
    fn ask(&mut self, method: &str, name: Option<&str>, params: Value) -> Result<Value> {
        let (status, body) = self.request(method, name, params)?;
        ensure!(status == 200, "{status}: {body}");
        let mut told: Value = serde_json::from_str(&body)?;
        ensure!(told["error"].is_null(), "{told}");
        Ok(told["result"].take())
    }

    fn request(&mut self, method: &str, name: Option<&str>, mut params: Value) -> Result<(u16, String)> {
        params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "0"}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let name = name.map_or(String::new(), |name| format!("Mcp-Name: {name}\r\n"));
        let headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}");
        let (status, _, body) = self.post(&headers, &body)?;
        Ok((status, body))
    }

    /// Starts a session; returns its id.
    fn session(&mut self) -> Result<String> {
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}"#;
        let (status, head, told) = self.post("", body)?;
        ensure!(status == 200, "{status}: {told}");
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).context("no session")?;
        let of = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-06-18\r\n");
        let (status, _, told) =
            self.post(&of, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        ensure!(status == 202, "{status}: {told}");
        Ok(id.to_owned())
    }

    /// A request in a session that does nothing.
    fn ping(&mut self, session: &str) -> Result<()> {
        let of = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-06-18\r\n");
        let (status, _, told) = self.post(&of, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)?;
        ensure!(status == 200 && told.contains("result"), "{status}: {told}");
        Ok(())
    }

    /// Opens a session's notification stream.
    fn listen(&mut self, session: &str) -> Result<()> {
        write!(
            self.stream.get_mut(),
            "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n",
            self.address
        )?;
        let mut first = String::new();
        self.stream.read_line(&mut first)?;
        ensure!(first.contains("200"), "{first}");
        Ok(())
    }

    fn post(&mut self, headers: &str, body: &str) -> Result<(u16, String, String)> {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             {headers}{}Content-Length: {}\r\n\r\n{body}",
            self.address,
            self.bearer,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            ensure!(self.stream.read_line(&mut head)? > 0, "the connection ended: {head}");
        }
        let head = head.to_ascii_lowercase().replace("\r\n", "\n");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
        let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        let mut body = Vec::new();
        match field("content-length: ") {
            Some(length) => {
                body.resize(length.parse()?, 0);
                self.stream.read_exact(&mut body)?;
            }
            None => loop {
                let mut size = String::new();
                self.stream.read_line(&mut size)?;
                let size = usize::from_str_radix(size.trim(), 16).context("no chunk")?;
                let mut chunk = vec![0; size + 2];
                self.stream.read_exact(&mut chunk)?;
                body.extend_from_slice(&chunk[..size]);
                if size == 0 {
                    break;
                }
            },
        }
        Ok((status, head, String::from_utf8_lossy(&body).into_owned()))
    }
}
