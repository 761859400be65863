//! The benchmark's tools as a component of ACT.

use act_sdk::prelude::*;
use loggia_bench_tools as tools;

#[act_component]
mod component {
    use super::*;

    #[act_tool(description = "Returns its input unchanged.", read_only)]
    fn echo(input: String) -> ActResult<String> {
        Ok(tools::echo(input))
    }

    #[act_tool(description = "Adds two members to a JSON object.", read_only)]
    fn transform(input: String) -> ActResult<String> {
        tools::transform(&input).map_err(ActError::invalid_args)
    }

    #[act_tool(description = "Build version of the server.", read_only)]
    fn version() -> ActResult<String> {
        Ok(tools::VERSION.to_owned())
    }
}
