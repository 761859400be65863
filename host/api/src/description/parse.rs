//! From the file `<name>.api.toml` to a description.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::{
    model::{
        ApiBody, ApiDescription, ApiMethod, ApiOperation, ApiParameter, BodyForm, DescriptionSource,
        ParameterPlace, ParameterStyle, SecurityScheme,
    },
    render::FORMAT,
};
use crate::limits;

/// Mistake in a description file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct DescriptionError {
    /// Line, counted from 1.
    pub line: usize,
    /// The mistake.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    format: Spanned<i64>,
    name: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    version: String,
    summary: String,
    server: Spanned<String>,
    #[serde(default)]
    source: DescriptionSource,
    #[serde(default)]
    security: Vec<SecurityScheme>,
    #[serde(default)]
    operation: Vec<Spanned<OperationForm>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperationForm {
    action: String,
    id: Option<String>,
    method: ApiMethod,
    path: Spanned<String>,
    server: Option<Spanned<String>>,
    group: Option<String>,
    summary: String,
    description: Option<String>,
    #[serde(default)]
    deprecated: bool,
    #[serde(default = "any_type")]
    accept: String,
    paging: Option<String>,
    #[serde(default)]
    parameters: Vec<ParameterForm>,
    body: Option<BodyTable>,
    data: Option<Spanned<String>>,
    /// By status; TOML's keys are text.
    #[serde(default)]
    errors: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterForm {
    r#in: ParameterPlace,
    name: Spanned<String>,
    style: Option<ParameterStyle>,
    explode: Option<bool>,
    #[serde(default)]
    required: bool,
    #[serde(default)]
    reserved: bool,
    schema: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyTable {
    form: BodyForm,
    media: String,
    #[serde(default)]
    required: bool,
    #[serde(default)]
    styles: BTreeMap<String, ParameterStyle>,
    schema: Spanned<String>,
}

fn any_type() -> String {
    "*/*".into()
}

impl ApiDescription {
    /// Parses a description file.
    ///
    /// # Errors
    ///
    /// The first mistake, with its line.
    pub fn parse(text: &str) -> Result<Self, DescriptionError> {
        let lines = LineNumbers(text);
        if text.len() > limits::FILE {
            let message = format!("the file has {} bytes; at most {} are accepted", text.len(), limits::FILE);
            return Err(DescriptionError { line: 1, message });
        }
        let file: FileForm = toml::from_str(text).map_err(|error| DescriptionError {
            line: error.span().map_or(1, |span| lines.at(span.start)),
            message: error.message().replace('\n', ", "),
        })?;
        if *file.format.get_ref() != FORMAT {
            let message = format!(
                "`format` is {}; this version of Loggia reads {FORMAT}: import the API again",
                file.format.get_ref()
            );
            return Err(lines.error(&file.format, message));
        }
        let server = lines.server(file.server)?;
        if file.operation.is_empty() {
            return Err(DescriptionError { line: 1, message: "the file has no operations".into() });
        }
        if file.operation.len() > limits::OPERATIONS {
            let message = format!(
                "the file has {} operations; at most {} are accepted",
                file.operation.len(),
                limits::OPERATIONS
            );
            return Err(DescriptionError { line: 1, message });
        }
        let operations = file.operation.into_iter().map(|form| lines.operation(form).map(Arc::new));
        Ok(Self {
            name: file.name,
            title: file.title,
            version: file.version,
            summary: file.summary,
            server,
            source: file.source,
            security: file.security,
            operations: operations.collect::<Result<_, _>>()?,
        })
    }
}

/// Finds lines of positions in a text.
struct LineNumbers<'a>(&'a str);

impl LineNumbers<'_> {
    fn at(&self, position: usize) -> usize {
        let before = self.0.as_bytes().get(..position).unwrap_or(self.0.as_bytes());
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    fn error<T>(&self, at: &Spanned<T>, message: String) -> DescriptionError {
        DescriptionError { line: self.at(at.span().start), message }
    }

    fn schema(&self, text: &Spanned<String>) -> Result<Value, DescriptionError> {
        match loggia_facade::json::parse(text.get_ref()) {
            Ok(schema @ (Value::Object(_) | Value::Bool(_))) => Ok(schema),
            Ok(_) => Err(self.error(text, "a schema must be a JSON object".into())),
            Err(error) => Err(self.error(text, format!("the JSON of a schema is malformed: {error}"))),
        }
    }

    fn server(&self, server: Spanned<String>) -> Result<String, DescriptionError> {
        match check_server(server.get_ref()) {
            Ok(()) => Ok(server.into_inner()),
            Err(reason) => Err(self.error(&server, format!("`server` {reason}"))),
        }
    }

    fn operation(&self, form: Spanned<OperationForm>) -> Result<ApiOperation, DescriptionError> {
        // Lines are counted for errors only: a count reads everything before.
        let start = form.span().start;
        let failed = |message: String| DescriptionError { line: self.at(start), message };
        let form = form.into_inner();
        let path = form.path.get_ref();
        if !path.starts_with('/') || path.contains(['?', '#']) || path.chars().any(char::is_control) {
            return Err(self.error(&form.path, "`path` must begin with `/` and have no query".into()));
        }
        if form.parameters.len() > limits::PARAMETERS {
            let message = format!(
                "`{}` has {} parameters; at most {} are accepted",
                form.action,
                form.parameters.len(),
                limits::PARAMETERS
            );
            return Err(failed(message));
        }
        let mut parameters = Vec::with_capacity(form.parameters.len());
        for parameter in form.parameters {
            if parameter.r#in == ParameterPlace::Path
                && !path.contains(&format!("{{{}}}", parameter.name.get_ref()))
            {
                let message = format!("the path has no `{{{}}}`", parameter.name.get_ref());
                return Err(self.error(&parameter.name, message));
            }
            let style = parameter.style.unwrap_or_else(|| parameter.r#in.default_style());
            parameters.push(ApiParameter {
                schema: self.schema(&parameter.schema)?,
                name: parameter.name.into_inner(),
                place: parameter.r#in,
                style,
                explode: parameter.explode.unwrap_or_else(|| style.default_explode()),
                required: parameter.required || parameter.r#in == ParameterPlace::Path,
                reserved: parameter.reserved,
            });
        }
        let body = match form.body {
            None => None,
            Some(body) => Some(ApiBody {
                schema: self.schema(&body.schema)?,
                form: body.form,
                media: body.media,
                required: body.required,
                styles: body.styles,
            }),
        };
        let mut errors = BTreeMap::new();
        for (status, hint) in form.errors {
            let Ok(number) = status.parse() else {
                let message =
                    format!("`errors` has `{}`, which is no status", loggia_text::mention(&status, 16));
                return Err(failed(message));
            };
            errors.insert(number, hint);
        }
        Ok(ApiOperation {
            action: form.action,
            id: form.id,
            method: form.method,
            path: form.path.into_inner(),
            server: form.server.map(|server| self.server(server)).transpose()?,
            group: form.group,
            summary: form.summary,
            description: form.description,
            deprecated: form.deprecated,
            parameters,
            body,
            accept: form.accept,
            paging: form.paging,
            data: form.data.map(|data| self.schema(&data).map(Arc::new)).transpose()?,
            errors,
        })
    }
}

/// Checks a base URL.
///
/// # Errors
///
/// The mistake, to be read after the key's name.
pub(crate) fn check_server(server: &str) -> Result<(), String> {
    let url = url::Url::parse(server).map_err(|error| format!("is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("must be an http or https URL with a host".into());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must have no query and no fragment".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must hold no credentials; the policy's `secrets` do".into());
    }
    if server.contains(['{', '}', '\\']) || server.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("holds characters that a URL cannot have".into());
    }
    Ok(())
}
