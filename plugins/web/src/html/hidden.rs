//! Elements that a person does not see. What hides a text from people may still be meant for a model.

use super::tree::{NodeId, ROOT, Tree};

/// Hidden elements, with all that they contain, by node.
pub fn hidden(tree: &Tree) -> Vec<bool> {
    let mut hidden = vec![false; tree.len()];
    for id in 1..tree.len() as NodeId {
        let parent = tree.parent(id).unwrap_or(ROOT);
        hidden[id as usize] = hidden[parent as usize] || is_hidden(tree, id);
    }
    hidden
}

fn is_hidden(tree: &Tree, id: NodeId) -> bool {
    let name = tree.name(id);
    name == "dialog" && tree.attribute(id, "open").is_none()
        || matches!(name, "head" | "title" | "rp")
        || tree.attribute(id, "hidden").is_some()
        || tree.attribute(id, "aria-hidden").is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
        || tree.attribute(id, "style").is_some_and(hides)
}

/// Tests whether a style makes its element invisible.
fn hides(style: &str) -> bool {
    const INVISIBLE: [(&str, &[&str]); 5] = [
        ("display", &["none"]),
        ("visibility", &["hidden", "collapse"]),
        ("opacity", &["0", "0.0", "0%"]),
        ("font-size", &["0", "0px", "0em", "0pt", "0%"]),
        ("clip-path", &["inset(100%)"]),
    ];
    style.to_ascii_lowercase().split(';').any(|declaration| {
        let Some((name, value)) = declaration.split_once(':') else { return false };
        let value = value.trim().trim_end_matches("!important").trim_end();
        INVISIBLE.iter().any(|(known, values)| name.trim() == *known && values.contains(&value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_hide_are_recognised() {
        let check = |style: &str, expected| assert_eq!(hides(style), expected, "{style}");
        check("display:none", true);
        check("color: red; DISPLAY : None !important;", true);
        check("visibility:hidden", true);
        check("opacity: 0", true);
        check("opacity: 0.5", false);
        check("font-size:0px", true);
        check("font-size:10px", false);
        check("display:block", false);
        check("content: 'display'", false);
        check("", false);
    }
}
