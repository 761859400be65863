//! `create_epic_complete`: an epic with its features and tasks, in one transaction.

use loggia_sdk::{
    prelude::*,
    state::{self, Transaction},
};

use crate::{
    cycles::find_cycle,
    draft::{Created, CreatedFeature, FeatureDraft, TaskDraft},
    ids::Kind,
    index::{feature_ids, task_ids},
    outline::{Epic, Feature, TASKS, Task, TaskState},
    store::{EPICS, IdSource, TEXTS, now},
    texts::{TextChange, Texts, tidy_title},
};

/// A request.
pub struct EpicDraft {
    pub title: String,
    pub texts: TextChange,
    pub features: Vec<FeatureDraft>,
}

/// Creates the epic.
///
/// # Errors
///
/// `invalid_params`, with the place in the request; then nothing was written.
pub fn create(draft: EpicDraft) -> Result<Reply<Created>> {
    let tasks: usize = draft.features.iter().map(|feature| feature.tasks().len()).sum();
    if tasks > TASKS {
        let failure = Failure::invalid_params(format!("`features` has {tasks} tasks: at most {TASKS}"));
        return Err(failure.hint("Make several epics."));
    }
    let title = tidy_title(&draft.title)?;
    draft.texts.check()?;
    let prepared = draft.features.iter().enumerate().map(|(at, feature)| prepare(at, feature));
    let prepared = prepared.collect::<Result<Vec<_>>>()?;
    let created = state::transaction(|tx| {
        let (epic, created) = outline(tx, &title, &draft.features)?;
        write(tx, &epic, &draft.texts, &prepared, &created)?;
        Ok(created)
    })?;
    let features = created.features.len();
    let next = Next::action("plan").param("id", &created.id).reason("to see what can begin");
    let plural = |count: usize, word| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let message = format!("Created with {} and {}.", plural(features, "feature"), plural(tasks, "task"));
    Ok(Reply::new(created).message(message).next(next))
}

/// Checked texts of a feature, and of its tasks.
type Prepared = (TextChange, Vec<TextChange>);

fn prepare(at: usize, feature: &FeatureDraft) -> Result<Prepared> {
    let place = format!("features[{at}]");
    let texts = TextChange { summary: feature.summary.clone(), ..TextChange::default() };
    let checked = texts.check().and_then(|()| tidy_title(&feature.title));
    checked.map_err(|failure| within(&place, failure))?;
    let task = |(at, task): (usize, &TaskDraft)| {
        let texts = task.texts();
        let checked = texts.check().and_then(|()| tidy_title(&task.title));
        checked.map_err(|failure| within(&format!("{place}.tasks[{at}]"), failure))?;
        Ok(texts)
    };
    let tasks = feature.tasks().iter().enumerate().map(task).collect::<Result<Vec<_>>>()?;
    Ok((texts, tasks))
}

/// Names the place of a mistake in the request.
fn within(place: &str, mut failure: Failure) -> Failure {
    failure.message = format!("{place}: {}", failure.message);
    failure
}

/// The epic's row, with new ids, and these in the shape of the request.
fn outline(tx: &Transaction, title: &str, features: &[FeatureDraft]) -> Result<(Epic, Created)> {
    let mut ids = IdSource::open(tx)?;
    let id = ids.next(Kind::Epic);
    let created: Vec<CreatedFeature> = features
        .iter()
        .map(|feature| CreatedFeature {
            id: ids.next(Kind::Feature),
            tasks: feature.tasks().iter().map(|_| ids.next(Kind::Task)).collect(),
        })
        .collect();
    ids.close()?;
    let now = now();
    let mut epic = Epic {
        id: id.clone(),
        title: title.to_owned(),
        version: 1,
        archived: false,
        created: now,
        updated: now,
        features: Vec::with_capacity(features.len()),
        tasks: Vec::new(),
    };
    for (at, (feature, made)) in features.iter().zip(&created).enumerate() {
        let depends_on = feature_ids(at, feature, &created)
            .map_err(|failure| within(&format!("features[{at}].depends_on"), failure))?;
        epic.features.push(Feature {
            id: made.id.clone(),
            title: feature.title.trim().to_owned(),
            version: 1,
            order: at as u32 + 1,
            depends_on,
            archived: false,
        });
        for (number, (task, id)) in feature.tasks().iter().zip(&made.tasks).enumerate() {
            let depends_on = task_ids((at, number), task, &created)
                .map_err(|failure| within(&format!("features[{at}].tasks[{number}].depends_on"), failure))?;
            let spec = task.spec.as_ref();
            let estimate = spec.and_then(|spec| spec.estimate).filter(|minutes| *minutes > 0);
            epic.tasks.push(Task {
                id: id.clone(),
                title: task.title.trim().to_owned(),
                version: 1,
                feature: made.id.clone(),
                state: TaskState::Todo,
                order: spec.and_then(|spec| spec.order).unwrap_or(number as u32 + 1),
                depends_on,
                alone: spec.and_then(|spec| spec.can_run_in_parallel) == Some(false),
                estimate,
                archived: false,
            });
        }
    }
    let created = Created { id, features: created };
    match find_cycle(&epic) {
        Some(cycle) => Err(cyclic(&epic, &cycle, &created)),
        None => Ok((epic, created)),
    }
}

/// Failure for a cycle, which names its items as the request does.
fn cyclic(epic: &Epic, cycle: &[&str], created: &Created) -> Failure {
    let name = |id: &str| {
        let feature = created.features.iter().position(|feature| feature.id == id);
        let task =
            || {
                created.features.iter().enumerate().find_map(|(feature, made)| {
                    Some((feature, made.tasks.iter().position(|task| task == id)?))
                })
            };
        let index = match (feature, task()) {
            (Some(feature), _) => format!("feature {feature}"),
            (None, Some((feature, task))) => format!("task {feature}.{task}"),
            (None, None) => id.to_owned(),
        };
        format!("{index} \"{}\"", epic.title_of(id))
    };
    let path: Vec<String> = cycle.iter().map(|id| name(id)).collect();
    Failure::invalid_params(format!("dependencies form a cycle: {}", path.join(" → ")))
        .hint("Remove one of these dependencies. A task waits for all that its feature depends on.")
}

fn write(
    tx: &Transaction,
    epic: &Epic,
    texts: &TextChange,
    prepared: &[Prepared],
    created: &Created,
) -> Result<()> {
    EPICS.of(tx).put(&epic.id, epic)?;
    let put = |id: &str, change: &TextChange| {
        let mut texts = Texts { epic: epic.id.clone(), ..Texts::default() };
        change.clone().apply(&mut texts);
        TEXTS.of(tx).put(id, &texts)
    };
    put(&epic.id, texts)?;
    for ((feature, tasks), made) in prepared.iter().zip(&created.features) {
        put(&made.id, feature)?;
        for (texts, id) in tasks.iter().zip(&made.tasks) {
            put(id, texts)?;
        }
    }
    Ok(())
}
