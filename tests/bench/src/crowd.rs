//! Calls of a neighbour, kept in flight during a measurement.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

use crate::client::{Client, Reply};

/// A number of equal calls, each repeated as soon as it is answered.
pub struct Crowd {
    params: String,
    size: usize,
    open: HashSet<u64>,
    /// Calls that were answered.
    pub answered: usize,
    /// Last response.
    pub last: Vec<u8>,
}

impl Crowd {
    /// None of them is made yet.
    pub fn new(params: String, size: usize) -> Self {
        Self { params, size, open: HashSet::new(), answered: 0, last: Vec::new() }
    }

    /// Makes as many calls as are missing.
    pub fn fill(&mut self, client: &mut Client) -> Result<()> {
        while self.open.len() < self.size {
            self.open.insert(client.send("tools/call", &self.params)?);
        }
        Ok(())
    }

    /// Takes a response if it belongs to these calls.
    pub fn take(&mut self, id: u64, reply: Reply) {
        if self.open.remove(&id) {
            self.answered += 1;
            self.last = reply.body;
        }
    }

    /// Waits until every call is answered, without making new ones.
    pub fn end(&mut self, client: &mut Client, patience: Duration) -> Result<()> {
        let until = Instant::now() + patience;
        while !self.open.is_empty() {
            ensure!(Instant::now() < until, "{} calls of the neighbour were never answered", self.open.len());
            for (id, reply) in client.replies(Duration::from_millis(100))? {
                self.take(id, reply);
            }
        }
        Ok(())
    }
}
