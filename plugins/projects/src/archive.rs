//! `archive`: hides an item with everything below it, or restores it.

use loggia_sdk::prelude::*;

use crate::{
    ids::Kind,
    outline::Epic,
    store::{archived, change, missing},
};

/// An archived or restored item.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Archived {
    pub id: String,
    pub title: String,
    pub archived: bool,
    pub version: u32,
}

/// Archives or restores an item. What is below it follows, but stays archived if it was archived by itself.
///
/// # Errors
///
/// `conflict` for an item below an archived one.
pub fn archive(id: &str, wanted: bool) -> Result<Reply<Archived>> {
    let (data, features, tasks) = change(id, |_, epic| {
        // An item below an archived one is hidden by that, and shown again with it.
        if let Some(by) = epic.archived_by(id).filter(|by| *by != id) {
            return Err(archived(id, by));
        }
        let title = epic.title_of(id).to_owned();
        let (features, tasks) = below(epic, id);
        let (flag, version) = flag(epic, id)?;
        if *flag != wanted {
            *flag = wanted;
            *version = version.saturating_add(1);
        }
        let version = *version;
        Ok((Archived { id: id.to_owned(), title, archived: wanted, version }, features, tasks))
    })?;
    let verb = if wanted { "Archived" } else { "Restored" };
    let message = match Kind::of(id) {
        Some(Kind::Epic) => format!("{verb}, with {features} features and {tasks} tasks."),
        Some(Kind::Feature) => format!("{verb}, with {tasks} tasks."),
        _ => format!("{verb}."),
    };
    Ok(Reply::new(data).message(message))
}

fn flag<'a>(epic: &'a mut Epic, id: &str) -> Result<(&'a mut bool, &'a mut u32)> {
    if let Some(at) = epic.task_at(id) {
        let task = &mut epic.tasks[at];
        Ok((&mut task.archived, &mut task.version))
    } else if let Some(at) = epic.feature_at(id) {
        let feature = &mut epic.features[at];
        Ok((&mut feature.archived, &mut feature.version))
    } else if epic.id == id {
        Ok((&mut epic.archived, &mut epic.version))
    } else {
        Err(missing(id))
    }
}

/// Numbers of features and tasks below an item that are not archived by themselves.
fn below(epic: &Epic, id: &str) -> (usize, usize) {
    let is_whole = epic.id == id;
    let features = epic.features.iter().filter(|feature| !feature.archived);
    let tasks = epic.tasks.iter().filter(|task| {
        let feature = epic.feature_at(&task.feature);
        let is_hidden = feature.is_some_and(|at| epic.features[at].archived && epic.features[at].id != id);
        !task.archived && !is_hidden && (is_whole || task.feature == id)
    });
    (if is_whole { features.count() } else { 0 }, tasks.count())
}
