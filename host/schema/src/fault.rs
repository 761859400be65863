//! One refusal of the validator, in words.

use std::fmt::Write as _;

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
    paths::LocationSegment,
};
use serde_json::Value;

use crate::{
    alternatives,
    explain::About,
    formats, keywords,
    shape::Shape,
    show::{self, allowed, json},
    signature::kind,
};

/// One thing that is wrong with a call.
pub(crate) struct Fault {
    /// The value that is wrong, as a JSON pointer; a missing one by the place it should have.
    pub place: String,
    /// Of several faults at one place, those of the lowest rank are told.
    pub rank: u8,
    /// What is told first: what is missing, then what is wrong, then what is unknown.
    pub order: Order,
    /// Begins with the parameter.
    pub message: String,
    /// The author's advice, or a near miss.
    pub hint: Option<String>,
}

/// In what order faults are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    Missing,
    Wrong,
    Unknown,
}

/// Allowed values that are listed.
const LISTED: usize = 40;

/// Adds what a refusal says; a refusal of alternatives may say several things.
pub(crate) fn add(about: &About<'_>, error: &ValidationError<'_>, out: &mut Vec<Fault>) {
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            add_unknown(about, error, unexpected, out);
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            alternatives::add(about, error, context, out);
        }
        Kind::Required { property } => out.push(missing(about, error, property)),
        _ => out.push(simple(about, error)),
    }
}

