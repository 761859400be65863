//! The option that names the owner of a credential.

use clap::Args;
use loggia_credentials::CallerName;

/// The caller of a credential.
#[derive(Args)]
pub struct CallerOption {
    /// Name of the caller's token, or `issuer#subject` of a token of an authorization server [default: the local user]
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
}

impl CallerOption {
    /// Returns the caller.
    pub fn name(self) -> CallerName {
        self.caller.map_or(CallerName::Local, CallerName::Named)
    }
}
