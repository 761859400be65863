//! Templates of URIs, such as `notes://note/{id}`: RFC 6570 with simple (`{id}`) and reserved (`{+path}`) expansion.

use loggia_facade::Object;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

/// Bytes of a template, and of a URI that is matched.
const BYTES: usize = 512;
/// Variables of a template.
const VARIABLES: usize = 8;

/// What simple expansion encodes: all but unreserved characters.
const SIMPLE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What reserved expansion encodes: `?` and `#` too, since values are parts of a path.
const RESERVED: &AsciiSet = &SIMPLE
    .remove(b'/')
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// Schemes whose meaning clients know: a plugin's resource could pass for something else.
const RESERVED_SCHEMES: [&str; 18] = [
    "about",
    "blob",
    "chrome",
    "content",
    "data",
    "file",
    "ftp",
    "git",
    "http",
    "https",
    "javascript",
    "loggia",
    "mailto",
    "result",
    "skill",
    "ui",
    "ws",
    "wss",
];

/// A template whose parts were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplate {
    parts: Vec<TemplatePart>,
    scheme: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Literal(String),
    Variable {
        name: String,
        /// Its value may contain slashes.
        reserved: bool,
    },
}

impl UriTemplate {
    /// Parses a template. The error says what is wrong and completes "the URI `…`".
    ///
    /// # Errors
    ///
    /// If it has no scheme, a reserved one, characters that no URI has, or variables with nothing between them.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > BYTES {
            return Err(format!("has {} bytes; at most {BYTES} are allowed", text.len()));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err("has no scheme; write, for example, `notes://note/{id}`".to_owned());
        };
        if !is_scheme(scheme) {
            return Err("has a scheme that is not 1 to 32 characters of a-z, 0-9, `+`, `-` and `.`, the first a letter".to_owned());
        }
        if RESERVED_SCHEMES.contains(&scheme) {
            return Err(format!(
                "has the scheme `{scheme}`, which is reserved; use one of your own, such as the facade's name"
            ));
        }
        if rest.is_empty() {
            return Err("has nothing after its scheme".to_owned());
        }
        let parts = parse_parts(text, is_uri_char)?;
        Ok(Self { parts, scheme: scheme.len() })
    }

    /// Its scheme.
    pub fn scheme(&self) -> &str {
        match self.parts.first() {
            Some(TemplatePart::Literal(text)) => &text[..self.scheme],
            _ => "",
        }
    }

    /// The names of its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        variables(&self.parts)
    }

    /// Whether it has no variables.
    pub fn is_fixed(&self) -> bool {
        self.variables().next().is_none()
    }

    /// Matches a URI; returns the values of the variables, decoded.
    pub fn matches(&self, uri: &str) -> Option<Object> {
        if uri.len() > BYTES * 4 {
            return None;
        }
        let mut values = Vec::new();
        if !match_parts(&self.parts, uri, &mut values) {
            return None;
        }
        let decoded = values.into_iter().map(|(name, value)| {
            let value = percent_decode_str(value).decode_utf8().ok()?;
            Some((name.to_owned(), Value::String(value.into_owned())))
        });
        decoded.collect()
    }

    /// Expands it with the members of an object. `None` if one is missing, empty, or neither a text nor a number.
    pub fn expand(&self, values: &Object) -> Option<String> {
        expand_parts(&self.parts, values, true)
    }
}

/// Parses the template of a key prefix, whose variables are those of a URI template.
pub(crate) fn parse_key_template(text: &str) -> Result<Vec<String>, String> {
    if text.is_empty() || text.len() > BYTES {
        return Err(format!("must have 1 to {BYTES} bytes"));
    }
    let parts = parse_parts(text, |c| !c.is_control())?;
    Ok(variables(&parts).map(str::to_owned).collect())
}

/// Expands the template of a key prefix, up to the first variable without a value.
pub fn expand_key_template(template: &str, values: &Object) -> String {
    let parts = parse_parts(template, |c| !c.is_control()).unwrap_or_default();
    let known = parts.iter().take_while(|part| match part {
        TemplatePart::Literal(_) => true,
        TemplatePart::Variable { name, .. } => values.get(name).is_some_and(|value| text_of(value).is_some()),
    });
    expand_parts(known, values, false).unwrap_or_default()
}

fn variables(parts: &[TemplatePart]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| match part {
        TemplatePart::Variable { name, .. } => Some(name.as_str()),
        TemplatePart::Literal(_) => None,
    })
}

fn is_scheme(text: &str) -> bool {
    text.len() <= 32
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
}

fn is_variable(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Unreserved and reserved characters of RFC 3986, and `%`.
fn is_uri_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c)
}

fn parse_parts(text: &str, allowed: impl Fn(char) -> bool) -> Result<Vec<TemplatePart>, String> {
    let mut parts: Vec<TemplatePart> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let literal = rest.find('{').unwrap_or(rest.len());
        if literal > 0 {
            if let Some(wrong) = rest[..literal].chars().find(|c| !allowed(*c)) {
                return Err(format!("contains {wrong:?}, which is not allowed"));
            }
            parts.push(TemplatePart::Literal(rest[..literal].to_owned()));
            rest = &rest[literal..];
            continue;
        }
        let Some((inside, after)) = rest[1..].split_once('}') else {
            return Err("has a `{` without `}`".to_owned());
        };
        let (name, reserved) = match inside.strip_prefix('+') {
            Some(name) => (name, true),
            None => (inside, false),
        };
        if !is_variable(name) {
            return Err("has a variable that is not `{name}` or `{+name}`".to_owned());
        }
        if variables(&parts).any(|other| other == name) {
            return Err(format!("has the variable `{name}` twice"));
        }
        if matches!(parts.last(), Some(TemplatePart::Variable { .. })) {
            return Err("has two variables with nothing between them".to_owned());
        }
        parts.push(TemplatePart::Variable { name: name.to_owned(), reserved });
        rest = after;
    }
    if variables(&parts).count() > VARIABLES {
        return Err(format!("has more than {VARIABLES} variables"));
    }
    Ok(parts)
}

