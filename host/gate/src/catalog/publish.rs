//! Chooses the published tools of a set of facades: one tool per facade unless the operator configures another form.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use loggia_schema::{ExposeOptions, FormLadder, SchemaForm, ToolSplit, fit_budget};

use super::{
    entry::{CatalogEntry, CatalogSlot},
    exposure::{PublishedFacade, PublishedForm},
};
use crate::access::CallerRights;

/// Reason for a warning about a listed name. Follows the name.
pub const UNSERVED_REASON: &str =
    "is to be listed (`publish.list`, --list), but no facade of this name is served";

/// Reason for a hidden tool, for the operator. Follows the tool's name.
pub const HIDDEN_REASON: &str = "is not published: another facade or tool has its name; rename one of them";

/// Settings of the server for the tools of all facades. Policies override them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolPublisher {
    /// Form of the input schemas.
    pub form: SchemaForm,
    /// Split into several tools.
    pub split: ToolSplit,
    /// Token budget of the whole list.
    pub budget: Option<usize>,
    /// Facades that are listed to clients. `None`: all. The others can be called by their names.
    pub listed: Option<Arc<BTreeSet<String>>>,
    /// The actions that clients see and call. `None`: all. The others do not exist for them.
    pub scope: Option<CallerRights>,
}

/// Logs that a facade is not published in the requested form: a warning if its policy asks for that form.
fn log_fallback(facade: &str, reason: &str, is_from_policy: bool) {
    if is_from_policy {
        tracing::warn!(facade, "{reason}");
    } else {
        tracing::info!(facade, "{reason}");
    }
}

impl ToolPublisher {
    /// Publishes each of these facades, in the order of their names.
    pub fn publish(&self, slots: &BTreeMap<String, CatalogSlot>) -> Vec<PublishedFacade> {
        let entries: Vec<&CatalogEntry> = slots
            .values()
            .filter_map(|slot| match slot {
                CatalogSlot::Serving(entry) => Some(&**entry),
                CatalogSlot::Unavailable(_) => None,
            })
            .filter(|entry| self.scope.as_ref().is_none_or(|scope| scope.reaches(&entry.surface().name)))
            .collect();
        // Listed facades choose their names first, and only they count against the budget.
        let (listed, unlisted): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| self.lists(&entry.surface().name));
        let ladders: Vec<Vec<Arc<PublishedForm>>> =
            listed.iter().map(|entry| self.candidate_forms(entry)).collect();
        let chosen = ladders.iter().zip(self.choose_forms(&ladders)).map(|(rungs, chosen)| &rungs[chosen]);
        let richest: Vec<_> =
            unlisted.iter().filter_map(|entry| self.candidate_forms(entry).into_iter().next()).collect();
        let forms: Vec<&PublishedForm> = chosen.chain(&richest).map(|form| &**form).collect();
        let mut names = BTreeSet::new();
        let mut out = Vec::new();
        for (entry, PublishedForm { form, tools, .. }) in listed.iter().chain(&unlisted).zip(forms) {
            let facade = &entry.surface().name;
            // A served facade keeps its name, and of two tools with one name the first keeps it. The other is hidden, not
            // renamed: clients remember approvals by tool name.
            let serves = |name: &String| matches!(slots.get(name), Some(CatalogSlot::Serving(_)));
            let is_taken = |name: &String| name != facade && (serves(name) || names.contains(name));
            let (taken, tools): (Vec<_>, Vec<_>) =
                tools.iter().cloned().partition(|tool| is_taken(&tool.name));
            let hidden = taken.iter().map(|tool| tool.name.clone()).collect();
            names.extend(tools.iter().map(|tool| tool.name.clone()));
            let expose = ExposeOptions { form: *form, ..self.expose(entry) };
            let listed = self.lists(facade);
            out.push(PublishedFacade { facade: facade.clone(), expose, tools, hidden, listed });
        }
        out.sort_by(|a, b| a.facade.cmp(&b.facade));
        out
    }

    /// Returns true if a facade of this name is listed to clients.
    fn lists(&self, facade: &str) -> bool {
        self.listed.as_ref().is_none_or(|listed| listed.contains(facade))
    }

    /// Iterates over the names of facades to list that are not served.
    pub fn unserved_names<'a>(
        &'a self,
        slots: &'a BTreeMap<String, CatalogSlot>,
    ) -> impl Iterator<Item = &'a String> {
        let is_served = |name: &&String| matches!(slots.get(*name), Some(CatalogSlot::Serving(_)));
        self.listed.iter().flat_map(|listed| listed.iter()).filter(move |name| !is_served(name))
    }

    /// Combines the settings of the server and the policy, without the budget.
    pub fn expose(&self, entry: &CatalogEntry) -> ExposeOptions {
        let own = &entry.exposure;
        ExposeOptions {
            form: own.form.unwrap_or(self.form),
            split: own.split.unwrap_or(self.split),
            output_schema: own.output_schema,
            short_names: own.short_names,
        }
    }

    /// Renders a facade in its candidate forms, the richest first.
    fn candidate_forms(&self, entry: &CatalogEntry) -> Vec<Arc<PublishedForm>> {
        let expose = self.expose(entry);
        let forms = match (self.budget, entry.exposure.form) {
            (Some(_), None) => expose.form.fallbacks(),
            // A form that the policy sets is never changed to save tokens.
            _ => vec![expose.form],
        };
        let mut forms: Vec<SchemaForm> =
            forms.into_iter().map(|form| entry.contract.effective_form(form)).collect();
        forms.dedup();
        let render = |form| {
            entry.exposure.forms.get((form, expose.split, self.scope.clone()), || {
                // Once for each version of a facade.
                if let Some(reason) = entry.contract.form_fallback(expose.form) {
                    log_fallback(&entry.surface().name, &reason, entry.exposure.form.is_some());
                }
                let (facade, expose) = (&entry.surface().name, ExposeOptions { form, ..expose });
                let tools = match &self.scope {
                    None => entry.contract.publish(&expose),
                    Some(scope) => {
                        let mut tools =
                            entry.contract.publish_for(&expose, |action| scope.allows(facade, action));
                        tools.iter_mut().for_each(|tool| tool.view = tool.view.clone().hide_withheld());
                        tools
                    }
                };
                PublishedForm {
                    form,
                    tools: tools.into_iter().map(Arc::new).collect(),
                    tokens: OnceLock::new(),
                }
            })
        };
        forms.into_iter().map(render).collect()
    }

    /// Chooses one of the candidate forms of each facade.
    fn choose_forms(&self, ladders: &[Vec<Arc<PublishedForm>>]) -> Vec<usize> {
        let Some(budget) = self.budget else { return vec![0; ladders.len()] };
        let costs = |rungs: &Vec<Arc<PublishedForm>>| {
            FormLadder(rungs.iter().map(|rung| (rung.form, rung.tokens())).collect())
        };
        let fitted = fit_budget(&ladders.iter().map(costs).collect::<Vec<_>>(), budget);
        if !fitted.fits {
            tracing::warn!(
                "the tool list takes {} tokens in its shortest form; the budget is {budget}",
                fitted.tokens
            );
        }
        let place = |(rungs, form): (&Vec<Arc<PublishedForm>>, &SchemaForm)| {
            rungs.iter().position(|rung| rung.form == *form)
        };
        ladders.iter().zip(&fitted.forms).map(|pair| place(pair).unwrap_or(0)).collect()
    }
}
