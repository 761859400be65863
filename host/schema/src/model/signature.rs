//! Signatures: an action and its parameters on one line: `update(id: string, depth?: xs|s|m|l)`.
//!
//! Texts that models read on every turn use a brief notation, in which a missing type is the one that the name says
//! ([`usual_type`]), or that the text gives elsewhere: see [`BriefSignatures`] and [`call_form`].

use std::{cell::RefCell, collections::HashMap, fmt::Write as _};

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
    let render = |levels| (format!("{name}({})", member_list(parameters, levels, TypeTexts::All)), ());
    fitting(LONG, render).0
}

/// Renders all types of an action's parameters: two actions with the same text take the same ones.
pub(crate) fn parameter_key(parameters: &ValueShape) -> String {
    member_list(parameters, ALL_LEVELS, TypeTexts::Unlike(&|_| None))
}

/// Renders the signatures of one tool for a text that models read on every turn. A name, of a parameter or of a member, has
/// its type where it differs from the last one that the name had, or at first from the [`usual_type`].
#[derive(Default)]
pub(crate) struct BriefSignatures {
    /// The last types of names.
    types: HashMap<String, String>,
}

impl BriefSignatures {
    /// Renders the signature of the next actions, which have the same parameters.
    pub(crate) fn render(&mut self, names: &[&str], parameters: &ValueShape) -> String {
        let (out, types) = fitting(BRIEF_LONG, |levels| {
            let types = RefCell::new(self.types.clone());
            let members = member_list(parameters, levels, TypeTexts::Brief(&types));
            (format!("{}({members})", names.join("|")), types.into_inner())
        });
        self.types = types;
        out
    }
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
    let types = TypeTexts::Inner(known);
    types.reference(name, shape).unwrap_or_else(|| type_text_with(shape, ALL_LEVELS, types))
}

/// Returns the text with the most levels that is short enough, or that with one level, and what it comes with.
fn fitting<T>(long: usize, render: impl Fn(usize) -> (String, T)) -> (String, T) {
    let mut levels = LEVELS;
    loop {
        let out = render(levels);
        if out.0.len() <= long || levels == 1 {
            return out;
        }
        levels -= 1;
    }
}

/// Types that a signature gives.
#[derive(Clone, Copy)]
enum TypeTexts<'a> {
    /// All.
    All,
    /// All but those that names had last, or else usually have.
    Brief(&'a RefCell<HashMap<String, String>>),
    /// Those of parameters that differ from what is known of them.
    Unlike(KnownShapes<'a>),
    /// All but usual ones, and those of parameters of the tool: of members of objects.
    Inner(KnownShapes<'a>),
}

impl TypeTexts<'_> {
    /// The type of a member after its name.
    fn member(self, name: &str, shape: &ValueShape, levels: usize) -> Option<String> {
        let text = || self.reference(name, shape).unwrap_or_else(|| type_text_with(shape, levels, self));
        match self {
            Self::All => Some(text()),
            Self::Brief(types) => {
                // The text depends on the types before it, and cannot be compared.
                let whole = type_text(shape, levels);
                let is_known = match types.borrow().get(name) {
                    Some(known) => *known == whole,
                    None => *usual_type(name) == *whole,
                };
                let text = (!is_known).then(text);
                types.borrow_mut().insert(name.to_owned(), whole);
                text
            }
            Self::Unlike(known) => known(name).is_none_or(|known| !known.is_same_type(shape)).then(text),
            Self::Inner(_) => Some(text()).filter(|text| *text != *usual_type(name)),
        }
    }

    /// `typeof name`, if the tool's parameter of this name is an object or list of the same type.
    fn reference(self, name: &str, shape: &ValueShape) -> Option<String> {
        let Self::Inner(known) = self else { return None };
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
            Self::All | Self::Brief(_) => WORDS,
            Self::Unlike(_) | Self::Inner(_) => usize::MAX,
        }
    }

    /// The types that members of a member have.
    fn inner(self) -> Self {
        match self {
            Self::Unlike(known) => Self::Inner(known),
            Self::All | Self::Brief(_) | Self::Inner(_) => self,
        }
    }
}

/// The type that brief texts leave out, because the parameter's name says it.
pub(crate) fn usual_type(name: &str) -> &'static str {
    const INTEGERS: [&str; 6] = ["limit", "offset", "depth", "page", "count", "size"];
    const FLAGS: [&str; 9] =
        ["all", "archived", "pinned", "hidden", "numbered", "recursive", "dry_run", "force", "overwrite"];
    const FLAG_STARTS: [&str; 4] = ["is_", "has_", "include_", "ignore_"];
    const LISTS: [&str; 4] = ["ids", "paths", "tags", "urls"];
    if INTEGERS.contains(&name) {
        "integer"
    } else if FLAGS.contains(&name) || FLAG_STARTS.iter().any(|start| name.starts_with(start)) {
        "boolean"
    } else if LISTS.contains(&name) {
        "string[]"
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
            "words": {"type": "array", "items": text}, "who": {"type": "object", "properties": {"name": text}},
            "env": {"type": "object", "additionalProperties": text}, "at": {"anyOf": [text, {"type": "integer"}]}}});
        let resolved = crate::model::resolve::resolve(schema.as_object().unwrap()).unwrap();
        assert_eq!(
            BriefSignatures::default().render(&["go", "see"], &ValueShape::from_schema(&resolved)),
            "go|see(id, n?: integer, state?: on|off, words?: string[], who?: {name?}, env?: {[name]: string}, \
             at?: string|integer)"
        );
    }

    #[test]
    fn brief_signatures_give_a_type_where_it_changes() {
        let mut signatures = BriefSignatures::default();
        let mut check = |properties: Value, expected: &str| {
            let schema = json!({"type": "object", "properties": properties});
            let resolved = crate::model::resolve::resolve(schema.as_object().unwrap()).unwrap();
            assert_eq!(signatures.render(&["go"], &ValueShape::from_schema(&resolved)), expected);
        };
        let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
        check(json!({"n": number, "id": text}), "go(n?: integer, id?)");
        check(json!({"n": {"type": "integer", "maximum": 9}, "id": text}), "go(n?, id?)");
        check(json!({"n": text, "id": number}), "go(n?: string, id?: integer)");
        check(json!({"n": text, "id": text}), "go(n?, id?: string)");
        // Members count, too, in both directions.
        let inside = |members: Value| json!({"type": "object", "properties": members});
        check(json!({"in": inside(json!({"n": text, "m": number}))}), "go(in?: {n?, m?: integer})");
        check(
            json!({"n": number, "m": number, "in": inside(json!({"n": text, "m": number}))}),
            "go(n?: integer, m?, in?)",
        );
        check(json!({"in": inside(json!({"n": number}))}), "go(in?: {n?})");
        // Some names say their type.
        check(json!({"limit": number, "archived": {"type": "boolean"}}), "go(limit?, archived?)");
        check(json!({"offset": text, "hidden": number}), "go(offset?: string, hidden?: integer)");
        let texts = json!({"type": "array", "items": text});
        check(
            json!({"tags": texts, "names": texts, "ids": text}),
            "go(tags?, names?: string[], ids?: string)",
        );
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
