//! Names of the author's that the macros use too, and a block without the prelude.
#![deny(warnings)]
#![no_implicit_prelude]

use ::std::string::String;

mod core {}
mod std {}

struct Facade;

fn shape() -> u32 {
    7
}

fn incoming() -> u32 {
    8
}

/// Hygiene.
#[::loggia_sdk::facade]
impl Facade {
    /// Names that clash with the table's.
    #[::loggia_sdk::action(read)]
    fn clash(
        &self,
        #[param(default = shape(), range = 1..=9)] facade: u32,
        #[param(default = incoming())] shape: u32,
        incoming: ::std::option::Option<String>,
        c: &::loggia_sdk::Call,
    ) -> ::loggia_sdk::Result<(u32, u32, ::std::option::Option<String>, String)> {
        let id = ::std::string::ToString::to_string(c.id());
        ::std::result::Result::Ok((facade, shape, incoming, id))
    }

    /// A Rust keyword.
    #[::loggia_sdk::action(write)]
    fn r#move(&self, r#type: String, mut to: String) -> ::loggia_sdk::Result<String> {
        to.push_str(&r#type);
        ::std::result::Result::Ok(to)
    }

    /// Only in another build.
    #[::loggia_sdk::action(write)]
    #[cfg(any())]
    fn absent(&self) -> ::loggia_sdk::Result<Missing> {
        ::std::result::Result::Ok(Missing)
    }

    #[allow(dead_code)]
    fn helper(&self) {}
}

::loggia_sdk::export!(Facade);

fn main() {}
