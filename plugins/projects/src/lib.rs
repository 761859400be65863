//! Epics, features and tasks, as a Loggia plugin. See the README.

mod archive;
mod checks;
mod complete;
mod create;
mod cycles;
mod draft;
mod get;
mod ids;
mod index;
mod list;
mod outline;
mod plan;
mod progress;
mod schedule;
mod spec;
mod store;
mod texts;
mod upsert;
mod validation;
mod view;

use loggia_sdk::prelude::*;

use archive::Archived;
use complete::{Completed, CompletionRequest};
use create::EpicDraft;
use draft::{Created, FeatureDraft};
use get::Item;
use ids::Kind;
use list::{ListFilter, Row};
use plan::Plan;
use progress::EpicProgress;
use spec::Spec;
use texts::TextChange;
use upsert::{Changed, ItemChange, WantedState};

/// The facade.
pub struct Projects;

/// Epics of features of tasks.
#[facade(
    needs("store", "to store them"),
    wants("invoke: files:stat", "for the validation `file_exists`"),
    wants("invoke: files:search", "for the validation `file_matches`"),
    wants("elicit", "to ask a person for the validation `manual`")
)]
impl Projects {
    /// Create an epic with its features and tasks: all or nothing.
    #[action(
        write,
        example = r#"{"title": "Login", "features": [{"title": "Server", "tasks": [{"title": "Schema", "spec": {"estimate": 30}}, {"title": "Endpoint", "depends_on": ["0"]}]}, {"title": "Form", "depends_on": ["0"], "tasks": [{"title": "Page"}]}]}"#
    )]
    fn create_epic_complete(
        &self,
        #[param(length = 1..=200)] title: String,
        /// What it is about.
        #[param(length = 0..=2000)]
        summary: Option<String>,
        /// `depends_on` has indexes from 0: `"0"` of the same list, `"1.0"` for task 0 of feature 1.
        #[param(length = 1..=100)]
        features: Vec<FeatureDraft>,
    ) -> Result<Reply<Created>> {
        let texts = TextChange { summary, ..TextChange::default() };
        create::create(EpicDraft { title, texts, features })
    }

    /// Complete a task if all its validations pass.
    #[action(write, idempotent, open_world, example = r#"{"id": "t_0001"}"#)]
    fn complete_task_with_validation(
        &self,
        call: &Call,
        #[param(length = 1..=16)] id: String,
        /// The person who confirmed its `manual` validations, if nobody can be asked.
        #[param(length = 1..=100)]
        confirmed_by: Option<String>,
        /// Although tasks before it are open.
        #[param(default)]
        ignore_dependencies: bool,
    ) -> Result<Reply<Completed>> {
        complete::complete(call, &CompletionRequest { id, confirmed_by, ignore_dependencies })
    }

    /// Change an item (`id`, `version`), or create one: an epic, or a feature or task in `parent`.
    #[action(
        write,
        example = r#"{"id": "t_0001", "state": "in_progress"}"#,
        example = r#"{"parent": "f_0001", "title": "Tests", "depends_on": ["t_0002"], "spec": {"validations": [{"file_exists": "/src/tests.rs"}]}}"#
    )]
    #[allow(clippy::too_many_arguments)]
    fn upsert(
        &self,
        #[param(length = 1..=16)] id: Option<String>,
        /// As last seen; not needed if only `state` changes.
        version: Option<u32>,
        /// The epic of a new feature; the feature of a task.
        #[param(length = 1..=16)]
        parent: Option<String>,
        #[param(length = 1..=200)] title: Option<String>,
        #[param(length = 0..=2000)] summary: Option<String>,
        /// Of a task.
        #[param(
            hint = "`complete_task_with_validation` makes a task done; `blocked` follows from `depends_on`"
        )]
        state: Option<WantedState>,
        /// Ids of the tasks, or of a feature's features, that come first.
        depends_on: Option<Vec<String>>,
        /// Of a feature only `acceptance` and `order`, of an epic only `acceptance`.
        spec: Option<Spec>,
        /// Start although tasks before it are open.
        #[param(default)]
        ignore_dependencies: bool,
    ) -> Result<Changed> {
        let spec = spec.unwrap_or_default();
        let texts = spec.texts(summary.as_deref());
        let item = ItemChange { version, parent, title, state, depends_on, spec, texts, ignore_dependencies };
        match id {
            Some(id) => upsert::update(&id, &item),
            None => upsert::create(&item),
        }
    }

    /// List epics, features or tasks.
    #[action(read, example = r#"{"kind": "task", "state": "todo"}"#)]
    fn list(
        &self,
        #[param(default)] kind: Kind,
        /// `todo` (ready to begin), `blocked`, `in_progress`, `done`, `cancelled`, `archived`.
        #[param(length = 1..=16)]
        state: Option<String>,
        /// Only in this epic or feature.
        #[param(length = 1..=16)]
        parent: Option<String>,
        #[param(default = 20, range = 1..=200)] limit: u32,
        /// From the last answer.
        cursor: Option<String>,
    ) -> Result<Reply<Vec<Row>>> {
        list::list(&ListFilter::new(kind, state.as_deref(), parent)?, limit, cursor.as_deref())
    }

    /// Read an item: with detail `standard` with its parts, with `full` with their texts.
    #[action(read, details, example = r#"{"id": "e_0001"}"#)]
    fn get(&self, call: &Call, #[param(length = 1..=16)] id: String) -> Result<Reply<Item>> {
        get::get(&id, call.detail())
    }

    /// Hide an item with all below it, or restore it.
    #[action(write, idempotent, example = r#"{"id": "e_0001"}"#)]
    fn archive(
        &self,
        #[param(length = 1..=16)] id: String,
        /// `false` restores it.
        #[param(default = true)]
        archived: bool,
    ) -> Result<Reply<Archived>> {
        archive::archive(&id, archived)
    }

    /// Count an epic's tasks by state; blocked ones with what blocks them.
    #[action(read, example = r#"{"id": "e_0001"}"#)]
    fn progress(&self, #[param(length = 1..=16)] id: String) -> Result<EpicProgress> {
        progress::progress(&id)
    }

    /// Order an epic's open tasks: what can run side by side, and the critical path.
    #[action(read, example = r#"{"id": "e_0001"}"#)]
    fn plan(&self, #[param(length = 1..=16)] id: String) -> Result<Reply<Plan>> {
        plan::plan(&id)
    }
}

loggia_sdk::export!(Projects);

#[cfg(test)]
mod tests;
