//! A workflow file, and the facades that its steps call.
//!
//! The surface depends on these facades, since a workflow has the worst effect of its steps. So its entry is rebuilt
//! when they change.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use loggia_facade::{Failure, code};
use loggia_gate::catalog::{CatalogEntry, CatalogSlot, CatalogSnapshot, FacadeExposure, PluginSkill};
use loggia_policy::model::{FacadeRules, InvokeRule, Policy};
use loggia_sandbox::ArtifactDigest;
use loggia_schema::{Contract, SurfaceProblems, sanitise_surface};
use loggia_workflow::{
    FileProblem, Workflow, WorkflowFacade, WorkflowFile,
    facade::StepObserver,
    surface::{FileSurface, build_surface},
};

/// A workflow file, read and checked.
pub struct WorkflowBundle {
    name: String,
    definition: WorkflowFile,
    workflows: Vec<Arc<Workflow>>,
    policy: Policy,
    digest: ArtifactDigest,
    policy_digest: Option<ArtifactDigest>,
    skill: Option<Arc<PluginSkill>>,
    /// Whether it refers to workflows of other files.
    pub has_references: bool,
}

impl WorkflowBundle {
    /// Creates a file from a linked definition and its policy.
    pub fn new(
        name: String,
        definition: WorkflowFile,
        policy: Policy,
        digest: ArtifactDigest,
        refers: bool,
    ) -> Self {
        let workflows = definition.workflows.iter().cloned().map(Arc::new).collect();
        Self {
            name,
            definition,
            workflows,
            policy,
            digest,
            policy_digest: None,
            skill: None,
            has_references: refers,
        }
    }

    /// Sets the digest of its policy file.
    #[must_use]
    pub fn with_policy_digest(self, policy_digest: Option<ArtifactDigest>) -> Self {
        Self { policy_digest, ..self }
    }

    /// Sets the skill that comes with the file.
    #[must_use]
    pub fn with_skill(self, skill: Option<Arc<PluginSkill>>) -> Self {
        Self { skill, ..self }
    }

    /// Returns the file with plans allowed for all of its workflows.
    pub fn with_dry_runs(&self) -> Self {
        let allow =
            |workflow: &Arc<Workflow>| Arc::new(Workflow { dry_runs: true, ..Workflow::clone(workflow) });
        Self {
            name: self.name.clone(),
            definition: self.definition.clone(),
            workflows: self.workflows.iter().map(allow).collect(),
            policy: self.policy.clone(),
            digest: self.digest,
            policy_digest: self.policy_digest,
            skill: self.skill.clone(),
            has_references: self.has_references,
        }
    }

    /// Builds its catalog entry beside these facades.
    ///
    /// # Errors
    ///
    /// If the surface exceeds its limits.
    pub fn entry(&self, beside: &CatalogSnapshot) -> Result<CatalogEntry, SurfaceProblems> {
        self.build_entry(beside, None)
    }

    fn build_entry(
        &self,
        beside: &CatalogSnapshot,
        watcher: Option<StepObserver>,
    ) -> Result<CatalogEntry, SurfaceProblems> {
        let surface = Arc::new(sanitise_surface(self.outlook(beside).surface));
        let contract = Contract::new(Arc::clone(&surface))?.with_policy(self.policy.terms.clone())?;
        let facade = WorkflowFacade::new(surface, self.workflows.clone(), watcher);
        let exposure = FacadeExposure::new(&self.policy.expose).with_own_names().with_prompts();
        let origin = format!("sha256:{}", self.digest);
        let entry = CatalogEntry::new(Arc::new(facade), contract, self.rules(beside), exposure, origin);
        Ok(entry.with_policy_digest(self.policy_digest).with_skill(self.skill.clone()))
    }

    /// Workflows of the file.
    pub fn workflows(&self) -> &[Arc<Workflow>] {
        &self.workflows
    }

