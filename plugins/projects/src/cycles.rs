//! Cycles of dependencies.
//!
//! A task needs its dependencies and the start of its feature. A feature starts when the features that it depends on
//! have ended, and ends when it has started and all its tasks have ended. Archived and finished items take part, so that
//! restoring or reopening one never closes a cycle.

use crate::outline::Epic;

/// Visit of a node by the depth-first search.
#[derive(Clone, Copy, PartialEq)]
enum Visit {
    None,
    Open,
    Closed,
}

/// Finds a cycle: ids that each depend on the next one; the first is repeated at the end.
pub fn find_cycle(epic: &Epic) -> Option<Vec<&str>> {
    let needs = needs(epic);
    let mut visits = vec![Visit::None; needs.len()];
    for root in 0..needs.len() {
        // The path from the root, each node with the number of its visited needs.
        let mut path: Vec<(usize, usize)> = Vec::new();
        if visits[root] == Visit::None {
            visits[root] = Visit::Open;
            path.push((root, 0));
        }
        while let Some((node, visited)) = path.last_mut() {
            let Some(&need) = needs[*node].get(*visited) else {
                visits[*node] = Visit::Closed;
                path.pop();
                continue;
            };
            *visited += 1;
            match visits[need] {
                Visit::None => {
                    visits[need] = Visit::Open;
                    path.push((need, 0));
                }
                Visit::Open => {
                    let from = path.iter().position(|(node, _)| *node == need).unwrap_or_default();
                    return Some(named(epic, path[from..].iter().map(|(node, _)| *node)));
                }
                Visit::Closed => {}
            }
        }
    }
    None
}

/// Nodes that each node needs: the tasks, then the starts of the features, then their ends.
fn needs(epic: &Epic) -> Vec<Vec<usize>> {
    let (tasks, features) = (epic.tasks.len(), epic.features.len());
    let (start, end) = (|feature| tasks + feature, |feature| tasks + features + feature);
    let mut needs = vec![Vec::new(); tasks + 2 * features];
    for (at, feature) in epic.features.iter().enumerate() {
        needs[start(at)].extend(feature.depends_on.iter().filter_map(|id| epic.feature_at(id)).map(end));
        // Before its tasks, so that a cycle of features is found without them.
        needs[end(at)].push(start(at));
    }
    for (at, task) in epic.tasks.iter().enumerate() {
        needs[at].extend(task.depends_on.iter().filter_map(|id| epic.task_at(id)));
        if let Some(feature) = epic.feature_at(&task.feature) {
            needs[at].push(start(feature));
            needs[end(feature)].push(at);
        }
    }
    needs
}

/// Ids of the nodes, without repetitions where a feature both starts and ends, and closed.
fn named(epic: &Epic, nodes: impl Iterator<Item = usize>) -> Vec<&str> {
    let (tasks, features) = (epic.tasks.len(), epic.features.len());
    let id = |node: usize| match node.checked_sub(tasks) {
        None => epic.tasks[node].id.as_str(),
        Some(feature) => epic.features[feature % features.max(1)].id.as_str(),
    };
    let mut ids: Vec<&str> = nodes.map(id).collect();
    ids.dedup();
    if ids.len() > 1 && ids.first() == ids.last() {
        ids.pop();
    }
    ids.extend(ids.first().copied());
    ids
}
