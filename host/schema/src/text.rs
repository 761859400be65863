//! Text that a plugin or a caller wrote, made fit to be read by a model, a person or a terminal.
//!
//! What a reader cannot see must not reach the model: control characters and escapes repaint terminals, bidi overrides
//! show another order than the one that is read, zero-width and tag characters smuggle instructions.

use std::sync::Arc;

use loggia_facade::{Action, Object, Surface};
use serde_json::Value;

use crate::keywords::{self, Holds};

/// Whether a reader would not see this character, or would see others wrongly because of it. Line breaks and tabs are
/// not among them.
///
/// Beside control characters this is all that Unicode calls default-ignorable, those without a meaning yet included: they
/// are drawn as nothing, and a tokeniser reads them.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        // C0, DEL and C1.
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}'
        // Soft hyphen, grapheme joiner, marks and overrides of direction.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        // Zero width, invisible operators, and letters that have no shape.
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{180b}'..='\u{180f}' | '\u{feff}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
        // Variation selectors carry bytes (those above U+FFFF stand below); U+FE0F alone is what makes an emoji coloured.
        | '\u{fe00}'..='\u{fe0e}'
        // Interlinear annotations and their neighbours, formatting of shorthand and music.
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags, variation selectors, and what else may come to stand beside them.
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a text shows everything that it holds.
pub(crate) fn is_clean(text: &str) -> bool {
    !text.chars().any(is_hidden)
}

/// Strips what a reader cannot see, and escape sequences whole; keeps line breaks; cuts to `max` bytes, at a character.
pub fn sanitise(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max));
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let kept = match c {
            '\x1b' => {
                rest = after_escape(rest);
                continue;
            }
            '\u{9b}' => {
                rest = after_parameters(rest);
                continue;
            }
            '\r' if rest.as_str().starts_with('\n') => continue,
            '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' => '\n',
            '\t' => ' ',
            c if is_hidden(c) => continue,
            c => c,
        };
        out.push(kept);
        if out.len() > max {
            cut(&mut out, max);
            break;
        }
    }
    out
}

/// As [`sanitise`], on one line: every run of white space becomes one space.
pub fn sanitise_line(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max));
    for word in sanitise(text, text.len()).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > max {
            cut(&mut out, max);
            break;
        }
    }
    out
}

/// Shortens to `max` bytes; the last three are an ellipsis, where there is room for one.
fn cut(text: &mut String, max: usize) {
    const ELLIPSIS: char = '…';
    let room = if max >= ELLIPSIS.len_utf8() { max - ELLIPSIS.len_utf8() } else { max };
    let mut end = room;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    if room < max {
        text.push(ELLIPSIS);
    }
}

/// What follows an ESC: a control sequence, a string up to its terminator (or the end of its line), or two characters.
fn after_escape(mut rest: std::str::Chars<'_>) -> std::str::Chars<'_> {
    match rest.clone().next() {
        Some('[') => {
            rest.next();
            after_parameters(rest)
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let text = rest.as_str();
            let end = text.find(['\x07', '\x1b', '\n', '\u{9c}']).unwrap_or(text.len());
            let skip = match text.as_bytes().get(end) {
                Some(b'\x1b') if text[end..].starts_with("\x1b\\") => 2,
                Some(b'\x07') => 1,
                _ => 0,
            };
            text[end + skip..].chars()
        }
        Some(c) if c.is_ascii_graphic() => {
            rest.next();
            rest
        }
        _ => rest,
    }
}

/// The parameters and the final byte of a control sequence.
fn after_parameters(mut rest: std::str::Chars<'_>) -> std::str::Chars<'_> {
    while let Some(c @ ' '..='~') = rest.clone().next() {
        rest.next();
        if ('@'..='~').contains(&c) {
            break;
        }
    }
    rest
}

/// Strips every text of a surface: titles, summaries, reasons, and titles, descriptions and hints inside schemas.
///
/// Names, enum values and examples are left as they are, since they mean something to the plugin;
/// [`Contract::new`](crate::Contract::new) refuses a surface in which they hide something. Nothing is cut here, so that
/// the bounds can say what is too long.
#[must_use]
pub fn sanitise_surface(surface: Surface) -> Surface {
    let line = |text: String| sanitise_line(&text, usize::MAX);
    let block = |text: String| sanitise(&text, usize::MAX).trim().to_owned();
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
                params: sanitise_object(action.params),
                data: action.data.map(|mut data| {
                    if needs(&data, 0) {
                        schema(Arc::make_mut(&mut data), 0);
                    }
                    data
                }),
                ..action
            })
            .collect(),
        wants: surface
            .wants
            .into_iter()
            .map(|want| loggia_facade::Want { grant: line(want.grant), reason: line(want.reason), ..want })
            .collect(),
    }
}

/// A schema without what a reader cannot see in its texts.
pub(crate) fn sanitise_object(mut object: Arc<Object>) -> Arc<Object> {
    if members_need(&object, 0) {
        members(Arc::make_mut(&mut object), 0);
    }
    object
}

