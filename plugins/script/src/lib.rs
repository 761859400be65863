//! JavaScript programs over all other facades, as a Loggia plugin. The README says what it does and why.

mod config;
mod engine;
mod program;
mod run;

use loggia_sdk::prelude::*;

/// The facade.
pub struct Script;

/// JavaScript programs over all other tools: many calls in one.
///
/// `types` shows what can be called. `run` runs the body of an async function:
/// `const found = await memories.search({query: "tea"}); return found.length;`
#[facade(default = "types", needs("invoke: *", "to call the other facades"))]
impl Script {
    /// Run a program that calls any actions.
    #[action(
        destructive,
        open_world,
        long_running,
        example = r#"{"code": "return (await memories.search({query: 'tea'})).map(m => m.title)"}"#
    )]
    fn run(
        &self,
        context: &Call,
        #[param(length = 1..=65536)] code: String,
        /// Seen as `input`.
        input: Option<Value>,
        /// Bytes of the result.
        #[param(default = 20000, range = 100..=500000)]
        limit: u32,
    ) -> Result<Reply<run::Report>> {
        run::run(context, &code, input.as_ref(), limit as usize)
    }

    /// Run a program that only reads.
    #[action(
        read,
        open_world,
        long_running,
        example = r#"{"code": "return (await memories.search({query: input})).length", "input": "tea"}"#
    )]
    fn run_read(
        &self,
        context: &Call,
        #[param(length = 1..=65536)] code: String,
        input: Option<Value>,
        #[param(default = 20000, range = 100..=500000)] limit: u32,
    ) -> Result<Reply<run::Report>> {
        run::run(context, &code, input.as_ref(), limit as usize)
    }

    /// Types.
    #[action(read)]
    fn types(&self) -> Result<Vec<String>> {
        Ok(host::facades()?.into_iter().map(|peer| peer.name).collect())
    }
}

loggia_sdk::export!(Script);
