//! Texts of tools without the folders of this machine.

use std::path::Path;

/// Names files below `root` from there, and other files by the last part of their paths.
pub fn without_paths(text: &str, root: &Path) -> String {
    let own = format!("{}{}", root.display(), std::path::MAIN_SEPARATOR);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if starts_web_url(rest) {
            let (url, after) = rest.split_at(rest.find(ends_url).unwrap_or(rest.len()));
            out.push_str(url);
            rest = after;
        } else if starts_path(&out, rest) && rest.starts_with(&own) {
            rest = &rest[own.len()..];
        } else if starts_path(&out, rest) {
            let (path, after) = rest.split_at(path_length(rest));
            out.push_str(path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default());
            rest = after;
        } else {
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out
}

fn starts_web_url(rest: &str) -> bool {
    rest.starts_with("https://") || rest.starts_with("http://")
}

/// Whether an absolute path begins here: not in the middle of a relative one.
fn starts_path(before: &str, rest: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '/' | '\\');
    if before.ends_with(continues) {
        return false;
    }
    let bytes = rest.as_bytes();
    let is_unix = rest.starts_with('/') && !rest[1..].starts_with(|c: char| c.is_whitespace());
    let is_windows = bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'\\' | b'/');
    (is_unix && rest.len() > 1) || is_windows
}

/// Length of the path at the beginning. The colon of a drive is a part of it.
fn path_length(rest: &str) -> usize {
    let drive = if rest.as_bytes().get(1) == Some(&b':') { 2 } else { 0 };
    rest[drive..].find(ends_path).map_or(rest.len(), |end| drive + end)
}

fn ends_url(c: char) -> bool {
    c != ':' && ends_path(c)
}

fn ends_path(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | ',' | ':' | ';' | '|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_without_their_folders() {
        let check = |text: &str, expected: &str| {
            assert_eq!(without_paths(text, Path::new("/home/ada/notes")), expected, "{text}");
        };
        check("File \"/home/ada/notes/app.py\", line 3", "File \"app.py\", line 3");
        check("/home/ada/.cargo/registry/src/x/lib.rs:3:5: no", "lib.rs:3:5: no");
        check("see src/lib.rs, ../sdk/x and a/b", "see src/lib.rs, ../sdk/x and a/b");
        check("at file:///home/ada/notes2/x.js:1", "at file:x.js:1");
        check("(/usr/bin/env) '/etc/passwd'", "(env) 'passwd'");
        check("read https://docs.rs/a/b, then go", "read https://docs.rs/a/b, then go");
        check("C:\\Users\\ada\\x.js:4 and d:/y/z", "x.js:4 and z");
        check("a / b // c", "a / b  c");
        check("/", "/");
        check("/srv/", "srv");
        check("/tmp/home/ada/notes/x.py", "x.py");
    }
}
