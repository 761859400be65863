//! Specification of an item: how it is done, how it is checked, and how it is scheduled.

use loggia_sdk::prelude::*;

use crate::{
    ids::Kind,
    outline::{Feature, Task},
    texts::{TextChange, Texts},
    validation::Validation,
};

/// Specification of a task. A feature has only `acceptance` and `order`, an epic only `acceptance`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// How it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Acceptance criteria.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Vec<String>>,
    /// Paths of the files to touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// What must hold before it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validations: Option<Vec<Validation>>,
    /// Position among its neighbours; default: as created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    /// `false`: nothing may run beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_run_in_parallel: Option<bool>,
    /// Minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_000_000))]
    pub estimate: Option<u32>,
}

impl Spec {
    /// Specification of a task, as stored.
    pub fn of_task(task: &Task) -> Self {
        let can_run_in_parallel = task.alone.then_some(false);
        Self { order: Some(task.order), can_run_in_parallel, estimate: task.estimate, ..Self::default() }
    }

    /// Specification of a feature, as stored.
    pub fn of_feature(feature: &Feature) -> Self {
        Self { order: Some(feature.order), ..Self::default() }
    }

    /// Adds the stored texts; empty ones are left out.
    #[must_use]
    pub fn with(self, texts: Texts) -> Self {
        fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
            (!list.is_empty()).then_some(list)
        }
        Self {
            instructions: Some(texts.instructions).filter(|text| !text.is_empty()),
            acceptance: some(texts.acceptance),
            files: some(texts.files),
            validations: some(texts.validations),
            ..self
        }
    }

    /// Its texts, as changes.
    pub fn texts(&self, summary: Option<&str>) -> TextChange {
        TextChange {
            summary: summary.map(str::to_owned),
            instructions: self.instructions.clone(),
            acceptance: self.acceptance.clone(),
            files: self.files.clone(),
            validations: self.validations.clone(),
        }
    }

    /// Refuses members that an item of this kind does not have.
    ///
    /// # Errors
    ///
    /// `invalid_params`.
    pub fn check(&self, kind: Kind) -> Result<()> {
        let members = [
            ("instructions", self.instructions.is_some()),
            ("files", self.files.is_some()),
            ("validations", self.validations.is_some()),
            ("can_run_in_parallel", self.can_run_in_parallel.is_some()),
            ("estimate", self.estimate.is_some()),
            ("order", self.order.is_some() && kind == Kind::Epic),
        ];
        let mut refused = members.into_iter().filter(|(_, given)| *given && kind != Kind::Task);
        let Some((name, _)) = refused.next() else { return Ok(()) };
        let (word, has) = match kind {
            Kind::Epic => ("an epic", "`acceptance`"),
            _ => ("a feature", "`acceptance` and `order`"),
        };
        Err(Failure::invalid_params(format!("`spec.{name}` is not of {word}"))
            .hint(format!("The `spec` of {word} has only {has}; put the rest on its tasks.")))
    }
}
