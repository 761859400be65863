//! Connections to the database: login, session settings, and the version of the tables.

use std::{
    fmt,
    future::poll_fn,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rustls::RootCertStore;
use tokio::{sync::Notify, task::AbortHandle};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Socket, tls::TlsStream};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{
    database_url::DatabaseUrl,
    error::{PostgresError, SchemaScope},
    migrations, tls,
};

/// Schema of a database that names none.
pub const SCHEMA: &str = "loggia";
/// Longest name of a schema: PostgreSQL cuts names after 63 bytes.
const MAX_SCHEMA: usize = 63;
/// Largest password file.
const MAX_PASSWORD: usize = 4096;

/// A database to use.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// `postgres://user@host/database`.
    pub url: String,
    /// Schema of the tables.
    pub schema: String,
    /// Password; that of the URL otherwise.
    pub password: Option<DatabasePassword>,
}

/// Password of a database.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabasePassword {
    /// The password itself.
    Text(String),
    /// A file that holds it, which is read for each connection.
    File(PathBuf),
}

impl fmt::Debug for DatabaseOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = crate::without_password(&self.url).unwrap_or_else(|| "<hidden>".to_owned());
        f.debug_struct("DatabaseOptions")
            .field("url", &url)
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

/// Access to one schema of a database. Clones share it.
#[derive(Clone)]
pub struct DatabaseAccess {
    inner: Arc<AccessParts>,
}

struct AccessParts {
    config: Config,
    tls: MakeRustlsConnect,
    scope: SchemaScope,
    password: Option<DatabasePassword>,
}

/// Settings of each connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionKind {
    /// What is acknowledged is on the disk, and on the synchronous standbys if the server has any.
    Durable,
    /// What is acknowledged may be lost if the server fails: for leases.
    Brief,
}

impl DatabaseAccess {
    /// Checks the options. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// [`PostgresError::Settings`].
    pub fn new(options: &DatabaseOptions) -> Result<Self, PostgresError> {
        Self::with_authorities(options, tls::machine_authorities)
    }

