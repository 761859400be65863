//! Notices for callers of a facade: its newest version does not build or load, so an older one answers. Only `loggia dev` sets any.

use std::collections::BTreeMap;

use arc_swap::ArcSwap;

/// Sentences without paths of this machine, by facade.
pub type NoticeMap = BTreeMap<String, String>;

/// Sentences for callers, by facade.
#[derive(Default)]
pub struct CatalogNotices {
    builds: ArcSwap<NoticeMap>,
    loads: ArcSwap<NoticeMap>,
}

impl CatalogNotices {
    /// Replaces the sentences about sources that do not build.
    pub fn set_builds(&self, notices: NoticeMap) {
        self.builds.store(notices.into());
    }

    /// Replaces the sentences about versions that do not load.
    pub fn set_loads(&self, notices: NoticeMap) {
        self.loads.store(notices.into());
    }

    /// Whether there is none, as on all servers but an author's.
    pub fn is_empty(&self) -> bool {
        [&self.builds, &self.loads].iter().all(|notices| notices.load().is_empty())
    }

    /// Returns the sentence about a facade. What does not build was not loaded either, so it goes first.
    pub fn find(&self, facade: &str) -> Option<String> {
        [&self.builds, &self.loads].iter().find_map(|notices| notices.load().get(facade).cloned())
    }
}
