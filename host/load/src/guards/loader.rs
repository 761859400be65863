//! Loads guards, now or whenever their files change.

use std::{sync::Arc, time::Duration};

use loggia_gate::{
    access::CallerKeys,
    catalog::Catalog,
    guard::{GuardPost, GuardReach, GuardRoster},
};
use loggia_state::StateError;
use tokio::task::block_in_place;
use tokio_util::sync::CancellationToken;

use super::followed::FollowedGuard;
use crate::{
    admit::PluginAdmitter,
    guard_spec::GuardSpec,
    pins::{PinKeeper, PinReport, PinSource},
};

/// Period of the looks at files. A look is one system call.
const LOOK_PERIOD: Duration = Duration::from_millis(500);

/// Loads the guards of a host.
pub struct GuardLoader {
    admitter: Arc<PluginAdmitter>,
    pins: Arc<PinKeeper>,
    guards: Vec<FollowedGuard>,
}

impl GuardLoader {
    /// Creates a loader. Guards that may know callers get keys by the secret of the state folder.
    ///
    /// # Errors
    ///
    /// If a guard needs the secret, and the state folder cannot be used.
    pub fn new(
        admitter: Arc<PluginAdmitter>,
        pins: Arc<PinKeeper>,
        specs: Vec<GuardSpec>,
    ) -> Result<Self, StateError> {
        let follow = |spec: GuardSpec| {
            let secret = || admitter.open_state_folder().and_then(|folder| folder.secret());
            let keys = spec.caller.then(secret).transpose()?.map(CallerKeys::new);
            let post = Arc::new(GuardPost::new(spec.rule.clone(), keys));
            Ok(FollowedGuard::new(spec, post))
        };
        let guards = specs.into_iter().map(follow).collect::<Result<_, StateError>>()?;
        Ok(Self { admitter, pins, guards })
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

    /// Loads the guards whose files are new or have changed, or which were approved; records in the lock what is in use and what waits.
    pub async fn load_changed(&mut self) {
        block_in_place(|| self.pins.look());
        let mut has_decided = false;
        for guard in &mut self.guards {
            has_decided |= guard.look(&self.admitter, &self.pins).await;
        }
        if has_decided && self.pins.is_active() {
            let mut report = PinReport::default();
            self.guards.iter().for_each(|guard| guard.report(&mut report));
            block_in_place(|| self.pins.record(PinSource::Guards, &report));
        }
    }
}
