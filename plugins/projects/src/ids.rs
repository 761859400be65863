//! Ids of items: `e_0001`, `f_0001`, `t_0001`. As texts they sort by age.

use loggia_sdk::prelude::*;

/// Kind of an item, which its id shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Epic,
    Feature,
    Task,
}

/// The largest number with four digits. Larger numbers are preceded by a letter for their length, `A` for five digits,
/// which sorts after all digits.
const SHORT: u32 = 9_999;

impl Kind {
    /// Kind of the item with this id; `None` if it is no id.
    pub fn of(id: &str) -> Option<Self> {
        [Self::Epic, Self::Feature, Self::Task].into_iter().find(|kind| id.starts_with(kind.prefix()))
    }

    /// The id with this number: at most 12 characters up to a number of nine digits, more than a store can hold.
    pub fn id(self, number: u32) -> String {
        let prefix = self.prefix();
        if number <= SHORT {
            return format!("{prefix}{number:04}");
        }
        let digits = number.to_string();
        let letter = char::from(b'A' + digits.len().saturating_sub(5) as u8);
        format!("{prefix}{letter}{digits}")
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
    fn ids_sort_as_they_were_made() {
        let numbers = [1, 2, 9, 10, 9_998, 9_999, 10_000, 99_999, 100_000, 1_234_567, 999_999_999];
        let ids = numbers.map(|number| Kind::Task.id(number));
        assert!(ids.is_sorted(), "{ids:?}");
        assert!(ids.iter().all(|id| id.len() <= 12), "{ids:?}");
        assert_eq!((ids[0].as_str(), ids[6].as_str()), ("t_0001", "t_A10000"));
    }

    #[test]
    fn an_id_shows_its_kind() {
        let kinds = ["e_0001", "f_0001", "t_A10000", "x_1", ""].map(Kind::of);
        assert_eq!(kinds, [Some(Kind::Epic), Some(Kind::Feature), Some(Kind::Task), None, None]);
    }
}
