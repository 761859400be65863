//! A sketch in Python.

use std::{collections::BTreeSet, fmt::Write};

use super::{
    literals::{path, text},
    names::claim,
    plan::{ActionPlan, BodyPlan, ParamKind, ParamPlace, ParamPlan, SketchPlan},
};

/// Appends text. Writing to a string cannot fail.
macro_rules! add {
    ($text:expr, $($format:tt)*) => { let _ = write!($text, $($format)*); };
}

/// Names of the module that a function of the same name would replace.
const SHADOWED: [&str; 6] = ["bool", "dict", "float", "int", "list", "str"];

const HELPERS: &str = "\
def answer(request: http.Request) -> Any:
    \"\"\"The data of a response: JSON, or else its text.\"\"\"
    response = request.send().ok()
    if not response.body:
        return None
    try:
        return response.json()
    except Failure:
        return response.text()


def as_text(value: Any) -> str:
    \"\"\"A value in a path, a header or a form.\"\"\"
    return value if isinstance(value, str) else json.dumps(value)
";

/// Renders `app.py`.
pub fn render(plan: &SketchPlan) -> String {
    let needs: Vec<String> = plan
        .origins
        .iter()
        .map(|origin| format!("{}: \"to call the API\"", text(&format!("http: {origin}"))))
        .collect();
    let mut taken: BTreeSet<String> = SHADOWED.iter().map(|name| (*name).to_owned()).collect();
    let actions: String = plan.actions.iter().map(|action| render_action(action, &mut taken)).collect();
    format!(
        "\"\"\"A sketch of {}: one action for each operation of the API.\"\"\"\n\nimport json\nfrom typing import Annotated, Any\n\n\
         from loggia_sdk import Facade, Failure, http\n\nplugin = Facade({}, {}, needs={{{}}})\n\n\n{HELPERS}{actions}",
        docstring(&plan.title),
        text(&plan.name),
        text(&plan.summary),
        needs.join(", "),
    )
}

fn render_action(action: &ActionPlan, taken: &mut BTreeSet<String>) -> String {
    let function = claim(&action.ident, taken);
    let mut options = Vec::new();
    if function != action.action {
        options.push(format!("name={}", text(&action.action)));
    }
    options.push("open_world=True".to_owned());
    if action.is_idempotent {
        options.push("idempotent=True".to_owned());
    }
    let mut out = format!("\n\n@plugin.{}({})\ndef {function}(", action.effect.as_str(), options.join(", "));
    if !action.params.is_empty() {
        // Named only: those with and without a default keep the order of the API.
        out += "\n    *,\n";
        action.params.iter().for_each(|param| out += &declare(param));
    }
    add!(out, ") -> Any:\n    \"\"\"{}", docstring(&action.summary));
    match &action.more {
        Some(more) => {
            add!(out, "\n\n    {}\n    \"\"\"\n", docstring(more));
        }
        None => out += "\"\"\"\n",
    }
    add!(
        out,
        "    request = http.Request({}, {}){}\n",
        text(&action.method),
        text(&action.base),
        path(&action.parts, |ident| format!("as_text({ident})"))
    );
    for param in action.params_in(ParamPlace::Query) {
        let value = if param.kind == ParamKind::Any {
            format!("as_text({})", param.ident)
        } else {
            param.ident.clone()
        };
        out += &when_given(param, &format!("request.query(**{{{}: {value}}})", text(&param.sent)));
    }
    for param in action.params_in(ParamPlace::Header) {
        out +=
            &when_given(param, &format!("request.header({}, as_text({}))", text(&param.sent), param.ident));
    }
    out += &send_body(action);
    out + "    return answer(request)\n"
}

/// The declaration of a parameter, on a line of its own.
fn declare(param: &ParamPlan) -> String {
    let ty = match param.kind {
        ParamKind::Text => "str",
        ParamKind::Integer => "int",
        ParamKind::Number => "float",
        ParamKind::Flag => "bool",
        ParamKind::Texts => "list[str]",
        ParamKind::Any => "Any",
    };
    let (optional, default) = if param.is_required { ("", "") } else { (" | None", " = None") };
    let ty = if param.text.is_empty() {
        format!("{ty}{optional}")
    } else {
        format!("Annotated[{ty}{optional}, {}]", text(&param.text))
    };
    format!("    {}: {ty}{default},\n", param.ident)
}

/// Code that uses the value of a parameter, if it has one.
fn when_given(param: &ParamPlan, code: &str) -> String {
    if param.is_required {
        return format!("    {code}\n");
    }
    format!("    if {} is not None:\n        {code}\n", param.ident)
}

fn send_body(action: &ActionPlan) -> String {
    let whole = action.params_in(ParamPlace::Body).next();
    match (&action.body, whole) {
        (BodyPlan::JsonMembers | BodyPlan::FormMembers, _) => {
            let mut code = "    body: dict[str, Any] = {}\n".to_owned();
            for param in action.params_in(ParamPlace::Member) {
                code += &when_given(param, &format!("body[{}] = {}", text(&param.sent), param.ident));
            }
            code += match action.body {
                BodyPlan::FormMembers => {
                    "    request.form(**{name: as_text(value) for name, value in body.items()})\n"
                }
                _ => "    request.json(body)\n",
            };
            code
        }
        (BodyPlan::Json, Some(param)) => when_given(param, &format!("request.json({})", param.ident)),
        (BodyPlan::Text(media), Some(param)) => {
            let sends = format!("request.body = {}.encode()", param.ident);
            format!("    request.header(\"content-type\", {})\n{}", text(media), when_given(param, &sends))
        }
        _ => String::new(),
    }
}

/// A text between three quotes.
fn docstring(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
