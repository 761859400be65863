//! `upsert`: creates or changes one epic, feature or task.

use loggia_sdk::{
    prelude::*,
    state::{self, Transaction},
};

use crate::{
    complete::check_startable,
    cycles::find_cycle,
    ids::Kind,
    index::too_many,
    outline::{DEPENDENCIES, Epic, FEATURES, Feature, TASKS, Task, TaskState},
    spec::Spec,
    store::{EPICS, IdSource, TEXTS, archived, change, missing, now},
    texts::{TextChange, Texts, tidy_title},
    view::{EpicView, ShownState},
};

/// State that a caller can give a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WantedState {
    Todo,
    InProgress,
    Cancelled,
}

impl WantedState {
    fn stored(self) -> TaskState {
        match self {
            Self::Todo => TaskState::Todo,
            Self::InProgress => TaskState::InProgress,
            Self::Cancelled => TaskState::Cancelled,
        }
    }
}

/// Changes of an item, or a new one.
#[derive(Debug, Default)]
pub struct ItemChange {
    pub version: Option<u32>,
    pub parent: Option<String>,
    pub title: Option<String>,
    pub state: Option<WantedState>,
    pub depends_on: Option<Vec<String>>,
    pub spec: Spec,
    pub texts: TextChange,
    pub ignore_dependencies: bool,
}

/// An item after its change.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Changed {
    pub id: String,
    pub title: String,
    pub state: ShownState,
    /// Of this item; the next change names it.
    pub version: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
}

/// Creates an item: an epic, a feature of the epic `parent`, or a task of the feature `parent`.
///
/// # Errors
///
/// `invalid_params`, `not_found`, `conflict`.
pub fn create(item: &ItemChange) -> Result<Changed> {
    if item.version.is_some() {
        return Err(Failure::invalid_params("`version` without `id`")
            .hint("`version` belongs to a change of the item `id`; a new item has none."));
    }
    let title = item.title.as_deref().ok_or_else(|| {
        Failure::invalid_params("`title` is required for a new item")
            .hint("To change an item, pass its `id`. A new one is an epic, or with `parent` a part of it.")
    })?;
    let title = tidy_title(title)?;
    let Some(parent) = item.parent.as_deref() else { return create_epic(item, title) };
    let kind = match Kind::of(parent) {
        Some(Kind::Epic) => Kind::Feature,
        Some(Kind::Feature) => Kind::Task,
        Some(Kind::Task) => {
            return Err(Failure::invalid_params(format!("`{parent}` is a task, which has no parts"))
                .hint("`parent` is an epic for a new feature, or a feature for a new task."));
        }
        None => return Err(missing(parent)),
    };
    check_fields(kind, item)?;
    if item.state.is_some_and(|state| state != WantedState::Todo) {
        return Err(Failure::invalid_params("a new task is `todo`")
            .hint("Create it without `state`, and start it by its id."));
    }
    change(parent, |tx, epic| {
        if let Some(by) = epic.archived_by(parent) {
            return Err(archived(parent, by));
        }
        let mut ids = IdSource::open(tx)?;
        let id = ids.next(kind);
        ids.close()?;
        if kind == Kind::Feature {
            add_feature(epic, &id, &title, item)?;
        } else {
            add_task(epic, &id, &title, parent, item)?;
        }
        let mut texts = Texts { epic: epic.id.clone(), ..Texts::default() };
        item.texts.clone().apply(&mut texts);
        TEXTS.of(tx).put(&id, &texts)?;
        changed(epic, &id)
    })
}

fn create_epic(item: &ItemChange, title: String) -> Result<Changed> {
    check_fields(Kind::Epic, item)?;
    state::transaction(|tx| {
        let mut ids = IdSource::open(tx)?;
        let id = ids.next(Kind::Epic);
        ids.close()?;
        let (title, now) = (title.clone(), now());
        let (features, tasks) = Default::default();
        let epic =
            Epic { id, title, version: 1, archived: false, created: now, updated: now, features, tasks };
        EPICS.of(tx).put(&epic.id, &epic)?;
        let mut texts = Texts { epic: epic.id.clone(), ..Texts::default() };
        item.texts.clone().apply(&mut texts);
        TEXTS.of(tx).put(&epic.id, &texts)?;
        changed(&epic, &epic.id)
    })
}

