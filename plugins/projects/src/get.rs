//! `get`: an item with its parts.

use loggia_sdk::{prelude::*, serde_json};

use crate::{
    ids::Kind,
    outline::Feature,
    spec::Spec,
    store::{TEXTS, epic_of, missing, moment, read_texts},
    texts::Completion,
    view::{EpicView, ShownState},
};

/// Bytes of the parts' texts, from which on parts are shown without them: the host accepts 1 MiB.
const BYTES: usize = 600 * 1024;

/// An item. Members above the detail level, and empty ones, are absent.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Item {
    pub id: String,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ShownState>,
    /// Of this item; `upsert` asks for it.
    pub version: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epic: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Those of them that are not done, and those of its feature.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<Spec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed: Option<Completion>,
    /// Parts of an epic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<FeaturePart>,
    /// Parts of a feature.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Of the whole epic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
}

/// A feature of an epic.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct FeaturePart {
    pub id: String,
    pub title: String,
    pub state: ShownState,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<Spec>,
    pub tasks: Vec<TaskPart>,
}

/// A task of a feature.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct TaskPart {
    pub id: String,
    pub title: String,
    pub state: ShownState,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<Spec>,
}

/// Reads an item.
///
/// # Errors
///
/// `not_found`.
pub fn get(id: &str, detail: Detail) -> Result<Reply<Item>> {
    let epic = epic_of(id)?;
    let view = EpicView::new(&epic);
    let mut item = item(&view, id)?;
    item.archived = epic.archived_by(id).is_some();
    if detail == Detail::Minimal {
        let Item { id, title, state, version, archived, .. } = item;
        return Ok(Reply::new(Item { id, title, state, version, archived, ..Item::default() }));
    }
    (item.features, item.tasks) = match Kind::of(id) {
        Some(Kind::Epic) => (feature_parts(&view), Vec::new()),
        Some(Kind::Feature) => (Vec::new(), task_parts(&view, id, item.archived)),
        _ => Default::default(),
    };
    let mut texts = TEXTS.get(id)?.ok_or_else(|| missing(id))?;
    item.summary = std::mem::take(&mut texts.summary);
    item.completed = texts.completed.take();
    item.spec = filled(item.spec.take().unwrap_or_default().with(texts));
    if detail < Detail::Full {
        return Ok(Reply::new(item));
    }
    item.created = (epic.id == id).then(|| moment(epic.created));
    item.updated = Some(moment(epic.updated));
    let left = add_texts(&view, &mut item)?;
    let reply = Reply::new(item);
    Ok(match left {
        0 => reply,
        count => {
            reply.message(format!("Too much for one answer: {count} parts without texts. `get` reads them."))
        }
    })
}

/// An item without texts and parts.
fn item(view: &EpicView<'_>, id: &str) -> Result<Item> {
    let epic = view.epic;
    let (own, title, above) = (id.to_owned(), epic.title_of(id).to_owned(), Some(epic.id.clone()));
    if let Some(at) = epic.task_at(id) {
        let task = &epic.tasks[at];
        let blockers = if task.state.is_open() { view.blockers(task) } else { Vec::new() };
        Ok(Item {
            id: own,
            title,
            state: Some(view.state(task)),
            version: task.version,
            epic: above,
            feature: Some(task.feature.clone()),
            depends_on: task.depends_on.clone(),
            blocked_by: blockers.into_iter().map(str::to_owned).collect(),
            spec: Some(Spec::of_task(task)),
            ..Item::default()
        })
    } else if let Some(at) = epic.feature_at(id) {
        let feature = &epic.features[at];
        Ok(Item {
            id: own,
            title,
            state: Some(view.feature_state(feature)),
            version: feature.version,
            epic: above,
            depends_on: feature.depends_on.clone(),
            spec: Some(Spec::of_feature(feature)),
            ..Item::default()
        })
    } else if epic.id == id {
        Ok(Item { id: own, title, state: Some(view.epic_state()), version: epic.version, ..Item::default() })
    } else {
        Err(missing(id))
    }
}

/// Parts of an epic, in the order of work, without archived ones.
fn feature_parts(view: &EpicView<'_>) -> Vec<FeaturePart> {
    let part = |feature: &Feature| FeaturePart {
        id: feature.id.clone(),
        title: feature.title.clone(),
        state: view.feature_state(feature),
        depends_on: feature.depends_on.clone(),
        summary: String::new(),
        spec: None,
        tasks: task_parts(view, &feature.id, false),
    };
    view.features().into_iter().filter(|feature| !feature.archived).map(part).collect()
}

/// Tasks of a feature, in the order of work. An archived feature is shown with its archived tasks.
fn task_parts(view: &EpicView<'_>, feature: &str, is_archived: bool) -> Vec<TaskPart> {
    let tasks = view.tasks_of(feature).into_iter().filter(|task| is_archived || !task.archived);
    tasks
        .map(|task| TaskPart {
            id: task.id.clone(),
            title: task.title.clone(),
            state: view.state(task),
            depends_on: task.depends_on.clone(),
            summary: String::new(),
            spec: None,
        })
        .collect()
}

/// `None` for a specification without members.
fn filled(spec: Spec) -> Option<Spec> {
    (spec != Spec::default()).then_some(spec)
}

/// Texts of a part: its summary and its specification.
type PartTexts<'a> = (&'a mut String, &'a mut Option<Spec>);

/// Adds the texts of the parts while they fit; returns the number of parts without theirs.
fn add_texts(view: &EpicView<'_>, item: &mut Item) -> Result<usize> {
    let own = serde_json::to_vec(item)?.len();
    let mut ids: Vec<String> = Vec::new();
    let mut parts: Vec<PartTexts<'_>> = Vec::new();
    for feature in &mut item.features {
        ids.push(feature.id.clone());
        parts.push((&mut feature.summary, &mut feature.spec));
        for task in &mut feature.tasks {
            ids.push(task.id.clone());
            parts.push((&mut task.summary, &mut task.spec));
        }
    }
    for task in &mut item.tasks {
        ids.push(task.id.clone());
        parts.push((&mut task.summary, &mut task.spec));
    }
    let (mut bytes, mut shown, mut parts) = (own, 0, parts.into_iter());
    let keys: Vec<&str> = ids.iter().map(String::as_str).collect();
    read_texts(&keys, |id, mut texts| {
        let summary = std::mem::take(&mut texts.summary);
        let task = view.epic.task_at(id).map(|at| Spec::of_task(&view.epic.tasks[at]));
        let feature = || view.epic.feature_at(id).map(|at| Spec::of_feature(&view.epic.features[at]));
        let spec = task.or_else(feature).unwrap_or_default().with(texts);
        bytes += serde_json::to_vec(&(&summary, &spec)).map_or(BYTES, |json| json.len());
        let fits = bytes <= BYTES;
        if fits && let Some((shown_summary, shown_spec)) = parts.next() {
            (*shown_summary, *shown_spec) = (summary, filled(spec));
            shown += 1;
        }
        fits
    })?;
    Ok(ids.len() - shown)
}
