//! HTTP APIs with an OpenAPI description, served as facades without code.
//!
//! ```text
//! OpenAPI ─ source ─▶ normalise ─▶ description ⇄ `<name>.api.toml`
//!                                      │
//!                                      └ adapt ─▶ surface, routes ─▶ facade ─ request ─▶ egress
//!                                                                       ▲                  │
//!                                                              reply ───┴──── response ◀───┘
//! ```
//!
//! | module | concept |
//! |---|---|
//! | `limits` | bounds of documents and descriptions |
//! | `source` | OpenAPI documents: bounded JSON or YAML (pure) |
//! | `description` | an API as plain data, and the file that holds it (pure) |
//! | `normalise` | from a document to a description (pure) |
//! | `adapt` | operations as the actions of a surface (pure) |
//! | `request` | from a call to an HTTP request (pure) |
//! | `response` | from an HTTP response to a reply or a failure (pure) |
//! | `cursor` | cursors of pages, sealed |
//! | `grants` | where requests may go |
//! | `facade` | the facade: a call of an action is one request |

#![warn(unreachable_pub)]

mod adapt;
mod cursor;
mod description;
mod facade;
mod grants;
pub mod limits;
mod normalise;
mod request;
mod response;
mod source;

pub use adapt::{AdaptedApi, OperationRoute, adapt_api};
pub use cursor::CursorKey;
pub use description::{
    ApiBody, ApiDescription, ApiMethod, ApiOperation, ApiParameter, BodyForm, DescriptionError,
    DescriptionSource, ParameterPlace, ParameterStyle, SecurityScheme,
};
pub use facade::ApiFacade;
pub use grants::api_grants;
pub use normalise::{ImportError, ImportOptions, ImportedApi, import_openapi};
pub use source::DocumentError;
