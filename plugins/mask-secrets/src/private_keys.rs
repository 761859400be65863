//! Private keys in PEM.

use crate::scan::Found;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
/// Longest name of a kind of key.
const MAX_NAME: usize = 60;

/// Finds private keys. One whose end is missing is masked to the end of the text: it was cut.
pub fn find(text: &str) -> Vec<Found> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = text[from..].find(BEGIN).map(|at| from + at) {
        let name = at + BEGIN.len();
        from = name;
        let head = &text[name..text.floor_char_boundary(name + MAX_NAME)];
        let Some((kind, _)) = head.split_once("-----") else { continue };
        if !kind.contains("PRIVATE KEY") {
            continue;
        }
        let end = text[name..].find(END).map(|end| name + end + END.len());
        let end = end.and_then(|end| text[end..].find("-----").map(|dashes| end + dashes + 5));
        from = end.unwrap_or(text.len());
        found.push(at..from);
    }
    found
}
