//! A sketch in JavaScript, or in TypeScript: they differ in the types of two functions.

use std::{collections::BTreeSet, fmt::Write};

use super::{
    literals::{path, text},
    plan::{ActionPlan, BodyPlan, ParamKind, ParamPlace, ParamPlan, SketchPlan},
};

/// Appends text. Writing to a string cannot fail.
macro_rules! add {
    ($text:expr, $($format:tt)*) => { let _ = write!($text, $($format)*); };
}

/// Types of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptTypes {
    /// None: JavaScript.
    None,
    /// TypeScript's.
    Annotated,
}

/// Renders `src/index.js` or `src/index.ts`.
pub fn render(plan: &SketchPlan, types: ScriptTypes) -> String {
    let (request, data, value, result) = match types {
        ScriptTypes::None => ("", "", "", ""),
        ScriptTypes::Annotated => (": Request", ": unknown", ": unknown", ": string"),
    };
    let mut imports = BTreeSet::from(["Request", "action", "defineFacade"]);
    for param in plan.actions.iter().flat_map(|action| &action.params) {
        imports.extend(builders(param.kind));
    }
    let needs: Vec<String> = plan
        .origins
        .iter()
        .map(|origin| format!("{}: \"to call the API\"", text(&format!("http: {origin}"))))
        .collect();
    let actions: Vec<String> = plan.actions.iter().map(render_action).collect();
    format!(
        "// A sketch of {}: one action for each operation of the API.\n\nimport {{ {} }} from \"loggia-sdk\";\n\n\
         /** The data of a response: JSON, or else its text. */\nfunction answer(request{request}){data} {{\n  \
         const response = request.send().ok();\n  if (response.body.length === 0) return null;\n  try {{\n    \
         return response.json();\n  }} catch {{\n    return response.text();\n  }}\n}}\n\n\
         /** A value in a path, a header or a form. */\nconst asText = (value{value}){result} => \
         (typeof value === \"string\" ? value : JSON.stringify(value));\n\n\
         export default defineFacade({{\n  name: {},\n  summary: {},\n  needs: {{ {} }},\n  actions: {{\n{}  }},\n}});\n",
        plan.title,
        imports.into_iter().collect::<Vec<_>>().join(", "),
        text(&plan.name),
        text(&plan.summary),
        needs.join(", "),
        actions.join("\n"),
    )
}

fn render_action(action: &ActionPlan) -> String {
    let mut out =
        format!("    {}: action({{\n      summary: {},\n", property(&action.action), text(&action.summary));
    if let Some(more) = &action.more {
        add!(out, "      about: {},\n", text(more));
    }
    add!(out, "      effect: {},\n      openWorld: true,\n", text(action.effect.as_str()));
    if action.is_idempotent {
        out += "      idempotent: true,\n";
    }
    if !action.params.is_empty() {
        out += "      params: {\n";
        action.params.iter().for_each(|param| out += &declare(param));
        out += "      },\n";
    }
    let params = if action.params.is_empty() { "" } else { "p" };
    add!(
        out,
        "    }}, ({params}) => {{\n      const request = new Request({}, {}){};\n",
        text(&action.method),
        text(&action.base),
        path(&action.parts, |ident| format!("asText({})", read(ident)))
    );
    for param in action.params_in(ParamPlace::Query) {
        let value = read(&param.ident);
        let value = if param.kind == ParamKind::Any { format!("asText({value})") } else { value };
        out += &when_given(param, &format!("request.query({{ {}: {value} }});", property(&param.sent)));
    }
    for param in action.params_in(ParamPlace::Header) {
        let value = read(&param.ident);
        out += &when_given(param, &format!("request.header({}, asText({value}));", text(&param.sent)));
    }
    out += &send_body(action);
    out + "      return answer(request);\n    }),\n"
}

/// The functions of the SDK that make a parameter's schema.
fn builders(kind: ParamKind) -> &'static [&'static str] {
    match kind {
        ParamKind::Text => &["text"],
        ParamKind::Integer => &["integer"],
        ParamKind::Number => &["number"],
        ParamKind::Flag => &["boolean"],
        ParamKind::Texts => &["list", "text"],
        ParamKind::Any => &["any"],
    }
}

/// The declaration of a parameter, on a line of its own.
fn declare(param: &ParamPlan) -> String {
    let mut schema = match builders(param.kind) {
        [outer, inner] => format!("{outer}({inner}())"),
        names => format!("{}()", names.concat()),
    };
    if !param.is_required {
        schema += ".optional()";
    }
    if !param.text.is_empty() {
        add!(schema, ".doc({})", text(&param.text));
    }
    format!("        {}: {schema},\n", param.ident)
}

/// The value of a parameter.
fn read(ident: &str) -> String {
    format!("p.{ident}")
}

/// Code that uses the value of a parameter, if it has one.
fn when_given(param: &ParamPlan, code: &str) -> String {
    if param.is_required {
        return format!("      {code}\n");
    }
    format!("      if ({} !== undefined) {code}\n", read(&param.ident))
}

fn send_body(action: &ActionPlan) -> String {
    let whole = action.params_in(ParamPlace::Body).next();
    match (&action.body, whole) {
        // JSON leaves out what is undefined.
        (BodyPlan::JsonMembers, _) => {
            let mut code = "      request.json({\n".to_owned();
            for param in action.params_in(ParamPlace::Member) {
                add!(code, "        {}: {},\n", property(&param.sent), read(&param.ident));
            }
            code + "      });\n"
        }
        (BodyPlan::FormMembers, _) => {
            let mut code = "      request.form({\n".to_owned();
            for param in action.params_in(ParamPlace::Member) {
                let value = read(&param.ident);
                let sent = if param.is_required {
                    format!("asText({value})")
                } else {
                    format!("{value} === undefined ? undefined : asText({value})")
                };
                add!(code, "        {}: {sent},\n", property(&param.sent));
            }
            code + "      });\n"
        }
        (BodyPlan::Json, Some(param)) => when_given(param, &format!("request.json({});", read(&param.ident))),
        (BodyPlan::Text(media), Some(param)) => format!(
            "      request.header(\"content-type\", {});\n{}",
            text(media),
            when_given(param, &format!("request.bytes({});", read(&param.ident)))
        ),
        _ => String::new(),
    }
}

/// The name of a property, between quotes if it is no identifier. `"__proto__": …` would set the prototype.
fn property(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name == "__proto__" {
        format!("[{}]", text(name))
    } else if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        text(name)
    }
}
