//! Root table of the file, and its small tables.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::PathBuf,
};

use super::{
    approvals::Approvals,
    auth::{Auth, auth},
    card::CardSettings,
    credential::TokenHash,
    guard::{Guard, guards},
    http::Http,
    login_server::LoginServer,
    named_tables::named_tables,
    profile::Profile,
    quantity::{Size, Span, within},
    service::Service,
    state_storage::{self, StateStorage},
    table::table,
    telemetry::Telemetry,
    trust::Trust,
    upstream::{Upstream, upstreams},
    value::words,
};
use crate::{
    model::ceilings::{STACK_CEILING, STACK_FLOOR},
    words::{FormWord, SplitWord},
};

const HOUR: Span = Span::seconds(60 * 60);

table! {
    /// Settings of `loggia serve`. Relative paths start at the file.
    pub struct Settings {
        /// The plugin folder.
        folder: Option<PathBuf> = None;
        /// Folder for compiled plugins. Default: the platform's cache folder.
        cache: Option<PathBuf> = None;
        /// Where runs and plugins' state are kept.
        state: StateStorage = StateStorage::default(), state_storage::state, state_storage::kind();
        /// Which changes of plugins, workflows, APIs and upstreams wait for `loggia approve`. Default: `artifact` if other machines can
        /// reach the server, else `surface`.
        pin: Option<PinMode> = None;
        /// Stack size of plugins, 64KiB to 8MiB.
        wasm_stack: Size = Size(512 << 10), within(Size(STACK_FLOOR as u64), Size(STACK_CEILING as u64));
        /// How long running calls and runs may continue after shutdown begins.
        drain: Span = Span::seconds(25), within(Span::seconds(0), HOUR);
        /// The newest MCP revision that is offered, for clients that claim one which they do not speak.
        max_protocol_version: Option<Revision> = None;
        /// How tools are published unless their policies say otherwise.
        publish: Publish = Publish::default();
        /// Logging to stderr.
        log: Log = Log::default();
        /// The audit trail.
        audit: Audit = Audit::default();
        /// Approvals of people whom clients cannot ask.
        approvals: Approvals = Approvals::default();
        /// HTTP. Without this table, the server speaks MCP on stdin and stdout.
        http: Option<Http> = None;
        /// Authentication over HTTP.
        auth: Option<Auth> = None, auth;
        /// The server card.
        card: Option<CardSettings> = None;
        /// Other MCP servers, each served as one facade.
        upstream: BTreeMap<String, Upstream> = BTreeMap::new(), upstreams;
        /// Authorization servers that issue credentials of callers, by facade.
        login: BTreeMap<String, LoginServer> = BTreeMap::new();
        /// Identities under which workflows start by themselves.
        service: BTreeMap<String, Service> = BTreeMap::new(), named_tables;
        /// Parts of the tools for different agents, each at a path of its own.
        profile: BTreeMap<String, Profile> = BTreeMap::new(), named_tables;
        /// Components that look at calls of facades.
        guards: BTreeMap<String, Guard> = BTreeMap::new(), guards;
        /// Signers of plugins in registries.
        trust: BTreeMap<String, Trust> = BTreeMap::new(), named_tables;
        /// Traces and metrics for an OpenTelemetry collector.
        telemetry: Option<Telemetry> = None;
        /// The listener for operators: health and metrics.
        admin: Option<Admin> = None;
    }
}

impl Settings {
    /// Returns `[auth]`, or one without credentials if the file has none.
    pub fn auth(&self) -> &Auth {
        static NONE: Auth = Auth { resource: None, tokens: Vec::new(), oauth: None };
        self.auth.as_ref().unwrap_or(&NONE)
    }
}

table! {
    /// How tools are published unless their policies say otherwise.
    pub struct Publish {
        /// What input schemas show of a tool's actions. `auto`: what serves the client best.
        schema: FormWord = FormWord::Auto;
        /// Whether read actions are published as a separate tool.
        split: SplitWord = SplitWord::None;
        /// Maximum size of the tool list in tokens: facades are published in shorter forms until it fits.
        token_budget: Option<usize> = None, within(1, usize::MAX);
        /// Names of the facades that are listed to clients. The others can be called by facades, and by clients that know
        /// their names. Default: all.
        list: Option<BTreeSet<String>> = None;
    }
}

table! {
    /// Logging to stderr.
    #[derive(Copy)]
    pub struct Log {
        /// Log level. `LOGGIA_LOG` overrides it.
        level: Level = Level::Info;
        /// Log format.
        format: Format = Format::Human;
    }
}

table! {
    /// The audit trail: one line for each call, each refusal, and each change of plugins, policies and tokens.
    pub struct Audit {
        /// A file of JSON lines in a chain of hashes, readable only by its owner. `{pid}` in its name expands to the process id. Default:
        /// no trail; `LOGGIA_LOG=info,loggia::audit=debug` writes the same lines to the log.
        file: Option<PathBuf> = None;
        /// Size at which the file is rotated, 64KiB to 1GiB: it is renamed to `FILE.1`, and that to `FILE.2`.
        rotate: Size = Size(64 << 20), within(Size(64 << 10), Size(1 << 30));
        /// Number of rotated files that are kept, 0 to 1000.
        keep: usize = 10, within(0usize, 1000usize);
        /// What happens while lines cannot be written, for example because the disk is full.
        full: FullAudit = FullAudit::Drop;
    }
}

table! {
    /// The listener for operators: `/healthz`, `/readyz` and `/metrics`, which are unauthenticated and reveal no secrets, and
    /// `/credentials`, `/approvals` and the operator's page `/operator/`, which need `token`.
    pub struct Admin {
        /// Address to listen on. Port 0 selects a free port.
        listen: SocketAddr;
        /// Host names under which requests may reach it, besides addresses and localhost: for example that of its
        /// Kubernetes service.
        hosts: Vec<String> = Vec::new();
        /// Hash of the token of operators, as `loggia token new` prints it. Without it, credentials of callers cannot be managed over
        /// HTTP, nor approvals decided, except by signed webhooks, and there is no operator's page.
        token: Option<TokenHash> = None;
    }
}

/// What happens while lines of the audit trail cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum FullAudit {
    /// Calls go on; lines are lost, and counted
    Drop,
    /// Calls are refused until lines can be written
    Refuse,
}

/// Which changes of plugins wait for an operator's approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum PinMode {
    /// None
    Open,
    /// Changes of what clients see (texts, schemas, effects, skills) and of what a plugin asks for
    Surface,
    /// All changes of plugins and policies, and new ones
    Artifact,
}

/// A revision of MCP, by its date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Revision {
    /// The first with structured results.
    #[value(name = "2025-06-18")]
    June2025,
    /// The last with sessions.
    #[value(name = "2025-11-25")]
    November2025,
    /// Without sessions.
    #[value(name = "2026-07-28")]
    July2026,
}

/// Log level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs, reason = "standard log levels")]
pub enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// Log format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Lines of text
    Human,
    /// JSON objects, one per line
    Json,
}

words! {
    Revision, "A revision of MCP, by its date.";
    PinMode, "Which changes of plugins wait for an operator's approval.";
    FullAudit, "What happens while lines of the audit trail cannot be written.";
    Level, "Log level.";
    Format, "Log format.";
    FormWord, "Form of the input schemas.";
    SplitWord, "Whether a facade is published as one tool or two.";
}
