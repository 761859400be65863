//! The request of `create_epic_complete`, and its answer.

use loggia_sdk::prelude::*;

use crate::{spec::Spec, texts::TextChange};

/// Feature of a request.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeatureDraft {
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    pub summary: Option<String>,
    /// Features that come first, by index from 0: `"0"`.
    #[schemars(extend("x-hint" = "indexes are texts and count from 0: [\"0\"]"))]
    pub depends_on: Option<Vec<String>>,
    pub tasks: Option<Vec<TaskDraft>>,
}

/// Task of a request.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskDraft {
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    pub summary: Option<String>,
    /// Tasks that come first, by index from 0: `"2"` of the same feature, `"1.0"` of feature 1.
    #[schemars(extend("x-hint" = "indexes are texts and count from 0: [\"0\", \"1.0\"]"))]
    pub depends_on: Option<Vec<String>>,
    pub spec: Option<Spec>,
}

/// Ids in the shape of the request.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Created {
    pub id: String,
    pub features: Vec<CreatedFeature>,
}

/// Ids of a feature and its tasks.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CreatedFeature {
    pub id: String,
    pub tasks: Vec<String>,
}

impl FeatureDraft {
    /// Its tasks.
    pub fn tasks(&self) -> &[TaskDraft] {
        self.tasks.as_deref().unwrap_or_default()
    }
}

impl TaskDraft {
    /// Its texts.
    pub fn texts(&self) -> TextChange {
        self.spec.clone().unwrap_or_default().texts(self.summary.as_deref())
    }
}
