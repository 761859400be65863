//! A private PostgreSQL server for tests (feature `testing`).

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Write as _},
    net::TcpListener,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use tempfile::TempDir;

use crate::DatabaseOptions;

/// Where distributions install the programs, besides PATH.
const PLACES: &[&str] = &["/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt/postgresql"];
/// Account of the server: it does not run as root.
const ACCOUNT: &str = "postgres";
/// Ends the server by the signal that it reads, or once the test, which holds the other end of the pipe, has ended in whatever
/// way.
const KEEPER: &str = "\"$@\" & server=$!; read -r signal; kill -${signal:-INT} $server; wait $server";
/// Logins: over TCP, `locked` needs its password.
const LOGINS: &str = "local all all trust\nlocal replication all trust\nhost all locked all scram-sha-256\n\
                      host all all all trust\nhost replication all all trust\n";

/// A server that ends with this value, or with this process. Users connect without a password, but for `locked`.
pub struct PrivateServer {
    folder: TempDir,
    port: u16,
    keeper: Child,
}

/// The server that the tests of this process share.
static SHARED: Mutex<Weak<PrivateServer>> = Mutex::new(Weak::new());
static SCHEMAS: AtomicU32 = AtomicU32::new(0);

impl PrivateServer {
    /// Returns the server that the tests of this process share.
    ///
    /// # Panics
    ///
    /// If PostgreSQL is missing, or does not start.
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::start(&[], &[]));
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Starts a server with settings, and files in its data folder.
    ///
    /// # Panics
    ///
    /// If PostgreSQL is missing, or does not start.
    pub fn start(settings: &[(&str, &str)], files: &[(&str, &[u8])]) -> Self {
        let programs = find_programs();
        let folder = tempfile::Builder::new().prefix("loggia-pg").tempdir().expect("a folder");
        let account = give_away(folder.path());
        let data = folder.path().join("data");
        let mut initdb = as_account(account, &programs.join("initdb"));
        initdb.arg("--pgdata").arg(&data).args(["--no-sync", "--username=postgres", "--auth=trust"]);
        initdb.args(["--encoding=UTF8", "--no-locale"]);
        let output = initdb.output().expect("initdb");
        assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
        for (name, text) in [("pg_hba.conf", LOGINS.as_bytes())].iter().chain(files) {
            let path = data.join(name);
            fs::write(&path, text).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its mode");
            if let Some(Account { user, group }) = account {
                chown(&path, Some(user), Some(group)).expect("its owner");
            }
        }
        Self::run(account, &programs, folder, settings)
    }

    /// Starts a standby of this server, which follows it.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn standby(&self) -> Self {
        let programs = find_programs();
        let folder = tempfile::Builder::new().prefix("loggia-pg").tempdir().expect("a folder");
        let account = give_away(folder.path());
        let mut copy = as_account(account, &programs.join("pg_basebackup"));
        copy.arg("--pgdata").arg(folder.path().join("data")).arg("--host").arg(self.folder.path());
        copy.arg("--port").arg(self.port.to_string());
        copy.args(["--username=postgres", "--write-recovery-conf", "--checkpoint=fast", "--no-sync"]);
        let output = copy.output().expect("pg_basebackup");
        assert!(output.status.success(), "pg_basebackup: {}", String::from_utf8_lossy(&output.stderr));
        Self::run(account, &programs, folder, &[])
    }

    /// Runs a statement as its owner, and returns what it prints.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub fn ask(&self, statement: &str) -> String {
        let mut psql = Command::new(find_programs().join("psql"));
        psql.arg("--host").arg(self.folder.path()).arg("--port").arg(self.port.to_string());
        let output = psql
            .args(["--username=postgres", "--tuples-only", "--no-align", "--command", statement])
            .output();
        let output = output.expect("psql");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Ends it at once, as a crash does.
    ///
    /// # Panics
    ///
    /// If it has ended already.
    pub fn crash(mut self) {
        let mut keeper = self.keeper.stdin.take().expect("piped");
        writeln!(keeper, "QUIT").expect("a server that runs");
        self.keeper.wait().expect("its end");
    }

    fn run(account: Option<Account>, programs: &Path, folder: TempDir, settings: &[(&str, &str)]) -> Self {
        let mut log = String::new();
        // Another process may take the port before the server does.
        for _ in 0..5 {
            let port =
                TcpListener::bind(("127.0.0.1", 0)).and_then(|it| it.local_addr()).expect("a port").port();
            match run_server(account, programs, folder.path(), port, settings) {
                Ok(keeper) => return Self { folder, port, keeper },
                Err(error) => log = error,
            }
        }
        panic!("PostgreSQL does not start:\n{log}");
    }

    /// URL for a user, over TCP.
    pub fn url(&self, user: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/postgres", self.port)
    }

    /// Port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// URL for a user, over the socket in its folder.
    pub fn socket_url(&self, user: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://{user}@{folder}:{}/postgres", self.port)
    }

    /// Options of a schema that no other test uses.
    pub fn options(&self) -> DatabaseOptions {
        let schema = format!("test_{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
        DatabaseOptions { url: self.url(ACCOUNT), schema, password: None }
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// User and group of the server's account.
#[derive(Clone, Copy)]
struct Account {
    user: u32,
    group: u32,
}

fn find_programs() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    for place in PLACES {
        let versions = fs::read_dir(place).into_iter().flatten().flatten();
        let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
        versions.sort();
        folders.extend(versions.into_iter().rev());
        folders.push(Path::new(place).join("bin"));
    }
    let has_server = |folder: &&PathBuf| {
        ["postgres", "initdb", "pg_basebackup", "psql"].iter().all(|name| folder.join(name).is_file())
    };
    folders.iter().find(has_server).cloned().unwrap_or_else(|| {
        panic!("this test needs a PostgreSQL server: `apt-get install postgresql-15` (or newer), which need not run")
    })
}

/// Gives the folder to the server's account if this process is root's.
fn give_away(folder: &Path) -> Option<Account> {
    if fs::metadata(folder).expect("the folder").uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let account = users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let (user, group) = (fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?);
        (fields.first() == Some(&ACCOUNT)).then_some(Account { user, group })
    });
    let Account { user, group } = account
        .unwrap_or_else(|| panic!("this test runs as root, and needs the user `{ACCOUNT}` for its server"));
    chown(folder, Some(user), Some(group)).expect("the folder's owner");
    account
}

