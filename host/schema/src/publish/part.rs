//! The part of a facade that one tool shows: all of its actions, those of one effect, or a single one.

use loggia_facade::{Action, Effect};

use crate::{
    contract::{build::Contract, rules::ActionRules},
    model::{
        host_action::HostAction,
        view::{CommandTarget, View},
    },
    publish::expose::Split,
};

/// The part of a facade that one tool shows.
pub(crate) struct ToolPart<'a> {
    pub contract: &'a Contract,
    /// The tool's name.
    pub name: String,
    /// The tool's name for people.
    pub title: String,
    /// The actions it shows, in the order of the surface.
    pub actions: Vec<(&'a Action, &'a ActionRules)>,
    /// The host's actions that make sense beside them.
    pub host_actions: Vec<HostAction>,
    /// The action that is meant where none is named.
    pub default_action: Option<&'a str>,
    pub view: View,
}

impl<'a> ToolPart<'a> {
    /// The parts of a facade, by how its policy splits it, as far as a caller may call these actions. The tools are the
    /// same for every caller, however much of them is left.
    pub(crate) fn all(contract: &'a Contract, split: Split, allows: &impl Fn(&str) -> bool) -> Vec<Self> {
        let surface = contract.surface();
        let reads = action_bits(contract, |action| action.effect == Effect::Read);
        let writes = action_bits(contract, |action| action.effect != Effect::Read);
        let title = title(contract);
        if split == Split::None || reads == 0 || writes == 0 {
            let view = contract.narrow(&View::whole(), allows);
            let meant = |view: &View| contract.default_action().filter(|index| view.shows(*index));
            let part = |view: View| Self::new(contract, surface.name.clone(), title, meant(&view), view);
            return view.map(part).into_iter().collect();
        }
        let write = format!("{}_write", surface.name);
        [
            (reads, surface.name.clone(), title.clone(), vec![(writes, write.clone())]),
            (writes, write, format!("{title} (write)"), vec![(reads, surface.name.clone())]),
        ]
        .into_iter()
        .filter_map(|(actions, name, title, others)| {
            // The only action of a tool needs no naming, and the facade's default is one where it is shown.
            let only = (actions.count_ones() == 1).then_some(actions.trailing_zeros() as usize);
            let meant = contract.default_action().filter(|index| actions >> index & 1 == 1).or(only);
            let view =
                contract.narrow(&View::new(actions, meant.map(CommandTarget::Action), others), allows)?;
            let meant = meant.filter(|index| view.shows(*index));
            Some(Self::new(contract, name, title, meant, view))
        })
        .collect()
    }

    fn new(contract: &'a Contract, name: String, title: String, meant: Option<usize>, view: View) -> Self {
        let meant = meant.map(|index| contract.surface().actions[index].name.as_str());
        let actions = contract.surface().actions.iter().zip(contract.rules()).enumerate();
        let actions: Vec<_> =
            actions.filter(|(index, _)| view.shows(*index)).map(|(_, shown)| shown).collect();
        // A run is looked for at the tool that began it.
        let runs = contract.terms().batch || actions.iter().any(|(action, _)| action.long_running);
        let own: Vec<HostAction> =
            contract.host_actions().filter(|own| runs || !own.is_about_runs()).collect();
        let view = view.with_host_actions(&own);
        Self { contract, name, title, actions, host_actions: own, default_action: meant, view }
    }

    /// The names of all its actions, the host's own last.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        let names = self.actions.iter().map(|(action, _)| action.name.as_str());
        names.chain(self.host_actions.iter().map(|own| own.name())).collect()
    }
}

/// The facade's name for people.
pub(crate) fn title(contract: &Contract) -> String {
    let surface = contract.surface();
    if surface.title.is_empty() { surface.name.clone() } else { surface.title.clone() }
}

/// The places of these actions in the surface, bit by bit.
fn action_bits(contract: &Contract, holds: impl Fn(&Action) -> bool) -> u64 {
    let actions = contract.surface().actions.iter().enumerate();
    actions.filter(|(_, action)| holds(action)).fold(0, |mask, (index, _)| mask | 1 << index)
}
