//! A file of workflows on its way into the catalog.
//!
//! What it publishes depends on the facades that its steps call: a workflow is as harmful as the worst of them. So its
//! entry is made anew when they change.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Instant,
};

use loggia_facade::{Failure, code};
use loggia_gate::{
    access::{InvokeRule, Rules},
    catalog::{Entry, Exposure, Slot, Snapshot},
};
use loggia_sandbox::{Digest, Grants};
use loggia_schema::{Contract, sanitise_surface};
use loggia_workflow::{
    Definition, Problem, Workflow, WorkflowFacade,
    definition::{self, Form},
    facade::Watcher,
    surface::{Outlook, outlook},
};

use super::{
    AdmitError, Admitted, Facts,
    admit::{policy, read},
    granted::VersionGrants,
    scan::{Found, stem},
};
use crate::config::{Exposed, Policy};

/// Largest file of workflows.
const WORKFLOWS: u64 = 1 << 20;

/// A file of workflows, read and checked.
pub struct Composed {
    name: String,
    definition: Definition,
    workflows: Vec<Arc<Workflow>>,
    policy: Policy,
    digest: Digest,
    /// Whether it refers to workflows that other files define.
    pub refers: bool,
}

/// How often workflows are looked at beside others that changed: calls nest no deeper.
const ROUNDS: usize = 6;

/// Makes the entries anew of those workflows for which the facades that they call have changed, and gives what is served.
pub fn settle(mut workflows: Vec<(&Composed, &mut Arc<Entry>)>, slots: BTreeMap<String, Slot>) -> Snapshot {
    let mut beside = Snapshot::of(slots);
    for _ in 0..ROUNDS {
        let mut settled = true;
        for (composed, entry) in &mut workflows {
            let name = entry.surface().name.clone();
            let serves = |slot: &Slot| matches!(slot, Slot::Serving(own) if Arc::ptr_eq(own, entry));
            if beside.slots.get(&name).is_some_and(serves)
                && let Some(changed) = composed.changed(entry, &beside)
            {
                **entry = Arc::new(changed);
                beside.slots.insert(name, Slot::Serving(Arc::clone(entry)));
                settled = false;
            }
        }
        if settled {
            break;
        }
    }
    beside
}

impl Composed {
    /// Reads a file of workflows with all that it refers to.
    ///
    /// # Errors
    ///
    /// All that is wrong with the file.
    pub fn admit(found: &Found, begun: Instant) -> Result<Admitted, AdmitError> {
        let text = read(&found.path, WORKFLOWS)?;
        let composed = Self::read(found, &text)?;
        let facts = Facts {
            digest: composed.digest,
            bytes: text.len(),
            imports: Vec::new(),
            compiled: false,
            took: begun.elapsed(),
        };
        // Beside nobody: what is wrong with it by itself is found here.
        let entry = composed.entry(&Snapshot::default())?;
        let grants = VersionGrants::of(&composed.policy);
        Ok(Admitted { entry, composed: Some(Arc::new(composed)), grants, facts })
    }

    fn read(found: &Found, text: &[u8]) -> Result<Self, AdmitError> {
        let policy = policy(found)?;
        if let Some(grant) = needless(&policy.grants) {
            return Err(AdmitError::Needless(grant));
        }
        let mut definition = definition::read(&String::from_utf8_lossy(text))?;
        let refers = !definition.refs.is_empty();
        if refers {
            definition = definition::link(definition, &others(found))?;
        }
        let workflows: Vec<Arc<Workflow>> = definition.workflows.iter().cloned().map(Arc::new).collect();
        let file = found.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let own = definition.facade.clone().unwrap_or_else(|| stem(&file).to_owned());
        let name = policy.expose.name.clone().unwrap_or(own);
        Ok(Self { name, policy, workflows, definition, digest: Digest::of(text), refers })
    }

    fn entry(&self, beside: &Snapshot) -> Result<Entry, AdmitError> {
        self.made(beside, None)
    }

    fn made(&self, beside: &Snapshot, watcher: Option<Watcher>) -> Result<Entry, AdmitError> {
        let surface = Arc::new(sanitise_surface(self.outlook(beside).surface));
        let contract = Contract::new(Arc::clone(&surface))?.under(self.policy.terms.clone())?;
        let facade = WorkflowFacade::new(surface, self.workflows.clone(), watcher);
        let Exposed { form, split, output_schema, .. } = self.policy.expose;
        let exposure = Exposure::new(form, split, output_schema).under_own_names();
        let origin = format!("sha256:{}", self.digest);
        Ok(Entry::new(Arc::new(facade), contract, self.rules(beside), exposure, origin))
    }

    /// Its workflows.
    pub fn workflows(&self) -> &[Arc<Workflow>] {
        &self.workflows
    }

