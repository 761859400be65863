//! The bench's five tools as the actions of one facade.

use loggia_bench_tools as tools;
use loggia_sdk::prelude::*;

struct Bench;

/// Tools of the bench.
#[facade(name = "bench")]
impl Bench {
    /// Returns its input unchanged.
    #[action(read)]
    fn echo(&self, input: String) -> Result<String> {
        Ok(tools::echo(input))
    }

    /// Adds two members to a JSON object.
    #[action(read)]
    fn transform(&self, input: String) -> Result<String> {
        tools::transform(&input).map_err(Failure::invalid_params)
    }

    /// Build version of the plugin.
    #[action(read)]
    fn version(&self) -> Result<String> {
        Ok(tools::VERSION.to_owned())
    }

    /// Loops forever.
    #[action(read)]
    fn spin(&self) -> Result<String> {
        Ok(tools::spin())
    }

    /// Allocates without end.
    #[action(read)]
    fn hog(&self) -> Result<String> {
        Ok(tools::hog())
    }
}

loggia_sdk::export!(Bench);

#[cfg(test)]
mod tests {
    use loggia_sdk::{json, testing};

    use super::Bench;

    #[test]
    fn echo_answers_with_its_input() {
        let reply = testing::call(&Bench, "echo", json!({"input": "hello"})).unwrap();
        assert_eq!(reply.data, json!("hello"));
    }

    #[test]
    fn transform_explains_invalid_input() {
        assert!(testing::call(&Bench, "transform", json!({"input": "[]"})).is_err());
    }
}
