//! One refusal of the validator, in words.

use std::fmt::Write as _;

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind, paths::LocationSegment};
use serde_json::Value;

use crate::{
    contract::{
        alternatives, condition,
        explain::About,
        phrase::{count, kinds, list, long, one_of, wanted},
    },
    model::{formats, keywords, shape::Shape},
    text::{
        near,
        show::{self, allowed, json},
    },
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
    /// Told only where nothing else is.
    Spare,
}

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
        // Of `pattern.rs`; a pattern of names is the validator's own.
        Kind::Custom { .. } => {
            let pattern = about.schema(error).and_then(|schema| schema.get("pattern")?.as_str());
            format!("must match {}{got}", show::cut(pattern.unwrap_or_default(), 120))
        }
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
        Kind::UnevaluatedItems { .. } if let Some(wanted) = unevaluated(about, error, "unevaluatedItems") => {
            format!("has further items, and each must be {wanted}")
        }
        Kind::UnevaluatedItems { unexpected } => {
            let many = count(unexpected.len().max(1) as u64, "item");
            format!("holds {many} too many{}", long(sent))
        }
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
        Kind::Contains => contains(about, error),
        Kind::Not { .. } if secret => "must not be what it is".to_owned(),
        Kind::Not { schema } => format!("{}{got}", not(schema)),
        Kind::OneOfMultipleValid { .. } => match together(about, error) {
            Some(what) => what,
            None => format!("is valid in more than one of its forms; give one of them{got}"),
        },
        Kind::FalseSchema => match most(about, error) {
            Some(most) => format!("is an item too many (at most {most})"),
            None => "is not allowed here".to_owned(),
        },
        _ => format!("is not valid{got}"),
    };
    let rank = match error.kind() {
        Kind::Enum { .. } | Kind::Constant { .. } => 0,
        Kind::Type { .. } => 1,
        _ => 2,
    };
    let where_ = condition::of(about, error);
    Fault {
        place: error.instance_path().as_str().to_owned(),
        rank,
        order: Order::Wrong,
        message: format!("{} {what}{where_}", about.subject(error)),
        hint: near_word(about, error).or_else(|| about.hint(error)),
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
    let near = near::nearest(sent, options.as_array()?.iter().filter_map(Value::as_str))?;
    Some(format!("Did you mean \"{near}\"?"))
}

/// A parameter or member that is not there.
fn missing(about: &About<'_>, error: &ValidationError<'_>, property: &Value) -> Fault {
    let name = property.as_str().unwrap_or_default();
    let within = error.instance_path();
    let mut path = about.path(error);
    push(&mut path, &LocationSegment::Property(name.into()));
    let schema = about.schema(error);
    let because = condition::required(about, error, name);
    let of = schema.and_then(Value::as_object).and_then(|schema| keywords::property(schema, name));
    let of = of
        .or_else(|| keywords::property(about.rules.schema.as_object()?, name).filter(|_| within.is_empty()));
    Fault {
        place: format!("{}/{name}", within.as_str()),
        rank: 0,
        order: Order::Missing,
        message: format!("`{path}` is required{because}"),
        hint: of.and_then(keywords::advice),
    }
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
        message: format!("{} is required (got null)", about.subject(error)),
        hint: parent.get("properties").and_then(|p| p.get(&name)).and_then(keywords::advice),
    })
}

/// Unknown names that are looked at: more than are told, so that it is known that there are more.
const UNKNOWN: usize = 64 + 1;

