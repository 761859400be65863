//! In packages, places the functions that a server runs side by side, so that less of the executable becomes resident: see
//! `dist/functions`. Set `LOGGIA_FUNCTIONS=unordered` for a linker that takes no scripts, such as mold.

use std::{env, path::Path};

/// The list has the names of this target.
const TARGET: &str = "x86_64-unknown-linux-gnu";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LOGGIA_FUNCTIONS");
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/functions.ld");
    // Crates of a registry come without it.
    let Ok(list) = list.canonicalize() else { return };
    println!("cargo::rerun-if-changed={}", list.display());
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|given| given == value);
    // The names are also those of the profile `dist`, the only one at this level.
    if is("TARGET", TARGET) && is("OPT_LEVEL", "s") && !is("LOGGIA_FUNCTIONS", "unordered") {
        println!("cargo::rustc-link-arg-bin=loggia=-T");
        println!("cargo::rustc-link-arg-bin=loggia={}", list.display());
    }
}
