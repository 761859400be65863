//! Pure: whether a server should receive traffic, as `/readyz` and the operator's page report it.

use loggia_gate::call::{GuardCondition, GuardStatus};
use loggia_load::{LoadState, LoadStatusReport, OfferStatus};
use loggia_telemetry::trail::TrailFault;
use loggia_text::{printable, redact, shorten};
use serde::Serialize;

/// Maximum number of files that are listed, failed ones first.
const FILES: usize = 500;
/// Longest reason, in characters.
const REASON: usize = 1000;

/// Response of `/readyz`.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Readiness {
    pub(super) ready: bool,
    /// The server is shutting down: running calls may finish.
    pub(super) draining: bool,
    /// Every file that was in the folder at startup has been processed.
    pub(super) loaded: bool,
    /// Reason why the server is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    /// What is wrong with the audit trail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) audit: Option<&'static str>,
    /// Guards that no call passes, since they are not loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) guards: Vec<BlockingGuard>,
    /// Numbers of files by state.
    pub(super) serving: usize,
    pub(super) stale: usize,
    pub(super) failed: usize,
    pub(super) pending: usize,
    pub(super) refused: usize,
    pub(super) plugins: Vec<OfferStatus>,
    /// Number of files that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) more: usize,
}

/// A guard that no call passes.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct BlockingGuard {
    name: String,
    /// `loading` or `failed`; the log has the reason.
    state: &'static str,
    /// Facades whose calls it blocks.
    facades: Vec<String>,
}

impl BlockingGuard {
    fn from_status(status: &GuardStatus) -> Option<Self> {
        let state = match status.condition {
            GuardCondition::Ready(_) => return None,
            GuardCondition::Loading => "loading",
            GuardCondition::Failed => "failed",
        };
        let facades = match status.is_everywhere {
            true => vec!["*".to_owned()],
            false => status.facades.clone(),
        };
        Some(Self { name: status.name.clone(), state, facades })
    }
}

/// State of a server besides that of its files.
#[derive(Debug)]
pub(super) struct ServerState<'a> {
    /// It is shutting down.
    pub draining: bool,
    /// Every file that was in the folder at startup has been processed.
    pub loaded: bool,
    /// The keys of the authorization server are there, if it needs any.
    pub has_keys: bool,
    /// What is wrong with the audit trail.
    pub audit: Option<TrailFault>,
    /// Guards.
    pub guards: &'a [GuardStatus],
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(more: &usize) -> bool {
    *more == 0
}

impl Readiness {
    /// Computes readiness (pure). A failed file does not make the server unready: the others serve, and all replicas with the
    /// same folder would become unready at once. The server is unready if nothing serves and something failed.
    pub(super) fn new(server: &ServerState<'_>, report: &LoadStatusReport) -> Self {
        let ServerState { draining, loaded, has_keys, audit, guards } = *server;
        let [failed, pending, stale, refused, serving] = LoadState::ALL.map(|state| report.count(state));
        let why = if draining {
            Some("the server is shutting down".to_owned())
        } else if !loaded {
            Some("plugins are still being loaded".to_owned())
        } else if !has_keys {
            Some("the keys of the authorization server have not been fetched yet".to_owned())
        } else if audit == Some(TrailFault::RefusesCalls) {
            Some("calls are refused, since the audit file cannot be written".to_owned())
        } else if let Some(guard) = blocking_all(guards) {
            Some(format!("no call passes the guard `{guard}`, which is not loaded; the log has the reason"))
        } else if report.is_behind {
            Some("the other servers serve newer versions of plugins, which do not load here".to_owned())
        } else if serving + stale > 0 {
            None
        } else if let Some(folder) = &report.folder_error {
            Some(one_line(folder))
        } else if failed + refused > 0 {
            Some("no plugin serves, and some failed".to_owned())
        } else if pending > 0 {
            Some("no plugin serves, and some wait for approval".to_owned())
        } else {
            None
        };
        let mut plugins: Vec<&OfferStatus> = report.files.iter().collect();
        plugins.sort_by(|a, b| (a.state, a.why.is_none(), &a.file).cmp(&(b.state, b.why.is_none(), &b.file)));
        let more = plugins.len().saturating_sub(FILES);
        let plugins = plugins.into_iter().take(FILES).map(|stands| OfferStatus {
            file: one_line(&stands.file),
            why: stands.why.as_deref().map(one_line),
            ..stands.clone()
        });
        let plugins = plugins.collect();
        let audit = audit.map(TrailFault::as_str);
        Self {
            ready: why.is_none(),
            draining,
            loaded,
            why,
            audit,
            guards: guards.iter().filter_map(BlockingGuard::from_status).collect(),
            serving,
            stale,
            failed,
            pending,
            refused,
            plugins,
            more,
        }
    }
}

/// Finds a guard that blocks the calls of all facades.
fn blocking_all(guards: &[GuardStatus]) -> Option<&str> {
    let is_ready = |guard: &GuardStatus| matches!(guard.condition, GuardCondition::Ready(_));
    let blocking = guards.iter().find(|guard| guard.is_everywhere && !is_ready(guard));
    blocking.map(|guard| guard.name.as_str())
}

