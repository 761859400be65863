//! From paths to the modules that define what they name; and the cycles that these make.

use std::collections::{BTreeMap, BTreeSet};

use crate::{host_crates, source::CrateSource};

/// A re-export leads to another at most this often.
const HOPS: usize = 12;

/// Where something is: a crate, and a path in it, of which the first segments are modules.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// `loggia_schema`.
    pub krate: String,
    /// `["gate", "plan", "Plan"]`.
    pub path: Vec<String>,
}

/// Crates that may name each other.
pub struct SourceGraph {
    crates: BTreeMap<String, CrateSource>,
}

/// One module of a room that names another, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The module that imports, below the room.
    pub from: String,
    /// What it imports from.
    pub to: String,
}

impl SourceGraph {
    /// A graph of the host's crates.
    pub fn of_host() -> Self {
        let crates = host_crates().into_iter().map(|folder| CrateSource::of(&folder));
        Self { crates: crates.map(|krate| (krate.name.clone(), krate)).collect() }
    }

    /// The crates.
    pub fn crates(&self) -> impl Iterator<Item = &CrateSource> {
        self.crates.values()
    }

    /// Where what a path names is defined: beyond re-exports. None for what is no crate's of ours.
    pub fn resolve(&self, krate: &str, module: &[String], path: &[String]) -> Option<Place> {
        self.place(krate, module, path, HOPS)
    }

    fn place(&self, krate: &str, module: &[String], path: &[String], hops: usize) -> Option<Place> {
        let source = &self.crates[krate];
        let (first, rest) = path.split_first()?;
        let (krate, mut at, mut rest) = match first.as_str() {
            "crate" => (krate, Vec::new(), rest.to_vec()),
            "self" => (krate, module.to_vec(), rest.to_vec()),
            "super" => (krate, module[..module.len().checked_sub(1)?].to_vec(), rest.to_vec()),
            name if self.crates.contains_key(name) => (name, Vec::new(), rest.to_vec()),
            name if source.modules[module].children.contains(name) => (krate, module.to_vec(), path.to_vec()),
            _ => return None,
        };
        while rest.first().is_some_and(|name| name == "super") {
            at.pop()?;
            rest.remove(0);
        }
        let source = &self.crates[krate];
        // Down to the deepest module, and from there through re-exports.
        while let Some(name) = rest.first() {
            let module = &source.modules[&at];
            if module.children.contains(name) {
                at.push(rest.remove(0));
                continue;
            }
            if let Some(alias) = module.aliases.get(name)
                && hops > 0
            {
                let further: Vec<String> = alias.iter().chain(&rest[1..]).cloned().collect();
                if let Some(found) = self.place(krate, &at, &further, hops - 1) {
                    return Some(found);
                }
                // Something of another's that this module lends its name: it is this module's.
            }
            break;
        }
        at.extend(rest);
        Some(Place { krate: krate.to_owned(), path: at })
    }

    /// The edges among the modules right below a room of a crate, and between these and the room's own items, called
    /// `self`; with the place of one import for each.
    pub fn edges(&self, krate: &CrateSource, room: &[String]) -> BTreeMap<Edge, String> {
        let mut edges = BTreeMap::new();
        for (path, module) in krate.modules.iter().filter(|(path, _)| path.starts_with(room)) {
            let below = |path: &[String]| {
                let modules = krate.deepest(path);
                (modules > room.len()).then(|| path[room.len()].clone())
            };
            let from = below(path).unwrap_or_else(|| "self".to_owned());
            for import in &module.imports {
                let Some(place) = self.resolve(&krate.name, path, &import.path) else { continue };
                if place.krate != krate.name || !place.path.starts_with(room) {
                    continue;
                }
                let to = below(&place.path).unwrap_or_else(|| "self".to_owned());
                // A room's own file lists its modules.
                if to != from {
                    let place = format!("{}:{}: {}", module.file, import.line, import.path.join("::"));
                    edges.entry(Edge { from: from.clone(), to }).or_insert(place);
                }
            }
        }
        edges
    }

    /// The rooms of a crate: modules that hold modules.
    pub fn rooms(krate: &CrateSource) -> Vec<Vec<String>> {
        let rooms = krate.modules.iter().filter(|(_, module)| !module.children.is_empty());
        rooms.map(|(path, _)| path.clone()).collect()
    }
}

/// The groups of modules each of which reaches each other of its group.
pub fn cycles<'a>(edges: impl IntoIterator<Item = &'a Edge> + Clone) -> Vec<BTreeSet<&'a str>> {
    let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for edge in edges {
        reach.entry(&edge.from).or_default().insert(&edge.to);
    }
    loop {
        let mut grew = false;
        for from in reach.keys().copied().collect::<Vec<_>>() {
            let further: BTreeSet<&str> =
                reach[from].iter().filter_map(|to| reach.get(to)).flatten().copied().collect();
            let own = reach.get_mut(from).expect("one of its keys");
            let before = own.len();
            own.extend(further);
            grew |= own.len() > before;
        }
        if !grew {
            break;
        }
    }
    let mut groups: Vec<BTreeSet<&str>> = Vec::new();
    for (from, reached) in &reach {
        if reached.contains(from) && !groups.iter().any(|group| group.contains(from)) {
            let back = |to: &&&str| reach.get(**to).is_some_and(|back| back.contains(from));
            groups.push(reached.iter().filter(back).copied().collect());
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edges: &[(&str, &str)], expected: &[&[&str]]) {
        let edges: Vec<Edge> =
            edges.iter().map(|(from, to)| Edge { from: (*from).into(), to: (*to).into() }).collect();
        let got: Vec<Vec<&str>> =
            cycles(&edges).into_iter().map(|group| group.into_iter().collect()).collect();
        assert_eq!(got, expected, "{edges:?}");
    }

    #[test]
    fn modules_that_reach_each_other_are_a_cycle() {
        check(&[("a", "b"), ("b", "c"), ("a", "c")], &[]);
        check(&[("a", "b"), ("b", "a"), ("b", "c")], &[&["a", "b"]]);
        check(
            &[("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "d")],
            &[&["a", "b", "c"], &["d", "e"]],
        );
    }
}