    /// Its entry beside these facades, whose steps somebody hears of.
    ///
    /// # Errors
    ///
    /// If what it publishes is more than a surface may hold.
    pub fn watched(&self, slots: &BTreeMap<String, Slot>, watcher: Watcher) -> Result<Entry, AdmitError> {
        self.made(&Snapshot::of(slots.clone()), Some(watcher))
    }

    /// Its entry beside these facades, if that is another than this one.
    fn changed(&self, entry: &Entry, beside: &Snapshot) -> Option<Entry> {
        let surface = sanitise_surface(self.outlook(beside).surface);
        let changed = surface != **entry.facade.surface() || self.rules(beside).invoke != entry.rules.invoke;
        // It could be published before, and only its effects can be others.
        changed.then(|| self.entry(beside).ok()).flatten()
    }

    /// Its workflows that cannot run beside these facades.
    pub fn blocked(&self, beside: &Snapshot) -> Vec<BlockedWorkflow> {
        let blocked = self.outlook(beside).unavailable.into_iter();
        blocked.map(|(name, problems)| BlockedWorkflow { name, problems }).collect()
    }

    /// What keeps its workflows from running beside these facades, in sentences for the operator.
    pub fn unavailable(&self, beside: &Snapshot) -> Vec<String> {
        self.blocked(beside).iter().map(ToString::to_string).collect()
    }

    /// What does no harm but should be known of the file.
    pub fn warnings(&self) -> &[Problem] {
        &self.definition.warnings
    }

    fn outlook(&self, beside: &Snapshot) -> Outlook {
        let rules = self.policy.said.invoke.then_some(&self.policy.rules);
        let peers = |facade: &str, action: &str| {
            let found = beside.sought(&self.name, facade, action)?;
            if rules.is_none_or(|rules| rules.may_invoke(facade, &found.name)) {
                return Ok(found);
            }
            let said = format!("its policy does not let it call `{facade:.80}:{:.80}`", found.name);
            Err(Failure::new(code::DENIED, said).hint("name it in `grants.invoke`"))
        };
        outlook(&self.name, &self.definition, &self.workflows, &peers)
    }

    /// A definition names what it calls, and no argument of a call can make it call something else. So it may do what it
    /// says, unless its policy says less. Of a tool that is not there, all that it may mean.
    fn rules(&self, beside: &Snapshot) -> Rules {
        let mut rules = self.policy.rules.clone();
        let steps = || self.workflows.iter().flat_map(|workflow| &workflow.steps);
        if !self.policy.said.invoke {
            let mut called = BTreeSet::new();
            for candidates in steps().filter_map(|step| step.call()).map(|call| call.candidates()) {
                let found = candidates.iter().find_map(|candidate| {
                    let action = beside.lookup(&candidate.facade, &candidate.action).ok()?;
                    Some((candidate.facade.clone(), Some(action.name)))
                });
                match found {
                    Some(found) => drop(called.insert(found)),
                    None => called.extend(candidates.into_iter().map(|candidate| (candidate.facade, None))),
                }
            }
            let rule = |(facade, action)| InvokeRule { facade, action };
            rules.invoke = called.into_iter().map(rule).collect();
        }
        if !self.policy.said.elicit {
            // A run that asks goes on though a new version of its file asks no more.
            rules.elicit = true;
        }
        rules
    }
}

/// A workflow that cannot run, and why.
#[derive(Debug)]
pub struct BlockedWorkflow {
    /// Its name in its file.
    pub name: String,
    /// Never empty.
    pub problems: Vec<Problem>,
}

impl BlockedWorkflow {
    /// Whether it can run as soon as the facades are served that it calls. Otherwise the file, a policy or a facade has
    /// to be changed first.
    pub fn is_temporary(&self) -> bool {
        self.problems.iter().all(|problem| problem.temporary)
    }
}

impl fmt::Display for BlockedWorkflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if self.is_temporary() { "cannot run now" } else { "cannot run as it is" };
        write!(f, "the workflow `{}` {when}: ", self.name)?;
        for (index, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if index > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

/// The resources that the folder's other files define. One that cannot be read defines none; its own admission says why.
fn others(found: &Found) -> Vec<Definition> {
    let others = found.workflows.iter().filter(|(path, _)| *path != found.path);
    let read = others.filter_map(|(path, _)| {
        let text = read(path, WORKFLOWS).ok()?;
        definition::read(&String::from_utf8_lossy(&text)).ok()
    });
    read.filter(|definition| definition.form == Form::Resource).collect()
}

/// A grant that means nothing to workflows.
fn needless(grants: &Grants) -> Option<&'static str> {
    let none = Grants::default();
    let of = [
        ("`dirs`", grants.dirs == none.dirs),
        ("`http` or `secrets`", grants.http == none.http),
        ("`env`", grants.env == none.env),
        ("`config`", grants.config == none.config),
        ("`store`", grants.store == none.store),
        ("`caller`", grants.caller == none.caller),
    ];
    of.into_iter().find(|(_, empty)| !empty).map(|(name, _)| name)
}