fn as_account(account: Option<Account>, program: &Path) -> Command {
    let mut command = match account {
        None => Command::new(program),
        Some(_) => {
            let mut command = Command::new("runuser");
            command.args(["-u", ACCOUNT, "--"]).arg(program);
            command
        }
    };
    command.current_dir("/");
    command
}

/// Starts the server, and waits until it accepts connections. Returns its log if it ends instead.
fn run_server(
    account: Option<Account>,
    programs: &Path,
    folder: &Path,
    port: u16,
    settings: &[(&str, &str)],
) -> Result<Child, String> {
    let (port, folder, data) = (port.to_string(), folder.display().to_string(), folder.join("data"));
    let mut command = as_account(account, Path::new("/bin/sh"));
    command.args(["-c", KEEPER, "keeper"]).arg(programs.join("postgres")).arg("-D").arg(data);
    let usual = [
        ("listen_addresses", "127.0.0.1"),
        ("port", &*port),
        ("unix_socket_directories", &*folder),
        ("fsync", "off"),
        ("shared_buffers", "16MB"),
        ("max_connections", "200"),
    ];
    for (name, value) in usual.iter().chain(settings) {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut keeper = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let mut lines = BufReader::new(keeper.stderr.take().expect("piped")).lines();
    let mut log = String::new();
    for line in lines.by_ref().map_while(Result::ok) {
        let _ = writeln!(log, "{line}");
        if line.contains("ready to accept") {
            // Its log must not fill the pipe.
            thread::spawn(move || lines.for_each(drop));
            return Ok(keeper);
        }
        if line.contains("database system is shut down") || line.contains("FATAL") {
            break;
        }
    }
    drop(keeper.stdin.take());
    let _ = keeper.wait();
    Err(log)
}
