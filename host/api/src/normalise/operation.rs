//! One operation of a document.

use loggia_facade::Object;
use loggia_text::{is_clean, mention, sanitise_line};
use serde_json::Value;
use url::Url;

use super::{
    body::read_body,
    names::{NameRegister, path_group},
    parameters::{read_parameters, template_names},
    responses::{paging_parameter, read_responses},
    servers::read_server,
    texts,
};
use crate::{
    description::{ApiMethod, ApiOperation, ParameterPlace},
    limits,
    source::OpenApiDocument,
};

/// What all operations of a document share.
pub(super) struct OperationContext<'a> {
    pub(super) document: &'a OpenApiDocument,
    pub(super) origin: Option<&'a Url>,
    /// The server of the whole API.
    pub(super) server: &'a str,
    /// The servers of operations do not count: the importer named one.
    pub(super) is_server_named: bool,
    /// Parameters that carry credentials.
    pub(super) credentials: &'a [(ParameterPlace, String)],
}

impl OperationContext<'_> {
    /// Reads one operation.
    ///
    /// # Errors
    ///
    /// Why it cannot be called.
    pub(super) fn read(
        &self,
        names: &mut NameRegister,
        method: ApiMethod,
        path: &str,
        item: &Object,
        operation: &Object,
    ) -> Result<ApiOperation, String> {
        let text = |key: &str| operation.get(key).and_then(Value::as_str);
        if !path.starts_with('/') || path.contains(['?', '#']) || !is_clean(path) {
            return Err("its path must begin with `/` and have no query".into());
        }
        let names_of_path = template_names(path);
        if path.matches('{').count() != names_of_path.len()
            || path.matches('}').count() != names_of_path.len()
        {
            return Err("the braces of its path do not match".into());
        }
        let parameters = read_parameters(self.document, path, item, operation, self.credentials)?;
        let body = read_body(self.document, operation)?;
        let notes = read_responses(self.document, operation);
        let id = text("operationId").map(str::trim).filter(|id| !id.is_empty() && is_clean(id));
        let server = match (self.is_server_named, operation.contains_key("servers")) {
            (true, _) => None,
            (false, true) => read_server(operation, self.origin)?,
            (false, false) => read_server(item, self.origin)?,
        };
        let whole = texts::clean(
            text("description").or_else(|| item.get("description")?.as_str()).unwrap_or_default(),
            limits::DESCRIPTION,
        );
        let own = text("summary").map(|text| sanitise_line(&texts::clean(text, 1024), limits::SUMMARY));
        let summary = match own.filter(|text| !text.is_empty()) {
            Some(summary) => summary,
            None => match texts::first_sentence(&whole, limits::SUMMARY) {
                sentence if sentence.is_empty() => mention(&format!("{method} {path}"), limits::SUMMARY),
                sentence => sentence,
            },
        };
        let tag = operation.get("tags").and_then(|tags| tags.as_array()?.first()?.as_str());
        let group = tag.map(|tag| sanitise_line(tag, limits::GROUP)).filter(|tag| !tag.is_empty());
        Ok(ApiOperation {
            action: names.name(id, method, path),
            id: id.map(str::to_owned),
            method,
            path: path.to_owned(),
            server: server.filter(|server| server != self.server),
            group: group.or_else(|| path_group(path).map(|group| sanitise_line(&group, limits::GROUP))),
            description: (whole != summary && !whole.is_empty()).then_some(whole),
            summary,
            deprecated: operation.get("deprecated") == Some(&Value::Bool(true)),
            paging: paging_parameter(method, &parameters),
            parameters,
            body,
            accept: notes.accept,
            data: notes.data,
            errors: notes.errors,
        })
    }
}
