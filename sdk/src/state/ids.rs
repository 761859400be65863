//! Generated ids. As texts they sort by age.

/// The largest number with four digits. Larger numbers follow a letter for their length, `A` for five digits, which sorts
/// after all digits.
const SHORT: u64 = 9_999;

/// The id with this prefix and number, as [`Collection::next_id`](super::Collection::next_id) generates it: `n_0001` to
/// `n_9999`, then `n_A10000`. As texts, such ids sort by their numbers.
///
/// ```
/// # use loggia_sdk::state::id_with_number;
/// assert_eq!(id_with_number("n_", 7), "n_0007");
/// ```
pub fn id_with_number(prefix: &str, number: u64) -> String {
    if number <= SHORT {
        return format!("{prefix}{number:04}");
    }
    let digits = number.to_string();
    let letter = char::from(b'A' + digits.len().saturating_sub(5) as u8);
    format!("{prefix}{letter}{digits}")
}

/// The number in such an id; `None` if it is no id with this prefix.
///
/// ```
/// # use loggia_sdk::state::number_in_id;
/// assert_eq!(number_in_id("n_", "n_0007"), Some(7));
/// assert_eq!(number_in_id("n_", "n_7"), None);
/// ```
pub fn number_in_id(prefix: &str, id: &str) -> Option<u64> {
    let digits = id.strip_prefix(prefix)?.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let number = digits.parse().ok()?;
    // One number has one id.
    (id_with_number(prefix, number) == id).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_as_they_were_made() {
        let numbers = [1, 2, 9, 10, 9_998, 9_999, 10_000, 99_999, 100_000, 1_234_567, u64::MAX];
        let ids = numbers.map(|number| id_with_number("t_", number));
        assert!(ids.is_sorted(), "{ids:?}");
        assert_eq!((&*ids[0], &*ids[6]), ("t_0001", "t_A10000"));
        assert_eq!(ids.each_ref().map(|id| number_in_id("t_", id)), numbers.map(Some));
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in
            ["", "t_", "t_1", "t_00001", "t_+001", "t_B10000", "t_AA10000", "t_A9999", "s_0001", "t_0001 "]
        {
            assert_eq!(number_in_id("t_", text), None, "{text}");
        }
    }
}
