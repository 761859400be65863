//! `plan`: the order of an epic's open tasks.

use loggia_sdk::prelude::*;

use crate::{
    cycles::find_cycle,
    outline::Epic,
    schedule::schedule,
    store::{archived, epic_of},
    view::EpicView,
};

/// Order of an epic's open tasks.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Plan {
    pub epic: String,
    /// The tasks of a wave can run side by side, once all before them are done.
    pub waves: Vec<Vec<PlannedTask>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical_path: Option<CriticalPath>,
}

/// A task of a plan.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedTask {
    pub id: String,
    pub title: String,
    /// Minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<u32>,
}

/// The longest chain of tasks that need each other: by estimate, or without estimates by number.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CriticalPath {
    pub tasks: Vec<String>,
    /// Sum of the estimates, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
}

/// Plans the epic of this item.
///
/// # Errors
///
/// `not_found`; `conflict` if its dependencies form a cycle.
pub fn plan(id: &str) -> Result<Reply<Plan>> {
    let epic = epic_of(id)?;
    if epic.archived {
        return Err(archived(&epic.id, &epic.id));
    }
    let view = EpicView::new(&epic);
    let schedule = schedule(&view).ok_or_else(|| cyclic(&epic))?;
    let task = |at: &usize| {
        let task = &epic.tasks[*at];
        PlannedTask { id: task.id.clone(), title: task.title.clone(), estimate: task.estimate }
    };
    let waves: Vec<Vec<PlannedTask>> =
        schedule.waves.iter().map(|wave| wave.iter().map(task).collect()).collect();
    let tasks: Vec<String> = schedule.critical_path.iter().map(|at| epic.tasks[*at].id.clone()).collect();
    let critical_path = (!tasks.is_empty())
        .then_some(CriticalPath { tasks, minutes: Some(schedule.minutes).filter(|minutes| *minutes > 0) });
    let is_empty = waves.is_empty();
    let reply = Reply::new(Plan { epic: epic.id.clone(), waves, critical_path });
    Ok(if is_empty { reply.message("No open tasks.") } else { reply })
}

/// Failure for a cycle. Changes refuse cycles, but imported state may have one.
fn cyclic(epic: &Epic) -> Failure {
    let cycle = find_cycle(epic).unwrap_or_default();
    let path: Vec<String> = cycle.iter().map(|id| format!("{id} \"{}\"", epic.title_of(id))).collect();
    Failure::conflict(format!("dependencies form a cycle: {}", path.join(" → ")))
        .hint("`upsert` removes one of these dependencies.")
        .details(json!({"cycle": cycle}))
}
