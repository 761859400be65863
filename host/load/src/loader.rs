//! Keeps the catalog up to date with its sources: assembles their offers, swaps the catalog and reports.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use loggia_gate::catalog::Catalog;
use loggia_text::printable;
use loggia_upstream::UpstreamRuntimes;
use tokio::{
    task::block_in_place,
    time::{Instant, MissedTickBehavior, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    admit::PluginAdmitter,
    agreement::SwapAgreement,
    assemble::{CatalogAssembly, LoadCompleteness, assemble, file_claims},
    facade_kind::is_file_key,
    generation::CatalogGeneration,
    load_status::{LoadState, LoadStatus, LoadStatusReport},
    names::{NameOwners, NameRecord},
    notices::load_notices,
    offer::NewerVersion,
    pins::{LockState, PinKeeper, PinReport, PinSource, pin_key},
    source::{ConfiguredSources, SourceEvent, SourceSet, SourceSettings, folder::FolderSource},
};

/// Minimum time for which admissions of the first load are collected. Each publication goes through all offers, so one for each
/// admission would be quadratic; clients mostly wait for the whole load.
const COLLECT: Duration = Duration::from_millis(5);
/// Period of looking at the lock's metadata.
const LOOK_PERIOD: Duration = Duration::from_secs(1);
/// During the first load, a publication is followed by a pause of at least this many times its duration.
const COLLECT_FACTOR: u32 = 8;

/// Keeps a catalog up to date with its sources.
pub struct CatalogLoader {
    source: SourceSet,
    admitter: Arc<PluginAdmitter>,
    catalog: Arc<Catalog>,
    pins: Arc<PinKeeper>,
    owners: NameOwners,
    /// Name owners, as last read.
    record: NameRecord,
    /// Versions that the fence refuses, by key, with the logged sentence.
    fenced: BTreeMap<String, String>,
    /// Versions that do not own their names, by key, with the logged sentence.
    refused: BTreeMap<String, String>,
    /// Workflows that cannot run now, by key, with the logged sentences.
    unavailable: BTreeMap<String, Vec<String>>,
    load_status: Arc<LoadStatus>,
    completeness: LoadCompleteness,
    /// Duration of the last publication.
    publishing: Duration,
    /// The other hosts, if there are any.
    agreement: Option<Arc<SwapAgreement>>,
    /// What is served, once the first load is complete.
    served: Option<CatalogGeneration>,
    /// Set while a newer generation waits for other hosts.
    is_waiting: bool,
    /// Whether callers get notices about versions that do not load.
    notifies_callers: bool,
    /// State of the lock when its versions were decided about.
    lock: LockState,
}

impl CatalogLoader {
    /// Creates a loader for a folder, which need not exist yet, and for the sources of the settings. Admissions and connections run
    /// on `runtimes`, which must be multi-threaded.
    pub fn new(
        folder: PathBuf,
        settings: &SourceSettings,
        (admitter, pins): (Arc<PluginAdmitter>, Arc<PinKeeper>),
        catalog: Arc<Catalog>,
        runtimes: &UpstreamRuntimes,
        load_status: Arc<LoadStatus>,
    ) -> Self {
        let configured = ConfiguredSources::start(
            settings,
            &folder,
            runtimes,
            Arc::clone(&load_status),
            (admitter.states(), &pins),
        );
        let folder = FolderSource::new(
            folder,
            Arc::clone(&admitter),
            Arc::clone(&pins),
            runtimes.calls.clone(),
            Arc::clone(&load_status),
        );
        Self {
            source: SourceSet::new(folder, configured),
            admitter,
            catalog,
            pins,
            owners: NameOwners::default(),
            record: NameRecord::default(),
            fenced: BTreeMap::new(),
            refused: BTreeMap::new(),
            unavailable: BTreeMap::new(),
            load_status,
            completeness: LoadCompleteness::Partial,
            publishing: Duration::ZERO,
            agreement: None,
            served: None,
            is_waiting: false,
            notifies_callers: false,
            lock: LockState::default(),
        }
    }

    /// Serves new versions once the other hosts have loaded them, too.
    #[must_use]
    pub fn with_agreement(self, agreement: Option<Arc<SwapAgreement>>) -> Self {
        Self { agreement, ..self }
    }

    /// Tells callers of versions that do not load, as an author's own server does.
    #[must_use]
    pub fn with_notices(self, notifies_callers: bool) -> Self {
        Self { notifies_callers, ..self }
    }

    /// Loads the offers of all sources, then follows them until stopped. Requires a multi-threaded runtime.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut due: Option<Instant> = None;
        block_in_place(|| self.pins.look());
        self.lock = self.pins.state();
        // One for the whole run: events in between must not delay it.
        let mut looks = tokio::time::interval(LOOK_PERIOD);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let agreement = self.agreement.clone().filter(|_| self.is_waiting);
            let event = tokio::select! {
                // Pending events come first: names are recorded before a host that made one call ends.
                biased;
                event = self.source.next_event() => Some(event),
                () = wait_until(due) => None,
                () = wait_for_others(agreement) => {
                    block_in_place(|| self.publish_now());
                    continue;
                }
                _ = looks.tick(), if self.pins.is_active() => {
                    block_in_place(|| self.look_at_lock());
                    continue;
                }
                () = stop.cancelled() => return self.source.stop().await,
            };
            let is_admission = event == Some(SourceEvent::Admitted);
            let is_early = due.is_none_or(|due| due > Instant::now());
            if is_admission && is_early && self.completeness == LoadCompleteness::Partial {
                due.get_or_insert_with(|| Instant::now() + COLLECT.max(self.publishing * COLLECT_FACTOR));
                continue;
            }
            // What was collected is part of what this event publishes, if it publishes.
            let publishes = is_admission || event == Some(SourceEvent::Complete);
            let collected = due.take().filter(|_| !publishes).map(|_| SourceEvent::Admitted);
            block_in_place(|| collected.into_iter().chain(event).for_each(|event| self.handle(event)));
        }
    }

    fn handle(&mut self, event: SourceEvent) {
        match event {
            SourceEvent::Admitted => self.publish(),
            SourceEvent::Complete => {
                self.completeness = LoadCompleteness::Complete;
                self.publish();
                self.catalog.mark_admitted();
            }
            SourceEvent::Scanned { changed } => {
                // Fence and names depend on more than the offers.
                let depends = || self.survey_fence() != self.fenced || self.admitter.names() != self.record;
                if changed || self.completeness == LoadCompleteness::Complete && depends() {
                    self.publish();
                }
            }
            SourceEvent::Unreadable => self.report(),
        }
    }

    /// Decides again about all versions if another process changed the lock.
    fn look_at_lock(&mut self) {
        self.pins.look();
        let lock = self.pins.state();
        if std::mem::replace(&mut self.lock, lock) == lock {
            return;
        }
        if self.source.settle_pins() {
            self.publish();
        } else {
            self.report();
        }
    }

    /// Records in the lock what is served and what waits.
    fn record_pins(&self) {
        if !self.pins.is_active() {
            return;
        }
        let mut report = PinReport::default();
        for (key, offer) in self.source.offers() {
            report.served.extend(offer.version.as_ref().and_then(|version| version.pin.clone()));
            match offer.newer.as_ref().and_then(NewerVersion::to_pending) {
                Some(pending) => report.held.push(pending),
                None if is_file_key(key) => report.settled.push(pin_key(&self.source.folder().join(key))),
                None => report.settled.push(key.to_owned()),
            }
        }
        self.pins.record(PinSource::Facades, &report);
    }

    /// Publishes what is loaded, unless other hosts are to load it first.
    fn publish(&mut self) {
        let next = CatalogGeneration::of_offers(self.source.offers());
        if let (Some(agreement), Some(served)) = (&self.agreement, &self.served)
            // What is removed, or reaches the catalog in another way, needs no other host.
            && !next.is_part_of(served)
            && agreement.propose(&next.digest())
        {
            self.is_waiting = true;
            self.report();
            return;
        }
        self.publish_now();
    }

    fn publish_now(&mut self) {
        let begun = Instant::now();
        self.is_waiting = false;
        self.swap();
        self.report();
        self.publishing = begun.elapsed();
        if self.completeness == LoadCompleteness::Complete {
            let served = CatalogGeneration::of_offers(self.source.offers());
            if let Some(agreement) = &self.agreement {
                agreement.serve(served.digest());
            }
            self.served = Some(served);
            self.record_pins();
        }
    }

    /// Reports the status of every offer.
    fn report(&self) {
        let files = self.source.offers().filter_map(|(key, offer)| {
            let mut stands = offer.status(key)?;
            if let Some(refusal) = self.fenced.get(key) {
                (stands.state, stands.why) = (LoadState::Failed, Some(refusal.clone()));
            } else if let Some(refusal) = self.refused.get(key) {
                (stands.state, stands.why) = (LoadState::Refused, Some(refusal.clone()));
            } else if let (LoadState::Serving, Some(reasons)) = (stands.state, self.unavailable.get(key)) {
                stands.why = Some(reasons.join("; "));
            }
            Some(stands)
        });
        let folder = self.source.unreadable().map(str::to_owned);
        let report = LoadStatusReport { folder_error: folder, files: files.collect(), is_behind: false };
        if self.notifies_callers {
            self.catalog.notices.set_loads(load_notices(&report, self.source.folder()));
        }
        if let Some(agreement) = &self.agreement {
            let has_failed = report.count(LoadState::Failed) + report.count(LoadState::Stale) > 0;
            agreement.set_failed(has_failed || report.folder_error.is_some());
        }
        self.load_status.set(report);
    }

    /// Finds the versions that the fence refuses now, with a sentence each. The result does not depend on the order in
    /// which files arrived.
    fn survey_fence(&self) -> BTreeMap<String, String> {
        let granted = || self.source.offers().filter_map(|(key, offer)| Some((key, offer.grants()?)));
        if !granted().any(|(_, grants)| !grants.dirs.is_empty()) {
            return BTreeMap::new();
        }
        let paths = granted().map(|(_, grants)| &grants.paths);
        let fence = self.admitter.surveyor().survey(self.source.folder(), paths);
        let refused = granted().filter_map(|(key, grants)| {
            let refusal = match &fence {
                Ok(fence) => grants.dirs.iter().find_map(|dir| dir.breach(fence))?.to_string(),
                Err(_) if grants.dirs.is_empty() => return None,
                Err(error) => {
                    format!("the directories that no plugin may have cannot be determined: {error}")
                }
            };
            Some((key.to_owned(), format!("not served: {refusal}")))
        });
        refused.collect()
    }

    /// Assigns names to offers and records the owners permanently.
    fn assign_names(&mut self) {
        // Until the initial scan is complete, no file has come first.
        if self.completeness == LoadCompleteness::Partial {
            self.record = self.admitter.names().before_complete();
            self.owners = NameOwners::assign(
                file_claims(&self.source.offers_mut()),
                &NameOwners::default(),
                &self.record,
            );
            return;
        }
        let before = std::mem::take(&mut self.owners);
        self.record = self.admitter.names();
        self.owners = NameOwners::assign(file_claims(&self.source.offers_mut()), &before, &self.record);
        let news = self.owners.unrecorded(&self.record);
        if !news.is_empty() {
            // Another host may have recorded an owner first.
            self.record = self.admitter.record_names(&news);
            self.owners = NameOwners::assign(file_claims(&self.source.offers_mut()), &before, &self.record);
        }
    }

    fn swap(&mut self) {
        self.assign_names();
        let fenced = self.survey_fence();
        for (file, refusal) in &fenced {
            if self.fenced.get(file) != Some(refusal) {
                tracing::error!(file, "{}", printable(refusal));
            }
        }
        for file in self.fenced.keys().filter(|file| !fenced.contains_key(*file)) {
            tracing::info!(file, "its policy no longer grants a directory that no plugin may have");
        }
        self.fenced = fenced;
        let serving = self.source.offers().filter_map(|(_, offer)| Some(offer.grants()?.paths.clone()));
        self.admitter.surveyor().set_serving(serving.collect());
        let mut offers = self.source.offers_mut();
        let CatalogAssembly { slots, refused, blocked } =
            assemble(&mut offers, &self.owners, &self.fenced, self.completeness);
        self.catalog.swap(slots);
        if self.completeness == LoadCompleteness::Partial {
            return;
        }
        for (file, refusal) in &refused {
            if self.refused.get(file) != Some(refusal) {
                tracing::warn!(file, "{refusal}");
            }
        }
        self.refused = refused;
        let unavailable = blocked
            .into_iter()
            .map(|(key, blocked)| (key, blocked.iter().map(ToString::to_string).collect::<Vec<_>>()));
        let unavailable: BTreeMap<_, _> = unavailable.collect();
        for (file, reasons) in &unavailable {
            let before = self.unavailable.get(file).map_or(&[][..], Vec::as_slice);
            for reason in reasons.iter().filter(|reason| !before.contains(reason)) {
                tracing::warn!(file, "{}", printable(reason));
            }
        }
        self.unavailable = unavailable;
    }
}

/// Resolves once other hosts have loaded what waits for them, if anything does.
async fn wait_for_others(agreement: Option<Arc<SwapAgreement>>) {
    match agreement {
        Some(agreement) => agreement.agreed().await,
        None => std::future::pending().await,
    }
}

/// Resolves at a time, if there is one.
async fn wait_until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
