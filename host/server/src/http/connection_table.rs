//! Bounded table of connections, in total and per address. At capacity, evicts the oldest unauthenticated connection.
//! Connections of authenticated callers are never evicted.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use loggia_gate::access::AddressBlock;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::clock::{ConnectionClock, EvictionReason};

/// Interval of checking connections again while none can be evicted: their phases change without notification.
const RECHECK: Duration = Duration::from_millis(50);

/// Limits of the number of connections.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionBounds {
    /// In total.
    pub most: usize,
    /// Per address; `None` if unlimited.
    pub per_address: Option<usize>,
    /// Applies `per_address` to loopback, too, where a proxy may carry all clients.
    pub loopback: bool,
}

impl ConnectionBounds {
    fn limit_for(&self, from: AddressBlock) -> usize {
        self.per_address.filter(|_| self.loopback || !from.is_loopback()).unwrap_or(usize::MAX)
    }
}

/// Open connections.
#[derive(Debug)]
pub struct ConnectionTable {
    bounds: ConnectionBounds,
    /// The connections and their counts. Held to look up, insert or remove an entry, never across an await. The phase of an
    /// entry's clock is locked within it; clocks never lock the table, so the order cannot deadlock.
    open: Mutex<OpenConnections>,
    /// Signalled when a connection ends. Only the accept loop waits for it, one connection at a time, and with a timeout, so a
    /// lost signal costs at most [`RECHECK`].
    ended: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    /// By age, oldest first.
    entries: BTreeMap<u64, ConnectionEntry>,
    per_block: HashMap<AddressBlock, usize>,
    /// Number of the next connection.
    next: u64,
}

#[derive(Debug)]
struct ConnectionEntry {
    from: AddressBlock,
    clock: Arc<ConnectionClock>,
    /// Cancelled to evict it.
    close: CancellationToken,
}

/// The limit that a new connection exceeds.
#[derive(Debug, PartialEq, Eq)]
enum CapacityLimit {
    /// The total.
    All,
    /// The number of its address.
    Address,
}

impl OpenConnections {
    fn exceeded(&self, bounds: &ConnectionBounds, from: AddressBlock) -> Option<CapacityLimit> {
        let own = self.per_block.get(&from).copied().unwrap_or(0);
        match () {
            () if own >= bounds.limit_for(from) => Some(CapacityLimit::Address),
            () if self.entries.len() >= bounds.most => Some(CapacityLimit::All),
            () => None,
        }
    }

    /// Returns the connection to evict: preferably one without any request, then the oldest.
    fn eviction_candidate(&self, of: Option<AddressBlock>) -> Option<&ConnectionEntry> {
        let mut refused = None;
        for entry in self.entries.values().filter(|entry| of.is_none_or(|of| of == entry.from)) {
            match entry.clock.eviction_reason() {
                _ if entry.close.is_cancelled() => {}
                Some(EvictionReason::Silent) => return Some(entry),
                Some(EvictionReason::Unauthenticated) => refused = refused.or(Some(entry)),
                None => {}
            }
        }
        refused
    }
}

