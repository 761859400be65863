//! The public types and what is counted of their names.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::CrateSource;

/// Words that stand alone: those of the glossary in ARCHITECTURE.md, and of the contract's data.
pub const GLOSSARY: &[&str] = &[
    "Action", "Answer", "Call", "Catalog", "Envelope", "Facade", "Failure", "Fault", "Gate", "Grant",
    "Grants", "Limit", "Limits", "Plan", "Policy", "Port", "Progress", "Question", "Reply", "Request",
    "Session", "Source", "Surface", "Workflow",
];

/// Names that types of several crates share since they are the same concept on two sides of a border.
pub const SAME_CONCEPT: &[&str] = &[];

/// A type or trait that other modules can name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedType {
    /// `CallFrame`.
    pub name: String,
    /// `host/gate/src/call/frame.rs:12`.
    pub place: String,
    /// `loggia_gate`.
    pub krate: String,
}

impl NamedType {
    /// Of how many words the name is made: `CallFrame` of two.
    pub fn words(&self) -> usize {
        let mut words = 0;
        let mut before = false;
        for letter in self.name.chars() {
            words += usize::from(letter.is_uppercase() && !before);
            before = letter.is_uppercase();
        }
        words
    }
}

/// The public types of some crates.
pub fn types<'a>(crates: impl IntoIterator<Item = &'a CrateSource>) -> Vec<NamedType> {
    let mut all = Vec::new();
    for krate in crates {
        for module in krate.modules.values() {
            let types = module.types.iter().map(|(name, line)| NamedType {
                name: name.clone(),
                place: format!("{}:{line}", module.file),
                krate: krate.name.clone(),
            });
            all.extend(types);
        }
    }
    all.sort();
    all
}

/// The names that more than one type has, with the types.
pub fn shared(types: &[NamedType]) -> BTreeMap<&str, BTreeSet<&NamedType>> {
    let mut by_name: BTreeMap<&str, BTreeSet<&NamedType>> = BTreeMap::new();
    for named in types {
        by_name.entry(&named.name).or_default().insert(named);
    }
    by_name.retain(|_, types| types.len() > 1);
    by_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_by_their_capitals() {
        let words =
            |name: &str| NamedType { name: name.into(), place: String::new(), krate: String::new() }.words();
        assert_eq!(["Call", "CallFrame", "HTTPServer", "Fs", "RunId"].map(words), [1, 2, 1, 1, 2]);
    }
}
