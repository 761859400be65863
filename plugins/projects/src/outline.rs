//! An epic as it is stored: one row with its features and tasks, without their texts.
//!
//! Every rule about dependencies, states and archives concerns one epic. As the epic is one row, a transaction that
//! checks a rule conflicts with every other change that could break it.

use loggia_sdk::prelude::*;

/// Features of an epic, archived ones included.
pub const FEATURES: usize = 100;
/// Tasks of an epic, archived ones included: with titles of full length, and all dependencies, the row stays below
/// the host's limit of 1 MiB.
pub const TASKS: usize = 500;
/// Dependencies of an item.
pub const DEPENDENCIES: usize = 20;

/// An epic. New fields need a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Epic {
    pub id: String,
    pub title: String,
    /// Counts the changes of the epic's own fields, from 1.
    pub version: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// Seconds since 1970.
    pub created: u64,
    /// Time of the last change to anything in it: seconds since 1970.
    pub updated: u64,
    /// Sorted by id.
    #[serde(default)]
    pub features: Vec<Feature>,
    /// Sorted by id.
    #[serde(default)]
    pub tasks: Vec<Task>,
}

/// A part of an epic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    pub id: String,
    pub title: String,
    pub version: u32,
    /// Position among the features, smallest first.
    pub order: u32,
    /// Features of the epic whose tasks come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

/// A step of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub title: String,
    pub version: u32,
    /// Id of its feature.
    pub feature: String,
    pub state: TaskState,
    /// Position among the tasks of the feature, smallest first.
    pub order: u32,
    /// Tasks of the epic that come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Whether nothing else may run beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// Minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

/// State of a task, as stored. `blocked` follows from the dependencies and is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Todo,
    InProgress,
    Done,
    Cancelled,
}

impl TaskState {
    /// Whether work is left.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Todo | Self::InProgress)
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::InProgress => "in_progress",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Epic {
    /// Position of a feature.
    pub fn feature_at(&self, id: &str) -> Option<usize> {
        self.features.binary_search_by(|feature| feature.id.as_str().cmp(id)).ok()
    }

    /// Position of a task.
    pub fn task_at(&self, id: &str) -> Option<usize> {
        self.tasks.binary_search_by(|task| task.id.as_str().cmp(id)).ok()
    }

    /// Title of the item with this id.
    pub fn title_of(&self, id: &str) -> &str {
        let feature = self.feature_at(id).map(|at| self.features[at].title.as_str());
        let task = || self.task_at(id).map(|at| self.tasks[at].title.as_str());
        feature.or_else(task).unwrap_or(&self.title)
    }

    /// The archived item that hides this one: itself, or one above it.
    pub fn archived_by(&self, id: &str) -> Option<&str> {
        let task = self.task_at(id).map(|at| &self.tasks[at]);
        let feature = self.feature_at(task.map_or(id, |task| &task.feature)).map(|at| &self.features[at]);
        // From above, because that is where restoring has to begin.
        let hidden = [
            Some((self.archived, &self.id)),
            feature.map(|feature| (feature.archived, &feature.id)),
            task.map(|task| (task.archived, &task.id)),
        ];
        hidden.into_iter().flatten().find(|(archived, _)| *archived).map(|(_, id)| id.as_str())
    }

    /// The order of a new feature: after all others.
    pub fn next_feature_order(&self) -> u32 {
        self.features.iter().map(|feature| feature.order).max().unwrap_or_default().saturating_add(1)
    }

    /// The order of a new task: after all others of the feature.
    pub fn next_task_order(&self, feature: &str) -> u32 {
        let orders = self.tasks.iter().filter(|task| task.feature == feature).map(|task| task.order);
        orders.max().unwrap_or_default().saturating_add(1)
    }
}
