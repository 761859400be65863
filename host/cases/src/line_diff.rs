//! Changes of a text, by lines.

use std::fmt::{Result, Write};

use similar::{
    DiffOp, DiffTag,
    algorithms::{Capture, Compact, Replace, myers},
    group_diff_ops,
    udiff::UnifiedHunkHeader,
};

/// Renders the changed lines of a text as a unified diff without file names, with this number of unchanged lines around them.
pub fn unified_diff(before: &str, after: &str, context: usize) -> String {
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    let mut text = String::new();
    for hunk in group_diff_ops(find_changes(&before, &after), context) {
        // Writing to a `String` cannot fail.
        let _ = write_hunk(&mut text, &hunk, &before, &after);
    }
    text
}

/// Not by `TextDiff`, which brings every algorithm for every kind of text: half a megabyte.
fn find_changes(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    let mut hook = Compact::new(Replace::new(Capture::new()), before, after);
    match myers::diff(&mut hook, before, 0..before.len(), after, 0..after.len()) {
        Ok(()) => hook.into_inner().into_inner().into_ops(),
    }
}

fn write_hunk(to: &mut String, hunk: &[DiffOp], before: &[&str], after: &[&str]) -> Result {
    writeln!(to, "{}", UnifiedHunkHeader::new(hunk))?;
    for (tag, old, new) in hunk.iter().map(DiffOp::as_tag_tuple) {
        if tag == DiffTag::Equal {
            write_lines(to, ' ', &before[old])?;
        } else {
            write_lines(to, '-', &before[old])?;
            write_lines(to, '+', &after[new])?;
        }
    }
    Ok(())
}

fn write_lines(to: &mut String, sign: char, lines: &[&str]) -> Result {
    for line in lines {
        write!(to, "{sign}{line}")?;
        if !line.ends_with('\n') {
            writeln!(to, "\n\\ No newline at end of file")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_stand_between_unchanged_ones() {
        let check = |before, after, expected: &str| assert_eq!(unified_diff(before, after, 1), expected);
        check("a\nb\n", "a\nb\n", "");
        check("", "a\n", "@@ -0,0 +1 @@\n+a\n");
        check("a\nb\nc\nd\ne\n", "a\nb\nx\nd\ne\n", "@@ -2,3 +2,3 @@\n b\n-c\n+x\n d\n");
        check("a\nb", "a\n", "@@ -1,2 +1 @@\n a\n-b\n\\ No newline at end of file\n");
        check("1\n2\n3\n4\n5\n", "2\n3\n4\n5\n6\n", "@@ -1,2 +1 @@\n-1\n 2\n@@ -5 +4,2 @@\n 5\n+6\n");
    }
}
