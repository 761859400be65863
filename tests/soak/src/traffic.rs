//! Clients that call, and a folder that changes, until a pause.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use loggia_tests::PATIENCE;
use serde_json::json;
use tokio::{
    sync::{Barrier, Notify, watch},
    task::JoinSet,
};

use crate::{
    churn::{self, Churn},
    door::{self, Door},
    host::Entrance,
    kinds::{self, Asked, Right},
    ledger::Ledger,
    random::Random,
    site::Site,
};

/// Phase for all clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Go,
    Rest,
}

/// Maximum number of HTTP sessions of a host: as many are abandoned before every pause, so that all pauses are alike.
const SESSIONS: usize = 256;

/// Concurrent calls of one plugin: its default limit.
const AT_ONCE: usize = 8;
/// Number of repetitions of each peak.
const TIMES: usize = 4;

/// State shared by all clients.
struct Shared {
    site: Arc<Site>,
    ledger: Arc<Ledger>,
    phases: watch::Receiver<Phase>,
    active: watch::Sender<usize>,
    broken: Notify,
}

/// All of them.
pub struct Traffic {
    shared: Arc<Shared>,
    entrances: Vec<Entrance>,
    workers: JoinSet<()>,
}

impl Traffic {
    /// Creates this many clients for each host, paused.
    pub async fn new(
        seed: u64,
        clients: usize,
        site: Arc<Site>,
        entrances: Vec<Entrance>,
        ledger: Arc<Ledger>,
        phases: watch::Receiver<Phase>,
    ) -> Result<Self> {
        let (active, broken) = (watch::Sender::new(0), Notify::new());
        let shared = Arc::new(Shared { site, ledger, phases, active, broken });
        let mut workers = JoinSet::new();
        let mut place = 0;
        for entrance in &entrances {
            for _ in 0..clients {
                place += 1;
                let worker = Worker {
                    name: format!("w{place}"),
                    random: Random::new(seed, place),
                    entrance: entrance.clone(),
                    shared: Arc::clone(&shared),
                    count: 0,
                    door: None,
                };
                workers.spawn(worker.run());
            }
        }
        let changes = Churn::new(Random::new(seed, 0), Arc::clone(&shared.site), Arc::clone(&shared.ledger));
        workers.spawn(churn(changes, Arc::clone(&shared)));
        let traffic = Self { shared, entrances, workers };
        traffic.leave_sessions(SESSIONS).await?;
        Ok(traffic)
    }

