//! Gives the guest a larger stack: the engine's parser and the calls between native functions and programs recurse.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family.split(',').any(|f| f == "wasm")) {
        println!("cargo::rustc-link-arg=-zstack-size=8388608");
    }
}
