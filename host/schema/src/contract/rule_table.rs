//! The rules of a facade's actions, read at load or at first use.

use std::sync::OnceLock;

use loggia_facade::Action;

use crate::{
    contract::rules::ActionRules,
    model::{bounds, limits, nesting},
};

/// The rules of a facade's actions, one for each, in their order.
///
/// Those of a facade with more than [`limits::COMPILED`] actions are read at their first use, since the rules of 1,200
/// actions take sixty megabytes and clients call few of them. A call that comes first reads the rules of its own action
/// alone; concurrent calls of the same action wait for it.
pub(crate) struct RuleTable(Vec<OnceLock<Box<ActionRules>>>);

impl RuleTable {
    /// A table of rules that are all read.
    pub(crate) fn from_rules(rules: Vec<ActionRules>) -> Self {
        Self(rules.into_iter().map(|rules| OnceLock::from(Box::new(rules))).collect())
    }

    /// A table for so many actions, of which no rules are read.
    pub(crate) fn unread(actions: usize) -> Self {
        Self((0..actions).map(|_| OnceLock::new()).collect())
    }

    /// The rules of an action. Its schema was checked before; if it cannot be read all the same, every call fails.
    pub(crate) fn get(&self, index: usize, action: &Action) -> &ActionRules {
        self.0[index].get_or_init(|| {
            Box::new(read_rules(action).unwrap_or_else(|problems| ActionRules::unusable(action, &problems)))
        })
    }

    /// Keeps the rules of these actions.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let mut index = 0;
        self.0.retain(|_| {
            index += 1;
            keep(index - 1)
        });
    }

    /// The number of actions whose rules are read.
    #[cfg(test)]
    pub(crate) fn read_count(&self) -> usize {
        self.0.iter().filter(|rules| rules.get().is_some()).count()
    }
}

/// Reads the schema of an action.
///
/// # Errors
///
/// Its problems.
pub(crate) fn read_rules(action: &Action) -> Result<ActionRules, Vec<String>> {
    if nesting::nesting(action.params.values()) > limits::NESTING {
        return Err(vec![bounds::too_deep("parameters")]);
    }
    ActionRules::new(action).map_err(|texts| {
        texts.iter().map(|text| format!("the schema of its parameters cannot be used, {text}")).collect()
    })
}
