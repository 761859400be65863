//! The description of an API: plain data, and the file `<name>.api.toml` that holds it.
//!
//! | file | concept |
//! |---|---|
//! | `model` | the description as data |
//! | `toml_text` | strings in TOML and JSON, always written the same way |
//! | `render` | from data to the file |
//! | `parse` | from the file to data |

mod model;
mod parse;
mod render;
#[cfg(test)]
mod tests;
mod toml_text;

pub use model::{
    ApiBody, ApiDescription, ApiMethod, ApiOperation, ApiParameter, BodyForm, DescriptionSource,
    ParameterPlace, ParameterStyle, SecurityScheme,
};
pub use parse::DescriptionError;
pub(crate) use parse::check_server;
