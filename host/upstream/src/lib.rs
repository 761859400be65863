//! Other MCP servers, served as facades.

#![warn(unreachable_pub)]

mod adapt;
mod pattern;
mod results;
mod spec;

pub use adapt::{AdaptedTools, ServerProfile, ToolRoute, adapt_tools};
pub use pattern::NamePattern;
pub use spec::{HttpSpec, StdioSpec, ToolOverride, TransportSpec, UpstreamLimits, UpstreamSpec};
