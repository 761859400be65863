//! The skills that clients see.

use std::sync::Arc;

use super::{skill::PluginSkill, snapshot::CatalogSnapshot};
use crate::access::{CallerRights, ListId};

/// A skill that a client sees.
#[derive(Debug, Clone)]
pub struct CatalogSkill {
    /// Name of its facade.
    pub facade: String,
    /// The skill.
    pub skill: Arc<PluginSkill>,
}

impl CatalogSkill {
    /// The URI of a file: `skill://notes/note-taking/SKILL.md`.
    pub fn uri(&self, path: &str) -> String {
        format!("skill://{}/{}/{path}", self.facade, self.skill.name)
    }
}

impl CatalogSnapshot {
    /// Lists the skills of a client by facade: those of the facades of which it sees an action.
    pub fn skills(&self, list: ListId, rights: &CallerRights) -> Vec<CatalogSkill> {
        let entries = self.serving().filter_map(|entry| Some((entry, entry.skill.as_ref()?)));
        let visible = entries.filter(|(entry, _)| !self.visible_actions(entry, list, rights).is_empty());
        visible
            .map(|(entry, skill)| CatalogSkill {
                facade: entry.surface().name.clone(),
                skill: Arc::clone(skill),
            })
            .collect()
    }
}
