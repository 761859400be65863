//! The part of a facade that one tool offers: all actions, those of one effect, or a single one.

use loggia_facade::{Action, Effect};

use crate::{
    contract::{build::Contract, rules::ActionRules},
    model::{
        action_set::ActionSet,
        host_action::HostAction,
        view::{CommandTarget, ToolView},
    },
    publish::expose::ToolSplit,
};

/// The part of a facade that one tool offers.
pub(crate) struct ToolPart<'a> {
    pub(crate) contract: &'a Contract,
    /// The tool's name.
    pub(crate) name: String,
    /// The tool's display name.
    pub(crate) title: String,
    /// The actions with their indices, in the order of the surface.
    pub(crate) actions: Vec<(usize, &'a Action)>,
    /// The host actions that make sense for them.
    pub(crate) host_actions: Vec<HostAction>,
    /// The action of a call that names none.
    pub(crate) default_action: Option<&'a str>,
    pub(crate) view: ToolView,
}

impl<'a> ToolPart<'a> {
    /// Splits a facade into the parts of its tools, restricted to the actions that the caller may call. Every caller
    /// gets tools of the same names.
    pub(crate) fn all(contract: &'a Contract, split: ToolSplit, allows: &impl Fn(&str) -> bool) -> Vec<Self> {
        let surface = contract.surface();
        let reads = ActionSet::matching(&surface.actions, |action| action.effect == Effect::Read);
        let writes = ActionSet::matching(&surface.actions, |action| action.effect != Effect::Read);
        let title = title(contract);
        if split == ToolSplit::None || reads.is_empty() || writes.is_empty() {
            let view = contract.narrow(&ToolView::all_actions(), allows);
            let default = |view: &ToolView| contract.default_action().filter(|index| view.shows(*index));
            let part =
                |view: ToolView| Self::new(contract, surface.name.clone(), title, default(&view), view);
            return view.map(part).into_iter().collect();
        }
        let write = format!("{}_write", surface.name);
        [
            (reads.clone(), surface.name.clone(), title.clone(), vec![(writes.clone(), write.clone())]),
            (writes, write, format!("{title} (write)"), vec![(reads, surface.name.clone())]),
        ]
        .into_iter()
        .filter_map(|(actions, name, title, others)| {
            // A tool with one action needs no name for it; the facade's default applies in the tool that offers it.
            let default = contract.default_action().filter(|index| actions.contains(*index));
            let default = default.or(actions.only());
            let view = ToolView::new(actions, default.map(CommandTarget::Action), others.into());
            let view = contract.narrow(&view, allows)?;
            let default = default.filter(|index| view.shows(*index));
            Some(Self::new(contract, name, title, default, view))
        })
        .collect()
    }

    fn new(
        contract: &'a Contract,
        name: String,
        title: String,
        default: Option<usize>,
        view: ToolView,
    ) -> Self {
        let default = default.map(|index| contract.surface().actions[index].name.as_str());
        let actions = contract.surface().actions.iter().enumerate();
        let actions: Vec<_> = actions.filter(|(index, _)| view.shows(*index)).collect();
        // Runs are looked up at the tool that started them.
        let runs =
            contract.policy().batch || actions.iter().any(|(index, _)| contract.may_become_run(*index));
        let host_actions: Vec<HostAction> =
            contract.host_actions().filter(|action| runs || !action.is_about_runs()).collect();
        let view = view.with_host_actions(&host_actions);
        Self { contract, name, title, actions, host_actions, default_action: default, view }
    }

    /// The actions with their rules.
    pub(crate) fn with_rules(&self) -> impl Iterator<Item = (&'a Action, &'a ActionRules)> {
        self.actions.iter().map(|(index, action)| (*action, self.contract.rules_at(*index)))
    }

    /// The names of the actions, without those of the host.
    pub(crate) fn action_names(&self) -> impl Iterator<Item = &'a str> {
        self.actions.iter().map(|(_, action)| action.name.as_str())
    }

    /// The names of all actions, host actions last.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        let names = self.action_names();
        names.chain(self.host_actions.iter().map(|host_action| host_action.name())).collect()
    }
}

/// The facade's display name.
pub(crate) fn title(contract: &Contract) -> String {
    let surface = contract.surface();
    if surface.title.is_empty() { surface.name.clone() } else { surface.title.clone() }
}
