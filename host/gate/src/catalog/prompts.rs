//! The actions that clients see as prompts: procedures that a person starts, such as workflows.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use loggia_facade::{Action, Surface};

use super::{
    entry::{CatalogEntry, CatalogSlot},
    snapshot::CatalogSnapshot,
};
use crate::access::{CallerRights, ListId};

/// An action that a client sees as a prompt.
#[derive(Clone)]
pub struct CatalogPrompt {
    /// Name of the prompt.
    pub name: String,
    /// The facade of the action.
    pub entry: Arc<CatalogEntry>,
    /// Index of the action in the facade's surface.
    index: usize,
}

impl CatalogPrompt {
    /// The action.
    pub fn action(&self) -> &Action {
        &self.entry.surface().actions[self.index]
    }
}

impl CatalogSnapshot {
    /// Lists the prompts of a client, ordered by name: actions that a tool of its list offers and its caller may call. A prompt
    /// is named like its action, or `facade_action` if the caller sees several actions of that name.
    pub fn prompts(&self, list: ListId, rights: &CallerRights) -> Vec<CatalogPrompt> {
        let mut seen: Vec<CatalogPrompt> = Vec::new();
        for entry in self.serving().filter(|entry| entry.exposure.as_prompts) {
            let facade = &entry.surface().name;
            let listed = self.list(list).listed().any(|(_, tool)| tool.facade == *facade);
            let visible = if listed { self.visible_actions(entry, list, rights) } else { Vec::new() };
            seen.extend(visible.into_iter().map(|index| CatalogPrompt {
                name: entry.surface().actions[index].name.clone(),
                entry: Arc::clone(entry),
                index,
            }));
        }
        let mut uses: HashMap<String, usize> = HashMap::new();
        seen.iter().for_each(|prompt| *uses.entry(prompt.name.clone()).or_default() += 1);
        for prompt in seen.iter_mut().filter(|prompt| uses.get(&prompt.name) != Some(&1)) {
            prompt.name = format!("{}_{}", prompt.entry.surface().name, prompt.name);
        }
        seen.sort_by(|one, other| one.name.cmp(&other.name));
        // `a` and `b_c` join to the same name as `a_b` and `c`.
        seen.dedup_by(|one, other| one.name == other.name);
        seen
    }
}

/// The surfaces whose actions are prompts. Prompts change only with them, or with a published list.
pub(super) fn prompt_surfaces(slots: &BTreeMap<String, CatalogSlot>) -> impl Iterator<Item = &Arc<Surface>> {
    slots.values().filter_map(|slot| match slot {
        CatalogSlot::Serving(entry) if entry.exposure.as_prompts => Some(entry.surface()),
        _ => None,
    })
}
