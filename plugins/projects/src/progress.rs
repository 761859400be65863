//! `progress`: how far an epic is.

use loggia_sdk::prelude::*;

use crate::{
    outline::{Epic, Feature, Task},
    store::epic_of,
    view::{EpicView, ShownState, StateCounts},
};

/// How far an epic is. Archived parts are not counted.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct EpicProgress {
    pub id: String,
    pub title: String,
    pub state: ShownState,
    /// Done tasks of those that are not cancelled, rounded down.
    pub percent: u32,
    pub tasks: StateCounts,
    /// Estimates, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<MinuteCounts>,
    pub features: Vec<FeatureProgress>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<BlockedTask>,
}

/// Sums of estimates.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MinuteCounts {
    pub done: u64,
    pub left: u64,
    /// Open tasks without an estimate.
    pub unestimated: u32,
}

/// How far a feature is.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct FeatureProgress {
    pub id: String,
    pub title: String,
    pub state: ShownState,
    pub percent: u32,
    pub tasks: StateCounts,
}

/// A task that waits, or that was started although it should wait.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockedTask {
    pub id: String,
    pub title: String,
    /// Tasks and features that are not done.
    pub by: Vec<String>,
}

/// How far the epic of this item is.
///
/// # Errors
///
/// `not_found`.
pub fn progress(id: &str) -> Result<EpicProgress> {
    let epic = epic_of(id)?;
    let view = EpicView::new(&epic);
    let counts = view.counts();
    let feature = |feature: &Feature| {
        let tasks = view.counts_of(feature);
        FeatureProgress {
            id: feature.id.clone(),
            title: feature.title.clone(),
            state: view.feature_state(feature),
            percent: tasks.percent(),
            tasks,
        }
    };
    let features = view.features().into_iter().filter(|feature| !feature.archived).map(feature).collect();
    Ok(EpicProgress {
        id: epic.id.clone(),
        title: epic.title.clone(),
        state: view.epic_state(),
        percent: counts.percent(),
        tasks: counts,
        minutes: minutes(&view),
        features,
        blocked: blocked(&epic, &view),
    })
}

fn blocked(epic: &Epic, view: &EpicView<'_>) -> Vec<BlockedTask> {
    let open = epic.tasks.iter().filter(|task| task.state.is_open() && view.is_live(task));
    let blocked = open.map(|task| BlockedTask {
        id: task.id.clone(),
        title: task.title.clone(),
        by: view.blockers(task).into_iter().map(str::to_owned).collect(),
    });
    blocked.filter(|task| !task.by.is_empty()).collect()
}

fn minutes(view: &EpicView<'_>) -> Option<MinuteCounts> {
    let live = || view.epic.tasks.iter().filter(|task| view.is_live(task));
    if live().all(|task| task.estimate.is_none()) {
        return None;
    }
    let sum = |takes: fn(ShownState) -> bool| {
        let tasks = live().filter(|task| takes(view.state(task)));
        tasks.map(|task| u64::from(task.estimate.unwrap_or_default())).sum()
    };
    let unestimated = live().filter(|task: &&Task| task.state.is_open() && task.estimate.is_none());
    Some(MinuteCounts {
        done: sum(|state| state == ShownState::Done),
        left: sum(|state| !matches!(state, ShownState::Done | ShownState::Cancelled)),
        unestimated: u32::try_from(unestimated.count()).unwrap_or(u32::MAX),
    })
}
