//! Everything that a plugin usually names: `use loggia_sdk::prelude::*;`.

#[cfg(any(feature = "http", not(target_family = "wasm")))]
#[doc(no_inline)]
pub use crate::http;
#[doc(no_inline)]
pub use crate::{
    Answer, Audience, Block, Call, Content, Deserialize, Detail, Effect, Facade, Failure, JsonSchema, Level,
    Next, Object, Page, Reply, Result, Serialize, Value, action, data, debug, error, facade, host, info,
    json, param, state, trace, warn,
};
// Not the hidden module of the same name.
#[doc(no_inline)]
pub use loggia_sdk_macros::detail;
