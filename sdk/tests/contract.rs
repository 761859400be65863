//! The SDK ships a copy of the contract, as a published crate must hold its own.

use std::{fs, path::Path};

#[test]
fn the_sdk_speaks_the_contract_of_the_host() {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(sdk.join(path)).unwrap();
    assert_eq!(read("wit/loggia.wit"), read("../wit/loggia.wit"), "copy wit/loggia.wit to sdk/wit/");
}
