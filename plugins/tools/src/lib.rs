//! All other facades as one tool, as a Loggia plugin. The README says what it does and why.

mod call_name;
mod describe;
mod forward;
mod list;
mod search;
mod unknown;

use loggia_sdk::prelude::*;

/// The facade.
pub struct Tools;

/// All other tools: find and call their actions.
///
/// `search` or `list` finds actions, `get` shows one, `execute` calls it.
#[facade(default = "list", needs("invoke: *", "to list and call the other facades"))]
impl Tools {
    /// List the facades, or the actions of one.
    #[action(read, example = r#"{"facade": "memories"}"#)]
    fn list(
        &self,
        /// Only this one's actions.
        #[param(length = 1..=64)]
        facade: Option<String>,
        #[param(default = 50, range = 1..=200)] limit: u32,
        cursor: Option<String>,
    ) -> Result<Reply<Vec<Value>>> {
        list::list(facade.as_deref(), limit as usize, cursor.as_deref())
    }

    /// Find actions by words, best first.
    #[action(read, example = r#"{"query": "rename a file"}"#)]
    fn search(
        &self,
        #[param(length = 1..=500)] query: String,
        /// Only this one's actions.
        #[param(length = 1..=64)]
        facade: Option<String>,
        #[param(default = 8, range = 1..=50)] limit: u32,
    ) -> Result<Reply<Vec<search::Match>>> {
        search::search(&query, facade.as_deref(), limit as usize)
    }

    /// Show an action: parameters, effect, examples.
    #[action(read, details, example = r#"{"call": "memories.add"}"#)]
    fn get(&self, context: &Call, #[param(length = 1..=128)] call: String) -> Result<Value> {
        describe::describe(&call.into(), context.detail())
    }

    /// Check a call without making it.
    #[action(read, example = r#"{"call": "memories.add", "arguments": {"title": "Prefers green tea"}}"#)]
    fn validate(
        &self,
        #[param(length = 1..=128)] call: String,
        arguments: Option<Object>,
    ) -> Result<forward::Verdict> {
        forward::validate(&call.into(), arguments.unwrap_or_default())
    }

    /// Call an action that only reads.
    #[action(
        read,
        open_world,
        long_running,
        details,
        example = r#"{"call": "memories.search", "arguments": {"query": "tea"}}"#
    )]
    fn read(
        &self,
        context: &Call,
        #[param(length = 1..=128)] call: String,
        arguments: Option<Object>,
    ) -> Result<Reply<Value>> {
        forward::forward(context, &call.into(), arguments.unwrap_or_default())
    }

    /// Call any action.
    #[action(
        destructive,
        open_world,
        long_running,
        details,
        example = r#"{"call": "memories.add", "arguments": {"title": "Prefers green tea"}}"#
    )]
    fn execute(
        &self,
        context: &Call,
        /// `facade.action`.
        #[param(length = 1..=128)]
        call: String,
        /// Its parameters, or the same as JSON text.
        arguments: Option<Object>,
    ) -> Result<Reply<Value>> {
        forward::forward(context, &call.into(), arguments.unwrap_or_default())
    }
}

loggia_sdk::export!(Tools);

#[cfg(test)]
mod tests;
