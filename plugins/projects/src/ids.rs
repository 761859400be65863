//! Ids of items: `e_0001`, `f_0001`, `t_0001`. As texts they sort by age.

use loggia_sdk::{prelude::*, state::id_with_number};

/// Kind of an item, which its id shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Epic,
    Feature,
    Task,
}

impl Kind {
    /// Kind of the item with this id; `None` if it is no id.
    pub fn of(id: &str) -> Option<Self> {
        [Self::Epic, Self::Feature, Self::Task].into_iter().find(|kind| id.starts_with(kind.prefix()))
    }

    /// The id with this number: at most 12 characters up to a number of nine digits, more than a store can hold.
    pub fn id(self, number: u32) -> String {
        id_with_number(self.prefix(), number.into())
    }

    /// The word for it in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Epic => "epic",
            Self::Feature => "feature",
            Self::Task => "task",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Epic => "e_",
            Self::Feature => "f_",
            Self::Task => "t_",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_shows_its_kind() {
        let kinds = ["e_0001", "f_0001", "t_A10000", "x_1", ""].map(Kind::of);
        assert_eq!(kinds, [Some(Kind::Epic), Some(Kind::Feature), Some(Kind::Task), None, None]);
    }
}
