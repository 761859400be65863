//! The index against what it stands for: the texts themselves.

mod meaning;
mod parts;
mod words;

use loggia_sdk::testing::{Host, Store};

fn host() -> Host {
    Host::new().store(&Store::new())
}
