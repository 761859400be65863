//! How requests are authenticated.

use loggia_facade::Object;
use loggia_text::is_clean;
use serde_json::Value;

use crate::{
    description::{ParameterPlace, SecurityScheme},
    source::OpenApiDocument,
};

/// Schemes of one document.
const SCHEMES: usize = 16;

/// Reads the schemes that some operation may use, and the parameters that carry credentials: the host adds those.
pub(super) fn read_security(
    document: &OpenApiDocument,
) -> (Vec<SecurityScheme>, Vec<(ParameterPlace, String)>) {
    let (mut schemes, mut parameters) = (Vec::new(), Vec::new());
    let components = document.root().get("components").and_then(Value::as_object);
    let defined = components.and_then(|components| components.get("securitySchemes")?.as_object());
    for (name, scheme) in defined.into_iter().flatten().take(SCHEMES) {
        let Some(object) = document.object(scheme) else { continue };
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let header = |name: &str, format: &str| (Some(name.to_owned()), Some(format.to_owned()));
        let own = text("name").filter(|name| is_clean(name)).unwrap_or_default();
        let scheme_name = text("scheme").unwrap_or_default().to_ascii_lowercase();
        let (kind, (header, format)) = match (text("type"), scheme_name.as_str(), text("in")) {
            (Some("http"), "bearer", _) => ("bearer", header("authorization", "Bearer {}")),
            (Some("http"), "basic", _) => ("basic", header("authorization", "Basic {}")),
            (Some("apiKey"), _, Some("header")) if own.parse::<http::HeaderName>().is_ok() => {
                parameters.push((ParameterPlace::Header, own.to_owned()));
                ("header", header(&own.to_ascii_lowercase(), "{}"))
            }
            (Some("apiKey"), _, Some("query")) => {
                parameters.push((ParameterPlace::Query, own.to_owned()));
                ("query", (None, None))
            }
            (Some("apiKey"), _, Some("cookie")) => {
                parameters.push((ParameterPlace::Cookie, own.to_owned()));
                let format = format!("{own}={{}}");
                ("cookie", header("cookie", &format))
            }
            (Some("oauth2"), ..) => ("oauth2", header("authorization", "Bearer {}")),
            (Some("openIdConnect"), ..) => ("openid", header("authorization", "Bearer {}")),
            _ => ("other", (None, None)),
        };
        if is_clean(name) {
            schemes.push(SecurityScheme { name: name.clone(), kind: kind.to_owned(), header, format });
        }
    }
    let rank = |scheme: &SecurityScheme| match scheme.kind.as_str() {
        "bearer" => 0,
        "header" => 1,
        "oauth2" | "openid" => 2,
        _ => 3,
    };
    schemes.sort_by_key(rank);
    (schemes, parameters)
}

/// Tests whether an operation needs no credential, as far as the document says.
pub(super) fn needs_query_credential(schemes: &[SecurityScheme], root: &Object) -> bool {
    let is_required = root.get("security").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    is_required && !schemes.is_empty() && schemes.iter().all(|scheme| scheme.kind == "query")
}