/// Renders an untrusted text on one line of bounded length, without credentials.
fn one_line(text: &str) -> String {
    shorten(&printable(&redact(text)), REASON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggia_load::LoadState::{Failed, Pending, Refused, Serving, Stale};

    fn report(files: &[(&str, LoadState)]) -> LoadStatusReport {
        let files = files.iter().map(|(file, state)| OfferStatus {
            file: (*file).to_owned(),
            facade: None,
            state: *state,
            why: (*state != Serving).then(|| "why".to_owned()),
        });
        LoadStatusReport { files: files.collect(), ..LoadStatusReport::default() }
    }

    /// A server that is up.
    const UP: ServerState<'_> =
        ServerState { draining: false, loaded: true, has_keys: true, audit: None, guards: &[] };

    #[test]
    fn a_guard_of_all_facades_makes_the_server_unready() {
        let guard = |is_everywhere, condition| GuardStatus {
            name: "mask".into(),
            is_everywhere,
            facades: vec!["notes".into()],
            condition,
            looks: Vec::new(),
        };
        let ready = || GuardCondition::Ready("sha256:0".into());
        let blocked = "no call passes the guard `mask`, which is not loaded; the log has the reason";
        for (guard, why, listed) in [
            (guard(true, ready()), None, None),
            (guard(true, GuardCondition::Loading), Some(blocked), Some(("loading", "*"))),
            (guard(true, GuardCondition::Failed), Some(blocked), Some(("failed", "*"))),
            (guard(false, GuardCondition::Failed), None, Some(("failed", "notes"))),
        ] {
            let server = ServerState { guards: &[guard], ..UP };
            let readiness = Readiness::new(&server, &report(&[("a", Serving)]));
            let found = readiness.guards.first().map(|guard| (guard.state, guard.facades[0].as_str()));
            assert_eq!((readiness.why.as_deref(), found), (why, listed));
        }
    }

    #[test]
    fn ready_when_something_serves_or_nothing_failed() {
        let check = |(draining, loaded), files: &[(&str, LoadState)], expected: Option<&str>| {
            let readiness = Readiness::new(&ServerState { draining, loaded, ..UP }, &report(files));
            assert_eq!(
                (readiness.ready, readiness.why.as_deref()),
                (expected.is_none(), expected),
                "{files:?}"
            );
        };
        let (ends, loads, serves) = ((true, true), (false, false), (false, true));
        check(ends, &[("a", Serving)], Some("the server is shutting down"));
        check(loads, &[("a", Serving)], Some("plugins are still being loaded"));
        check(serves, &[], None);
        check(serves, &[("a", Serving)], None);
        check(serves, &[("a", Serving), ("b", Failed)], None);
        check(serves, &[("a", Stale)], None);
        check(serves, &[("a", Failed), ("b", Refused)], Some("no plugin serves, and some failed"));
        check(serves, &[("a", Pending)], Some("no plugin serves, and some wait for approval"));
        check(serves, &[("a", Pending), ("b", Stale)], None);
        let folder = |files| LoadStatusReport {
            folder_error: Some("the folder\ncannot be read".into()),
            ..report(files)
        };
        assert_eq!(Readiness::new(&UP, &folder(&[])).why.as_deref(), Some("the folder\\ncannot be read"));
        assert!(Readiness::new(&UP, &folder(&[("a", Serving)])).ready);
        let keyless = ServerState { has_keys: false, ..UP };
        assert!(!Readiness::new(&keyless, &folder(&[("a", Serving)])).ready, "no keys yet");
        for (fault, ready) in [(TrailFault::LosesLines, true), (TrailFault::RefusesCalls, false)] {
            let server = ServerState { audit: Some(fault), ..UP };
            let readiness = Readiness::new(&server, &report(&[("a", Serving)]));
            assert_eq!((readiness.ready, readiness.audit), (ready, Some(fault.as_str())));
        }
        let behind = LoadStatusReport { is_behind: true, ..report(&[("a", Stale)]) };
        assert_eq!(
            Readiness::new(&UP, &behind).why.as_deref(),
            Some("the other servers serve newer versions of plugins, which do not load here")
        );
    }

    #[test]
    fn failures_are_listed_first_and_bounded() {
        let names: Vec<String> = (0..FILES).map(|n| format!("{n:04}.wasm")).collect();
        let mut files: Vec<_> = names.iter().map(|name| (name.as_str(), Serving)).collect();
        files.extend([("z.wasm", Failed), ("y.wasm", Stale)]);
        let mut report = report(&files);
        report.files[FILES].why = Some(format!("{}\u{1b}", "é".repeat(5000)));
        let readiness = Readiness::new(&UP, &report);
        let first: Vec<_> = readiness.plugins.iter().take(3).map(|stands| stands.file.as_str()).collect();
        assert_eq!(first, ["z.wasm", "y.wasm", "0000.wasm"]);
        assert_eq!(
            (readiness.plugins.len(), readiness.more, readiness.serving, readiness.failed, readiness.stale),
            (FILES, 2, FILES, 1, 1)
        );
        let why = readiness.plugins[0].why.as_deref().unwrap();
        assert!(why.chars().count() == REASON && why.ends_with('…'), "{why}");
    }
}
