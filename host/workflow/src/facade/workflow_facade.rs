//! Facade of one workflow file.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    sync::Arc,
};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{
    Call, CallJournal, Facade, Failure, Reply, Session, StartCause, StartRule, Stop, Surface, code,
};

use super::{
    driver::{RunSurroundings, StepObserver, begin_run, resume_run},
    failure::{to_denied, to_failure, to_unavailable, to_unreadable},
    replay::ReplayedRun,
};
use crate::{
    Workflow,
    bind::{BoundWorkflow, bind, lacks_scope},
    engine::{RunOutcome, RunPlan},
};

/// Facade of one workflow file.
pub struct WorkflowFacade {
    surface: Arc<Surface>,
    /// Workflows in the order of the surface's actions.
    workflows: Vec<Arc<Workflow>>,
    start_rules: Vec<StartRule>,
    watcher: Option<StepObserver>,
}

impl WorkflowFacade {
    /// Creates a facade that publishes this surface.
    pub fn new(surface: Arc<Surface>, workflows: Vec<Arc<Workflow>>, watcher: Option<StepObserver>) -> Self {
        let start_rules = workflows.iter().flat_map(|workflow| start_rules(workflow)).collect();
        Self { surface, workflows, start_rules, watcher }
    }
}

impl Facade for WorkflowFacade {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn attached(&self, action: &str) -> &[String] {
        let own = self.workflows.iter().find(|workflow| workflow.name == action);
        own.map_or(&[], |workflow| &workflow.attach)
    }

    fn start_rules(&self) -> &[StartRule] {
        &self.start_rules
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        async move {
            let session = call.session.clone();
            let (history, writer) = match session.take_journal() {
                Some(CallJournal { history, writer }) => (history, Some(writer)),
                None => (Vec::new(), None),
            };
            let around = RunSurroundings { session, writer, watcher: self.watcher.as_ref() };
            let outcome = match ReplayedRun::from_history(&history).map_err(to_unreadable)? {
                Some(run) => resume_run(run, around).await,
                None => {
                    let workflow = self.workflows.iter().find(|workflow| workflow.name == call.action);
                    let workflow = workflow.ok_or_else(|| Failure::new(code::NOT_FOUND, "not found"))?;
                    let bound = bind_for_session(workflow, &call.session)?;
                    begin_run(&bound.plan, call, around).await
                }
            };
            match outcome {
                RunOutcome::Completed(output) => Ok(Reply::data(output)),
                RunOutcome::Failed(report) => Err(to_failure(*report).into()),
            }
        }
        .boxed()
    }
}

/// Lists the rules by which a workflow starts by itself.
fn start_rules(workflow: &Workflow) -> Vec<StartRule> {
    let Some(start) = &workflow.start else { return Vec::new() };
    let schedule = start.schedule.as_ref().map(|schedule| StartCause::Schedule {
        cron: schedule.cron.clone(),
        time_zone: schedule.time_zone.clone(),
        params: schedule.params.clone(),
    });
    let hook = start.hook.clone().map(|parameter| StartCause::Hook { parameter });
    let on_state = start.on_state.as_ref().map(|trigger| StartCause::StateChange {
        facade: trigger.facade.clone(),
        prefix: trigger.prefix.clone(),
        parameter: trigger.parameter.clone(),
    });
    let causes = schedule.into_iter().chain(hook).chain(on_state);
    causes
        .map(|cause| StartRule { action: workflow.name.clone(), service: start.service.clone(), cause })
        .collect()
}

/// Binds the workflow with the rights of its caller.
fn bind_for_session(workflow: &Arc<Workflow>, session: &Session) -> Result<BoundWorkflow, Failure> {
    let (denied, durable) = (Cell::new(false), RefCell::new(BTreeSet::new()));
    let peers = |facade: &str, action: &str| {
        let found = session.lookup(facade, action).map(|found| {
            if found.is_durable {
                durable.borrow_mut().insert(facade.to_owned());
            }
            found.action
        });
        found.inspect_err(|failure| denied.set(denied.get() || lacks_scope(failure)))
    };
    let mut bound = bind(workflow, &peers).map_err(|problems| match problems.first() {
        Some(first) if denied.get() => to_denied(workflow, first),
        _ => to_unavailable(workflow, &problems),
    })?;
    let durable = durable.into_inner();
    let RunPlan { targets, compensations, .. } = &mut bound.plan;
    for target in targets.iter_mut().chain(compensations).flatten() {
        target.durable = durable.contains(&target.facade);
    }
    Ok(bound)
}
