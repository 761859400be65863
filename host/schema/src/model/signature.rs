//! Signatures: an action and its parameters on one line: `update(id: string, depth?: xs|s|m|l)`.
//!
//! Texts that models read on every turn use a brief notation, in which a missing type is the one that the name says
//! ([`usual_type`]), or that the text gives elsewhere: see [`BriefSignatures`] and [`call_form`].

use std::{collections::HashMap, fmt::Write as _};

use crate::{
    model::shape::{ShapeMember, ValueShape},
    text::show::is_word,
};

/// Characters of a signature, beyond which nested objects are abbreviated.
const LONG: usize = 400;
/// The same for a signature that models read on every turn.
const BRIEF_LONG: usize = 250;
/// Enum values that a text lists, if `describe` lists them all.
const WORDS: usize = 24;
/// Levels of nested objects that are listed.
const LEVELS: usize = 3;
/// The same in a type that stands nowhere else.
const ALL_LEVELS: usize = 8;

/// Finds the shape of a tool's parameter by its name.
pub(crate) type KnownShapes<'a> = &'a dyn Fn(&str) -> Option<&'a ValueShape>;

/// Renders the signature of an action.
pub(crate) fn signature(name: &str, parameters: &ValueShape) -> String {
    signature_with(name, parameters)
}

/// Renders the signatures of one tool for a text that models read on every turn. A parameter has its type where it is first
/// named, and only if it is not the [`usual_type`] of its name.
#[derive(Default)]
pub(crate) struct BriefSignatures {
    /// Types of the parameters that were named before.
    types: HashMap<String, String>,
}

impl BriefSignatures {
    /// Renders the signature of the next action.
    pub(crate) fn render(&mut self, name: &str, parameters: &ValueShape) -> String {
        let (out, levels) = fitting(BRIEF_LONG, |levels| {
            format!("{name}({})", member_list(parameters, levels, TypeTexts::Brief(&self.types)))
        });
        if let ValueShape::Record { members, .. } = parameters {
            for ShapeMember { name, shape, .. } in members {
                let text = type_text_with(shape, levels - 1, TypeTexts::Inner(None));
                self.types.entry(name.clone()).or_insert(text);
            }
        }
        out
    }
}

fn signature_with(name: &str, parameters: &ValueShape) -> String {
    fitting(LONG, |levels| format!("{name}({})", member_list(parameters, levels, TypeTexts::All))).0
}

/// Renders an action with the names of its parameters: `add(title, body?)`. A parameter has a type only if it is not the
/// one that `known` returns.
pub(crate) fn call_form(name: &str, parameters: &ValueShape, known: KnownShapes<'_>) -> String {
    format!("{name}({})", member_list(parameters, ALL_LEVELS, TypeTexts::Unlike(known)))
}

/// Renders an optional parameter with its type: `wait?: boolean`.
pub(crate) fn optional_parameter(name: &str, shape: &ValueShape) -> String {
    format!("{name}?: {}", type_text(shape, 1))
}

/// Renders the type of an object's member, with all that it nests. `typeof name` stands for the shape of a parameter of
/// this name.
pub(crate) fn nested_type(name: &str, shape: &ValueShape, known: KnownShapes<'_>) -> String {
    let types = TypeTexts::Inner(Some(known));
    types.reference(name, shape).unwrap_or_else(|| type_text_with(shape, ALL_LEVELS, types))
}

/// Returns the text with the most levels that is short enough, or that with one level; with the number of its levels.
fn fitting(long: usize, render: impl Fn(usize) -> String) -> (String, usize) {
    let mut levels = LEVELS;
    loop {
        let out = render(levels);
        if out.len() <= long || levels == 1 {
            return (out, levels);
        }
        levels -= 1;
    }
}

