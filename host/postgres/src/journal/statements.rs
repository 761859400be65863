//! SQL of the journal. `@` stands for the schema.

use tokio_postgres::{Client, Error, Statement};

use crate::access::DatabaseAccess;

/// Declares the statements of a connection.
macro_rules! statements {
    ($($(#[doc = $doc:literal])* $name:ident = $sql:expr;)*) => {
        /// The prepared statements of a connection.
        pub(crate) struct RunStatements {$(
            $(#[doc = $doc])*
            pub $name: Statement,
        )*}

        impl RunStatements {
            /// Prepares them, in one round trip.
            pub(crate) async fn prepare(client: &Client, access: &DatabaseAccess) -> Result<Self, Error> {
                $(let $name = access.sql($sql);)*
                let ($($name,)*) = tokio::try_join!(biased; $(client.prepare(&$name)),*)?;
                Ok(Self { $($name),* })
            }
        }
    };
}

/// Columns of a stored run.
macro_rules! stored {
    ($condition:literal) => {
        concat!(
            "SELECT r.id, r.facade, r.action, r.began_ms, h.head, r.entries, r.ended_ms, o.outcome FROM @runs r \
             JOIN @heads h ON h.run = r.key LEFT JOIN @outcomes o ON o.run = r.key ",
            $condition
        )
    };
}

statements! {
    /// Renews the lease of a host.
    renew = super::lease::RENEW;
    /// Records a run with entries: id, facade, action, start, host, bytes, head, entries. Returns whether it is new.
    create = "WITH run AS (
            INSERT INTO @runs (id, facade, action, began_ms, host, fence, entries, bytes)
            VALUES ($1, $2, $3, $4, $5, 1, cardinality($8::bytea[]), $6) ON CONFLICT (id) DO NOTHING RETURNING key),
        head AS (INSERT INTO @heads (run, head) SELECT key, $7::bytea FROM run),
        added AS (INSERT INTO @entries (run, number, entry)
            SELECT key, n - 1, entry FROM run, unnest($8::bytea[]) WITH ORDINALITY AS new (entry, n))
        SELECT count(*) FROM run";
    /// Whether a run is recorded with this head: id, head.
    created = "SELECT count(*) FROM @runs r JOIN @heads h ON h.run = r.key WHERE r.id = $1 AND h.head = $2";
    /// Appends entries: id, host, fence, number of entries before, bytes, entries. Returns whether it did.
    append = "WITH run AS (
            UPDATE @runs SET entries = entries + cardinality($6::bytea[]), bytes = bytes + $5
            WHERE id = $1 AND host = $2 AND fence = $3 AND ended_ms IS NULL AND entries = $4 RETURNING key),
        added AS (INSERT INTO @entries (run, number, entry)
            SELECT key, $4 + n - 1, entry FROM run, unnest($6::bytea[]) WITH ORDINALITY AS new (entry, n))
        SELECT count(*) FROM run";
    /// Whether so many entries are recorded, and no more: id, host, fence, entries.
    holds = "SELECT count(*) FROM @runs WHERE id = $1 AND host = $2 AND fence = $3 AND ended_ms IS NULL AND entries = $4";
    /// Whether this host has appended these entries: id, fence, number of entries before, entries.
    appended = "SELECT count(*) FROM @runs r WHERE r.id = $1 AND r.fence = $2
            AND r.entries >= $3::bigint + cardinality($4::bytea[])
            AND NOT EXISTS (SELECT 1 FROM unnest($4::bytea[]) WITH ORDINALITY AS new (entry, n)
                LEFT JOIN @entries e ON e.run = r.key AND e.number = $3::bigint + n - 1
                WHERE e.entry IS DISTINCT FROM new.entry)";
    /// Ends a run: id, host, fence, bytes, outcome. Returns whether it did.
    finish = "WITH run AS (
            UPDATE @runs SET ended_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint, host = NULL,
                bytes = bytes + $4
            WHERE id = $1 AND host = $2 AND fence = $3 AND ended_ms IS NULL RETURNING key),
        added AS (INSERT INTO @outcomes (run, outcome) SELECT key, $5::bytea FROM run)
        SELECT count(*) FROM run";
    /// Whether this host has ended a run so: id, fence, outcome.
    finished = "SELECT count(*) FROM @runs r JOIN @outcomes o ON o.run = r.key
        WHERE r.id = $1 AND r.fence = $2 AND o.outcome = $3";
    /// Gives a run back: id, host, fence. Returns whether it did.
    release = "WITH run AS (UPDATE @runs SET host = NULL
            WHERE id = $1 AND host = $2 AND fence = $3 AND ended_ms IS NULL RETURNING key)
        SELECT count(*) FROM run";
    /// Whether a run was given back: id, fence.
    released = "SELECT count(*) FROM @runs WHERE id = $1 AND fence = $2 AND host IS NULL AND ended_ms IS NULL";
    /// Claims runs of hosts whose lease is over, until they have so many bytes: facades, host, most, bytes, claim. A claim that
    /// took effect already claims no more.
    claim = "WITH free AS (
            SELECT key, bytes FROM @runs r WHERE ended_ms IS NULL AND facade = ANY($1)
                AND (host IS NULL OR host <> $2
                    AND NOT EXISTS (SELECT 1 FROM @hosts h WHERE h.id = r.host AND h.expires > now()))
                AND NOT EXISTS (SELECT 1 FROM @runs d WHERE d.host = $2 AND d.claim = $5 AND d.ended_ms IS NULL)
            ORDER BY key LIMIT $3 FOR UPDATE SKIP LOCKED),
        counted AS (SELECT key, row_number() OVER (ORDER BY key) AS n, sum(bytes) OVER (ORDER BY key) AS total FROM free)
        UPDATE @runs SET host = $2, fence = fence + 1, claim = $5
        WHERE key IN (SELECT key FROM counted WHERE n = 1 OR total <= $4::bigint)";
    /// Runs of a claim: host, claim.
    claimed = "SELECT r.key, r.id, r.fence, h.head FROM @runs r JOIN @heads h ON h.run = r.key
        WHERE r.host = $1 AND r.claim = $2 AND r.ended_ms IS NULL ORDER BY r.key";
    /// Their entries: host, claim.
    claimed_entries = "SELECT e.run, e.entry FROM @runs r JOIN @entries e ON e.run = r.key
        WHERE r.host = $1 AND r.claim = $2 AND r.ended_ms IS NULL ORDER BY e.run, e.number";
    /// One run: id.
    load = stored!("WHERE r.id = $1");
    /// Runs, newest first: facade, most.
    list = stored!("WHERE $1::text IS NULL OR r.facade = $1 ORDER BY r.began_ms DESC, r.key DESC LIMIT $2");
    /// Entries of a run: id.
    history = "SELECT e.entry FROM @runs r JOIN @entries e ON e.run = r.key WHERE r.id = $1 ORDER BY e.number";
    /// Asks to cancel a run: id. Returns whether it is unfinished.
    request_cancel = "WITH run AS (UPDATE @runs SET cancels = TRUE WHERE id = $1 AND ended_ms IS NULL RETURNING key)
        SELECT count(*) FROM run";
    /// Host of an unfinished run, and whether it lives: id.
    holder = "SELECT r.host, EXISTS (SELECT 1 FROM @hosts h WHERE h.id = r.host AND h.expires > now())
        FROM @runs r WHERE r.id = $1 AND r.ended_ms IS NULL";
    /// Runs of a host that are to be cancelled: host.
    cancel_requests = "SELECT id FROM @runs WHERE host = $1 AND ended_ms IS NULL AND cancels ORDER BY key";
    /// Opens an approval, unless one with its subject is not closed: id, subject, expiry, record. Returns the record that is open.
    open_approval = "INSERT INTO @approvals AS a (id, subject, expires_ms, record) VALUES ($1, $2, $3, $4)
        ON CONFLICT (subject) WHERE closed IS NULL DO UPDATE SET subject = a.subject RETURNING a.record";
    /// Decides an approval: id, subject, decision, time. Returns whether this is its decision.
    decide_approval = "WITH decided AS (UPDATE @approvals SET decision = $3
            WHERE id = $1 AND subject = $2 AND closed IS NULL AND (decision IS NULL OR decision = $3)
            AND expires_ms > $4 RETURNING key)
        SELECT count(*) FROM decided";
    /// Closes an approval: id, reason, mark of the operation. Returns whether this operation did.
    close_approval = "WITH done AS (UPDATE @approvals SET closed = $2, closer = $3
            WHERE id = $1 AND (closed IS NULL OR closer = $3) RETURNING key)
        SELECT count(*) FROM done";
    /// An approval: id.
    approval = "SELECT record, decision, closed FROM @approvals WHERE id = $1";
    /// Approvals, those first that are not closed: limit.
    approvals = "SELECT record, decision, closed FROM @approvals ORDER BY closed IS NOT NULL, key DESC LIMIT $1";
}