fn add_feature(epic: &mut Epic, id: &str, title: &str, item: &ItemChange) -> Result<()> {
    if epic.features.len() >= FEATURES {
        let failure = Failure::conflict(format!("`{}` has {FEATURES} features already", epic.id));
        return Err(failure.hint("Begin another epic; archived features count, too."));
    }
    let order = item.spec.order.unwrap_or_else(|| epic.next_feature_order());
    epic.features.push(Feature {
        id: id.to_owned(),
        title: title.to_owned(),
        version: 1,
        order,
        depends_on: Vec::new(),
        archived: false,
    });
    depend(epic, id, item.depends_on.as_deref())
}

fn add_task(epic: &mut Epic, id: &str, title: &str, feature: &str, item: &ItemChange) -> Result<()> {
    if epic.tasks.len() >= TASKS {
        let failure = Failure::conflict(format!("`{}` has {TASKS} tasks already", epic.id));
        return Err(failure.hint("Begin another epic; archived tasks count, too."));
    }
    let order = item.spec.order.unwrap_or_else(|| epic.next_task_order(feature));
    epic.tasks.push(Task {
        id: id.to_owned(),
        title: title.to_owned(),
        version: 1,
        feature: feature.to_owned(),
        state: TaskState::Todo,
        order,
        depends_on: Vec::new(),
        alone: item.spec.can_run_in_parallel == Some(false),
        estimate: item.spec.estimate.filter(|minutes| *minutes > 0),
        archived: false,
    });
    depend(epic, id, item.depends_on.as_deref())
}

/// Changes an item.
///
/// # Errors
///
/// `invalid_params`, `not_found`, `conflict`.
pub fn update(id: &str, item: &ItemChange) -> Result<Changed> {
    let kind = Kind::of(id).ok_or_else(|| missing(id))?;
    check_fields(kind, item)?;
    let title = item.title.as_deref().map(tidy_title).transpose()?;
    let only_state = title.is_none()
        && item.parent.is_none()
        && item.depends_on.is_none()
        && item.spec == Spec::default()
        && item.texts.is_empty();
    if only_state && item.state.is_none() {
        return Err(Failure::invalid_params("nothing to change: pass the fields that change")
            .hint("`archive` hides an item, `complete_task_with_validation` completes a task."));
    }
    change(id, |tx, epic| {
        let version = version_of(epic, id)?;
        if let Some(by) = epic.archived_by(id) {
            return Err(archived(id, by));
        }
        // A transition is checked against the current state, so it needs no version.
        if item.version != Some(version) && !(only_state && item.version.is_none()) {
            return Err(stale(id, item.version, version));
        }
        let before = epic.clone();
        if let Some(title) = &title {
            set_title(epic, id, title);
        }
        reparent(epic, id, kind, item.parent.as_deref())?;
        depend(epic, id, item.depends_on.as_deref())?;
        set_metadata(epic, id, item);
        move_to(epic, id, item)?;
        let is_reopened = item.state == Some(WantedState::Todo);
        let has_texts = change_texts(tx, id, &item.texts, is_reopened)?;
        if *epic != before || has_texts {
            set_version(epic, id, version.saturating_add(1));
        }
        changed(epic, id)
    })
}

/// Refuses fields that an item of this kind does not have.
fn check_fields(kind: Kind, item: &ItemChange) -> Result<()> {
    item.texts.check()?;
    item.spec.check(kind)?;
    if kind == Kind::Task {
        return Ok(());
    }
    if item.state.is_some() {
        let message = format!("`state` is not of {}: it follows from its tasks", with_article(kind));
        return Err(Failure::invalid_params(message).hint("Change the tasks, or `archive` the whole."));
    }
    if kind == Kind::Epic && item.depends_on.is_some() {
        return Err(Failure::invalid_params("`depends_on` is not of an epic")
            .hint("Dependencies are among the features, or among the tasks, of one epic."));
    }
    Ok(())
}

