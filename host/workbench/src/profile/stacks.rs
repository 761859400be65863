//! Collects the stacks of running guests, and sums them up.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

use loggia_sandbox::StackSampler;

/// Different stacks that are kept. Further ones count as their callers: a profile of more says little.
const MAX_STACKS: usize = 50_000;

/// Collects stacks. The lock is held for an insertion.
#[derive(Debug, Default)]
pub struct StackCollector(Mutex<HashMap<Vec<String>, usize>>);

impl StackCollector {
    /// Sums up what was collected.
    pub fn take(&self) -> StackTree {
        let stacks = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut tree = StackTree::new("all");
        for (stack, count) in stacks {
            tree.add(&stack, count);
        }
        tree
    }
}

impl StackSampler for StackCollector {
    fn sample(&self, stack: Vec<String>) {
        let mut stacks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stacks.len() < MAX_STACKS || stacks.contains_key(&stack) {
            *stacks.entry(stack).or_default() += 1;
        }
    }
}

/// Samples of a function and of those that it called, by name.
#[derive(Debug, Default)]
pub struct StackTree {
    /// The function; `all` at the root.
    pub name: String,
    samples: usize,
    own: usize,
    children: BTreeMap<String, StackTree>,
}

/// Samples of a function, wherever it was called.
#[derive(Debug, PartialEq)]
pub struct FunctionSum {
    /// The function.
    pub name: String,
    /// Samples in which it ran itself.
    pub own: usize,
    /// Samples in which it or a function that it called ran.
    pub total: usize,
}

impl StackTree {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Adds samples of a stack, the innermost function first.
    pub(crate) fn add(&mut self, stack: &[String], count: usize) {
        let mut at = self;
        at.samples += count;
        for name in stack.iter().rev() {
            let name = demangle(name);
            at = at.children.entry(name.clone()).or_insert_with(|| Self::new(&name));
            at.samples += count;
        }
        at.own += count;
    }

    /// Samples of it and of what it called.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Functions that it called, by name.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Self> {
        self.children.values()
    }

    /// Calls in the longest stack.
    pub(crate) fn depth(&self) -> usize {
        self.children().map(Self::depth).max().map_or(0, |depth| depth + 1)
    }

    /// Sums up each function; those that ran most come first.
    pub fn functions(&self) -> Vec<FunctionSum> {
        let mut sums = BTreeMap::new();
        self.sum_into(&mut BTreeSet::new(), &mut sums);
        let mut functions: Vec<_> = sums
            .into_iter()
            .map(|(name, (own, total))| FunctionSum { name: name.to_owned(), own, total })
            .collect();
        functions.sort_by(|a, b| (b.own, b.total, &a.name).cmp(&(a.own, a.total, &b.name)));
        functions
    }

    fn sum_into<'a>(&'a self, above: &mut BTreeSet<&'a str>, sums: &mut BTreeMap<&'a str, (usize, usize)>) {
        for child in self.children() {
            let sum = sums.entry(&child.name).or_default();
            sum.0 += child.own;
            // A function that calls itself counts once.
            let is_outermost = above.insert(&child.name);
            sum.1 += if is_outermost { child.samples } else { 0 };
            child.sum_into(above, sums);
            if is_outermost {
                above.remove(child.name.as_str());
            }
        }
    }

    /// Lists stacks as `outer;inner 12`.
    pub fn folded(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.fold_into("", &mut lines);
        lines
    }

    fn fold_into(&self, above: &str, lines: &mut Vec<String>) {
        for child in self.children() {
            let name = child.name.replace(';', ":");
            let path = if above.is_empty() { name } else { format!("{above};{name}") };
            if child.own > 0 {
                lines.push(format!("{path} {}", child.own));
            }
            child.fold_into(&path, lines);
        }
    }
}

/// Reads the name that Rust gave a function; other names stay.
fn demangle(name: &str) -> String {
    // Without the hash that tells versions of a crate apart.
    format!("{:#}", rustc_demangle::demangle(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> StackTree {
        let collector = StackCollector::default();
        for (stack, count) in [("c b a", 3), ("b a", 1), ("b b a", 2), ("d a", 4)] {
            for _ in 0..count {
                collector.sample(stack.split(' ').map(str::to_owned).collect());
            }
        }
        collector.take()
    }

    #[test]
    fn stacks_are_summed_by_function() {
        let tree = tree();
        let functions: Vec<_> =
            tree.functions().into_iter().map(|sum| (sum.name, sum.own, sum.total)).collect();
        let expected = [("d", 4, 4), ("b", 3, 6), ("c", 3, 3), ("a", 0, 10)];
        assert_eq!(functions, expected.map(|(name, own, total)| (name.to_owned(), own, total)));
        assert_eq!((tree.samples(), tree.depth()), (10, 3));
        assert_eq!(tree.folded(), ["a;b 1", "a;b;b 2", "a;b;c 3", "a;d 4"]);
    }

    #[test]
    fn names_of_rust_are_read() {
        assert_eq!(demangle("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(demangle("function 12"), "function 12");
    }
}
