//! JavaScript programs over all other facades, as a Loggia plugin. The README says what it does and why.

mod check;
mod config;
mod engine;
mod names;
mod place;
mod program;
mod run;
mod types;

use loggia_sdk::prelude::*;

/// The facade.
pub struct Script;

/// JavaScript over all other tools.
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
        input: Option<Object>,
        /// Bytes of the result.
        #[param(default = 20000, range = 100..=500000)]
        limit: u32,
    ) -> Result<Reply<run::Report>> {
        run::run(context, &code, input.map(Value::Object).as_ref(), limit as usize)
    }

    /// Run a program that only reads.
    #[action(
        read,
        open_world,
        long_running,
        example = r#"{"code": "return (await memories.search({query: input.about})).length", "input": {"about": "tea"}}"#
    )]
    fn run_read(
        &self,
        context: &Call,
        #[param(length = 1..=65536)] code: String,
        input: Option<Object>,
        #[param(default = 20000, range = 100..=500000)] limit: u32,
    ) -> Result<Reply<run::Report>> {
        run::run(context, &code, input.map(Value::Object).as_ref(), limit as usize)
    }

    /// Show what can be called, as TypeScript.
    #[action(read, example = r#"{"query": "remember something"}"#)]
    fn types(
        &self,
        /// A facade, or words of actions.
        #[param(length = 1..=500)]
        query: Option<String>,
        /// Bytes.
        #[param(default = 12000, range = 1000..=200000)]
        limit: u32,
    ) -> Result<Reply<String>> {
        types::types(query.as_deref(), limit as usize)
    }

    /// Find mistakes in a program without running it.
    #[action(read, example = r#"{"code": "return await memories.serch({query: 'tea'})"}"#)]
    fn check(&self, #[param(length = 1..=65536)] code: String) -> Result<check::Verdict> {
        check::check(&code)
    }
}

loggia_sdk::export!(Script);

#[cfg(test)]
mod tests;
