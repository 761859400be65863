//! Removes invisible characters from the texts of a surface.

use std::sync::Arc;

use loggia_facade::{Action, Object, Surface};
pub(crate) use loggia_text::{is_clean, sanitise_line, sanitise_text};
use serde_json::Value;

use crate::model::keywords::{self, SubschemaLayout};

/// Sanitises every text of a surface: titles, summaries, reasons, and titles, descriptions and hints inside schemas.
///
/// Names, enum values and examples are kept, because the plugin gives them a meaning;
/// [`Contract::new`](crate::Contract::new) refuses a surface in which they have hidden characters. Texts are not
/// shortened, so that the bounds can report their real length.
#[must_use]
pub fn sanitise_surface(surface: Surface) -> Surface {
    let line = |text: String| sanitise_line(&text, usize::MAX);
    let block = |text: String| sanitise_text(&text, usize::MAX).trim().to_owned();
    Surface {
        name: surface.name,
        title: line(surface.title),
        version: line(surface.version),
        summary: block(surface.summary),
        instructions: surface.instructions.map(block),
        default_action: surface.default_action,
        actions: surface
            .actions
            .into_iter()
            .map(|action| Action {
                summary: block(action.summary),
                needs: action.needs.into_iter().map(line).collect(),
                group: action.group.map(line),
                params: sanitise_object(action.params),
                data: action.data.map(|mut data| {
                    if needs_change(&data, 0) {
                        sanitise_schema(Arc::make_mut(&mut data), 0);
                    }
                    data
                }),
                ..action
            })
            .collect(),
        // Documents for browsers, which no model reads.
        views: surface.views,
        wants: surface
            .wants
            .into_iter()
            .map(|want| loggia_facade::Want { grant: line(want.grant), reason: line(want.reason), ..want })
            .collect(),
    }
}

/// Sanitises the texts in a schema.
pub(crate) fn sanitise_object(mut object: Arc<Object>) -> Arc<Object> {
    if members_need_change(&object, 0) {
        sanitise_members(Arc::make_mut(&mut object), 0);
    }
    object
}

/// Depth to which schemas are examined; the bounds refuse deeper ones.
const DEPTH: usize = 64;

/// Whether sanitising would change a schema. Most need no change and are not copied.
fn needs_change(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(object) => members_need_change(object, depth),
        _ => false,
    }
}

fn members_need_change(object: &Object, depth: usize) -> bool {
    depth < DEPTH
        && object.iter().any(|(key, value)| match value {
            value if keywords::is_text(key) => any_text(value, &|text| {
                !is_clean(text) || text.contains(['\t', '\r', '\u{2028}', '\u{2029}'])
            }),
            _ => match keywords::subschemas(key) {
                Some(SubschemaLayout::One) => needs_change(value, depth + 1),
                Some(SubschemaLayout::Map) => {
                    value.as_object().is_some_and(|m| m.values().any(|v| needs_change(v, depth + 1)))
                }
                Some(SubschemaLayout::List) => {
                    value.as_array().is_some_and(|a| a.iter().any(|v| needs_change(v, depth + 1)))
                }
                None => false,
            },
        })
}

/// Whether any text in an annotation satisfies a predicate. An annotation may be an object of texts.
fn any_text(value: &Value, is: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, is)),
        Value::Object(members) => members.iter().any(|(name, value)| is(name) || any_text(value, is)),
        _ => false,
    }
}

fn sanitise_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = sanitise_text(text, usize::MAX),
        Value::Array(items) => items.iter_mut().for_each(sanitise_texts),
        Value::Object(members) => {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(name, mut value)| {
                    sanitise_texts(&mut value);
                    (sanitise_line(&name, usize::MAX), value)
                })
                .collect();
        }
        _ => {}
    }
}

fn sanitise_schema(value: &mut Value, depth: usize) {
    if let Value::Object(object) = value {
        sanitise_members(object, depth);
    }
}

fn sanitise_members(object: &mut Object, depth: usize) {
    if depth >= DEPTH {
        return;
    }
    for (key, value) in object.iter_mut() {
        match (keywords::subschemas(key), value) {
            (None, value) if keywords::is_text(key) => sanitise_texts(value),
            (Some(SubschemaLayout::One), value) => sanitise_schema(value, depth + 1),
            (Some(SubschemaLayout::Map), Value::Object(map)) => {
                map.values_mut().for_each(|v| sanitise_schema(v, depth + 1))
            }
            (Some(SubschemaLayout::List), Value::Array(list)) => {
                list.iter_mut().for_each(|v| sanitise_schema(v, depth + 1))
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::fixture;

    /// H37.
    #[test]
    fn texts_are_sanitised_and_values_kept() {
        let dirty = "a\u{200b}b\x1b[1m";
        let mut surface = fixture::notes();
        surface.title = dirty.into();
        surface.summary = dirty.into();
        surface.instructions = Some(dirty.into());
        surface.wants = vec![loggia_facade::Want { grant: dirty.into(), reason: dirty.into(), needed: true }];
        surface.actions[0].summary = dirty.into();
        let deep = json!({"type": "object", "properties": {"p": {"type": "array", "title": dirty, "items":
            {"anyOf": [{"description": dirty, "enum": [dirty], "x-hint": dirty, "details": {"when_to_change": dirty}}]},
            "default": dirty}}});
        let clean = json!({"type": "object", "properties": {"p": {"type": "array", "title": "ab", "items":
            {"anyOf": [{"description": "ab", "enum": [dirty], "x-hint": "ab", "details": {"when_to_change": "ab"}}]},
            "default": dirty}}});
        surface.actions[0].params = Arc::new(deep.as_object().unwrap().clone());
        surface.actions[0].data = Some(Arc::new(deep));
        let untouched = surface.actions[1].params.clone();

        let surface = sanitise_surface(surface);

        let texts = [&surface.title, &surface.summary, &surface.actions[0].summary, &surface.wants[0].reason];
        assert!(texts.iter().all(|text| *text == "ab"), "{texts:?}");
        assert_eq!(surface.instructions.as_deref(), Some("ab"));
        assert_eq!(surface.wants[0].grant, "ab");
        assert_eq!(Value::Object((*surface.actions[0].params).clone()), clean);
        assert_eq!(surface.actions[0].data.as_deref(), Some(&clean));
        assert!(Arc::ptr_eq(&untouched, &surface.actions[1].params), "a clean schema is not copied");

        // Unusual line breaks become plain ones.
        let mut surface = fixture::notes();
        surface.actions[0].params = Arc::new(json!({"title": "a\u{2028}b"}).as_object().unwrap().clone());
        assert_eq!(sanitise_surface(surface).actions[0].params["title"], "a\nb");
    }
}