fn with_article(kind: Kind) -> &'static str {
    match kind {
        Kind::Epic => "an epic",
        Kind::Feature => "a feature",
        Kind::Task => "a task",
    }
}

fn stale(id: &str, given: Option<u32>, version: u32) -> Failure {
    let reads = Next::action("get").param("id", id).reason("to see what it is now");
    match given {
        None => Failure::invalid_params(format!("`version` is required to change `{id}`"))
            .hint("Pass the `version` that you have seen, so that no other change is overwritten."),
        Some(given) => {
            Failure::conflict(format!("`{id}` was changed: it has version {version}, not {given}"))
                .hint("Read it, and make your change to what it is now.")
                .details(json!({"version": version}))
        }
    }
    .next(reads)
}

fn version_of(epic: &Epic, id: &str) -> Result<u32> {
    let task = || epic.task_at(id).map(|at| epic.tasks[at].version);
    let feature = || epic.feature_at(id).map(|at| epic.features[at].version);
    let own = (epic.id == id).then_some(epic.version);
    own.or_else(feature).or_else(task).ok_or_else(|| missing(id))
}

fn set_version(epic: &mut Epic, id: &str, version: u32) {
    if let Some(at) = epic.task_at(id) {
        epic.tasks[at].version = version;
    } else if let Some(at) = epic.feature_at(id) {
        epic.features[at].version = version;
    } else {
        epic.version = version;
    }
}

fn set_title(epic: &mut Epic, id: &str, title: &str) {
    let to = if let Some(at) = epic.task_at(id) {
        &mut epic.tasks[at].title
    } else if let Some(at) = epic.feature_at(id) {
        &mut epic.features[at].title
    } else {
        &mut epic.title
    };
    title.clone_into(to);
}

fn set_metadata(epic: &mut Epic, id: &str, item: &ItemChange) {
    if let Some(at) = epic.task_at(id) {
        let task = &mut epic.tasks[at];
        task.order = item.spec.order.unwrap_or(task.order);
        task.alone = item.spec.can_run_in_parallel.map_or(task.alone, |parallel| !parallel);
        task.estimate = item.spec.estimate.map_or(task.estimate, |minutes| (minutes > 0).then_some(minutes));
    } else if let Some(at) = epic.feature_at(id) {
        let feature = &mut epic.features[at];
        feature.order = item.spec.order.unwrap_or(feature.order);
    }
}

/// Moves a task to another feature of its epic.
fn reparent(epic: &mut Epic, id: &str, kind: Kind, parent: Option<&str>) -> Result<()> {
    let Some(parent) = parent else { return Ok(()) };
    let Some(at) = epic.task_at(id) else {
        // The parent that it has is no change.
        if kind == Kind::Feature && epic.id == parent {
            return Ok(());
        }
        return Err(Failure::invalid_params(format!("{} cannot be moved", with_article(kind)))
            .hint("Only a task can, to another feature of its epic."));
    };
    if epic.feature_at(parent).is_none() {
        return Err(Failure::not_found(format!(
            "not found: there is no feature `{parent}` in `{}`",
            epic.id
        ))
        .hint("A task can be moved to another feature of its epic.")
        .next(Next::action("get").param("id", &epic.id)));
    }
    if let Some(by) = epic.archived_by(parent) {
        return Err(archived(parent, by));
    }
    parent.clone_into(&mut epic.tasks[at].feature);
    check_cycles(epic)
}

