//! What hosts have admitted of each caller, for limits that all hosts share approximately.
//!
//! A host adds to counters of its own, so that no report is lost or counted twice by whoever reads them. The table is not logged:
//! a crash of the server empties it, and a standby does not have it. Callers are keyed hashes.

use std::{
    collections::HashMap,
    io,
    time::{Duration, Instant},
};

use tokio::{sync::Mutex, time::timeout};

use crate::{
    access::{DatabaseAccess, DatabaseSession, SessionKind},
    error::PostgresError,
    params::Params,
};

/// Hash of a caller, and requests.
pub type CallerCount = ([u8; 16], u64);

/// Adds to the counters of a host: host, callers, requests.
const ADD: &str = "INSERT INTO @admitted AS a (host, caller, total, at)
    SELECT $1, caller, number, clock_timestamp() FROM unnest($2::bytea[], $3::bigint[]) AS new (caller, number)
    ON CONFLICT (host, caller) DO UPDATE SET total = a.total + excluded.total, at = excluded.at";
/// Counters of the other hosts that have changed of late: host. With the time of their first request, which tells a new counter
/// from one that was removed.
const READ: &str = "SELECT host, caller, (extract(epoch FROM began) * 1000000)::bigint, total FROM @admitted
    WHERE host <> $1 AND at > clock_timestamp() - interval '10 seconds' ORDER BY at DESC LIMIT 20000";
/// Removes the counters that are no longer updated.
const FORGET: &str = "DELETE FROM @admitted WHERE at < clock_timestamp() - interval '60 seconds'";
/// Exchanges between two removals.
const FORGET_EVERY: u64 = 10;
/// Exchanges for which a counter is remembered after it was read. By then it was removed from the table.
const REMEMBERED: u64 = 120;
/// Time after which what others have reported is past: it is not counted.
const STALE: Duration = Duration::from_secs(8);
/// Longest time of an exchange.
const PATIENCE: Duration = Duration::from_secs(3);

/// Counters that hosts share.
pub struct SharedUsage {
    access: DatabaseAccess,
    /// Random id of this host.
    host: String,
    /// One exchange at a time.
    reader: Mutex<UsageReader>,
}

#[derive(Default)]
struct UsageReader {
    /// `None` before the first exchange, and after the connection was lost.
    session: Option<DatabaseSession>,
    exchanges: u64,
    /// Time of the last exchange that succeeded.
    last: Option<Instant>,
    /// Counters of others, by host and caller.
    seen: HashMap<(String, Vec<u8>), SeenCounter>,
}

/// A counter as it was read last.
struct SeenCounter {
    began: i64,
    total: i64,
    /// Number of the exchange.
    exchange: u64,
}

impl SharedUsage {
    /// Uses a database. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// If the system has no random bytes.
    pub fn new(access: DatabaseAccess) -> io::Result<Self> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        let host = format!("{:032x}", u128::from_be_bytes(bits));
        Ok(Self { access, host, reader: Mutex::default() })
    }

    /// Reports what this host has admitted since the last exchange. Returns what the others have reported since then; nothing, if
    /// that was long ago.
    ///
    /// # Errors
    ///
    /// [`PostgresError`]. Whether the report has arrived is unknown then.
    pub async fn exchange(&self, admitted: &[CallerCount]) -> Result<Vec<CallerCount>, PostgresError> {
        let mut reader = self.reader.lock().await;
        let session = reader.session.take();
        let exchanging = self.send(session, admitted, reader.exchanges % FORGET_EVERY == 0);
        let (session, rows) = match timeout(PATIENCE, exchanging).await {
            Ok(exchanged) => exchanged?,
            Err(_) => return Err(self.access.unreachable("it does not answer")),
        };
        reader.session = Some(session);
        reader.exchanges += 1;
        let is_past = reader.last.is_none_or(|last| last.elapsed() > STALE);
        let news = reader.count(rows);
        reader.last = Some(Instant::now());
        Ok(if is_past { Vec::new() } else { news })
    }

    async fn send(
        &self,
        session: Option<DatabaseSession>,
        admitted: &[CallerCount],
        forgets: bool,
    ) -> Result<(DatabaseSession, Vec<CounterRow>), PostgresError> {
        let session = match session {
            Some(session) => session,
            None => self.access.connect(SessionKind::Brief).await?,
        };
        let explain = |error: tokio_postgres::Error| self.access.explain(&error);
        if !admitted.is_empty() {
            let callers: Vec<&[u8]> = admitted.iter().map(|(caller, _)| caller.as_slice()).collect();
            let numbers = admitted.iter().map(|(_, number)| i64::try_from(*number).unwrap_or(i64::MAX));
            let params: Params<'_> = &[&self.host, &callers, &numbers.collect::<Vec<_>>()];
            session.client.execute(&self.access.sql(ADD), params).await.map_err(explain)?;
        }
        if forgets {
            session.client.batch_execute(&self.access.sql(FORGET)).await.map_err(explain)?;
        }
        let rows = session.client.query(&self.access.sql(READ), &[&self.host]).await.map_err(explain)?;
        let rows = rows.iter().map(|row| {
            Ok(CounterRow {
                key: (row.try_get(0)?, row.try_get(1)?),
                began: row.try_get(2)?,
                total: row.try_get(3)?,
            })
        });
        let rows = rows.collect::<Result<_, _>>().map_err(explain)?;
        Ok((session, rows))
    }
}

/// A counter of another host.
struct CounterRow {
    key: (String, Vec<u8>),
    began: i64,
    total: i64,
}

impl UsageReader {
    /// Remembers counters. Returns by how much they have grown.
    fn count(&mut self, rows: Vec<CounterRow>) -> Vec<CallerCount> {
        let exchange = self.exchanges;
        let mut news = Vec::new();
        for CounterRow { key, began, total } in rows {
            let caller = <[u8; 16]>::try_from(key.1.as_slice());
            let before = self.seen.insert(key, SeenCounter { began, total, exchange });
            let before = before.filter(|seen| seen.began == began).map_or(0, |seen| seen.total);
            if let (Ok(caller), Ok(number @ 1..)) = (caller, u64::try_from(total.saturating_sub(before))) {
                news.push((caller, number));
            }
        }
        self.seen.retain(|_, seen| exchange - seen.exchange < REMEMBERED);
        news
    }
}