fn simple(about: &About<'_>, error: &ValidationError<'_>) -> Fault {
    if error.instance().is_null()
        && let Some(fault) = nothing(about, error)
    {
        return fault;
    }
    let secret = about.is_secret(error);
    let got = about.got(error);
    // Not even how long a secret is.
    let nothing = Value::Null;
    let sent = if secret { &nothing } else { &**error.instance() };
    let what = match error.kind() {
        Kind::Type { kind } => format!("must be {}{got}", kinds(kind)),
        Kind::Enum { .. } | Kind::Constant { .. } if secret => "must be one of its allowed values".to_owned(),
        Kind::Enum { options } => format!("must be {}{got}", one_of(options)),
        Kind::Constant { expected_value } => format!("must be {}{got}", allowed(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {limit}{got}"),
        Kind::Maximum { limit } => format!("must be at most {limit}{got}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}{got}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}{got}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}{got}"),
        Kind::MinLength { limit: 1 } => "must not be empty".to_owned(),
        Kind::MinLength { limit } => {
            format!("must have at least {}{}", count(*limit, "character"), long(sent))
        }
        Kind::MaxLength { limit } => {
            format!("must have at most {}{}", count(*limit, "character"), long(sent))
        }
        Kind::Pattern { pattern } => format!("must match {}{got}", show::cut(pattern, 120)),
        Kind::Format { format } => match formats::find(format) {
            Some(format) => {
                let article = if format.name.starts_with(['e', 'h', 'I']) && !format.name.starts_with("ho") {
                    "an"
                } else {
                    "a"
                };
                format!("must be {article} {} like {}{got}", format.name, format.sample)
            }
            None => format!("must be of the format {}{got}", show::name(format)),
        },
        Kind::MinItems { limit: 1 } => "must hold at least one item".to_owned(),
        Kind::MinItems { limit } => format!("must hold at least {}{}", count(*limit, "item"), long(sent)),
        Kind::MaxItems { limit } => format!("must hold at most {}{}", count(*limit, "item"), long(sent)),
        Kind::AdditionalItems { limit } => {
            format!("must hold at most {}{}", count(*limit as u64, "item"), long(sent))
        }
        Kind::UnevaluatedItems { .. } => format!("holds too many items{}", long(sent)),
        Kind::UniqueItems => match repeated(sent) {
            Some((first, second)) => format!("must not repeat an item (item {second} is item {first} again)"),
            None => "must not repeat an item".to_owned(),
        },
        Kind::MinProperties { limit } => {
            format!("must have at least {}{}", count(*limit, "member"), long(sent))
        }
        Kind::MaxProperties { limit } => {
            format!("must have at most {}{}", count(*limit, "member"), long(sent))
        }
        Kind::PropertyNames { error } => {
            let inner = simple(about, error).message;
            // The inner refusal is about the name; its subject is the place of the object.
            let what = inner.split_once(" must ").map_or(inner.as_str(), |(_, what)| what);
            format!("has a name that must {what}")
        }
        Kind::Contains => match about.schema(error).and_then(|schema| schema.get("contains")) {
            Some(wanted) => format!("must hold an item that is {}", phrase(wanted)),
            None => "lacks an item that it must hold".to_owned(),
        },
        Kind::Not { schema } => format!("{}{got}", not(schema)),
        Kind::OneOfMultipleValid { .. } => match together(about, error) {
            Some(what) => what,
            None => format!("is valid in more than one of its forms; give one of them{got}"),
        },
        Kind::FalseSchema => "is not allowed here".to_owned(),
        _ => format!("is not valid{got}"),
    };
    let rank = match error.kind() {
        Kind::Enum { .. } | Kind::Constant { .. } => 0,
        Kind::Type { .. } => 1,
        _ => 2,
    };
    let schema = about.schema(error);
    Fault {
        place: error.instance_path().as_str().to_owned(),
        rank,
        order: Order::Wrong,
        message: format!("{} {what}", subject(error)),
        hint: schema.and_then(keywords::hint).map(str::to_owned).or_else(|| near_word(about, error)),
    }
}

/// A word that was meant, where a misspelt one was sent.
fn near_word(about: &About<'_>, error: &ValidationError<'_>) -> Option<String> {
    let (Kind::Enum { options }, Value::String(sent)) = (error.kind(), &**error.instance()) else {
        return None;
    };
    if about.is_secret(error) {
        return None;
    }
    let near = show::nearest(sent, options.as_array()?.iter().filter_map(Value::as_str))?;
    Some(format!("Did you mean \"{near}\"?"))
}

/// A parameter or member that is not there.
fn missing(about: &About<'_>, error: &ValidationError<'_>, property: &Value) -> Fault {
    let name = property.as_str().unwrap_or_default();
    let within = error.instance_path();
    let mut path = String::new();
    for segment in within.segments() {
        push(&mut path, &segment);
    }
    push(&mut path, &LocationSegment::Property(name.into()));
    let schema = about.schema(error);
    let because = because(error, schema, name)
        .map_or_else(String::new, |given| format!(" where `{}` is given", show::name(&given)));
    let of = schema.and_then(Value::as_object).and_then(|schema| keywords::property(schema, name));
    let of = of
        .or_else(|| keywords::property(about.rules.schema.as_object()?, name).filter(|_| within.is_empty()));
    Fault {
        place: format!("{}/{name}", within.as_str()),
        rank: 0,
        order: Order::Missing,
        message: format!("`{path}` is required{because}"),
        hint: of.and_then(keywords::hint).map(str::to_owned),
    }
}

/// The member because of which another is required.
fn because(error: &ValidationError<'_>, schema: Option<&Value>, name: &str) -> Option<String> {
    let mut path = error.schema_path().as_str().rsplit('/');
    // `…/dependentSchemas/<given>/required`
    if let (Some("required"), Some(given), Some("dependentSchemas")) = (path.next(), path.next(), path.next())
    {
        return Some(given.replace("~1", "/").replace("~0", "~"));
    }
    let sent = error.instance();
    let schema = schema?.as_object()?;
    let given = schema.get("dependentRequired")?.as_object()?.iter();
    given
        .filter(|_| !keywords::lists(schema, "required", name))
        .find(|(given, wants)| {
            sent.get(given).is_some()
                && wants.as_array().is_some_and(|wants| wants.iter().any(|want| want == name))
        })
        .map(|(given, _)| given.clone())
}

/// A null that was sent for what is required.
fn nothing(about: &About<'_>, error: &ValidationError<'_>) -> Option<Fault> {
    let schema = error.schema_path().as_str();
    let (parent, name) = schema.rsplit_once('/')?.0.rsplit_once("/properties/")?;
    let name = name.replace("~1", "/").replace("~0", "~");
    let parent = about.rules.schema.pointer(parent)?.as_object()?;
    keywords::lists(parent, "required", &name).then(|| Fault {
        place: error.instance_path().as_str().to_owned(),
        rank: 0,
        order: Order::Missing,
        message: format!("{} is required (got null)", subject(error)),
        hint: parent.get("properties").and_then(|p| p.get(&name)).and_then(keywords::hint).map(str::to_owned),
    })
}

/// Unknown names that are looked at: more than are told, so that it is known that there are more.
const UNKNOWN: usize = 64 + 1;

/// Names that the schema does not know: one fault each.
fn add_unknown(about: &About<'_>, error: &ValidationError<'_>, unexpected: &[String], out: &mut Vec<Fault>) {
    let within = error.instance_path();
    for name in unexpected.iter().take(UNKNOWN) {
        let message = if within.is_empty() {
            // Where no alternative holds, the names of all of them count as unknown. That is told elsewhere.
            if about.knows(name) {
                continue;
            }
            about.foreign(name)
        } else {
            let known = about.schema(error).map(Shape::of);
            let near = match &known {
                Some(Shape::Record { members, .. }) => {
                    show::nearest(name, members.iter().map(|member| member.name.as_str()))
                }
                _ => None,
            };
            let clue = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            format!("{} has no member `{}`{clue}", subject(error), show::name(name))
        };
        out.push(Fault {
            place: format!("{}/{name}", within.as_str()),
            rank: 0,
            message,
            hint: None,
            order: Order::Unknown,
        });
    }
}

/// What must not be.
fn not(schema: &Value) -> String {
    if let Some(Value::Array(names)) = schema.get("required") {
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        return match names.as_slice() {
            [only] => format!("must not have `{only}`"),
            names => format!("must not have {} together", show::names(names, "and")),
        };
    }
    match schema.as_object().and_then(crate::shape::values) {
        Some([only]) => format!("must not be {}", allowed(only)),
        Some(values) => format!("must not be any of {}", list(values)),
        None => match schema.get("pattern").and_then(Value::as_str) {
            Some(pattern) => format!("must not match {}", show::cut(pattern, 120)),
            None => format!("must not be {}", phrase(schema)),
        },
    }
}

/// Alternatives that only require names, of which more than one holds.
fn together(about: &About<'_>, error: &ValidationError<'_>) -> Option<String> {
    let branches = about.schema(error)?.get("oneOf")?.as_array()?;
    let names = alternatives::required_names(branches)?;
    Some(format!("must have only one of {}", show::names(&names, "and")))
}

/// The place that a refusal is about, in the words of a message.
pub(crate) fn subject(error: &ValidationError<'_>) -> String {
    let mut path = String::new();
    for segment in error.instance_path().segments() {
        push(&mut path, &segment);
    }
    if path.is_empty() { "the call".to_owned() } else { format!("`{path}`") }
}

fn push(path: &mut String, segment: &LocationSegment<'_>) {
    let _ = match segment {
        LocationSegment::Index(index) => write!(path, "[{index}]"),
        LocationSegment::Property(name) if path.is_empty() => write!(path, "{}", show::name(name)),
        LocationSegment::Property(name) if name.contains(['.', '[', '"', ' ']) => {
            write!(path, "[{}]", json(&Value::String(name.to_string()), show::GOT))
        }
        LocationSegment::Property(name) => write!(path, ".{}", show::name(name)),
    };
}

fn kinds(kind: &TypeKind) -> String {
    let names: Vec<&str> = match kind {
        TypeKind::Single(kind) => vec![a(*kind)],
        // That null would do is no news to somebody who sent something.
        TypeKind::Multiple(kinds) => kinds.iter().filter(|kind| *kind != JsonType::Null).map(a).collect(),
    };
    names.join(" or ")
}

fn a(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// What a schema wants, in a few words.
pub(crate) fn phrase(schema: &Value) -> String {
    fn of(shape: &Shape) -> String {
        match shape {
            Shape::Boolean => "true or false".into(),
            Shape::Number { integer: true, .. } => "an integer".into(),
            Shape::Number { .. } => "a number".into(),
            Shape::Text(None) => "a string".into(),
            Shape::Text(Some(values)) if values.len() > 1 => {
                format!("one of {}", kind(shape, 1).replace('|', ", "))
            }
            Shape::List(_) => "an array".into(),
            Shape::Union(shapes) => shapes.iter().map(of).collect::<Vec<_>>().join(" or "),
            other => kind(other, 2),
        }
    }
    match schema.as_object().and_then(crate::shape::values) {
        Some([only]) => allowed(only),
        Some(values) => format!("one of {}", list(values)),
        None => of(&Shape::of(schema)),
    }
}

fn one_of(options: &Value) -> String {
    match options.as_array().map(Vec::as_slice) {
        Some([only]) => allowed(only),
        Some(values) => format!("one of {}", list(values)),
        None => "one of its values".to_owned(),
    }
}

fn list(values: &[Value]) -> String {
    let mut shown: Vec<String> =
        values.iter().filter(|value| !value.is_null()).take(LISTED).map(allowed).collect();
    if values.len() > LISTED {
        shown.push(format!("… ({} in all)", values.len()));
    }
    shown.join(", ")
}

/// ` (got 5)`, counting what was sent.
fn long(sent: &Value) -> String {
    let length = match sent {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => return String::new(),
    };
    format!(" (got {length})")
}

fn count(count: u64, unit: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{s}")
}

/// The first two equal items, counted from zero as in a path.
fn repeated(sent: &Value) -> Option<(usize, usize)> {
    /// Beyond this, finding them costs more than it tells.
    const MANY: usize = 200;
    let items = &sent.as_array()?[..];
    let items = &items[..items.len().min(MANY)];
    (1..items.len()).find_map(|second| {
        let first = items[..second].iter().position(|item| *item == items[second])?;
        Some((first, second))
    })
}
