//! The operator's settings, from the policy's `config`.

use loggia_sdk::prelude::*;

/// Default of [`max_bytes`].
const MAX_BYTES: usize = 5 << 20;

/// Whether robots.txt is obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RobotsPolicy {
    #[default]
    Respect,
    Ignore,
}

/// `config.robots`.
pub fn robots() -> Result<RobotsPolicy> {
    host::config_or("robots", RobotsPolicy::default()).map_err(|failure| {
        failure.hint("The operator writes `config.robots = \"respect\"` or `\"ignore\"` in web.toml.")
    })
}

/// `config.max_bytes`: maximum size of a page, compressed and decompressed.
pub fn max_bytes() -> Result<usize> {
    host::config_or("max_bytes", MAX_BYTES)
        .map_err(|failure| failure.hint("The operator writes `config.max_bytes = 5_242_880` in web.toml."))
}
