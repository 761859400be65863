//! Renders rows: a table for people, tab-separated lines for programs.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_HORIZONTAL_ONLY};

/// Builds a table for a terminal. Columns from `numbers_from` on are right-aligned.
pub fn build_table<R: AsRef<[String]>>(head: &[&str], rows: &[R], numbers_from: usize) -> Table {
    let mut table = Table::new();
    table
        .load_style(UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(head);
    for column in table.column_iter_mut().skip(numbers_from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in rows {
        table.add_row(row.as_ref());
    }
    table
}

/// Renders lines for a pipe, the header first.
pub fn tab_separated<R: AsRef<[String]>>(head: &[&str], rows: &[R]) -> String {
    let rows = rows.iter().map(|row| row.as_ref().join("\t"));
    std::iter::once(head.join("\t")).chain(rows).collect::<Vec<_>>().join("\n")
}
