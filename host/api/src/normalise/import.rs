//! A whole document as the description of an API.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use loggia_facade::Object;
use loggia_schema::limits as contract;
use loggia_text::{mention, sanitise_line};
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

use super::{
    fit::fit_operation,
    names::NameRegister,
    operation::OperationContext,
    security::{needs_query_credential, read_security},
    servers::{read_server, tidy},
    texts,
};
use crate::{
    description::{ApiDescription, ApiMethod, DescriptionSource},
    limits,
    source::{DocumentError, OpenApiDocument},
};

/// What an importer decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Name of the facade.
    pub name: String,
    /// File or URL of the document. Relative servers are resolved against a URL.
    pub location: String,
    /// Base URL of all operations, instead of those in the document.
    pub server: Option<String>,
    /// Imports only operations with one of these tags, if there are any.
    pub tags: Vec<String>,
}

/// An imported API.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedApi {
    /// The description, which `render` turns into a file.
    pub description: ApiDescription,
    /// What was left out or loosened, for the operator: one line each.
    pub problems: Vec<String>,
}

/// Why a document cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The document cannot be read.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// There is no base URL.
    #[error("{0}; name the API's base URL with `--server`")]
    Server(String),
    /// There are too many operations.
    #[error("the document has {0} operations; a facade has at most {max}: choose some by their tags", max = limits::OPERATIONS)]
    Many(usize),
    /// There is no operation that can be called.
    #[error("the document has no operation that can be called{}", .0.as_ref().map_or(String::new(), |reason| format!(": {reason}")))]
    Empty(Option<String>),
}

/// Problems that are reported.
const PROBLEMS: usize = 64;

/// Imports an OpenAPI document. The same bytes and options give the same description.
///
/// # Errors
///
/// See [`ImportError`].
pub fn import_openapi(bytes: &[u8], options: &ImportOptions) -> Result<ImportedApi, ImportError> {
    let document = OpenApiDocument::read(bytes)?;
    let root = document.root();
    let origin = Url::parse(&options.location).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let mut problems = Vec::new();
    let server = match &options.server {
        Some(server) => tidy(server).map_err(ImportError::Server)?,
        None => match read_server(root, origin.as_ref()).map_err(ImportError::Server)? {
            Some(server) => server,
            None => match &origin {
                Some(origin) => tidy(&origin.origin().ascii_serialization()).map_err(ImportError::Server)?,
                None => return Err(ImportError::Server("the document names no server".into())),
            },
        },
    };
    let (security, credentials) = read_security(&document);
    if needs_query_credential(&security, root) {
        problems.push(
            "the API takes its credential in the query only; the policy's `secrets` can set headers only"
                .into(),
        );
    }
    let context = OperationContext {
        document: &document,
        origin: origin.as_ref(),
        server: &server,
        is_server_named: options.server.is_some(),
        credentials: &credentials,
    };
    let chosen = chosen_operations(&document, &options.tags);
    if chosen.is_empty() && !options.tags.is_empty() {
        let tags = options.tags.iter().map(|tag| format!("`{}`", mention(tag, 100)));
        let reason = format!("none has the tag {}", tags.collect::<Vec<_>>().join(" or "));
        return Err(ImportError::Empty(Some(reason)));
    }
    if chosen.len() > limits::OPERATIONS {
        return Err(ImportError::Many(chosen.len()));
    }
    let mut names = NameRegister::default();
    let mut operations = Vec::new();
    for (path, method, item, operation) in chosen {
        let subject = || format!("`{method} {}`", mention(path, 100));
        match context.read(&mut names, method, path, item, operation) {
            Ok(mut operation) => match fit_operation(&mut operation) {
                Ok(loosened) => {
                    problems.extend(loosened.map(|what| {
                        format!("{} is imported without {what}, which cannot be used here", subject())
                    }));
                    operations.push(Arc::new(operation));
                }
                Err(reason) => problems.push(format!("{} is left out: {reason}", subject())),
            },
            Err(reason) => problems.push(format!("{} is left out: {reason}", subject())),
        }
    }
    if operations.is_empty() {
        return Err(ImportError::Empty(problems.into_iter().next()));
    }
    if problems.len() > PROBLEMS {
        let more = problems.len() - PROBLEMS;
        problems.truncate(PROBLEMS);
        problems.push(format!("and {more} more"));
    }
    let info = root.get("info").and_then(Value::as_object);
    let text = |key: &str| info.and_then(|info| info.get(key)).and_then(Value::as_str).unwrap_or_default();
    let title = sanitise_line(text("title"), contract::TITLE);
    let purpose = texts::clean(text("summary"), contract::SUMMARY / 2);
    let purpose = if purpose.is_empty() {
        texts::first_sentence(&texts::clean(text("description"), 4096), contract::SUMMARY / 2)
    } else {
        purpose
    };
    let summary = match (purpose.as_str(), title.as_str()) {
        ("", "") => format!("The API at {server}."),
        ("", title) => format!("{title}."),
        (purpose, _) => purpose.to_owned(),
    };
    let description = ApiDescription {
        name: options.name.clone(),
        version: sanitise_line(text("version"), contract::VERSION),
        title,
        summary,
        server,
        source: DescriptionSource {
            location: shown_location(&options.location),
            sha256: HEXLOWER.encode(&Sha256::digest(bytes)),
            openapi: sanitise_line(document.version(), 16),
        },
        security,
        operations,
    };
    Ok(ImportedApi { description, problems })
}

type FoundOperation<'a> = (&'a str, ApiMethod, &'a Object, &'a Object);

fn chosen_operations<'a>(document: &'a OpenApiDocument, tags: &[String]) -> Vec<FoundOperation<'a>> {
    let is_chosen = |operation: &Object| {
        let own = operation.get("tags").and_then(Value::as_array);
        let mut own = own.into_iter().flatten().filter_map(Value::as_str);
        tags.is_empty() || own.any(|tag| tags.iter().any(|chosen| chosen == tag))
    };
    let mut found = Vec::new();
    for (path, item) in document.root().get("paths").and_then(Value::as_object).into_iter().flatten() {
        let Some(item) = document.object(item).filter(|_| !path.starts_with("x-")) else { continue };
        for (key, value) in item {
            let Some((_, method)) = ApiMethod::ALL.iter().find(|(name, _)| name == key) else { continue };
            if let Value::Object(operation) = value
                && is_chosen(operation)
            {
                found.push((path.as_str(), *method, item, operation));
            }
        }
    }
    found
}

/// A location without credentials, and without the folders of this machine.
fn shown_location(location: &str) -> String {
    match Url::parse(location) {
        Ok(mut url) if matches!(url.scheme(), "http" | "https") => {
            // Both fail only for URLs without a host.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_query(None);
            url.set_fragment(None);
            url.to_string()
        }
        _ => sanitise_line(location.rsplit(['/', '\\']).next().unwrap_or_default(), 200),
    }
}
