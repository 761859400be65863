//! A journal in memory, which stops as a killed host does, or fails as on a full disk.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::{FutureExt, future};

use crate::journal::{ClaimedRun, Journal, JournalError, JournalFuture, NewRun, RunLease, StoredRun};

/// A run in memory.
pub(super) struct MemoryRun {
    pub run: NewRun,
    pub host: u64,
    pub fence: u64,
    pub entries: Vec<Vec<u8>>,
    pub outcome: Option<Vec<u8>>,
    pub cancels: bool,
}

impl MemoryRun {
    fn to_stored(&self) -> StoredRun {
        StoredRun {
            run: self.run.clone(),
            entries: self.entries.len() as u64,
            end: self.outcome.clone().map(|outcome| (0, outcome)),
        }
    }
}

pub(super) type MemoryRuns = Arc<Mutex<Vec<MemoryRun>>>;

/// Journal of one host in memory, which stops after so many writes, as a killed host does.
pub(super) struct MemoryJournal {
    runs: MemoryRuns,
    host: u64,
    writes_left: AtomicUsize,
    /// Writes after these fail, for as long as it is not `usize::MAX`, as on a full disk.
    pub writes_until_full: AtomicUsize,
}

impl MemoryJournal {
    pub(super) fn new(runs: &MemoryRuns, host: u64, writes: usize) -> Arc<Self> {
        Arc::new(Self {
            runs: Arc::clone(runs),
            host,
            writes_left: AtomicUsize::new(writes),
            writes_until_full: AtomicUsize::new(usize::MAX),
        })
    }

    fn run<T: Send + 'static>(
        &self,
        writes: usize,
        work: impl FnOnce(&mut Vec<MemoryRun>) -> Result<T, JournalError>,
    ) -> JournalFuture<T> {
        let left = self.writes_left.load(Ordering::Relaxed);
        if left == 0 || left < writes {
            self.writes_left.store(0, Ordering::Relaxed);
            return future::pending().boxed();
        }
        self.writes_left.store(left - writes, Ordering::Relaxed);
        match self.writes_until_full.load(Ordering::Relaxed) {
            usize::MAX => {}
            0 if writes > 0 => {
                return future::ready(Err(JournalError::Storage("/srv: the disk is full".into()))).boxed();
            }
            until => self.writes_until_full.store(until - writes.min(until), Ordering::Relaxed),
        }
        future::ready(work(&mut self.runs.lock().unwrap())).boxed()
    }
}

fn leased<'a>(
    runs: &'a mut [MemoryRun],
    host: u64,
    lease: &RunLease,
) -> Result<&'a mut MemoryRun, JournalError> {
    let holds = |run: &&mut MemoryRun| {
        run.run.id == lease.run && run.host == host && run.fence == lease.fence && run.outcome.is_none()
    };
    runs.iter_mut().find(holds).ok_or(JournalError::Lost)
}

impl Journal for MemoryJournal {
    fn create(&self, run: NewRun) -> JournalFuture<()> {
        let host = self.host;
        self.run(1, |runs| {
            runs.push(MemoryRun { run, host, fence: 1, entries: Vec::new(), outcome: None, cancels: false });
            Ok(())
        })
    }

    fn append(&self, lease: RunLease, first: u64, entries: Vec<Vec<u8>>) -> JournalFuture<()> {
        self.run(usize::from(!entries.is_empty()), |runs| {
            let run = leased(runs, self.host, &lease)?;
            if run.entries.len() as u64 != first {
                return Err(JournalError::Lost);
            }
            run.entries.extend(entries);
            Ok(())
        })
    }

    fn finish(&self, lease: RunLease, outcome: Vec<u8>) -> JournalFuture<()> {
        self.run(1, |runs| leased(runs, self.host, &lease).map(|run| run.outcome = Some(outcome)))
    }

    fn claim(&self, facades: Vec<String>, most: usize) -> JournalFuture<Vec<ClaimedRun>> {
        self.run(0, |runs| {
            let left = |run: &&mut MemoryRun| {
                run.host != self.host && run.outcome.is_none() && facades.contains(&run.run.facade)
            };
            let claimed = runs.iter_mut().filter(left).take(most).map(|run| {
                (run.host, run.fence) = (self.host, run.fence + 1);
                let lease = RunLease { run: run.run.id.clone(), fence: run.fence };
                ClaimedRun { lease, head: run.run.head.clone(), entries: run.entries.clone() }
            });
            Ok(claimed.collect())
        })
    }

    fn release(&self, lease: RunLease) -> JournalFuture<()> {
        self.run(0, |runs| leased(runs, self.host, &lease).map(|run| run.host = 0))
    }

    fn load(&self, id: String) -> JournalFuture<Option<StoredRun>> {
        self.run(0, |runs| {
            let found = runs.iter().find(|run| run.run.id == id);
            Ok(found.map(MemoryRun::to_stored))
        })
    }

    fn history(&self, id: String) -> JournalFuture<Vec<Vec<u8>>> {
        self.run(0, |runs| Ok(runs.iter().find(|run| run.run.id == id).unwrap().entries.clone()))
    }

    fn add(&self, run: NewRun, entries: Vec<Vec<u8>>) -> JournalFuture<()> {
        self.run(1, |runs| {
            if !runs.iter().any(|known| known.run.id == run.id) {
                runs.push(MemoryRun { run, host: 0, fence: 1, entries, outcome: None, cancels: false });
            }
            Ok(())
        })
    }

    fn request_cancel(&self, id: String) -> JournalFuture<bool> {
        self.run(0, |runs| {
            let found = runs.iter_mut().find(|run| run.run.id == id && run.outcome.is_none());
            Ok(found.map(|run| run.cancels = true).is_some())
        })
    }

    fn cancel_requests(&self) -> JournalFuture<Vec<String>> {
        let host = self.host;
        self.run(0, |runs| {
            let own = runs.iter().filter(|run| run.cancels && run.host == host && run.outcome.is_none());
            Ok(own.map(|run| run.run.id.clone()).collect())
        })
    }

    fn list(&self, facade: Option<String>, most: usize) -> JournalFuture<Vec<StoredRun>> {
        self.run(0, |runs| {
            let of_facade = |run: &&MemoryRun| facade.as_ref().is_none_or(|facade| run.run.facade == *facade);
            Ok(runs.iter().rev().filter(of_facade).take(most).map(MemoryRun::to_stored).collect())
        })
    }
}
