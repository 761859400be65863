//! Traits that select the types to which the bounds of `#[param(…)]` apply.
//!
//! A custom type whose JSON is a number or a text can implement the trait:
//!
//! ```
//! # use loggia_sdk::prelude::*;
//! #[derive(Deserialize, JsonSchema)]
//! struct Slug(String);
//! impl loggia_sdk::bounds::Text for Slug {}
//!
//! # struct Pages;
//! /// Pages.
//! #[facade]
//! impl Pages {
//!     /// Open a page.
//!     #[action(read)]
//!     fn open(&self, #[param(pattern = "^[a-z-]+$")] slug: Slug) -> Result<String> {
//!         Ok(slug.0)
//!     }
//! }
//! ```

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    num,
    path::PathBuf,
};

use serde::Serialize;

/// Types with `range`.
#[diagnostic::on_unimplemented(
    message = "`range` applies to numbers, not to `{Self}`",
    label = "not a number",
    note = "for the characters of a text or the items of a list use `length`"
)]
pub trait Number {
    /// Type of the range's ends.
    type End: Serialize;
}

/// Types with `length`.
#[diagnostic::on_unimplemented(
    message = "`length` applies to texts, lists and maps, not to `{Self}`",
    label = "has no length",
    note = "for numbers use `range`"
)]
pub trait Length {
    /// JSON Schema's keywords for the least and the greatest length.
    const KEYWORDS: [&'static str; 2];
}

/// Types with `pattern` and `format`.
#[diagnostic::on_unimplemented(
    message = "`pattern` and `format` apply to texts, not to `{Self}`",
    label = "not a text"
)]
pub trait Text {}

macro_rules! numbers {
    ($($of:ty => $($ty:ty),+;)*) => {
        $($(impl Number for $ty { type End = $of; })+)*
    };
}
numbers! {
    u8 => u8, num::NonZeroU8; u16 => u16, num::NonZeroU16; u32 => u32, num::NonZeroU32; u64 => u64, num::NonZeroU64;
    i8 => i8, num::NonZeroI8; i16 => i16, num::NonZeroI16; i32 => i32, num::NonZeroI32; i64 => i64, num::NonZeroI64;
    usize => usize, num::NonZeroUsize; isize => isize, num::NonZeroIsize; f32 => f32; f64 => f64;
}

impl<T: Text> Length for T {
    const KEYWORDS: [&'static str; 2] = ["minLength", "maxLength"];
}

impl Text for String {}
impl Text for Box<str> {}
impl Text for Cow<'_, str> {}
impl Text for PathBuf {}

macro_rules! lengths {
    ($keywords:expr; $([$($generics:tt)*] $ty:ty),*) => {
        $(impl<$($generics)*> Length for $ty { const KEYWORDS: [&'static str; 2] = $keywords; })*
    };
}
lengths!(["minItems", "maxItems"]; [T] Vec<T>, [T] Box<[T]>, [T] VecDeque<T>, [T] BTreeSet<T>, [T, S] HashSet<T, S>);
lengths!(["minProperties", "maxProperties"]; [K, V] BTreeMap<K, V>, [K, V, S] HashMap<K, V, S>, [] crate::Object);
