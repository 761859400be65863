//! Suggestions for a mistyped name.

/// Length of a common prefix that makes two names similar.
const PREFIX: usize = 4;
/// Names that a hint lists.
const NAMES: usize = 20;
/// Characters of a name that are compared.
const LENGTH: usize = 80;

/// Renders a hint: "Did you mean `add`? Actions: add, get."
pub fn suggest(name: &str, names: &[&str], what: &str) -> String {
    let near = nearest(name, names).map(|near| format!("Did you mean `{near}`? ")).unwrap_or_default();
    let more = if names.len() > NAMES { ", …" } else { "" };
    let shown: Vec<&str> = names.iter().copied().take(NAMES).collect();
    format!("{near}{what}: {}{more}.", shown.join(", "))
}

/// Finds the most similar name.
fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let name = name.chars().take(LENGTH).collect::<String>().to_lowercase();
    let most = (name.chars().count() / 3).max(1);
    let near = names.iter().map(|other| {
        let shared = name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
        (if shared >= PREFIX { most.min(distance(&name, other)) } else { distance(&name, other) }, *other)
    });
    near.filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

/// Number of characters to insert, remove or replace.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let names = ["memories", "files", "projects"];
        for (name, expected) in [
            ("memorys", Some("memories")),
            ("memory", Some("memories")),
            ("Files", Some("files")),
            ("fils", Some("files")),
            ("weather", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &names), expected, "{name}");
        }
        assert_eq!(
            suggest("file", &names, "Facades"),
            "Did you mean `files`? Facades: memories, files, projects."
        );
        let many: Vec<String> = (0..30).map(|n| format!("x{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(suggest("weather", &many, "Actions").ends_with("x19, …."));
    }
}