/// Replaces the dependencies of an item.
fn depend(epic: &mut Epic, id: &str, depends_on: Option<&[String]>) -> Result<()> {
    let Some(given) = depends_on else { return Ok(()) };
    let kind = if epic.task_at(id).is_some() { Kind::Task } else { Kind::Feature };
    let mut unique: Vec<String> = Vec::new();
    for other in given {
        if other == id {
            return Err(Failure::invalid_params(format!("`{id}` cannot depend on itself"))
                .hint("Leave it out of `depends_on`."));
        }
        let exists = match kind {
            Kind::Task => epic.task_at(other).is_some(),
            _ => epic.feature_at(other).is_some(),
        };
        if !exists {
            let word = kind.word();
            return Err(Failure::not_found(format!(
                "not found: there is no {word} `{other}` in `{}`",
                epic.id
            ))
            .hint(format!("A {word} depends on {word}s of the same epic."))
            .next(Next::action("get").param("id", &epic.id)));
        }
        if !unique.contains(other) {
            unique.push(other.clone());
        }
    }
    if unique.len() > DEPENDENCIES {
        return Err(too_many(unique.len()));
    }
    if let Some(at) = epic.task_at(id) {
        epic.tasks[at].depends_on = unique;
    } else if let Some(at) = epic.feature_at(id) {
        epic.features[at].depends_on = unique;
    }
    check_cycles(epic)
}

fn check_cycles(epic: &Epic) -> Result<()> {
    let Some(cycle) = find_cycle(epic) else { return Ok(()) };
    let path: Vec<String> = cycle.iter().map(|id| format!("{id} \"{}\"", epic.title_of(id))).collect();
    Err(Failure::invalid_params(format!("dependencies would form a cycle: {}", path.join(" → ")))
        .hint("Remove one of these dependencies first. A task waits for all that its feature depends on.")
        .details(json!({"cycle": cycle})))
}

/// Changes the state of a task, if the transition is allowed.
fn move_to(epic: &mut Epic, id: &str, item: &ItemChange) -> Result<()> {
    let (Some(wanted), Some(at)) = (item.state, epic.task_at(id)) else { return Ok(()) };
    let (from, to) = (epic.tasks[at].state, wanted.stored());
    match (from, to) {
        _ if from == to => return Ok(()),
        (TaskState::Todo, TaskState::InProgress) => {
            check_startable(epic, &epic.tasks[at], "started", item.ignore_dependencies)?;
        }
        (_, TaskState::Todo) | (TaskState::Todo | TaskState::InProgress, TaskState::Cancelled) => {}
        _ => {
            let message = format!("`{id}` is {}: it cannot become {}", from.word(), to.word());
            return Err(Failure::conflict(message)
                .hint("Reopen it first, with `state: todo`.")
                .next(Next::action("upsert").param("id", id).param("state", TaskState::Todo)));
        }
    }
    epic.tasks[at].state = to;
    Ok(())
}

/// Changes the texts of an item; returns whether they differ now.
fn change_texts(tx: &Transaction, id: &str, texts: &TextChange, is_reopened: bool) -> Result<bool> {
    if texts.is_empty() && !is_reopened {
        return Ok(false);
    }
    let before = TEXTS.of(tx).get(id)?.ok_or_else(|| missing(id))?;
    let mut after = before.clone();
    texts.clone().apply(&mut after);
    if is_reopened {
        after.completed = None;
    }
    if after == before {
        return Ok(false);
    }
    TEXTS.of(tx).put(id, &after)?;
    Ok(true)
}

fn changed(epic: &Epic, id: &str) -> Result<Changed> {
    let view = EpicView::new(epic);
    let (state, blockers) = if let Some(at) = epic.task_at(id) {
        (view.state(&epic.tasks[at]), view.blockers(&epic.tasks[at]))
    } else if let Some(at) = epic.feature_at(id) {
        (view.feature_state(&epic.features[at]), Vec::new())
    } else {
        (view.epic_state(), Vec::new())
    };
    let is_open = matches!(state, ShownState::Blocked | ShownState::InProgress);
    let blocked_by = blockers.into_iter().filter(|_| is_open).map(str::to_owned).collect();
    let (id, title, version) = (id.to_owned(), epic.title_of(id).to_owned(), version_of(epic, id)?);
    Ok(Changed { id, title, state, version, blocked_by })
}
