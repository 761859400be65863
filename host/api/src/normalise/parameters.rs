//! Parameters of path, query, headers and cookies.

use loggia_facade::Object;
use loggia_text::mention;
use serde_json::{Value, json};

use super::{
    constraints::{add_example, default_text},
    schema::{SchemaSide, convert},
    texts,
};
use crate::{
    description::{ApiParameter, ParameterPlace, ParameterStyle},
    limits,
    source::OpenApiDocument,
};

/// Headers that no parameter can set: OpenAPI says so of the first three, HTTP or the host of the others.
const OWN_HEADERS: [&str; 12] = [
    "accept",
    "content-type",
    "authorization",
    "accept-encoding",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "host",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Reads the parameters of an operation, those of its path first. A parameter of the operation replaces the path's.
///
/// # Errors
///
/// Why the operation cannot be called.
pub(super) fn read_parameters(
    document: &OpenApiDocument,
    path: &str,
    item: &Object,
    operation: &Object,
    credentials: &[(ParameterPlace, String)],
) -> Result<Vec<ApiParameter>, String> {
    let mut read: Vec<ApiParameter> = Vec::new();
    for owner in [item, operation] {
        for value in owner.get("parameters").and_then(Value::as_array).into_iter().flatten() {
            let Some(object) = document.object(value) else { continue };
            let Some(parameter) = read_parameter(document, path, object)? else { continue };
            let is_credential = |(place, name): &(ParameterPlace, String)| {
                *place == parameter.place && name.eq_ignore_ascii_case(&parameter.name)
            };
            if credentials.iter().any(is_credential) {
                continue;
            }
            match read.iter_mut().find(|p| p.name == parameter.name && p.place == parameter.place) {
                Some(known) => *known = parameter,
                None => read.push(parameter),
            }
        }
    }
    for name in template_names(path) {
        if !read.iter().any(|p| p.place == ParameterPlace::Path && p.name == name) {
            // Some documents forget to describe what their path names.
            read.push(ApiParameter {
                name: name.to_owned(),
                place: ParameterPlace::Path,
                style: ParameterStyle::Simple,
                explode: false,
                required: true,
                reserved: false,
                schema: json!({"type": "string"}),
            });
        }
    }
    if read.len() > limits::PARAMETERS {
        return Err(format!("it has {} parameters; at most {} are accepted", read.len(), limits::PARAMETERS));
    }
    // Path parameters in the order of the path, then what is required: the order in which a reader needs them.
    let rank = |parameter: &ApiParameter| match parameter.place {
        ParameterPlace::Path => (0, path.find(&format!("{{{}}}", parameter.name)).unwrap_or(usize::MAX)),
        _ if parameter.required => (1, 0),
        _ => (2, 0),
    };
    read.sort_by_key(rank);
    Ok(read)
}

/// The names in braces of a path.
pub(super) fn template_names(path: &str) -> Vec<&str> {
    path.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name)).collect()
}

/// Reads one parameter; `None` if a request is complete without it and it cannot be sent.
fn read_parameter(
    document: &OpenApiDocument,
    path: &str,
    object: &Object,
) -> Result<Option<ApiParameter>, String> {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    let flag = |key: &str| object.get(key) == Some(&Value::Bool(true));
    let Some(name) = text("name").filter(|name| !name.is_empty()) else { return Ok(None) };
    let place = match text("in") {
        Some("path") => ParameterPlace::Path,
        Some("query") => ParameterPlace::Query,
        Some("header") if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) => return Ok(None),
        Some("header") => ParameterPlace::Header,
        Some("cookie") => ParameterPlace::Cookie,
        _ => return Ok(None),
    };
    if place == ParameterPlace::Path && !path.contains(&format!("{{{name}}}")) {
        return Ok(None);
    }
    if place == ParameterPlace::Header && name.parse::<http::HeaderName>().is_err() {
        return Ok(None);
    }
    let content =
        object.get("content").and_then(Value::as_object).and_then(|content| content.values().next());
    let (style, schema) = match (content, text("style")) {
        (Some(media), _) => (ParameterStyle::Json, media.get("schema")),
        (None, None | Some("")) => (place.default_style(), object.get("schema")),
        (None, Some(style)) => {
            let style = match (style, place) {
                ("simple", ParameterPlace::Path | ParameterPlace::Header) => ParameterStyle::Simple,
                ("form", ParameterPlace::Query | ParameterPlace::Cookie) => ParameterStyle::Form,
                ("spaceDelimited", ParameterPlace::Query) => ParameterStyle::SpaceDelimited,
                ("pipeDelimited", ParameterPlace::Query) => ParameterStyle::PipeDelimited,
                ("deepObject", ParameterPlace::Query) => ParameterStyle::DeepObject,
                (other, _) => {
                    return Err(format!(
                        "its parameter `{}` has the style `{}`, which is not supported",
                        mention(name, 64),
                        mention(other, 32)
                    ));
                }
            };
            (style, object.get("schema"))
        }
    };
    let any = json!({});
    let mut schema = convert(document, schema.unwrap_or(&any), SchemaSide::Request, limits::PARAMETER_SCHEMA);
    if let Value::Object(schema) = &mut schema {
        if let Some(description) = text("description") {
            let description = texts::clean(description, limits::PARAMETER_TEXT);
            let default = object.get("schema").and_then(|schema| document.object(schema));
            let description = texts::with_default(&description, default.and_then(default_text));
            if !description.is_empty() {
                schema.insert("description".into(), description.into());
            }
        }
        let example = object.get("example").or_else(|| {
            let examples = object.get("examples")?.as_object()?;
            examples.values().next()?.get("value")
        });
        if let Some(example) = example {
            add_example(example, schema);
        }
        if flag("deprecated") {
            schema.insert("deprecated".into(), true.into());
        }
    }
    let explode = object.get("explode").and_then(Value::as_bool).unwrap_or_else(|| style.default_explode());
    Ok(Some(ApiParameter {
        name: name.to_owned(),
        place,
        style,
        explode: explode || style == ParameterStyle::DeepObject,
        required: flag("required") || place == ParameterPlace::Path,
        // GitHub marks parameters that hold a path of their own.
        reserved: flag("allowReserved") || flag("x-multi-segment"),
        schema,
    }))
}
