//! The plan of a dry run, as a table.

use loggia_text::{printable, shorten_bytes};
use serde_json::Value;

use crate::cli::columns;

const HEAD: [&str; 6] = ["step", "status", "does", "changes", "with", "undone by"];
/// Maximum length of arguments in a row, in bytes.
const MAX_SHOWN: usize = 120;

/// Renders the plan as a table. `None` for a result that is no plan.
pub fn render_plan(result: &Value) -> Option<String> {
    let steps = result["data"]["steps"].as_array().filter(|_| !result["data"]["dry_run"].is_null())?;
    let rows: Vec<[String; 6]> = steps.iter().map(to_row).collect();
    Some(columns::build_table(&HEAD, &rows, HEAD.len()).to_string())
}

fn to_row(step: &Value) -> [String; 6] {
    let text = |name: &str| step[name].as_str().unwrap_or_default().to_owned();
    let does = match (&step["tool"], &step["asks"], &step["items"]) {
        (Value::Null, Value::Null, _) => String::new(),
        (Value::Null, _, _) => "asks".to_owned(),
        (_, _, Value::Null) => text("tool"),
        (_, _, Value::String(items)) => format!("{} for each of {items}", text("tool")),
        (_, _, items) => format!("{} for {items} items", text("tool")),
    };
    let with = match (&step["arguments"], &step["asks"]) {
        (Value::Null, Value::Null) => String::new(),
        (Value::Null, asks) => asks.as_str().unwrap_or_default().to_owned(),
        (arguments, _) => arguments.to_string(),
    };
    let status = match step["condition"].as_str() {
        Some(condition) => format!("{} if {condition}", text("status")),
        None => text("status"),
    };
    let changes = if step["changes"] == true { "yes" } else { "" }.to_owned();
    [text("step"), status, does, changes, with, text("undone_by")].map(|cell| {
        let mut cell = printable(&cell).into_owned();
        shorten_bytes(&mut cell, MAX_SHOWN);
        cell
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_are_rows() {
        let steps = json!([
            {"step": "find", "tool": "shop.find", "changes": false, "arguments": {"name": "tea"}, "status": "called"},
            {"step": "sure", "asks": "Ship?", "status": "planned"},
            {"step": "pay", "tool": "shop.pay", "changes": true, "arguments": {"sum": "{{.x}}"}, "undone_by": "shop.refund",
                "condition": "{{.ok}}", "status": "planned"},
            {"step": "each", "tool": "shop.pack", "items": 2, "changes": true, "arguments": {}, "status": "planned"},
            {"step": "last", "tool": "shop.pack", "items": "{{.l}}", "changes": true, "arguments": {}, "status": "planned"},
            {"step": "never", "status": "skipped"},
        ]);
        let rows: Vec<String> =
            steps.as_array().unwrap().iter().map(|step| to_row(step).join(" | ")).collect();
        insta::assert_snapshot!(rows.join("\n"), @r#"
        find | called | shop.find |  | {"name":"tea"} | 
        sure | planned | asks |  | Ship? | 
        pay | planned if {{.ok}} | shop.pay | yes | {"sum":"{{.x}}"} | shop.refund
        each | planned | shop.pack for 2 items | yes | {} | 
        last | planned | shop.pack for each of {{.l}} | yes | {} | 
        never | skipped |  |  |  | 
        "#);
        assert!(
            render_plan(&json!({"data": {"dry_run": true, "steps": steps}})).unwrap().contains("shop.refund")
        );
        assert_eq!(render_plan(&json!({"data": {"steps": []}})), None);
    }
}
