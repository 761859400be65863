//! Which tools a snapshot of facades shows: one per facade, unless the operator wants it otherwise.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use loggia_schema::{ExposeOptions, SchemaForm, FormLadder, PublishedTool, ToolSplit, fit_budget};

use super::{
    entry::{Entry, Slot},
    exposure::{Rung, Shown, Tool},
    snapshot::Snapshot,
};
use crate::{access::Rights, tokens};

/// Why a tool is not shown, for the operator.
pub const HIDDEN: &str = "is not shown: another facade or tool has its name; rename one of them";

/// How facades are published whose policies do not say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Publisher {
    /// What input schemas show.
    pub form: SchemaForm,
    /// Into how many tools.
    pub split: ToolSplit,
    /// What the whole list may take, in tokens.
    pub budget: Option<usize>,
}

/// The tools of facades that are shown so, by name.
pub fn tools(shown: &[Shown]) -> BTreeMap<String, Tool> {
    let tools = shown.iter().flat_map(|shown| shown.tools.iter().map(move |tool| (shown, tool)));
    let named = tools.map(|(shown, published)| {
        let (facade, published) = (shown.facade.clone(), Arc::clone(published));
        (published.name.clone(), Tool { facade, published, expose: shown.expose })
    });
    named.collect()
}

/// The tools of a snapshot as a caller of these rights sees them, in the order of their names.
pub fn tools_for(snapshot: &Snapshot, rights: &Rights) -> Vec<PublishedTool> {
    let mut facades: BTreeMap<&str, Vec<PublishedTool>> = BTreeMap::new();
    let seen = snapshot.tools.iter().filter_map(|(name, Tool { facade, expose, .. })| {
        let Some(Slot::Serving(entry)) = snapshot.slots.get(facade) else { return None };
        let own = facades
            .entry(facade)
            .or_insert_with(|| entry.contract.publish_for(expose, |action| rights.allow(facade, action)));
        own.iter().find(|tool| tool.name == *name).cloned()
    });
    seen.collect()
}

impl Publisher {
    /// The tools of these facades, by name.
    pub fn tools(&self, slots: &BTreeMap<String, Slot>) -> BTreeMap<String, Tool> {
        tools(&self.shown(slots))
    }

    /// How each of these facades is shown, in their order.
    pub fn shown(&self, slots: &BTreeMap<String, Slot>) -> Vec<Shown> {
        let entries: Vec<&Entry> = slots
            .values()
            .filter_map(|slot| match slot {
                Slot::Serving(entry) => Some(&**entry),
                Slot::Unavailable(_) => None,
            })
            .collect();
        let ladders: Vec<&[Rung]> = entries.iter().map(|entry| self.rungs(entry)).collect();
        let chosen = self.choose(&ladders);
        let mut names = BTreeSet::new();
        let mut out = Vec::new();
        for ((entry, rungs), chosen) in entries.iter().zip(&ladders).zip(chosen) {
            let facade = &entry.surface().name;
            let Rung { form, tools, .. } = &rungs[chosen];
            // The name of a facade that serves is nobody else's, and of two tools of one name the first stays. What has
            // no name is not shown: shown under another, it would be called by who agreed to something else.
            let serves = |name: &String| matches!(slots.get(name), Some(Slot::Serving(_)));
            let is_taken = |name: &String| name != facade && (serves(name) || names.contains(name));
            let (taken, tools): (Vec<_>, Vec<_>) =
                tools.iter().cloned().partition(|tool| is_taken(&tool.name));
            let hidden = taken.iter().map(|tool| tool.name.clone()).collect();
            names.extend(tools.iter().map(|tool| tool.name.clone()));
            let expose = ExposeOptions { form: *form, ..self.expose(entry) };
            out.push(Shown { facade: facade.clone(), expose, tools, hidden });
        }
        out
    }

    /// How a facade is published where nothing has to be saved.
    pub fn expose(&self, entry: &Entry) -> ExposeOptions {
        let own = &entry.exposure;
        ExposeOptions {
            form: own.form.unwrap_or(self.form),
            split: own.split.unwrap_or(self.split),
            output_schema: own.output_schema,
            short_names: own.own_names,
        }
    }

    fn made(&self, entry: &Entry, expose: ExposeOptions) -> Vec<Arc<PublishedTool>> {
        entry.contract.publish(&expose).into_iter().map(Arc::new).collect()
    }

    /// The facade in the forms that come into question, the richest first.
    fn rungs<'a>(&self, entry: &'a Entry) -> &'a [Rung] {
        entry.exposure.rungs.get_or_init(|| {
            let expose = self.expose(entry);
            let forms = match (self.budget, entry.exposure.form) {
                (Some(_), None) => expose.form.fallbacks(),
                // What a policy says is not changed.
                _ => vec![expose.form],
            };
            let rung = |form| {
                let form = entry.contract.effective_form(form);
                let tools = self.made(entry, ExposeOptions { form, ..expose });
                let tokens =
                    self.budget.map_or(0, |_| tokens::measured(tools.iter().map(|tool| &**tool)).tokens);
                Rung { form, tools, tokens }
            };
            forms.into_iter().map(rung).collect()
        })
    }

    /// Which rung of each ladder is published.
    fn choose(&self, ladders: &[&[Rung]]) -> Vec<usize> {
        let Some(budget) = self.budget else { return vec![0; ladders.len()] };
        let costs = |rungs: &&[Rung]| FormLadder(rungs.iter().map(|rung| (rung.form, rung.tokens)).collect());
        let fitted = fit_budget(&ladders.iter().map(costs).collect::<Vec<_>>(), budget);
        if !fitted.fits {
            tracing::warn!(
                "the tool list takes {} tokens in its shortest form, more than the {budget} it may take",
                fitted.tokens
            );
        }
        let place = |(rungs, form): (&&[Rung], &SchemaForm)| rungs.iter().position(|rung| rung.form == *form);
        ladders.iter().zip(&fitted.forms).map(|pair| place(pair).unwrap_or(0)).collect()
    }
}