    /// Waits until every plugin is served: hosts may have to compile them.
    pub async fn served(&self) -> Result<()> {
        for entrance in &self.entrances {
            let door = Door::open(entrance, &mut Random::new(0, 0)).await?;
            for tool in ["echo", "files", "keeps", "misbehaves", "bitten", "reaches", "hoards", "version"] {
                let described = json!({"action": "describe"});
                let until = Instant::now() + PATIENCE;
                while let Err(error) = door.call(tool, &described).await {
                    anyhow::ensure!(Instant::now() < until, "{tool} is not served: {error:#}");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            door.close().await?;
        }
        Ok(())
    }

    /// Drives each host to its memory peak a few times. The allocator keeps some of its peak: if peaks came by chance,
    /// a host would seem to grow with each new one.
    pub async fn at_worst(&self, seed: u64) -> Result<()> {
        for entrance in &self.entrances {
            let together = Arc::new(Barrier::new(AT_ONCE));
            let mut calls = JoinSet::new();
            for place in 0..AT_ONCE {
                let (entrance, together) = (entrance.clone(), Arc::clone(&together));
                let site = Arc::clone(&self.shared.site);
                let mut random = Random::new(seed, place as u64);
                calls.spawn(async move {
                    let door = Door::open(&entrance, &mut random).await?;
                    for (tool, arguments) in kinds::largest(&site) {
                        for _ in 0..TIMES {
                            together.wait().await;
                            door.call(tool, &arguments).await?;
                        }
                    }
                    door.close().await
                });
            }
            while let Some(called) = calls.join_next().await {
                called??;
            }
        }
        Ok(())
    }

    /// Until something is wrong.
    pub async fn broken(&self) {
        self.shared.broken.notified().await;
    }

    /// Waits until all clients are paused and the folder's last change is served.
    pub async fn rest(&mut self) {
        let mut active = self.shared.active.subscribe();
        let all = active.wait_for(|active| *active == 0);
        if tokio::time::timeout(Duration::from_secs(120), all).await.is_err() {
            self.shared.problem("calls are still open two minutes after the last was made".into());
        }
        for entrance in &self.entrances {
            if let Err(error) = churn::settled(entrance).await {
                self.shared.problem(format!("{error:#}"));
            }
            if let Entrance::Stdio(pipe) = entrance {
                pipe.nonsense().into_iter().for_each(|said| self.shared.problem(said));
            }
        }
        if let Err(error) = self.leave_sessions(32).await {
            self.shared.problem(format!("a client cannot begin a session: {error:#}"));
        }
    }

    /// Ends all clients.
    pub async fn end(mut self) {
        while self.workers.join_next().await.is_some() {}
    }

    async fn leave_sessions(&self, many: usize) -> Result<()> {
        for entrance in &self.entrances {
            let Entrance::Http(host) = entrance else { continue };
            for _ in 0..many {
                door::abandon(host).await?;
            }
        }
        Ok(())
    }
}

impl Shared {
    fn problem(&self, said: String) {
        self.ledger.problem(said);
        self.broken.notify_one();
    }

    fn goes(&self) -> bool {
        *self.phases.borrow() == Phase::Go
    }
}

/// Changes the folder during a phase, and restores it before each pause.
async fn churn(mut churn: Churn, shared: Arc<Shared>) {
    let mut phases = shared.phases.clone();
    while phases.wait_for(|phase| *phase == Phase::Go).await.is_ok() {
        shared.active.send_modify(|active| *active += 1);
        while shared.goes() {
            if let Err(error) = churn.step().await {
                shared.problem(format!("the folder cannot be changed: {error:#}"));
            }
        }
        if let Err(error) = churn.tidy() {
            shared.problem(format!("the folder cannot be put in order: {error:#}"));
        }
        shared.active.send_modify(|active| *active -= 1);
    }
}

/// One client.
struct Worker {
    name: String,
    random: Random,
    entrance: Entrance,
    shared: Arc<Shared>,
    /// Expected value of its counter in the plugin's state.
    count: i64,
    door: Option<Door>,
}

impl Worker {
    async fn run(mut self) {
        let mut phases = self.shared.phases.clone();
        while phases.wait_for(|phase| *phase == Phase::Go).await.is_ok() {
            self.shared.active.send_modify(|active| *active += 1);
            while self.shared.goes() && self.shared.ledger.problems().is_empty() {
                if let Err(error) = self.step().await {
                    self.shared.problem(format!("{}: {error:#}", self.name));
                }
            }
            if let Some(door) = self.door.take() {
                let _ = door.close().await;
            }
            self.shared.active.send_modify(|active| *active -= 1);
            if !self.shared.ledger.problems().is_empty() {
                return;
            }
        }
    }

    async fn step(&mut self) -> Result<()> {
        let door = match self.door.take() {
            Some(door) => door,
            None => Door::open(&self.entrance, &mut self.random).await.context("a client cannot come in")?,
        };
        match self.random.below(40) {
            0..=1 => {
                let asked = kinds::endless(&mut self.random);
                let after = Duration::from_millis(self.random.below(150));
                self.door = door.give_up(asked.tool, &asked.arguments, after).await?;
                self.shared.ledger.count(asked.kind, if self.door.is_some() { "cancelled" } else { "left" });
                return Ok(());
            }
            2 => {
                door.close().await?;
                return Ok(());
            }
            3..=6 => self.increment(&door).await?,
            7..=9 => self.write(&door).await?,
            _ => {
                let asked = kinds::any(&mut self.random, &self.shared.site);
                self.check(&door, asked).await?;
            }
        }
        self.door = Some(door);
        Ok(())
    }

    async fn check(&self, door: &Door, asked: Asked) -> Result<()> {
        let Asked { kind, tool, arguments, right } = asked;
        let envelope = door.call(tool, &arguments).await.with_context(|| format!("{kind}: {arguments}"))?;
        match right.check(&envelope) {
            Ok(outcome) => self.shared.ledger.count(kind, outcome),
            Err(said) => {
                self.shared.ledger.count(kind, "WRONG");
                self.shared.problem(format!("{kind}: {arguments} was answered with {said}"));
            }
        }
        Ok(())
    }

    /// Increments its counter in the plugin's state and checks the result.
    async fn increment(&mut self, door: &Door) -> Result<()> {
        self.count += 1;
        let arguments = json!({"action": "increment", "key": self.name});
        let right = Right::Data(json!(self.count));
        self.check(door, Asked { kind: "state", tool: "keeps", arguments, right }).await
    }

    /// Writes, reads and deletes a file of its own.
    async fn write(&mut self, door: &Door) -> Result<()> {
        let path = format!("/data/{}.txt", self.name);
        let text = format!("{}\n", self.random.below(1 << 40));
        let file = |kind, arguments, right| Asked { kind, tool: "files", arguments, right };
        let put = json!({"action": "put", "path": path, "content": text});
        let put = door.call("files", &put).await.context("file written")?;
        anyhow::ensure!(put["data"]["size"] == text.len(), "file written: {put:.300}");
        self.shared.ledger.count("file written", "ok");
        let get = json!({"action": "get", "path": path});
        self.check(door, file("file read", get, Right::Content(text))).await?;
        let delete = door.call("files", &json!({"action": "delete", "path": path})).await?;
        anyhow::ensure!(delete["ok"] == true, "file deleted: {delete:.300}");
        self.shared.ledger.count("file deleted", "ok");
        Ok(())
    }
}
