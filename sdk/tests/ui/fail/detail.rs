//! Mistakes in `#[detail]` and its marks.
#![allow(unused)]
use loggia_sdk::prelude::*;

/// A level that is nearly right.
#[detail]
#[derive(Serialize, JsonSchema)]
struct Near {
    #[detail(minimall)]
    id: u32,
}

/// A level that is far off.
#[detail]
#[derive(Serialize, JsonSchema)]
struct Far {
    #[detail(everything)]
    id: u32,
}

/// What a field is without a mark.
#[detail]
#[derive(Serialize, JsonSchema)]
struct Standard {
    #[detail(standard)]
    id: u32,
}

/// No level, in three ways.
#[detail]
#[derive(Serialize, JsonSchema)]
struct Empty {
    #[detail]
    a: u32,
    #[detail()]
    b: u32,
    #[detail = "full"]
    c: u32,
}

/// More than a level.
#[detail]
#[derive(Serialize, JsonSchema)]
struct Much {
    #[detail(full, minimal)]
    id: u32,
}

/// Two levels.
#[detail]
#[derive(Serialize, JsonSchema)]
struct Twice {
    #[detail(full)]
    #[detail(minimal)]
    id: u32,
}

/// No marks.
#[detail]
#[derive(Serialize, JsonSchema)]
struct Unmarked {
    id: u32,
}

/// Marks that leave nothing out.
#[detail]
#[derive(Serialize, JsonSchema)]
struct Always {
    #[detail(minimal)]
    id: u32,
}

/// The level on the type.
#[detail(full)]
#[derive(Serialize, JsonSchema)]
struct OnType {
    #[detail(full)]
    id: u32,
}

/// A field that is never written.
#[detail]
#[derive(Serialize, JsonSchema)]
struct Skipped {
    id: u32,
    #[detail(full)]
    #[serde(skip)]
    log: u32,
}

/// Fields without names.
#[detail]
#[derive(Serialize, JsonSchema)]
struct Tuple(u32, #[detail(full)] u32);

/// A level on a variant.
#[detail]
#[derive(Serialize, JsonSchema)]
enum OnVariant {
    #[detail(full)]
    One { id: u32 },
}

/// A variant that is written by a function.
#[detail]
#[derive(Serialize, JsonSchema)]
enum ByFunction {
    #[serde(serialize_with = "write")]
    One {
        id: u32,
        #[detail(full)]
        log: u32,
    },
}

/// A type that is written as another.
#[detail]
#[derive(Serialize, JsonSchema, Clone)]
#[serde(into = "u32")]
struct Converted {
    id: u32,
    #[detail(full)]
    log: u32,
}

impl From<Converted> for u32 {
    fn from(converted: Converted) -> Self {
        converted.id
    }
}

/// Below the derives, which then do not see it.
#[derive(Serialize, JsonSchema)]
#[detail]
struct Below {
    id: u32,
    #[detail(full)]
    log: u32,
}

/// Half of the derives.
#[detail]
#[derive(Serialize)]
struct NoSchema {
    id: u32,
    #[detail(full)]
    log: u32,
}

/// No type.
#[detail]
fn function() {}

fn main() {}
