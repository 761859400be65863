//! The index compared with the texts themselves.

mod evaluation;
mod meaning;
mod parts;
mod words;

use loggia_sdk::testing::{Host, Store};

fn host() -> Host {
    Host::new().store(&Store::new())
}
