//! Other MCP servers, served as facades.
//!
//! ```text
//! spec ─▶ connection ─ tools/list ─▶ adapt ─▶ surface, routes ─▶ facade ─ tools/call ─▶ results ─▶ reply
//!             ▲                                                     │
//!             └──────────── started again when it is needed ────────┘
//! ```
//!
//! | module | concept |
//! |---|---|
//! | `spec` | settings of one upstream |
//! | `pattern` | patterns of tool names |
//! | `adapt` | tools as the actions of a surface (pure) |
//! | `results` | results of tools as replies and failures (pure) |
//! | `connection` | child processes, requests over HTTP, the protocol on top of them |
//! | `facade` | the facade: a call of an action is a call of a tool |
//! | `secret_name` | names of variables and headers that hold credentials |
//! | `import` | configuration files of MCP clients, as settings (pure) |
//! | `runtimes` | where connections and their messages run |
//! | `probe` | one look at a server, for diagnosis |
//! | `watch` | a running upstream: facades as its tools change, and its outages |

#![warn(unreachable_pub)]

mod adapt;
mod connection;
mod facade;
mod import;
mod pattern;
mod probe;
mod results;
mod runtimes;
mod secret_name;
mod spec;
mod watch;

pub use adapt::{AdaptedTools, ServerProfile, ToolRoute, adapt_tools};
pub use connection::{CallerCredential, EndpointAnswer, INHERITED_VARIABLES};
pub use facade::UpstreamFacade;
pub use import::{ImportedUpstream, ImportedUpstreams, import_clients, render_toml};
pub use pattern::NamePattern;
pub use probe::{ServerLook, look_at_endpoint, look_at_server};
pub use runtimes::UpstreamRuntimes;
pub use spec::{
    CallerHeader, HttpSpec, StdioSpec, ToolOverride, TransportSpec, UpstreamLimits, UpstreamSpec,
};
pub use watch::{UpstreamEvent, UpstreamServer};
