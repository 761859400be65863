//! Loads guards, now or whenever their files change.

use std::{fs, future::poll_fn, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use futures_util::FutureExt;
use loggia_facade::CallGuard;
use loggia_gate::{
    access::CallerKeys,
    call::TARGET as AUDIT,
    catalog::Catalog,
    guard::{GuardPost, GuardReach, GuardRoster, GuardState},
};
use loggia_sandbox::WasmGuard;
use loggia_state::StateError;
use loggia_text::printable;
use tokio::task::block_in_place;
use tokio_util::sync::CancellationToken;

use super::look::FileLooks;
use crate::load::{
    admit::{AdmitError, PluginAdmitter},
    file_stamp::FileStamp,
    guard_spec::GuardSpec,
};

/// Period of the looks at files. A look is one system call.
const LOOK_PERIOD: Duration = Duration::from_millis(500);

/// Loads the guards of a host.
pub struct GuardLoader {
    admitter: Arc<PluginAdmitter>,
    guards: Vec<FollowedGuard>,
}

/// A guard and its file.
struct FollowedGuard {
    spec: GuardSpec,
    post: Arc<GuardPost>,
    looks: FileLooks,
}

impl GuardLoader {
    /// Creates a loader. Guards that may know callers get keys by the secret of the state folder.
    ///
    /// # Errors
    ///
    /// If a guard needs the secret, and the state folder cannot be used.
    pub fn new(admitter: Arc<PluginAdmitter>, specs: Vec<GuardSpec>) -> Result<Self, StateError> {
        let follow = |spec: GuardSpec| {
            let secret = || admitter.open_state_folder().and_then(|folder| folder.secret());
            let keys = spec.caller.then(secret).transpose()?.map(CallerKeys::new);
            let post = Arc::new(GuardPost::new(spec.rule.clone(), keys));
            Ok(FollowedGuard { spec, post, looks: FileLooks { loaded: None, seen: None } })
        };
        let guards = specs.into_iter().map(follow).collect::<Result<_, StateError>>()?;
        Ok(Self { admitter, guards })
    }

    /// The guards as the gate asks them; `None` if there are none.
    pub fn roster(&self) -> Option<Arc<GuardRoster>> {
        let posts: Vec<_> = self.guards.iter().map(|guard| Arc::clone(&guard.post)).collect();
        (!posts.is_empty()).then(|| Arc::new(GuardRoster::new(posts)))
    }

    /// Warns about facades that guards name in vain, once all are loaded: a name may be misspelt, and then nothing guards what is
    /// meant.
    pub fn report_unknown(
        &self,
        catalog: Arc<Catalog>,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send + use<> {
        let named = self.named_facades();
        async move {
            tokio::select! {
                () = stop.cancelled() => return,
                () = catalog.wait_for_admission() => {}
            }
            for (guard, facade) in named.iter().filter(|(_, facade)| catalog.slot(facade).is_none()) {
                tracing::warn!(guard, "there is no facade `{facade}`, which the guard is to look at");
            }
        }
    }

    /// Lists the facades that guards name, each with the guard.
    fn named_facades(&self) -> Vec<(String, String)> {
        let rules = self.guards.iter().map(|guard| &guard.spec.rule);
        let named = rules.flat_map(|rule| match &rule.facades {
            GuardReach::All => Vec::new(),
            GuardReach::Named(names) => names.iter().map(|name| (rule.name.clone(), name.clone())).collect(),
        });
        named.collect()
    }

    /// Follows the files until stopped. Requires a multi-threaded runtime.
    pub async fn run(mut self, stop: CancellationToken) {
        if self.guards.is_empty() {
            return;
        }
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.load_changed() => {}
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK_PERIOD) => {}
            }
        }
    }

    /// Loads the guards whose files are new or have changed.
    pub async fn load_changed(&mut self) {
        for guard in &mut self.guards {
            guard.look(&self.admitter).await;
        }
    }
}

impl FollowedGuard {
    async fn look(&mut self, admitter: &PluginAdmitter) {
        let now = block_in_place(|| {
            fs::metadata(&self.spec.component).ok().map(|meta| FileStamp::from_metadata(&meta))
        });
        let is_due = self.looks.is_due(now);
        self.looks.seen = now;
        if !is_due {
            return;
        }
        match admit(admitter, &self.spec).await {
            Ok(guard) => self.accept(Arc::new(guard)),
            // Read again at the next look; calls wait, or the version before goes on.
            Err(AdmitError::Changing) => return,
            Err(error) => self.reject(&error),
        }
        self.looks.loaded = Some(now);
    }

    fn accept(&self, guard: Arc<WasmGuard>) {
        let (name, artifact) = (self.spec.rule.name.as_str(), guard.origin());
        tracing::info!(guard = name, artifact, "a guard is loaded");
        tracing::debug!(target: AUDIT, event = "loaded", guard = name, bytes = artifact, "guard {name} is loaded");
        self.post.set(GuardState::Ready(guard));
    }

    fn reject(&self, error: &AdmitError) {
        let (name, why, file) =
            (self.spec.rule.name.as_str(), error.to_string(), self.spec.component.display());
        let why = printable(&why);
        tracing::error!(
            guard = name,
            "{file}: {why}; no call that the guard would look at is made until this is fixed"
        );
        tracing::debug!(target: AUDIT, event = "not_loaded", guard = name, why = &*why, "guard {name} is not loaded");
        self.post.set(GuardState::Failed);
    }
}

/// Admits a guard as blocking work: it reads, hashes, maps and checks. A panic fails only this guard.
async fn admit(admitter: &PluginAdmitter, spec: &GuardSpec) -> Result<WasmGuard, AdmitError> {
    let mut admission = pin!(admitter.admit_guard(spec));
    let polled = poll_fn(|context| block_in_place(|| admission.as_mut().poll(context)));
    AssertUnwindSafe(polled).catch_unwind().await.unwrap_or(Err(AdmitError::Panicked))
}
