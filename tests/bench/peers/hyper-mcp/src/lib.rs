//! The benchmark's tools as a plugin of hyper-mcp.

use extism_pdk::{FnResult, Json, plugin_fn};
use loggia_bench_tools as tools;
use serde_json::{Value, json};

/// Lists the tools.
#[plugin_fn]
pub fn list_tools(_request: String) -> FnResult<Json<Value>> {
    let input = json!({"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]});
    Ok(Json(json!({"tools": [
        {"name": "echo", "description": "Returns its input unchanged.", "inputSchema": input},
        {"name": "transform", "description": "Adds two members to a JSON object.", "inputSchema": input},
        {"name": "version", "description": "Build version of the server.", "inputSchema": {"type": "object"}},
    ]})))
}

/// Calls a tool.
#[plugin_fn]
pub fn call_tool(Json(mut sent): Json<Value>) -> FnResult<Json<Value>> {
    let request = &mut sent["request"];
    let input = match request["arguments"]["input"].take() {
        Value::String(text) => text,
        _ => String::new(),
    };
    let (text, is_error) = match request["name"].as_str() {
        Some("echo") => (tools::echo(input), false),
        Some("transform") => match tools::transform(&input) {
            Ok(text) => (text, false),
            Err(error) => (error, true),
        },
        Some("version") => (tools::VERSION.to_owned(), false),
        _ => ("unknown tool".to_owned(), true),
    };
    Ok(Json(json!({"content": [{"type": "text", "text": text}], "isError": is_error})))
}