/// Types that a signature gives.
#[derive(Clone, Copy)]
enum TypeTexts<'a> {
    /// All.
    All,
    /// All but usual ones, and those of parameters that were named before.
    Brief(&'a HashMap<String, String>),
    /// Those of parameters that differ from what is known of them.
    Unlike(KnownShapes<'a>),
    /// All but usual ones, and those of parameters of the tool: of members of objects.
    Inner(Option<KnownShapes<'a>>),
}

impl TypeTexts<'_> {
    /// The type of a member after its name.
    fn member(self, name: &str, shape: &ValueShape, levels: usize) -> Option<String> {
        let text = || self.reference(name, shape).unwrap_or_else(|| type_text_with(shape, levels, self));
        let is_needed = match self {
            Self::All => true,
            Self::Brief(types) => match types.get(name) {
                Some(known) => *known != text(),
                None => *text() != *usual_type(name),
            },
            Self::Unlike(known) => known(name).is_none_or(|known| !known.is_same_type(shape)),
            Self::Inner(_) => *text() != *usual_type(name),
        };
        is_needed.then(text)
    }

    /// `typeof name`, if the tool's parameter of this name is an object or list of the same type.
    fn reference(self, name: &str, shape: &ValueShape) -> Option<String> {
        let Self::Inner(Some(known)) = self else { return None };
        let is_long =
            |shape: &ValueShape| matches!(shape, ValueShape::Record { members, .. } if !members.is_empty());
        let is_long = match shape {
            ValueShape::List(items) => is_long(items),
            shape => is_long(shape),
        };
        (is_long && known(name).is_some_and(|known| known.is_same_type(shape)))
            .then(|| format!("typeof {name}"))
    }

    /// How many words of an `enum` are listed. Where the text is all that a model sees, all.
    fn words(self) -> usize {
        match self {
            Self::All | Self::Brief(_) | Self::Inner(None) => WORDS,
            Self::Unlike(_) | Self::Inner(Some(_)) => usize::MAX,
        }
    }

    /// The types that members of a member have.
    fn inner(self) -> Self {
        match self {
            Self::Brief(_) => Self::Inner(None),
            Self::Unlike(known) => Self::Inner(Some(known)),
            Self::All | Self::Inner(_) => self,
        }
    }
}

/// The type that brief texts leave out, because the parameter's name says it.
pub(crate) fn usual_type(name: &str) -> &'static str {
    const INTEGERS: [&str; 6] = ["limit", "offset", "depth", "page", "count", "size"];
    const FLAGS: [&str; 7] = ["archived", "pinned", "hidden", "recursive", "dry_run", "force", "overwrite"];
    const FLAG_STARTS: [&str; 4] = ["is_", "has_", "include_", "ignore_"];
    if INTEGERS.contains(&name) {
        "integer"
    } else if FLAGS.contains(&name) || FLAG_STARTS.iter().any(|start| name.starts_with(start)) {
        "boolean"
    } else {
        "string"
    }
}

fn member_list(shape: &ValueShape, levels: usize, types: TypeTexts<'_>) -> String {
    let mut out = String::new();
    if let ValueShape::Record { members, others } = shape {
        for (index, ShapeMember { name, required, shape, .. }) in members.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let mark = if *required { "" } else { "?" };
            let shown = if is_identifier(name) { name.clone() } else { format!("{name:?}") };
            let _ = write!(out, "{comma}{shown}{mark}");
            if let Some(text) = types.member(name, shape, levels - 1) {
                let _ = write!(out, ": {text}");
            }
        }
        if let Some(others) = others {
            let comma = if members.is_empty() { "" } else { ", " };
            let _ = write!(out, "{comma}[name]: {}", type_text_with(others, levels - 1, types.inner()));
        }
    }
    out
}

/// Whether a parameter's name needs no quotes.
fn is_identifier(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) && !name.is_empty()
}

/// Renders a type in TypeScript notation.
pub(crate) fn type_text(shape: &ValueShape, levels: usize) -> String {
    type_text_with(shape, levels, TypeTexts::All)
}

