//! OpenAPI documents: bounded JSON or YAML, as one JSON value.
//!
//! No typed model of OpenAPI is in between. Of 350 public documents, `openapiv3` refuses five and all of 3.1, `oas3`
//! refuses nineteen: one odd member anywhere ends an import. Here it costs that member.
//!
//! | file | concept |
//! |---|---|
//! | `document_error` | reasons for refusing a document |
//! | `yaml` | YAML as JSON, within bounds |
//! | `document` | a document of a supported version, and what its references name |

mod document;
mod document_error;
#[cfg(test)]
mod tests;
mod yaml;

pub(crate) use document::OpenApiDocument;
pub use document_error::DocumentError;
