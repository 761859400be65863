//! All guards of a host, and those of a facade.

use std::sync::Arc;

use super::post::GuardPost;

/// The guards of a host, in the order in which they look at a call.
#[derive(Debug, Default)]
pub struct GuardRoster(Vec<Arc<GuardPost>>);

impl GuardRoster {
    /// Sorts guards.
    pub fn new(mut posts: Vec<Arc<GuardPost>>) -> Self {
        posts.sort_by(|a, b| (a.rule.order, &a.rule.name).cmp(&(b.rule.order, &b.rule.name)));
        Self(posts)
    }

    /// All guards.
    pub fn posts(&self) -> &[Arc<GuardPost>] {
        &self.0
    }

    /// The guards of a facade.
    pub fn of_facade(&self, facade: &str) -> Arc<[Arc<GuardPost>]> {
        self.0.iter().filter(|post| post.rule.covers(facade)).cloned().collect()
    }
}
