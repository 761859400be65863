//! What cannot be exported.
#![allow(unused_variables)]
use loggia_sdk::prelude::*;

struct Plain;
loggia_sdk::export!(Plain);

struct Filled {
    limit: u32,
}
/// Notes.
#[facade]
impl Filled {
    /// How many.
    #[action(read)]
    fn limit(&self) -> Result<u32> {
        Ok(self.limit)
    }
}
loggia_sdk::export!(Filled);

fn main() {}
