//! Questions whose answers cannot be read.
#![allow(unused)]
use loggia_sdk::prelude::*;

struct Opaque;

fn opaque() -> Result<Answer<Opaque>> {
    host::elicit::<Opaque>("Which?")
}

fn main() {}
