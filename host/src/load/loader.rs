//! Keeps the catalog true to its sources: takes their offers, assembles what is served, swaps it in and reports.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use loggia_gate::catalog::Catalog;
use loggia_text::printable;
use tokio::{runtime::Handle, task::block_in_place};
use tokio_util::sync::CancellationToken;

use super::{
    admit::Loader,
    assemble::{Assembly, Completeness, assemble, claims},
    names::{NameRecord, Owners},
    source::folder::{FolderSource, SourceEvent},
    standing::{Report, Standing, State},
};

/// Keeps a catalog true to a folder.
pub struct Reloader {
    source: FolderSource,
    loader: Arc<Loader>,
    catalog: Arc<Catalog>,
    owners: Owners,
    /// Who owns which name, as it was last read.
    record: NameRecord,
    /// The versions that the fence refuses, by key, with the sentence that was logged.
    fenced: BTreeMap<String, String>,
    /// The versions that do not serve since their names are others', by key, with the sentence that was logged.
    refused: BTreeMap<String, String>,
    /// The workflows that cannot run now, by key, with the sentences that were logged.
    unavailable: BTreeMap<String, Vec<String>>,
    standing: Arc<Standing>,
    completeness: Completeness,
}

impl Reloader {
    /// A loader for a folder, which need not exist yet. Admissions run on the runtime, which has several threads.
    pub fn new(
        folder: PathBuf,
        loader: Arc<Loader>,
        catalog: Arc<Catalog>,
        runtime: Handle,
        standing: Arc<Standing>,
    ) -> Self {
        Self {
            source: FolderSource::new(folder, Arc::clone(&loader), runtime, Arc::clone(&standing)),
            loader,
            catalog,
            owners: Owners::default(),
            record: NameRecord::default(),
            fenced: BTreeMap::new(),
            refused: BTreeMap::new(),
            unavailable: BTreeMap::new(),
            standing,
            completeness: Completeness::Partial,
        }
    }

    /// Loads what there is, then follows the source until stopped. Must run on a runtime of several threads.
    pub async fn run(mut self, stop: CancellationToken) {
        loop {
            let event = tokio::select! {
                // An event that is there comes first: names are recorded before a host that made one call ends.
                biased;
                event = self.source.next() => event,
                () = stop.cancelled() => return self.source.stop().await,
            };
            block_in_place(|| self.handle(event));
        }
    }

    fn handle(&mut self, event: SourceEvent) {
        match event {
            SourceEvent::Admitted => self.publish(),
            SourceEvent::Complete => {
                self.completeness = Completeness::Complete;
                self.publish();
                self.catalog.admit();
            }
            SourceEvent::Looked { changed } => {
                // What the fence and the names depend on may have changed though no offer did.
                let depends = || self.survey() != self.fenced || self.loader.names() != self.record;
                if changed || self.completeness == Completeness::Complete && depends() {
                    self.publish();
                }
            }
            SourceEvent::Unreadable => self.report(),
        }
    }

    fn publish(&mut self) {
        self.swap();
        self.report();
    }

    /// Says how every offer stands.
    fn report(&self) {
        let files = self.source.offers().filter_map(|(key, offer)| {
            let mut stands = offer.stands(key)?;
            if let Some(refusal) = self.fenced.get(key) {
                (stands.state, stands.why) = (State::Failed, Some(refusal.clone()));
            } else if let Some(refusal) = self.refused.get(key) {
                (stands.state, stands.why) = (State::Refused, Some(refusal.clone()));
            } else if let (State::Serving, Some(reasons)) = (stands.state, self.unavailable.get(key)) {
                stands.why = Some(reasons.join("; "));
            }
            Some(stands)
        });
        let folder = self.source.unreadable().map(str::to_owned);
        self.standing.set(Report { folder, files: files.collect() });
    }

    /// Finds what the fence refuses now: the keys of versions, each with a sentence. The same set of files has the same
    /// result, whatever the order in which they came.
    fn survey(&self) -> BTreeMap<String, String> {
        let granted = || self.source.offers().filter_map(|(key, offer)| Some((key, offer.grants()?)));
        if !granted().any(|(_, grants)| !grants.dirs.is_empty()) {
            return BTreeMap::new();
        }
        let paths = granted().map(|(_, grants)| &grants.paths);
        let fence = self.loader.survey(self.source.folder(), paths);
        let refused = granted().filter_map(|(key, grants)| {
            let refusal = match &fence {
                Ok(fence) => grants.dirs.iter().find_map(|dir| dir.breach(fence))?.to_string(),
                Err(_) if grants.dirs.is_empty() => return None,
                Err(error) => format!("what its directories must not reach cannot be found: {error}"),
            };
            Some((key.to_owned(), format!("not served: {refusal}")))
        });
        refused.collect()
    }

    /// Decides which offer owns which name, and records it for good.
    fn own(&mut self) {
        // Until all that was there at the start has been looked at, nobody has come first.
        if self.completeness == Completeness::Partial {
            self.record = self.loader.names().before_all_are_known();
            self.owners = Owners::of(claims(&self.source.offers_mut()), &Owners::default(), &self.record);
            return;
        }
        let before = std::mem::take(&mut self.owners);
        self.record = self.loader.names();
        self.owners = Owners::of(claims(&self.source.offers_mut()), &before, &self.record);
        let news = self.owners.unrecorded(&self.record);
        if !news.is_empty() {
            // Another host may have been first.
            self.record = self.loader.record_names(&news);
            self.owners = Owners::of(claims(&self.source.offers_mut()), &before, &self.record);
        }
    }

    fn swap(&mut self) {
        self.own();
        let fenced = self.survey();
        for (file, refusal) in &fenced {
            if self.fenced.get(file) != Some(refusal) {
                tracing::error!(file, "{}", printable(refusal));
            }
        }
        for file in self.fenced.keys().filter(|file| !fenced.contains_key(*file)) {
            tracing::info!(file, "its policy no longer grants what no plugin may have");
        }
        self.fenced = fenced;
        let mut offers = self.source.offers_mut();
        let Assembly { slots, refused, blocked } =
            assemble(&mut offers, &self.owners, &self.fenced, self.completeness);
        self.catalog.swap(slots);
        if self.completeness == Completeness::Partial {
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
