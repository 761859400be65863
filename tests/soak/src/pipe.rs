//! The client of a host on stdio: many calls in flight on one pipe, each answered once.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context, Result, bail};
use loggia_tests::PATIENCE;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout},
    sync::oneshot,
};

/// A host's pipe, and its process, which is killed with it.
pub struct Pipe {
    stdin: tokio::sync::Mutex<ChildStdin>,
    next: AtomicU64,
    calls: Mutex<Calls>,
    _child: Child,
}

#[derive(Default)]
struct Calls {
    open: HashMap<u64, oneshot::Sender<Value>>,
    /// Abandoned calls, which may still be answered.
    given_up: HashSet<u64>,
    /// Malformed input.
    nonsense: Vec<String>,
}

impl Pipe {
    /// Shakes hands with a host that was just started.
    pub async fn open(mut child: Child) -> Result<Arc<Self>> {
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = child.stdout.take().context("no stdout")?;
        let pipe = Self { stdin: stdin.into(), next: 0.into(), calls: Mutex::default(), _child: child };
        let pipe = Arc::new(pipe);
        tokio::spawn(read(stdout, Arc::downgrade(&pipe)));
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "loggia-soak", "version": "0"},
        });
        let (_, answer) = pipe.request("initialize", &hello).await?;
        tokio::time::timeout(PATIENCE, answer).await?.context("the host ended")?;
        pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(pipe)
    }

    /// Makes a call; its result.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Result<Value> {
        let params = json!({"name": tool, "arguments": arguments});
        let (_, answer) = self.request("tools/call", &params).await?;
        let answer = tokio::time::timeout(PATIENCE, answer).await.context("lost: there was no answer")?;
        let mut answer = answer.context("lost: the host ended")?;
        if let Some(error) = answer.get("error") {
            bail!("an error of the protocol: {error}");
        }
        Ok(answer["result"].take())
    }

    /// Starts a call and cancels it after a while.
    pub async fn cancelled(&self, tool: &str, arguments: &Value, after: std::time::Duration) -> Result<()> {
        let params = json!({"name": tool, "arguments": arguments});
        let (id, _answer) = self.request("tools/call", &params).await?;
        tokio::time::sleep(after).await;
        {
            let mut calls = self.calls();
            if calls.open.remove(&id).is_some() {
                calls.given_up.insert(id);
            }
        }
        let params = json!({"requestId": id, "reason": "soak"});
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await
    }

    /// Malformed input since the last call of this function.
    pub fn nonsense(&self) -> Vec<String> {
        std::mem::take(&mut self.calls().nonsense)
    }

    async fn request(&self, method: &str, params: &Value) -> Result<(u64, oneshot::Receiver<Value>)> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.calls().open.insert(id, answer);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        Ok((id, answered))
    }

    async fn send(&self, message: &Value) -> Result<()> {
        let mut stdin = self.stdin.lock().await;
        stdin.write_all(format!("{message}\n").as_bytes()).await.context("lost: the host reads no more")?;
        Ok(stdin.flush().await?)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every line is a message, and every answer is to a question.
    fn take(&self, line: &str) {
        let mut calls = self.calls();
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            calls.nonsense.push(format!("no JSON on stdout: {line:.200}"));
            return;
        };
        let Some(id) = message["id"].as_u64() else { return };
        if message.get("method").is_some() || calls.given_up.remove(&id) {
            return;
        }
        match calls.open.remove(&id) {
            Some(open) => drop(open.send(message)),
            None => calls.nonsense.push(format!("an answer to nobody: {line:.200}")),
        }
    }
}

async fn read(stdout: ChildStdout, pipe: std::sync::Weak<Pipe>) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Some(pipe) = pipe.upgrade() else { return };
        pipe.take(&line);
    }
    // Wake all waiting calls.
    if let Some(pipe) = pipe.upgrade() {
        pipe.calls().open.clear();
    }
}