/// Matches parts from the left, without trying again: a simple value ends where the text after it first occurs, one with slashes
/// where it last does.
fn match_parts<'a>(parts: &'a [TemplatePart], text: &'a str, values: &mut Vec<(&'a str, &'a str)>) -> bool {
    let Some((part, others)) = parts.split_first() else { return text.is_empty() };
    match part {
        TemplatePart::Literal(literal) => {
            text.strip_prefix(literal.as_str()).is_some_and(|rest| match_parts(others, rest, values))
        }
        TemplatePart::Variable { name, reserved } => {
            let most = match reserved {
                true => text.len(),
                false => text.find(['/', '?', '#']).unwrap_or(text.len()),
            };
            let end = match others.first() {
                Some(TemplatePart::Literal(literal)) if *reserved => text.rfind(literal.as_str()),
                Some(TemplatePart::Literal(literal)) => text.find(literal.as_str()),
                _ => Some(text.len()),
            };
            let Some(end) = end.filter(|end| (1..=most).contains(end)) else { return false };
            values.push((name, &text[..end]));
            match_parts(others, &text[end..], values)
        }
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn expand_parts<'a>(
    parts: impl IntoIterator<Item = &'a TemplatePart>,
    values: &Object,
    encode: bool,
) -> Option<String> {
    let mut out = String::new();
    for part in parts {
        match part {
            TemplatePart::Literal(text) => out.push_str(text),
            TemplatePart::Variable { name, reserved } => {
                let value = text_of(values.get(name)?)?;
                match (encode, reserved) {
                    (false, _) => out.push_str(&value),
                    (true, true) => out.extend(utf8_percent_encode(&value, RESERVED)),
                    (true, false) => out.extend(utf8_percent_encode(&value, SIMPLE)),
                }
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn templates_match_what_they_expand_to() {
        let check = |template: &str, values: Value, uri: &str| {
            let template = UriTemplate::parse(template).unwrap();
            let values = object(values);
            assert_eq!(template.expand(&values).as_deref(), Some(uri));
            assert_eq!(template.matches(uri), Some(values), "{uri}");
        };
        check("notes://all", json!({}), "notes://all");
        check("notes://note/{id}", json!({"id": "n_1"}), "notes://note/n_1");
        check("notes://note/{id}", json!({"id": "a/b ü?"}), "notes://note/a%2Fb%20%C3%BC%3F");
        check("files://{+path}", json!({"path": "a/b c.txt"}), "files://a/b%20c.txt");
        check("files://{+path}/lines", json!({"path": "a/lines/b"}), "files://a/lines/b/lines");
        check("test://t/{id}/data", json!({"id": "123"}), "test://t/123/data");
        check("x://{a}-{b}?c={c}", json!({"a": "1", "b": "2", "c": "3"}), "x://1-2?c=3");
        let template = UriTemplate::parse("notes://note/{id}").unwrap();
        assert_eq!(template.expand(&object(json!({"id": 5}))).as_deref(), Some("notes://note/5"));
        assert_eq!((template.scheme(), template.is_fixed()), ("notes", false));
        for values in [json!({}), json!({"id": ""}), json!({"id": null}), json!({"id": [1]})] {
            assert_eq!(template.expand(&object(values)), None);
        }
        for other in [
            "notes://note/",
            "notes://note/a/b",
            "notes://other/a",
            "notes://note/a?b",
            "notes://note/%ff",
            "",
            &format!("notes://note/{}", "x".repeat(4096)),
        ] {
            assert_eq!(template.matches(other), None, "{other:.40}");
        }
    }

    #[test]
    fn templates_that_cannot_be_used_are_refused() {
        let check = |template: &str, reason: &str| {
            let error = UriTemplate::parse(template).unwrap_err();
            assert!(error.contains(reason), "{template:.40}: {error}");
        };
        check("", "no scheme");
        check("note/{id}", "no scheme");
        check("Notes://x", "scheme that is not");
        check("9://x", "scheme that is not");
        check("notes://", "nothing after");
        check("https://example.com/{id}", "`https`, which is reserved");
        check("file:///etc/passwd", "`file`, which is reserved");
        check("ui://x", "`ui`, which is reserved");
        check("n://a b", "contains ' '");
        check("n://ü", "contains 'ü'");
        check("n://\u{202e}", "contains '\\u{202e}'");
        check("n://{a", "without `}`");
        check("n://{}", "not `{name}`");
        check("n://{?a}", "not `{name}`");
        check("n://{a}{b}", "nothing between");
        check("n://{a}/{a}", "`a` twice");
        check("n://{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}", "more than 8");
        check(&format!("n://{}", "x".repeat(600)), "at most 512");
    }

    #[test]
    fn key_templates_expand_up_to_the_first_missing_variable() {
        let values = object(json!({"id": "n_1"}));
        assert_eq!(expand_key_template("notes/{id}", &values), "notes/n_1");
        assert_eq!(expand_key_template("notes/{id}/{other}/x", &values), "notes/n_1/");
        assert_eq!(expand_key_template("notes/", &values), "notes/");
        assert_eq!(parse_key_template("a/{b}/{c}"), Ok(vec!["b".to_owned(), "c".to_owned()]));
        assert!(parse_key_template("a\n").is_err() && parse_key_template("").is_err());
    }
}
