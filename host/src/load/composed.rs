//! A file of workflows beside the facades that its steps call.
//!
//! What it publishes depends on these facades: a workflow is as harmful as the worst of them. So its entry is rebuilt when
//! they change.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use loggia_facade::{Failure, code};
use loggia_gate::{
    access::{InvokeRule, Rules},
    catalog::{Entry, Exposure, Slot, Snapshot},
};
use loggia_sandbox::ArtifactDigest;
use loggia_schema::{Contract, SurfaceProblems, sanitise_surface};
use loggia_workflow::{
    FileProblem, Workflow, WorkflowFacade, WorkflowFile,
    facade::StepObserver,
    surface::{FileSurface, build_surface},
};

use crate::config::{Exposed, Policy};

/// A file of workflows, read and checked.
pub struct Composed {
    name: String,
    definition: WorkflowFile,
    workflows: Vec<Arc<Workflow>>,
    policy: Policy,
    digest: ArtifactDigest,
    /// Whether it refers to workflows that other files define.
    pub refers: bool,
}

impl Composed {
    /// The workflows of a definition to which nothing is left to be linked, under a policy.
    pub fn new(name: String, definition: WorkflowFile, policy: Policy, digest: ArtifactDigest, refers: bool) -> Self {
        let workflows = definition.workflows.iter().cloned().map(Arc::new).collect();
        Self { name, definition, workflows, policy, digest, refers }
    }

    /// Its entry beside these facades.
    ///
    /// # Errors
    ///
    /// If what it publishes is more than a surface may hold.
    pub fn entry(&self, beside: &Snapshot) -> Result<Entry, SurfaceProblems> {
        self.made(beside, None)
    }

    fn made(&self, beside: &Snapshot, watcher: Option<StepObserver>) -> Result<Entry, SurfaceProblems> {
        let surface = Arc::new(sanitise_surface(self.outlook(beside).surface));
        let contract = Contract::new(Arc::clone(&surface))?.with_policy(self.policy.terms.clone())?;
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
    pub fn watched(&self, slots: &BTreeMap<String, Slot>, watcher: StepObserver) -> Result<Entry, SurfaceProblems> {
        self.made(&Snapshot::of(slots.clone()), Some(watcher))
    }

    /// Its entry beside these facades, if that is another than this one.
    pub fn changed(&self, entry: &Entry, beside: &Snapshot) -> Option<Entry> {
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
    pub fn warnings(&self) -> &[FileProblem] {
        &self.definition.warnings
    }

    fn outlook(&self, beside: &Snapshot) -> FileSurface {
        let rules = self.policy.stated.invoke.then_some(&self.policy.rules);
        let peers = |facade: &str, action: &str| {
            let found = beside.sought(&self.name, facade, action)?;
            if rules.is_none_or(|rules| rules.may_invoke(facade, &found.name)) {
                return Ok(found);
            }
            let said = format!("its policy does not let it call `{facade:.80}:{:.80}`", found.name);
            Err(Failure::new(code::DENIED, said).hint("name it in `grants.invoke`"))
        };
        build_surface(&self.name, &self.definition, &self.workflows, &peers)
    }

    /// A definition names what it calls, and no argument of a call can make it call something else. So it may do what it
    /// says, unless its policy says less. Of a tool that is not there, all that it may mean.
    fn rules(&self, beside: &Snapshot) -> Rules {
        let mut rules = self.policy.rules.clone();
        let steps = || self.workflows.iter().flat_map(|workflow| &workflow.steps);
        if !self.policy.stated.invoke {
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
        if !self.policy.stated.elicit {
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
    pub problems: Vec<FileProblem>,
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