/// How deep a schema is looked into; the bounds refuse what is deeper.
const DEPTH: usize = 64;

/// Whether anything in a schema would be changed: most need nothing, and are then not copied.
fn needs(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(object) => members_need(object, depth),
        _ => false,
    }
}

fn members_need(object: &Object, depth: usize) -> bool {
    depth < DEPTH
        && object.iter().any(|(key, value)| match value {
            value if keywords::is_text(key) => any_text(value, &|text| {
                !is_clean(text) || text.contains(['\t', '\r', '\u{2028}', '\u{2029}'])
            }),
            _ => match keywords::holds(key) {
                Some(Holds::One) => needs(value, depth + 1),
                Some(Holds::Map) => {
                    value.as_object().is_some_and(|m| m.values().any(|v| needs(v, depth + 1)))
                }
                Some(Holds::List) => value.as_array().is_some_and(|a| a.iter().any(|v| needs(v, depth + 1))),
                None => false,
            },
        })
}

/// Whether any text in an annotation, which may be an object of texts, is such.
fn any_text(value: &Value, is: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, is)),
        Value::Object(members) => members.iter().any(|(name, value)| is(name) || any_text(value, is)),
        _ => false,
    }
}

fn every_text(value: &mut Value) {
    match value {
        Value::String(text) => *text = sanitise(text, usize::MAX),
        Value::Array(items) => items.iter_mut().for_each(every_text),
        Value::Object(members) => {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(name, mut value)| {
                    every_text(&mut value);
                    (sanitise_line(&name, usize::MAX), value)
                })
                .collect();
        }
        _ => {}
    }
}

fn schema(value: &mut Value, depth: usize) {
    if let Value::Object(object) = value {
        members(object, depth);
    }
}

fn members(object: &mut Object, depth: usize) {
    if depth >= DEPTH {
        return;
    }
    for (key, value) in object.iter_mut() {
        match (keywords::holds(key), value) {
            (None, value) if keywords::is_text(key) => every_text(value),
            (Some(Holds::One), value) => schema(value, depth + 1),
            (Some(Holds::Map), Value::Object(map)) => map.values_mut().for_each(|v| schema(v, depth + 1)),
            (Some(Holds::List), Value::Array(list)) => list.iter_mut().for_each(|v| schema(v, depth + 1)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture;

    /// H37.
    #[test]
    fn what_cannot_be_seen_is_stripped() {
        for (text, expected) in [
            ("plain – ünï 漢字 🎉", "plain – ünï 漢字 🎉"),
            ("two\nlines\r\nthree\rfour\u{2028}five", "two\nlines\nthree\nfour\nfive"),
            ("tab\tbed", "tab bed"),
            ("bell\x07 null\0 del\x7f c1\u{90}", "bell null del c1"),
            ("red \x1b[31mtext\x1b[0m", "red text"),
            ("8-bit \u{9b}31mtext", "8-bit text"),
            ("title \x1b]0;owned\x07after", "title after"),
            ("link \x1b]8;;http://x\x1b\\after", "link after"),
            ("open \x1b]0;never closed\nnext line", "open \nnext line"),
            ("charset \x1b(B.", "charset B."),
            ("lone \x1b", "lone "),
            ("right\u{202e}left\u{202c}", "rightleft"),
            ("iso\u{2066}late\u{2069}", "isolate"),
            ("zero\u{200b}width\u{200d}\u{feff}", "zerowidth"),
            ("tag\u{e0041}\u{e0042}s", "tags"),
            ("vs\u{e0101}\u{fe01}", "vs"),
            ("not yet\u{e0080}\u{e01f0}\u{e0fff}\u{fff0}", "not yet"),
            ("khmer\u{17b4}\u{17b5} short\u{1bca0}hand", "khmer shorthand"),
            ("heart ❤\u{fe0f}", "heart ❤\u{fe0f}"),
        ] {
            assert_eq!(sanitise(text, usize::MAX), expected, "{text:?}");
        }
    }

    #[test]
    fn cuts_at_a_character_and_within_the_bound() {
        for (text, max, expected) in [
            ("short", 5, "short"),
            ("longer than that", 9, "longer…"),
            ("äöüäöü", 8, "äö…"),
            ("🎉🎉", 4, "…"),
            ("abc", 2, "ab"),
            ("漢", 2, ""),
            ("abc", 0, ""),
        ] {
            let cut = sanitise(text, max);
            assert_eq!(cut, expected, "{text} to {max}");
            assert!(cut.len() <= max);
        }
        assert_eq!(sanitise_line("  a \n\n b\t c ", usize::MAX), "a b c");
        assert_eq!(sanitise_line("one two three", 9), "one tw…");
    }

    /// H37.
    #[test]
    fn every_text_of_a_surface_is_stripped_and_no_value_is() {
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

        // A line break that is only odd is made a plain one in a schema as well.
        let mut surface = fixture::notes();
        surface.actions[0].params = Arc::new(json!({"title": "a\u{2028}b"}).as_object().unwrap().clone());
        assert_eq!(sanitise_surface(surface).actions[0].params["title"], "a\nb");
    }
}
