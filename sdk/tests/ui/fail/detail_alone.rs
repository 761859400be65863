//! Marks on a type that is not told to heed them.
#![allow(unused)]
use loggia_sdk::prelude::*;

#[derive(Serialize, JsonSchema)]
struct Alone {
    id: u32,
    #[detail(full)]
    log: u32,
}

fn main() {}