    /// Builds its entry with a watcher of the steps.
    ///
    /// # Errors
    ///
    /// If the surface exceeds its limits.
    pub fn watched_entry(
        &self,
        slots: &BTreeMap<String, CatalogSlot>,
        watcher: StepObserver,
    ) -> Result<CatalogEntry, SurfaceProblems> {
        self.build_entry(&CatalogSnapshot::from_slots(slots.clone()), Some(watcher))
    }

    /// Rebuilds its entry if these facades change it.
    pub fn changed_entry(&self, entry: &CatalogEntry, beside: &CatalogSnapshot) -> Option<CatalogEntry> {
        let surface = sanitise_surface(self.outlook(beside).surface);
        let changed = surface != **entry.facade.surface() || self.rules(beside).invoke != entry.rules.invoke;
        // Its surface was valid before, and only effects can differ.
        changed.then(|| self.entry(beside).ok()).flatten()
    }

    /// Lists its workflows that cannot run beside these facades.
    pub fn blocked_workflows(&self, beside: &CatalogSnapshot) -> Vec<BlockedWorkflow> {
        let blocked = self.outlook(beside).unavailable.into_iter();
        blocked.map(|(name, problems)| BlockedWorkflow { name, problems }).collect()
    }

    /// Explains to the operator which workflows cannot run.
    pub fn unavailable(&self, beside: &CatalogSnapshot) -> Vec<String> {
        self.blocked_workflows(beside).iter().map(ToString::to_string).collect()
    }

    /// Problems of the file that do not prevent serving.
    pub fn warnings(&self) -> &[FileProblem] {
        &self.definition.warnings
    }

    fn outlook(&self, beside: &CatalogSnapshot) -> FileSurface {
        let rules = self.policy.stated.invoke.then_some(&self.policy.rules);
        let peers = |facade: &str, action: &str| {
            let found = beside.lookup_for_workflow(&self.name, facade, action)?;
            if rules.is_none_or(|rules| rules.reach_of(&self.name).may_invoke(facade, &found.name)) {
                return Ok(found);
            }
            let message = format!("its policy does not let it call `{facade:.80}:{:.80}`", found.name);
            Err(Failure::new(code::DENIED, message).hint("name it in `grants.invoke`"))
        };
        build_surface(&self.name, &self.definition, &self.workflows, &peers)
    }

    /// Derives what the steps may call. A definition names its calls, and arguments cannot change them, so it may make
    /// them unless its policy restricts it. For a missing facade, all candidates are allowed.
    fn rules(&self, beside: &CatalogSnapshot) -> FacadeRules {
        let mut rules = self.policy.rules.clone();
        let steps = || self.workflows.iter().flat_map(|workflow| &workflow.steps);
        if !self.policy.stated.invoke {
            let mut called = BTreeSet::new();
            for candidates in steps().flat_map(|step| step.calls()).map(|call| call.candidates()) {
                let found = candidates.iter().find_map(|candidate| {
                    let action = beside.lookup(&candidate.facade, &candidate.action).ok()?;
                    Some(InvokeRule::Action(candidate.facade.clone(), action.name))
                });
                match found {
                    Some(found) => drop(called.insert(found)),
                    None => called
                        .extend(candidates.into_iter().map(|candidate| InvokeRule::Facade(candidate.facade))),
                }
            }
            rules.invoke = called.into_iter().collect();
        }
        if !self.policy.stated.elicit {
            // A run continues to ask even if a new version of its file does not.
            rules.elicit = true;
        }
        rules
    }
}

/// A workflow that cannot run, with its problems.
#[derive(Debug)]
pub struct BlockedWorkflow {
    /// Name in its file.
    pub name: String,
    /// Never empty.
    pub problems: Vec<FileProblem>,
}

impl BlockedWorkflow {
    /// Whether it can run once the facades that it calls are served. Otherwise the file, a policy or a facade must
    /// change first.
    pub fn is_temporary(&self) -> bool {
        self.problems.iter().all(|problem| problem.temporary)
    }
}

impl fmt::Display for BlockedWorkflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if self.is_temporary() { "cannot run yet" } else { "cannot run until changed" };
        write!(f, "the workflow `{}` {when}: ", self.name)?;
        for (index, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if index > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}
