//! `list`: epics, features or tasks, sorted by id.

use loggia_sdk::prelude::*;

use crate::{
    ids::Kind,
    outline::Epic,
    store::{EPICS, epic_of, missing},
    view::{EpicView, ShownState},
};

/// Epics per read: at their maximum size below the host's limit of 8 MiB.
const PART: u32 = 8;

/// An item of a list.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Row {
    pub id: String,
    pub title: String,
    pub state: ShownState,
    /// The epic of a feature, the feature of a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Done tasks of all, of an epic or a feature: `3/10`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
}

/// Filter of a list.
pub struct ListFilter {
    pub kind: Kind,
    pub state: Option<ShownState>,
    /// Id of an epic or a feature.
    pub parent: Option<String>,
    /// The archived items instead of the others.
    pub archived: bool,
}

impl ListFilter {
    /// Parses the state: one that is shown, or `archived`. As an enumeration it would cost a model twelve tokens on
    /// every turn.
    ///
    /// # Errors
    ///
    /// `invalid_params`, with the states.
    pub fn new(kind: Kind, state: Option<&str>, parent: Option<String>) -> Result<Self> {
        let archived = state == Some("archived");
        let state = state.filter(|_| !archived).map(|word| {
            ShownState::parse(word).ok_or_else(|| {
                Failure::invalid_params(format!("`state` is not one: \"{word}\""))
                    .hint("States are `todo` (ready to begin), `blocked`, `in_progress`, `done`, `cancelled`, `archived`.")
            })
        });
        Ok(Self { kind, state: state.transpose()?, parent, archived })
    }
}

/// Place in all items of a kind: an epic, and in it the last item shown.
struct Place {
    epic: String,
    item: String,
}

impl Place {
    /// Parses a cursor: `e_0001/t_0007`.
    fn parse(cursor: &str) -> Result<Self> {
        let parts = cursor.split_once('/').filter(|(epic, _)| Kind::of(epic) == Some(Kind::Epic));
        let (epic, item) = parts.ok_or_else(|| {
            Failure::invalid_params("`cursor` is not from `list`")
                .hint("Pass the `cursor` of the last answer as it is, or none.")
        })?;
        Ok(Self { epic: epic.to_owned(), item: item.to_owned() })
    }
}

/// Lists a page of items.
pub fn list(filter: &ListFilter, limit: u32, cursor: Option<&str>) -> Result<Reply<Vec<Row>>> {
    let place = cursor.map(Place::parse).transpose()?;
    let mut page = RowPage { filter, limit: limit as usize, rows: Vec::new(), cursor: None };
    if let Some(parent) = &filter.parent {
        if Kind::of(parent) == Some(Kind::Task) {
            return Err(Failure::invalid_params(format!("`{parent}` is a task, which has no parts"))
                .hint("`parent` is an epic or a feature."));
        }
        let epic = epic_of(parent)?;
        if Kind::of(parent) == Some(Kind::Feature) && epic.feature_at(parent).is_none() {
            return Err(missing(parent));
        }
        page.add(&epic, place.as_ref().map(|place| place.item.as_str()));
        return Ok(page.reply());
    }
    if let Some(place) = &place
        && let Some(epic) = EPICS.get(&place.epic)?
        && !page.add(&epic, Some(&place.item))
    {
        return Ok(page.reply());
    }
    let mut after = place.map(|place| place.epic);
    loop {
        let part = EPICS.page(after.as_deref(), PART)?;
        if part.items.iter().any(|item| !page.add(&item.value, None)) || part.cursor.is_none() {
            return Ok(page.reply());
        }
        after = part.cursor;
    }
}

struct RowPage<'f> {
    filter: &'f ListFilter,
    limit: usize,
    rows: Vec<Row>,
    cursor: Option<String>,
}

impl RowPage<'_> {
    /// Adds the rows of an epic after one of them; returns whether there is room for more.
    fn add(&mut self, epic: &Epic, after: Option<&str>) -> bool {
        // A row that is added after this one has been shown has a larger id: it is on a later page.
        let is_new = |row: &Row| after.is_none_or(|after| row.id.as_str() > after);
        for row in rows(epic, self.filter).into_iter().filter(is_new) {
            if self.rows.len() == self.limit {
                let last = self.rows.last();
                // The last row may be of an earlier epic; then this one begins at its first row.
                let item = last.map(|row| row.id.clone()).filter(|id| belongs(epic, id)).unwrap_or_default();
                self.cursor = Some(format!("{}/{item}", epic.id));
                return false;
            }
            self.rows.push(row);
        }
        true
    }

    fn reply(self) -> Reply<Vec<Row>> {
        let mut page = Page::of(self.rows.len());
        page.cursor = self.cursor;
        Reply::new(self.rows).page(page)
    }
}

fn belongs(epic: &Epic, id: &str) -> bool {
    epic.id == id || epic.feature_at(id).is_some() || epic.task_at(id).is_some()
}

fn rows(epic: &Epic, filter: &ListFilter) -> Vec<Row> {
    let view = EpicView::new(epic);
    let parent = filter.parent.as_deref().filter(|parent| *parent != epic.id);
    let rows: Vec<Row> = match filter.kind {
        Kind::Epic => vec![epic_row(&view)],
        Kind::Feature => epic
            .features
            .iter()
            .map(|feature| {
                let counts = view.counts_of(feature);
                Row {
                    id: feature.id.clone(),
                    title: feature.title.clone(),
                    state: view.feature_state(feature),
                    parent: Some(epic.id.clone()),
                    tasks: Some(format!("{}/{}", counts.done, counts.wanted())),
                    blocked_by: Vec::new(),
                }
            })
            .collect(),
        Kind::Task => epic
            .tasks
            .iter()
            .map(|task| {
                let state = view.state(task);
                let blockers = if task.state.is_open() { view.blockers(task) } else { Vec::new() };
                Row {
                    id: task.id.clone(),
                    title: task.title.clone(),
                    state,
                    parent: Some(task.feature.clone()),
                    tasks: None,
                    blocked_by: blockers.into_iter().map(str::to_owned).collect(),
                }
            })
            .collect(),
    };
    let is_wanted = |row: &Row| {
        let is_below = parent.is_none_or(|parent| row.id == parent || row.parent.as_deref() == Some(parent));
        let is_archived = epic.archived_by(&row.id).is_some();
        is_below && is_archived == filter.archived && filter.state.is_none_or(|state| state == row.state)
    };
    rows.into_iter().filter(is_wanted).collect()
}

fn epic_row(view: &EpicView<'_>) -> Row {
    let counts = view.counts();
    Row {
        id: view.epic.id.clone(),
        title: view.epic.title.clone(),
        state: view.epic_state(),
        parent: None,
        tasks: Some(format!("{}/{}", counts.done, counts.wanted())),
        blocked_by: Vec::new(),
    }
}
