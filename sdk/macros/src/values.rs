//! Defaults and examples against the bounds of their parameter, as far as both are literals. `testing::describe` and the host check
//! the rest, by the schema.

use serde_json::Value;
use syn::{Error, Expr, ExprLit, Lit, LitStr, Result, Type, spanned::Spanned};

use crate::{bounds, param::Param, pattern};

/// Checks the literal defaults and examples of a parameter.
pub fn check(param: &Param, default: Option<&Expr>) -> Result<()> {
    let what = |kind: &str| format!("{kind} of `{}`", param.name.value());
    let defaults = default.into_iter().map(|value| (value, what("the default")));
    let examples = param.examples.iter().map(|value| (value, what("an example")));
    for (value, what) in defaults.chain(examples) {
        let Some(known) = literal(value) else { continue };
        if let Some(why) = exclusion(param, &known) {
            return Err(Error::new(value.span(), format!("{what} {why}")));
        }
    }
    Ok(())
}

/// Checks an example of an action: the values of its parameters, where their types are those of Rust itself.
pub fn check_example<'a>(
    example: &LitStr,
    object: &serde_json::Map<String, Value>,
    params: impl Iterator<Item = &'a Param>,
) -> Result<()> {
    for param in params {
        let Some(value) = object.get(&param.name.value()) else { continue };
        if value.is_null() && param.is_optional() {
            continue;
        }
        let why = match kind(&param.ty) {
            Some(kind) if !kind.accepts(value) => Some(format!("is not {}", kind.describe())),
            _ => exclusion(param, value),
        };
        if let Some(why) = why {
            return Err(Error::new(example.span(), format!("the example's `{}` {why}", param.name.value())));
        }
    }
    Ok(())
}

/// Says which bound excludes a value, as the rest of a sentence.
fn exclusion(param: &Param, value: &Value) -> Option<String> {
    if let (Some(number), Some((_, range))) = (value.as_f64(), &param.range)
        && bounds::excludes(range, number)
    {
        return Some(format!("is outside of its `range`, {}", bounds::render(range)));
    }
    let length = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => return None,
    };
    // No text of an attribute has more characters than a float counts.
    #[allow(clippy::cast_precision_loss)]
    if let Some((_, range)) = &param.length
        && bounds::excludes(range, length as f64)
    {
        let unit = if value.is_string() { "characters" } else { "items" };
        return Some(format!("has {length} {unit}, outside of its `length`, {}", bounds::render(range)));
    }
    match (value, &param.pattern) {
        (Value::String(text), Some((_, pattern))) if pattern::excludes(&pattern.value(), text) => {
            Some(format!("does not match its `pattern`, {}", pattern.value()))
        }
        _ => None,
    }
}

/// The JSON of a literal.
fn literal(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().into()),
        Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) => Some(flag.value.into()),
        _ => bounds::number(expr).map(Value::from),
    }
}

/// Kinds of JSON that types of Rust itself are read from.
#[derive(Clone, Copy)]
enum ValueKind {
    Text,
    Flag,
    Integer,
    Number,
}

impl ValueKind {
    fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Flag => value.is_boolean(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::Number => value.is_number(),
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Flag => "true or false",
            Self::Integer => "a whole number",
            Self::Number => "a number",
        }
    }
}

/// The kind of a type, by its name, as a macro sees no types.
fn kind(ty: &Type) -> Option<ValueKind> {
    let Type::Path(path) = ty else { return None };
    Some(match path.path.get_ident()?.to_string().as_str() {
        "String" => ValueKind::Text,
        "bool" => ValueKind::Flag,
        "f32" | "f64" => ValueKind::Number,
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => ValueKind::Integer,
        _ => return None,
    })
}
