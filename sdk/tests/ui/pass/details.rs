//! Marks beside names of the author's own, in types of every form, without our prelude.
#![deny(warnings)]

use ::loggia_sdk::{JsonSchema, Serialize};

mod detail {}
mod serde_json {}

#[::loggia_sdk::detail]
#[derive(Serialize, JsonSchema)]
pub struct Generic<T: ::std::clone::Clone, const N: usize>
where
    T: ::std::cmp::PartialEq,
{
    #[detail(minimal)]
    pub r#type: String,
    pub value: Option<T>,
    #[detail(full)]
    #[serde(skip_serializing_if = "Vec::is_empty", rename = "all", default)]
    pub values: Vec<T>,
    #[detail(full)]
    #[serde(skip_serializing_if = "str::is_empty")]
    pub text: String,
}

#[::loggia_sdk::detail]
#[derive(Serialize, JsonSchema)]
pub enum Borrowed<'a> {
    One(u32),
    Two {
        id: u32,
        #[detail(full)]
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
    },
    Three,
}

fn inner() {
    #[::loggia_sdk::detail]
    #[derive(Serialize, JsonSchema)]
    struct Local {
        id: u32,
        #[detail(full)]
        #[serde(skip_serializing_if = "Option::is_none")]
        log: Option<String>,
    }
    let _ = Local { id: 1, log: Option::None };
}

fn main() {
    inner();
}
