//! SQL of the stores. `@` stands for the schema, `$now` for the time in milliseconds since 1970. `OFFSET 0` makes the planner look
//! for each key by the index: without statistics it would read a whole space instead.

use tokio_postgres::{Client, Error, Statement};

use crate::access::DatabaseAccess;

/// The time: that of the server, unless a test gives another as the parameter of this number.
fn with_time(sql: &str, parameter: usize) -> String {
    let time =
        format!("coalesce(${parameter}::bigint, (extract(epoch FROM statement_timestamp()) * 1000)::bigint)");
    sql.replace("$now", &time)
}

/// Declares the statements of a connection; the number is that of the parameter with the time.
macro_rules! statements {
    ($($(#[doc = $doc:literal])* $name:ident($time:literal) = $sql:expr;)*) => {
        /// The prepared statements of a connection.
        pub(crate) struct StoreStatements {$(
            $(#[doc = $doc])*
            pub $name: Statement,
        )*}

        impl StoreStatements {
            /// Prepares them, in one round trip.
            pub(crate) async fn prepare(client: &Client, access: &DatabaseAccess) -> Result<Self, Error> {
                $(let $name = access.sql(&with_time($sql, $time));)*
                let ($($name,)*) = tokio::try_join!(biased; $(client.prepare(&$name)),*)?;
                Ok(Self { $($name),* })
            }
        }
    };
}

statements! {
    /// Entries of keys: store, space, keys, time. Without values if they have more bytes than a get may answer.
    get(4) = "WITH found AS MATERIALIZED (
            SELECT e.key, e.version, e.size, e.value FROM @stores s CROSS JOIN unnest($3::bytea[]) AS k (key)
            CROSS JOIN LATERAL (SELECT key, version, size, value FROM @state
                WHERE store = s.key AND space = $2 AND key = k.key AND (until IS NULL OR until > $now) OFFSET 0) e
            WHERE s.name = $1 AND s.live)
        SELECT key, version, CASE WHEN (SELECT sum(size - 128 - octet_length(key)) FROM found) <= 8388608 THEN value END
        FROM found";
    /// The entry of one key: store, space, key, time.
    get_one(4) = "SELECT e.version, e.value FROM @stores s JOIN @state e ON e.store = s.key
        WHERE s.name = $1 AND s.live AND e.space = $2 AND e.key = $3 AND (e.until IS NULL OR e.until > $now)";
    /// A page, with the revisions of the store and the space: store, space, first key, key after the last, entries, time. The
    /// first entry that is beyond the page has no value.
    scan(6) = "SELECT s.revision, coalesce(p.revision, s.floor), e.key, e.version, e.value FROM @stores s
        LEFT JOIN @spaces p ON p.store = s.key AND p.space = $2
        LEFT JOIN LATERAL (
            SELECT key, version, CASE WHEN n <= $5::bigint AND (n = 1 OR total <= 1048576) THEN value END AS value
            FROM (SELECT key, version, value, size, row_number() OVER every AS n, sum(size - 128) OVER every AS total
                FROM (SELECT key, version, size, value FROM @state
                    WHERE store = s.key AND space = $2 AND key >= $3 AND key < $4 AND (until IS NULL OR until > $now)
                    ORDER BY key LIMIT $5::bigint + 1) AS first WINDOW every AS (ORDER BY key)) AS counted
            WHERE n <= 2 OR total - size + 128 <= 1048576) e ON TRUE
        WHERE s.name = $1 AND s.live ORDER BY e.key";
    /// What has changed, with the revision of the store: store, space, first key, key after the last, version and key after which
    /// changes count, whether keys of this version may be new, keys, time.
    changes(9) = "SELECT s.revision, e.key, e.version FROM @stores s
        LEFT JOIN @spaces p ON p.store = s.key AND p.space = $2
        LEFT JOIN LATERAL (SELECT key, version FROM @state
            WHERE ($7::bool OR coalesce(p.revision, s.floor) > $5::bigint)
                AND store = s.key AND space = $2 AND key >= $3 AND key < $4 AND (until IS NULL OR until > $now)
                AND (version > $5::bigint OR version = $5::bigint AND key > $6::bytea)
            ORDER BY version, key LIMIT $8::bigint + 1) e ON TRUE
        WHERE s.name = $1 AND s.live ORDER BY e.version, e.key";
    /// Versions of keys, with the revision of the store: store, space, keys, time.
    versions(4) = "SELECT s.revision, e.key, e.version FROM @stores s
        LEFT JOIN unnest($3::bytea[]) AS k (key) ON TRUE
        LEFT JOIN LATERAL (SELECT key, version FROM @state
            WHERE store = s.key AND space = $2 AND key = k.key AND (until IS NULL OR until > $now) OFFSET 0) e ON TRUE
        WHERE s.name = $1 AND s.live";
    /// Size of a store: store, time.
    usage(2) = "SELECT s.revision, count(e.key), coalesce(sum(e.size), 0)::bigint FROM @stores s
        LEFT JOIN @state e ON e.store = s.key AND (e.until IS NULL OR e.until > $now)
        WHERE s.name = $1 AND s.live GROUP BY s.revision";
    /// All keys: store, time.
    list(2) = "SELECT e.space, e.key, e.size, e.version, e.until FROM @stores s JOIN @state e ON e.store = s.key
        WHERE s.name = $1 AND s.live AND (e.until IS NULL OR e.until > $now) ORDER BY e.space, e.key";
    /// Names of all stores.
    names(1) = "SELECT name FROM @stores WHERE live ORDER BY name COLLATE \"C\"";
    /// Creates a store: name, time.
    create(2) = "INSERT INTO @stores (name, live, revision, bytes, floor, recent)
        SELECT $1, FALSE, first, 0, first, '' FROM (SELECT least($now * 1000, 9007199254740992) AS first) AS time
        ON CONFLICT (name) DO NOTHING";
    /// Locks a store until the end of the transaction: name.
    lock(2) = "SELECT key, live, revision, bytes, floor, recent FROM @stores WHERE name = $1 FOR UPDATE";
    /// The time, and the entries of keys, expired ones included: store, space, keys, time.
    old(4) = "SELECT t.now, e.key, e.version, e.size, coalesce(e.until <= t.now, FALSE) FROM (SELECT $now AS now) t
        LEFT JOIN @stores s ON s.name = $1 LEFT JOIN unnest($3::bytea[]) AS k (key) ON TRUE
        LEFT JOIN LATERAL (SELECT key, version, size, until FROM @state
            WHERE store = s.key AND space = $2 AND key = k.key OFFSET 0) e ON TRUE";
    /// Some expired entries other than these: store, space, keys, number, time.
    sweep(5) = "SELECT space, key, size FROM @state WHERE store = (SELECT key FROM @stores WHERE name = $1)
        AND until <= $now AND NOT (space = $2 AND key = ANY($3)) ORDER BY until LIMIT $4";
    /// Bytes of expired entries other than these: store, space, keys, time.
    expired(4) = "SELECT coalesce(sum(size), 0)::bigint FROM @state WHERE store = (SELECT key FROM @stores WHERE name = $1)
            AND until <= $now AND NOT (space = $2 AND key = ANY($3))";
    /// Writes entries: store's key, version, spaces, keys, times, sizes, values.
    put(8) = "INSERT INTO @state (store, space, key, version, until, size, value)
        SELECT $1, n.space, n.key, $2, n.until, n.size, n.value
        FROM unnest($3::bytea[], $4::bytea[], $5::bigint[], $6::bigint[], $7::bytea[]) AS n (space, key, until, size, value)
        ON CONFLICT (store, space, key) DO UPDATE SET
            version = excluded.version, until = excluded.until, size = excluded.size, value = excluded.value";
    /// Deletes an entry: store's key, space, key.
    delete(4) = "DELETE FROM @state WHERE store = $1 AND space = $2 AND key = $3";
    /// Records the revision of the last write to spaces: store's key, spaces, revision.
    record(4) = "INSERT INTO @spaces (store, space, revision) SELECT $1, space, $3 FROM unnest($2::bytea[]) AS n (space)
        ON CONFLICT (store, space) DO UPDATE SET revision = excluded.revision";
    /// Ends a commit: store's key, revision, bytes, marks, spaces that may be empty. Forgets those that are.
    finish(6) = "WITH gone AS (DELETE FROM @spaces p WHERE p.store = $1 AND p.space = ANY($5)
            AND NOT EXISTS (SELECT 1 FROM @state e WHERE e.store = $1 AND e.space = p.space) RETURNING p.revision)
        UPDATE @stores SET live = TRUE, revision = $2, bytes = $3, recent = $4,
            floor = greatest(floor, coalesce((SELECT max(revision) FROM gone), 0)) WHERE key = $1";
    /// Deletes all entries: store's key.
    delete_all(2) = "WITH gone AS (DELETE FROM @state WHERE store = $1) DELETE FROM @spaces WHERE store = $1";
    /// Sets a store that has no entries: key, whether it is live, revision.
    reset(4) = "UPDATE @stores SET live = $2, revision = $3, floor = $3, bytes = 0 WHERE key = $1";
    /// Counts the bytes of a store, and sets its revision: key, revision.
    recount(3) = "UPDATE @stores SET live = TRUE, revision = $2,
            bytes = (SELECT coalesce(sum(size), 0)::bigint FROM @state WHERE store = $1) WHERE key = $1";
    /// Writes a store without a change, so that the commit waits for standbys: name.
    touch(2) = "UPDATE @stores SET live = live WHERE name = $1";
    /// Gives the secret if there is none: secret.
    give_secret(2) = "INSERT INTO @secrets (name, secret) VALUES ('state', $1) ON CONFLICT (name) DO NOTHING";
    /// The secret.
    secret(1) = "SELECT secret FROM @secrets WHERE name = 'state'";
}
