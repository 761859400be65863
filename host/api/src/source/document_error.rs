//! Reasons for refusing a document.

use crate::limits;

/// Why a text is no OpenAPI document that can be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It is larger than the bounds.
    #[error("the document is too large: {0}")]
    Large(String),
    /// It is neither JSON nor YAML.
    #[error("the document is neither JSON nor YAML: {0}")]
    Syntax(String),
    /// It is Swagger 2.0.
    #[error(
        "the document is Swagger {0}, the predecessor of OpenAPI 3; convert it first, for example with \
         `npx swagger2openapi FILE --outfile openapi.json` or with the converter of editor.swagger.io"
    )]
    Swagger(String),
    /// It is of no supported version.
    #[error("the document says `openapi: {0}`; versions 3.0 and 3.1 can be imported")]
    Version(String),
    /// It is no OpenAPI document.
    #[error("the document is not OpenAPI: {0}")]
    Foreign(&'static str),
}

impl DocumentError {
    pub(super) fn too_many_values() -> Self {
        Self::Large(format!("it holds more than {} values", limits::NODES))
    }
}