/// Names that the schema does not know: one fault each.
fn add_unknown(about: &About<'_>, error: &ValidationError<'_>, unexpected: &[String], out: &mut Vec<Fault>) {
    let within = error.instance_path();
    let mut fault = |name: &str, order, message: String| {
        let place = format!("{}/{name}", within.as_str());
        out.push(Fault { place, rank: 0, message, hint: None, order });
    };
    let wanted = unevaluated(about, error, "unevaluatedProperties");
    for name in unexpected.iter().take(UNKNOWN) {
        let message = if let (Some(wanted), false) = (&wanted, about.is_secret(error)) {
            let mut path = about.path(error);
            push(&mut path, &LocationSegment::Property(name.into()));
            format!("`{path}` must be {wanted}")
        } else if within.is_empty() && about.knows(name) {
            // Where no alternative holds, the names of all of them count as unknown.
            let said = format!("`{}` does not go with the other parameters", show::name(name));
            fault(name, Order::Spare, said);
            continue;
        } else if within.is_empty() {
            about.foreign(name)
        } else if about.is_secret(error) {
            format!("{} has a member that it cannot have", about.subject(error))
        } else {
            let known = about.schema(error).map(Shape::of);
            let near = match &known {
                Some(Shape::Record { members, .. }) => {
                    near::nearest(name, members.iter().map(|member| member.name.as_str()))
                }
                _ => None,
            };
            let clue = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            format!("{} has no member `{}`{clue}", about.subject(error), show::name(name))
        };
        fault(name, Order::Unknown, message);
    }
}

/// What a schema wants of members or items that no other keyword speaks of, where it wants something.
fn unevaluated(about: &About<'_>, error: &ValidationError<'_>, keyword: &str) -> Option<String> {
    about.schema(error)?.get(keyword).filter(|schema| schema.is_object()).map(wanted)
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
    match schema.as_object().and_then(crate::model::shape::values) {
        Some([only]) => format!("must not be {}", allowed(only)),
        Some(values) => format!("must not be any of {}", list(values)),
        None => match schema.get("pattern").and_then(Value::as_str) {
            Some(pattern) => format!("must not match {}", show::cut(pattern, 120)),
            None => format!("must not be {}", wanted(schema)),
        },
    }
}

/// Items of a certain kind, of which a list has too few or too many.
fn contains(about: &About<'_>, error: &ValidationError<'_>) -> String {
    let schema = about.schema(error);
    let bound = |keyword| schema.and_then(|schema| schema.get(keyword)).and_then(Value::as_u64);
    let item = schema.and_then(|schema| schema.get("contains")).map_or_else(|| "any".to_owned(), wanted);
    let many =
        |limit| if limit == 1 { "1 item that is".to_owned() } else { format!("{limit} items that are each") };
    match (error.schema_path().as_str().rsplit('/').next(), bound("minContains"), bound("maxContains")) {
        (Some("maxContains"), _, Some(most)) => format!("must hold at most {} {item}", many(most)),
        (Some("minContains"), Some(least), _) => format!("must hold at least {} {item}", many(least)),
        _ => format!("must hold an item that is {item}"),
    }
}

/// How many items a list may have of which one more is refused.
fn most(about: &About<'_>, error: &ValidationError<'_>) -> Option<usize> {
    matches!(error.instance_path().segments().last(), Some(LocationSegment::Index(_))).then_some(())?;
    error.schema_path().as_str().ends_with("/items").then_some(())?;
    let first = about.schema(error)?.get("prefixItems").and_then(Value::as_array);
    Some(first.map_or(0, Vec::len))
}

/// Alternatives that only require names, of which more than one holds.
fn together(about: &About<'_>, error: &ValidationError<'_>) -> Option<String> {
    let branches = about.schema(error)?.get("oneOf")?.as_array()?;
    let names = alternatives::required_names(branches)?;
    Some(format!("must have only one of {}", show::names(&names, "and")))
}

/// Adds a step to a path.
pub(crate) fn push(path: &mut String, segment: &LocationSegment<'_>) {
    let _ = match segment {
        LocationSegment::Index(index) => write!(path, "[{index}]"),
        LocationSegment::Property(name) if path.is_empty() => write!(path, "{}", show::name(name)),
        LocationSegment::Property(name) if name.contains(['.', '[', '"', ' ']) => {
            write!(path, "[{}]", json(&Value::String(name.to_string()), show::GOT))
        }
        LocationSegment::Property(name) => write!(path, ".{}", show::name(name)),
    };
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
