//! Each SDK ships a copy of the contract, as a published package must hold its own.

use std::{fs, path::Path};

/// A release is immutable: guests that were built with it are served as long as the host speaks it.
#[test]
fn released_contracts_are_unchanged() {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(sdk.join("../wit/released/0.1.0/loggia.wit")).unwrap();
    let sum = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    assert_eq!(
        format!("{sum:016x}"),
        "6035c2bc3ef519e3",
        "released WIT never changes; put the change into wit/loggia.wit"
    );
}

#[test]
fn the_sdks_speak_the_contract_of_the_host() {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(sdk.join(path)).unwrap();
    for copy in ["wit", "python/src/loggia_sdk/wit/deps", "js/wit/deps"] {
        let text = read(&format!("{copy}/loggia.wit"));
        assert_eq!(text, read("../wit/loggia.wit"), "copy wit/loggia.wit to sdk/{copy}/");
    }
}
