//! Which actions take a parameter of a name.

use std::collections::HashMap;

/// The actions that take a parameter, by its name. Built once per facade, so that a call with many unknown names does
/// not search all schemas for each.
pub(crate) struct ParameterOwners(HashMap<Box<str>, Vec<u32>>);

impl ParameterOwners {
    /// Collects the parameters of actions, given by index.
    pub(crate) fn collect<'a>(actions: impl IntoIterator<Item = (usize, Vec<&'a str>)>) -> Self {
        let mut owners: HashMap<Box<str>, Vec<u32>> = HashMap::new();
        for (index, names) in actions {
            let Ok(index) = u32::try_from(index) else { break };
            for name in names {
                match owners.get_mut(name) {
                    Some(known) => known.push(index),
                    None => drop(owners.insert(name.into(), vec![index])),
                }
            }
        }
        Self(owners)
    }

    /// The indices of the actions that take this parameter, in their order.
    pub(crate) fn of(&self, name: &str) -> impl Iterator<Item = usize> {
        self.0.get(name).into_iter().flatten().map(|index| *index as usize)
    }
}