fn type_text_with(shape: &ValueShape, levels: usize, types: TypeTexts<'_>) -> String {
    let kind = |shape: &ValueShape| type_text_with(shape, levels, types);
    match shape {
        ValueShape::Any => "any".into(),
        ValueShape::Boolean => "boolean".into(),
        ValueShape::Number { integer: true, .. } => "integer".into(),
        ValueShape::Number { .. } => "number".into(),
        ValueShape::Text(None) => "string".into(),
        ValueShape::Text(Some(values)) => {
            let mut words: Vec<String> = values
                .iter()
                .take(types.words())
                .map(|value| if is_word(value) { value.clone() } else { format!("{value:?}") })
                .collect();
            if values.len() > types.words() {
                words.push("…".into());
            }
            words.join("|")
        }
        ValueShape::List(items) => match &**items {
            ValueShape::Any => "any[]".into(),
            ValueShape::Union(_) | ValueShape::Text(Some(_)) => format!("({})[]", kind(items)),
            items => format!("{}[]", kind(items)),
        },
        ValueShape::Record { members: known, others } => match (known.is_empty(), others) {
            (true, None) => "object".into(),
            (true, Some(others)) if !matches!(types, TypeTexts::All) && **others == ValueShape::Any => {
                "object".into()
            }
            _ if levels == 0 => "object".into(),
            _ => format!("{{{}}}", member_list(shape, levels, types.inner())),
        },
        ValueShape::Union(shapes) => shapes.iter().map(kind).collect::<Vec<_>>().join("|"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(properties: Value, required: Value, expected: &str) {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        let resolved = crate::model::resolve::resolve(schema.as_object().unwrap()).unwrap();
        assert_eq!(signature("go", &ValueShape::from_schema(&resolved)), expected);
    }

    #[test]
    fn every_type_has_a_signature() {
        check(json!({}), json!([]), "go()");
        check(
            json!({"id": {"type": "string"}, "depth": {"enum": ["xs", "s", "m", "l"]}}),
            json!(["id"]),
            "go(id: string, depth?: xs|s|m|l)",
        );
        check(
            json!({"number": {"type": ["integer", "null"]}, "x": {"type": "number"}, "on": {"type": "boolean"}, "v": true}),
            json!(["v"]),
            "go(number?: integer, x?: number, on?: boolean, v: any)",
        );
        check(
            json!({"tags": {"type": "array", "items": {"type": "string"}}, "all": {"type": "array"},
                "kinds": {"type": "array", "items": {"enum": ["a", "b c"]}}}),
            json!([]),
            "go(tags?: string[], all?: any[], kinds?: (a|\"b c\")[])",
        );
        check(
            json!({"who": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"},
                "age": {"type": "integer"}}}, "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "bag": {"type": "object"}}),
            json!([]),
            "go(who?: {name: string, age?: integer}, labels?: {[name]: string}, bag?: object)",
        );
        check(
            json!({"at": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}),
            json!(["at"]),
            "go(at: string|integer)",
        );
    }

    #[test]
    fn brief_signatures_omit_the_type_string() {
        let text = json!({"type": "string"});
        let schema = json!({"type": "object", "required": ["id"], "properties": {
            "id": text, "n": {"type": "integer"}, "state": {"enum": ["on", "off"]},
            "tags": {"type": "array", "items": text}, "who": {"type": "object", "properties": {"name": text}},
            "env": {"type": "object", "additionalProperties": text}, "at": {"anyOf": [text, {"type": "integer"}]}}});
        let resolved = crate::model::resolve::resolve(schema.as_object().unwrap()).unwrap();
        assert_eq!(
            BriefSignatures::default().render("go", &ValueShape::from_schema(&resolved)),
            "go(id, n?: integer, state?: on|off, tags?: string[], who?: {name?}, env?: {[name]: string}, \
             at?: string|integer)"
        );
    }

    #[test]
    fn brief_signatures_give_each_type_once() {
        let mut signatures = BriefSignatures::default();
        let mut check = |properties: Value, expected: &str| {
            let schema = json!({"type": "object", "properties": properties});
            let resolved = crate::model::resolve::resolve(schema.as_object().unwrap()).unwrap();
            assert_eq!(signatures.render("go", &ValueShape::from_schema(&resolved)), expected);
        };
        let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
        check(json!({"n": number, "id": text}), "go(n?: integer, id?)");
        check(json!({"n": {"type": "integer", "maximum": 9}, "id": text}), "go(n?, id?)");
        check(json!({"n": text, "id": number}), "go(n?: string, id?: integer)");
        check(json!({"in": {"type": "object", "properties": {"n": number}}}), "go(in?: {n?: integer})");
        // Some names say their type.
        check(json!({"limit": number, "archived": {"type": "boolean"}}), "go(limit?, archived?)");
        check(json!({"offset": text, "hidden": number}), "go(offset?: string, hidden?: integer)");
    }

    #[test]
    fn long_signatures_abbreviate_nested_objects() {
        let many: Value = (0..30)
            .map(|i| (format!("parameter_number_{i}"), json!({"type": "string"})))
            .collect::<serde_json::Map<_, _>>()
            .into();
        check(json!({"o": {"type": "object", "properties": many}}), json!([]), "go(o?: object)");
    }

    #[test]
    fn further_members_are_shown_if_allowed() {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true});
        assert_eq!(signature("go", &ValueShape::from_schema(&schema)), "go(a?: string, [name]: any)");
    }
}