    /// Like [`DatabaseAccess::new`], with other authorities than those of the machine.
    pub(crate) fn with_authorities(
        options: &DatabaseOptions,
        authorities: impl FnOnce() -> Result<RootCertStore, String>,
    ) -> Result<Self, PostgresError> {
        let schema = options.schema.clone();
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        let is_name = schema.len() <= MAX_SCHEMA
            && schema.bytes().next().is_some_and(is_letter)
            && schema.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
            && !schema.starts_with("pg_");
        if !is_name {
            return Err(PostgresError::Settings(format!(
                "the schema must have a name of at most {MAX_SCHEMA} lowercase letters, digits and `_` that begins with a \
                 letter, and not with pg_"
            )));
        }
        let DatabaseUrl { config, tls, server } = DatabaseUrl::parse(&options.url)?;
        let tls = tls::build_tls(tls, authorities)
            .map_err(|reason| PostgresError::Unreachable { server: server.clone(), reason })?;
        let inner = AccessParts {
            config,
            tls,
            scope: SchemaScope { server, schema },
            password: options.password.clone(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Hosts and ports of the server, and the schema, for messages.
    pub fn name(&self) -> String {
        format!("schema `{}` of {}", self.inner.scope.schema, self.inner.scope.server)
    }

    /// Writes the schema into a statement, in place of each `@`.
    pub(crate) fn sql(&self, statement: &str) -> String {
        self.inner.scope.sql(statement)
    }

    /// Converts an error of the first statements of a connection.
    pub(crate) fn explain(&self, error: &tokio_postgres::Error) -> PostgresError {
        self.inner.scope.explain(error)
    }

    /// The error of a server that cannot be reached.
    pub(crate) fn unreachable(&self, reason: &str) -> PostgresError {
        PostgresError::Unreachable { server: self.inner.scope.server.clone(), reason: reason.to_owned() }
    }

    /// Connects. The tables are created or upgraded if they are missing or older.
    ///
    /// # Errors
    ///
    /// [`PostgresError`].
    pub(crate) async fn connect(&self, kind: SessionKind) -> Result<DatabaseSession, PostgresError> {
        let mut session = self.log_in(kind).await?;
        migrations::ensure(&mut session.client, &self.inner.scope).await?;
        Ok(session)
    }

    async fn log_in(&self, kind: SessionKind) -> Result<DatabaseSession, PostgresError> {
        let mut config = self.inner.config.clone();
        if let Some(password) = &self.inner.password {
            config.password(read_password(password).await?);
        }
        let (client, connection) =
            config.connect(self.inner.tls.clone()).await.map_err(|error| self.explain(&error))?;
        let warned = Arc::new(AtomicBool::new(false));
        let notified = Arc::new(Notify::new());
        let driving = drive(connection, Arc::clone(&warned), Arc::clone(&notified));
        let driver = tokio::spawn(driving).abort_handle();
        let session = DatabaseSession { client, warned, notified, driver };
        let commit = match kind {
            // `remote_apply` is stronger.
            SessionKind::Durable => {
                "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply'"
            }
            SessionKind::Brief => "SET synchronous_commit = off",
        };
        // A statement whose caller has timed out must not hold locks.
        // Statements look for few rows, by an index. Without statistics, the planner would read all rows of a table.
        let settings = format!(
            "SET statement_timeout = '{}ms'; SET idle_in_transaction_session_timeout = '{}ms'; \
             SELECT set_config(name, 'off', false) FROM pg_catalog.pg_settings \
             WHERE name IN ('enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'); {commit}",
            STATEMENT_TIME.as_millis(),
            STATEMENT_TIME.as_millis() / 2
        );
        session.client.batch_execute(&settings).await.map_err(|error| self.explain(&error))?;
        Ok(session)
    }
}

/// Longest time of a statement.
const STATEMENT_TIME: Duration = Duration::from_secs(10);

async fn read_password(password: &DatabasePassword) -> Result<String, PostgresError> {
    let path = match password {
        DatabasePassword::Text(text) => return Ok(text.clone()),
        DatabasePassword::File(path) => path,
    };
    let wrong = |reason: String| {
        PostgresError::Settings(format!("failed to read the password file {}: {reason}", path.display()))
    };
    let text = tokio::fs::read_to_string(path).await.map_err(|error| wrong(error.to_string()))?;
    let line = text.trim_end_matches(['\r', '\n']);
    if line.is_empty() || line.len() > MAX_PASSWORD || line.contains(['\n', '\0']) {
        return Err(wrong(format!("it must hold one line of at most {MAX_PASSWORD} bytes")));
    }
    Ok(line.to_owned())
}

/// A connection.
pub(crate) struct DatabaseSession {
    pub client: Client,
    /// Set by a warning of the server.
    warned: Arc<AtomicBool>,
    /// Signals a notification, and the end of the connection.
    notified: Arc<Notify>,
    driver: AbortHandle,
}

impl DatabaseSession {
    /// Returns whether the server has warned since the last time. A commit whose wait for a standby was cancelled succeeds
    /// with a warning.
    pub(crate) fn take_warning(&self) -> bool {
        self.warned.swap(false, Ordering::Relaxed)
    }

    /// Waits for a notification on a channel that the connection listens on, or for the end of the connection. One that came
    /// before counts.
    pub(crate) async fn notified(&self) {
        self.notified.notified().await;
    }
}

impl Drop for DatabaseSession {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Exchanges messages until the connection ends. Whoever waits for an answer gets the error.
async fn drive<T: TlsStream + Unpin>(
    mut connection: Connection<Socket, T>,
    warned: Arc<AtomicBool>,
    notified: Arc<Notify>,
) {
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            AsyncMessage::Notice(notice) if notice.severity() == "WARNING" => {
                warned.store(true, Ordering::Relaxed);
                tracing::warn!("PostgreSQL: {}", notice.message());
            }
            AsyncMessage::Notification(_) => notified.notify_one(),
            _ => {}
        }
    }
    notified.notify_one();
}