impl ConnectionTable {
    /// Creates an empty table.
    pub fn new(bounds: ConnectionBounds) -> Arc<Self> {
        Arc::new(Self { bounds, open: Mutex::default(), ended: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a connection, evicting another one if necessary. Waits while none can be evicted. Returns `None` if all connections
    /// that its address may have are authenticated. Must not be called concurrently.
    pub async fn admit(
        self: &Arc<Self>,
        from: IpAddr,
        clock: &Arc<ConnectionClock>,
    ) -> Option<ConnectionPlace> {
        let from = AddressBlock::containing(from);
        let mut has_evicted = false;
        loop {
            {
                let mut open = self.lock();
                let Some(full) = open.exceeded(&self.bounds, from) else {
                    return Some(self.insert(&mut open, from, clock));
                };
                let of = (full == CapacityLimit::Address).then_some(from);
                // Evict a single one: it takes a moment to end.
                if !has_evicted && let Some(entry) = open.eviction_candidate(of) {
                    entry.close.cancel();
                    has_evicted = true;
                }
                if !has_evicted && full == CapacityLimit::Address {
                    return None;
                }
            }
            drop(tokio::time::timeout(RECHECK, self.ended.notified()).await);
        }
    }

    fn insert(
        self: &Arc<Self>,
        open: &mut OpenConnections,
        from: AddressBlock,
        clock: &Arc<ConnectionClock>,
    ) -> ConnectionPlace {
        let (number, close) = (open.next, CancellationToken::new());
        open.next += 1;
        open.entries.insert(number, ConnectionEntry { from, clock: Arc::clone(clock), close: close.clone() });
        *open.per_block.entry(from).or_default() += 1;
        ConnectionPlace { table: Arc::clone(self), number, close }
    }
}

/// Entry of a connection, removed when it is dropped.
#[derive(Debug)]
pub struct ConnectionPlace {
    table: Arc<ConnectionTable>,
    number: u64,
    /// Cancelled when the connection is evicted.
    pub close: CancellationToken,
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut open = self.table.lock();
        if let Some(ConnectionEntry { from, .. }) = open.entries.remove(&self.number)
            && let Some(own) = open.per_block.get_mut(&from)
        {
            *own -= 1;
            if *own == 0 {
                open.per_block.remove(&from);
            }
        }
        drop(open);
        self.table.ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::timeouts::ConnectionTimeouts;

    const SECOND: Duration = Duration::from_secs(1);
    const TIMES: ConnectionTimeouts = ConnectionTimeouts { head: SECOND, idle: SECOND, write: SECOND };

    fn table(most: usize, per_address: Option<usize>, loopback: bool) -> Arc<ConnectionTable> {
        ConnectionTable::new(ConnectionBounds { most, per_address, loopback })
    }

    /// Admits a connection, and ends the evicted one, as its own task would.
    async fn enter(
        table: &Arc<ConnectionTable>,
        there: &mut Vec<(&'static str, Option<ConnectionPlace>, Arc<ConnectionClock>)>,
        name: &'static str,
        from: &str,
    ) -> Option<&'static str> {
        let clock = ConnectionClock::new(TIMES);
        let from = from.parse().unwrap();
        let own = Arc::clone(&clock);
        let mut entering = std::pin::pin!(table.admit(from, &own));
        let mut gone = None;
        let place = loop {
            tokio::select! {
                biased;
                place = &mut entering => break place,
                () = tokio::time::sleep(SECOND) => {
                    let evicted = there.iter_mut().find(|(_, place, _)| {
                        place.as_ref().is_some_and(|place| place.close.is_cancelled())
                    });
                    let (name, place, _) = evicted.expect("a connection is evicted");
                    gone = Some(*name);
                    drop(place.take());
                }
            }
        };
        let gone = if place.is_none() { Some("nobody") } else { gone };
        there.push((name, place, clock));
        gone
    }

    /// H73.
    #[tokio::test(start_paused = true)]
    async fn the_oldest_unauthenticated_connection_is_evicted() {
        let (table, mut there) = (table(4, None, false), Vec::new());
        for name in ["known", "refused", "silent", "younger"] {
            assert_eq!(enter(&table, &mut there, name, "192.0.2.1").await, None);
        }
        for (at, known) in [(0, true), (1, false)] {
            let clock = &there[at].2;
            clock.asked();
            assert_eq!(clock.eviction_reason(), None, "a request is in progress");
            clock.answered(known);
            clock.flushed();
        }
        for (name, gone) in [("a", "silent"), ("b", "younger"), ("c", "a")] {
            assert_eq!(enter(&table, &mut there, name, "192.0.2.1").await, Some(gone));
        }
        let left: Vec<_> =
            there.iter().filter(|(_, place, _)| place.is_some()).map(|(name, ..)| *name).collect();
        assert_eq!(left, ["known", "refused", "b", "c"]);
        // Refused connections are evicted, too, but not authenticated ones.
        for (_, _, clock) in there.iter().filter(|(name, ..)| ["b", "c"].contains(name)) {
            clock.asked();
        }
        assert_eq!(enter(&table, &mut there, "d", "192.0.2.2").await, Some("refused"));
    }

    /// H73.
    #[tokio::test(start_paused = true)]
    async fn connections_are_limited_per_network() {
        let (table, mut there) = (table(100, Some(2), false), Vec::new());
        for (name, from, gone) in [
            ("other", "192.0.2.1", None),
            ("a", "2001:db8::1", None),
            ("b", "2001:db8::2", None),
            ("c", "2001:db8::3", Some("a")),
            ("d", "2001:db8:0:1::1", None),
        ] {
            assert_eq!(enter(&table, &mut there, name, from).await, gone, "{name}");
        }
        for (_, _, clock) in &there {
            clock.asked();
        }
        assert_eq!(enter(&table, &mut there, "e", "2001:db8::4").await, Some("nobody"));
        // A proxy on loopback may have more, unless the operator limits it.
        for _ in 0..10 {
            assert_eq!(enter(&table, &mut there, "proxy", "127.0.0.1").await, None);
        }
        drop(there);
        assert!(table.lock().per_block.is_empty() && table.lock().entries.is_empty());
        let (table, mut there) = (self::table(100, Some(1), true), Vec::new());
        for gone in [None, Some("proxy")] {
            assert_eq!(enter(&table, &mut there, "proxy", "127.0.0.1").await, gone);
        }
    }
}
