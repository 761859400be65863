//! Dependencies by index: items of a request that have no ids yet.

use loggia_sdk::prelude::*;

use crate::{
    draft::{CreatedFeature, FeatureDraft, TaskDraft},
    outline::DEPENDENCIES,
};

/// Remedy for wrong indexes.
const HINT: &str =
    "Indexes count from 0: `\"0\"`; for tasks of another feature `\"1.0\"`: feature 1, task 0.";

/// Ids of the features that a feature depends on.
///
/// # Errors
///
/// `invalid_params` for an unknown index, and for its own.
pub fn feature_ids(at: usize, feature: &FeatureDraft, created: &[CreatedFeature]) -> Result<Vec<String>> {
    let indexes = feature.depends_on.as_deref().unwrap_or_default();
    unique(indexes.iter().map(|index| {
        let index = parse(index).ok_or_else(|| no_index(index))?;
        if index == at {
            return Err(itself(&format!("feature {at}"), &feature.title));
        }
        let found = created.get(index).map(|feature| feature.id.as_str());
        found.ok_or_else(|| unknown(&format!("feature {index}"), "features", created.len()))
    }))
}

/// Ids of the tasks that a task depends on.
///
/// # Errors
///
/// `invalid_params` for an unknown index, and for its own.
pub fn task_ids(at: (usize, usize), task: &TaskDraft, created: &[CreatedFeature]) -> Result<Vec<String>> {
    let indexes = task.depends_on.as_deref().unwrap_or_default();
    unique(indexes.iter().map(|index| {
        let (feature, number) = match index.split_once('.') {
            Some((feature, number)) => (parse(feature), parse(number)),
            None => (Some(at.0), parse(index)),
        };
        let (feature, number) = feature.zip(number).ok_or_else(|| no_index(index))?;
        if (feature, number) == at {
            return Err(itself(&format!("task {feature}.{number}"), &task.title));
        }
        let Some(found) = created.get(feature) else {
            return Err(unknown(&format!("feature {feature}"), "features", created.len()));
        };
        let task = found.tasks.get(number).map(String::as_str);
        task.ok_or_else(|| {
            let list = format!("features[{feature}].tasks");
            unknown(&format!("task {feature}.{number}"), &list, found.tasks.len())
        })
    }))
}

fn parse(index: &str) -> Option<usize> {
    index.trim().parse().ok()
}

fn unique<'a>(ids: impl Iterator<Item = Result<&'a str>>) -> Result<Vec<String>> {
    let mut unique: Vec<String> = Vec::new();
    for id in ids {
        let id = id?;
        if !unique.iter().any(|known| known == id) {
            unique.push(id.to_owned());
        }
    }
    if unique.len() > DEPENDENCIES {
        return Err(too_many(unique.len()));
    }
    Ok(unique)
}

/// Failure for too many dependencies.
pub fn too_many(count: usize) -> Failure {
    Failure::invalid_params(format!("{count} dependencies: at most {DEPENDENCIES}"))
        .hint("Leave out those that follow from others, or let the feature depend on a whole feature.")
}

fn no_index(index: &str) -> Failure {
    Failure::invalid_params(format!("`{index}` is not an index")).hint(HINT)
}

fn itself(name: &str, title: &str) -> Failure {
    Failure::invalid_params(format!("{name} \"{title}\" depends on itself")).hint(HINT)
}

fn unknown(name: &str, list: &str, count: usize) -> Failure {
    let has = match count {
        0 => "is empty".to_owned(),
        1 => "has only index 0".to_owned(),
        count => format!("has indexes 0 to {}", count - 1),
    };
    Failure::invalid_params(format!("there is no {name}: `{list}` {has}")).hint(HINT)
}
