//! What follows from an epic's row: states, blockers, counts, order.

use loggia_sdk::prelude::*;

use crate::outline::{Epic, Feature, Task, TaskState};

/// State of an item, as shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShownState {
    Todo,
    InProgress,
    /// To do, but a dependency is not done.
    Blocked,
    Done,
    Cancelled,
}

impl ShownState {
    /// The state with this name.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "todo" => Self::Todo,
            "in_progress" => Self::InProgress,
            "blocked" => Self::Blocked,
            "done" => Self::Done,
            "cancelled" => Self::Cancelled,
            _ => return None,
        })
    }
}

/// Numbers of tasks by state, without archived ones and zeros.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StateCounts {
    #[serde(skip_serializing_if = "is_zero")]
    pub todo: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub in_progress: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub blocked: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub done: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub cancelled: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl StateCounts {
    fn add(&mut self, state: ShownState) {
        match state {
            ShownState::Todo => self.todo += 1,
            ShownState::InProgress => self.in_progress += 1,
            ShownState::Blocked => self.blocked += 1,
            ShownState::Done => self.done += 1,
            ShownState::Cancelled => self.cancelled += 1,
        }
    }

    /// Tasks that count: all but the cancelled ones.
    pub fn wanted(self) -> u32 {
        self.todo + self.in_progress + self.blocked + self.done
    }

    /// Done tasks of those that count, in percent, rounded down.
    pub fn percent(self) -> u32 {
        100 * self.done / self.wanted().max(1)
    }

    /// State of an epic or a feature with these tasks.
    fn state(self) -> ShownState {
        match (self.wanted(), self.cancelled) {
            (0, 0) => ShownState::Todo,
            (0, _) => ShownState::Cancelled,
            (wanted, _) if wanted == self.done => ShownState::Done,
            _ if self.in_progress + self.done > 0 => ShownState::InProgress,
            (wanted, _) if wanted == self.blocked => ShownState::Blocked,
            _ => ShownState::Todo,
        }
    }
}

/// An epic with what follows from it.
pub struct EpicView<'a> {
    pub epic: &'a Epic,
    /// By feature: whether it has open tasks, and so blocks what depends on it.
    is_open: Vec<bool>,
}

impl<'a> EpicView<'a> {
    pub fn new(epic: &'a Epic) -> Self {
        let mut is_open = vec![false; epic.features.len()];
        for task in epic.tasks.iter().filter(|task| task.state.is_open() && !task.archived) {
            if let Some(at) = epic.feature_at(&task.feature) {
                is_open[at] |= !epic.features[at].archived;
            }
        }
        Self { epic, is_open }
    }

    /// Whether neither the task nor its feature is archived. The epic itself may be.
    pub fn is_live(&self, task: &Task) -> bool {
        let feature = self.epic.feature_at(&task.feature);
        !task.archived && feature.is_some_and(|at| !self.epic.features[at].archived)
    }

    /// The tasks and features that must be done before this task: direct dependencies that are open.
    pub fn blockers(&self, task: &'a Task) -> Vec<&'a str> {
        let is_open_task =
            |at: usize| self.epic.tasks[at].state.is_open() && self.is_live(&self.epic.tasks[at]);
        let tasks = task.depends_on.iter().filter(|id| self.epic.task_at(id).is_some_and(is_open_task));
        let feature = self.epic.feature_at(&task.feature).map(|at| &self.epic.features[at]);
        let features = feature.into_iter().flat_map(|feature| &feature.depends_on);
        let features = features.filter(|id| self.epic.feature_at(id).is_some_and(|at| self.is_open[at]));
        tasks.chain(features).map(String::as_str).collect()
    }

    /// State of a task.
    pub fn state(&self, task: &'a Task) -> ShownState {
        match task.state {
            TaskState::Todo if self.blockers(task).is_empty() => ShownState::Todo,
            TaskState::Todo => ShownState::Blocked,
            TaskState::InProgress => ShownState::InProgress,
            TaskState::Done => ShownState::Done,
            TaskState::Cancelled => ShownState::Cancelled,
        }
    }

    /// Counts the tasks of the epic that are not archived.
    pub fn counts(&self) -> StateCounts {
        self.count(|_| true)
    }

    /// Counts the tasks of a feature that are not archived themselves.
    pub fn counts_of(&self, feature: &Feature) -> StateCounts {
        let mut counts = StateCounts::default();
        for task in self.epic.tasks.iter().filter(|task| task.feature == feature.id && !task.archived) {
            counts.add(self.state(task));
        }
        counts
    }

    fn count(&self, takes: impl Fn(&Task) -> bool) -> StateCounts {
        let mut counts = StateCounts::default();
        for task in self.epic.tasks.iter().filter(|task| self.is_live(task) && takes(task)) {
            counts.add(self.state(task));
        }
        counts
    }

    /// State of the epic.
    pub fn epic_state(&self) -> ShownState {
        self.counts().state()
    }

    /// State of a feature.
    pub fn feature_state(&self, feature: &Feature) -> ShownState {
        self.counts_of(feature).state()
    }

    /// Features in the order of work.
    pub fn features(&self) -> Vec<&'a Feature> {
        let mut features: Vec<&Feature> = self.epic.features.iter().collect();
        features.sort_by_key(|feature| (feature.order, &feature.id));
        features
    }

    /// Tasks of a feature in the order of work.
    pub fn tasks_of(&self, feature: &str) -> Vec<&'a Task> {
        let mut tasks: Vec<&Task> = self.epic.tasks.iter().filter(|task| task.feature == feature).collect();
        tasks.sort_by_key(|task| (task.order, &task.id));
        tasks
    }
}
