//! A sketch in Rust.

use std::fmt::Write;

use super::plan::{ActionPlan, BodyPlan, ParamKind, ParamPlace, ParamPlan, PathPart, PathPiece, SketchPlan};

/// Appends text. Writing to a string cannot fail.
macro_rules! add {
    ($text:expr, $($format:tt)*) => { let _ = write!($text, $($format)*); };
}

const ANSWER: &str = "\
/// The data of a response: JSON, or else its text.
fn answer(request: http::Request) -> Result<Value> {
    let response = request.send()?.ok()?;
    match response.json() {
        Ok(data) => Ok(data),
        Err(_) if response.bytes().is_empty() => Ok(Value::Null),
        Err(_) => Ok(response.text()?.into()),
    }
}
";

/// Renders `src/lib.rs`.
pub fn render(plan: &SketchPlan) -> String {
    let needs = plan
        .origins
        .iter()
        .map(|origin| format!("needs({:?}, \"to call the API\")", format!("http: {origin}")));
    let actions: String = plan.actions.iter().map(render_action).collect();
    format!(
        "//! A sketch of {}: one action for each operation of the API.\n\nuse loggia_sdk::{{http, prelude::*}};\n\nstruct Plugin;\n\n\
         /// {}\n#[facade({})]\nimpl Plugin {{\n{}}}\n\n{ANSWER}\nloggia_sdk::export!(Plugin);\n",
        plan.title,
        plan.summary,
        needs.collect::<Vec<_>>().join(", "),
        actions.trim_start_matches('\n'),
    )
}

fn render_action(action: &ActionPlan) -> String {
    let mut code = String::new();
    for param in action.params_in(ParamPlace::Query) {
        let ParamPlan { ident, sent, .. } = param;
        code += &when_given(
            param,
            &match param.kind {
                ParamKind::Texts => format!(
                    "for item in {ident} {{\n                request = request.query(&[({sent:?}, item)]);\n            }}"
                ),
                _ => format!("request = request.query(&[({sent:?}, {ident})]);"),
            },
        );
    }
    for param in action.params_in(ParamPlace::Header) {
        let ParamPlan { ident, sent, .. } = param;
        let text = format!("json!({ident}).to_string().trim_matches('\"')");
        code += &when_given(param, &format!("request = request.header({sent:?}, {text});"));
    }
    code += &send_body(action);
    let mut out = format!("\n    /// {}\n", action.summary);
    if let Some(more) = &action.more {
        add!(out, "    ///\n    /// {more}\n");
    }
    let idempotent = if action.is_idempotent { ", idempotent" } else { "" };
    let name =
        if action.ident == action.action { String::new() } else { format!(", name = {:?}", action.action) };
    let declared: String = action.params.iter().map(declare).collect();
    let mutable = if code.is_empty() { "" } else { "mut " };
    add!(
        out,
        "    #[action({}, open_world{idempotent}{name})]\n    fn {}(\n        &self,\n{declared}    ) -> Result<Value> {{\n        \
         let {mutable}request = http::Request::new({:?}, {:?}){};\n{code}        answer(request)\n    }}\n",
        action.effect.as_str(),
        action.ident,
        action.method,
        action.base,
        path(&action.parts),
    );
    out
}

/// The declaration of a parameter, on lines of its own.
fn declare(param: &ParamPlan) -> String {
    let doc = if param.text.is_empty() { String::new() } else { format!("        /// {}\n", param.text) };
    let ty = match param.kind {
        ParamKind::Text => "String",
        ParamKind::Integer => "i64",
        ParamKind::Number => "f64",
        ParamKind::Flag => "bool",
        ParamKind::Texts => "Vec<String>",
        ParamKind::Any => "Value",
    };
    let ty = if param.is_required { ty.to_owned() } else { format!("Option<{ty}>") };
    format!("{doc}        {}: {ty},\n", param.ident)
}

/// Code that uses the value of a parameter, if it has one.
fn when_given(param: &ParamPlan, code: &str) -> String {
    if param.is_required {
        return format!("        {code}\n");
    }
    format!("        if let Some({0}) = {0} {{\n            {code}\n        }}\n", param.ident)
}

/// Adds the open parts of the path.
fn path(parts: &[PathPart]) -> String {
    let part = |part: &PathPart| match part {
        PathPart::Fixed(text) => format!("{text:?}.to_owned()"),
        PathPart::Open(pieces) => {
            let pieces = pieces.iter().map(|piece| match piece {
                PathPiece::Text(text) => text.clone(),
                PathPiece::Param(ident) => format!("{{{ident}}}"),
            });
            format!("format!({:?})", pieces.collect::<String>())
        }
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    if parts.is_empty() { String::new() } else { format!(".path(&[{}])", parts.join(", ")) }
}

fn send_body(action: &ActionPlan) -> String {
    let whole = action.params_in(ParamPlace::Body).next();
    match (&action.body, whole) {
        (BodyPlan::JsonMembers | BodyPlan::FormMembers, _) => {
            let mut code = "        let mut body = Object::new();\n".to_owned();
            for param in action.params_in(ParamPlace::Member) {
                code += &when_given(
                    param,
                    &format!("body.insert({:?}.into(), json!({}));", param.sent, param.ident),
                );
            }
            code += match action.body {
                BodyPlan::FormMembers => {
                    "        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);\n        \
                     let pairs: Vec<_> = body.iter().map(|(name, value)| (name, text(value))).collect();\n        \
                     request = request.form(&pairs);\n"
                }
                _ => "        request = request.json(&body);\n",
            };
            code
        }
        (BodyPlan::Json, Some(param)) => {
            when_given(param, &format!("request = request.json(&{});", param.ident))
        }
        (BodyPlan::Text(media), Some(param)) => when_given(
            param,
            &format!("request = request.header(\"content-type\", {media:?}).body({});", param.ident),
        ),
        _ => String::new(),
    }
}
