//! Secrets of a policy, which logs must not contain.

use loggia_egress::SecretSource;
use loggia_policy::model::PluginGrants;

use super::files::read_file;

/// Maximum size of a secret's file, with white space.
const SECRET: u64 = 8 << 10;

/// Registers secrets for redaction, in case something logs them by mistake. Reads secrets in files as they are now.
pub(super) fn redact_secrets(grants: &PluginGrants) {
    for secret in &grants.http.secrets {
        match &secret.source {
            SecretSource::Value(_, value) => loggia_text::keep_secret(value),
            // Read for single requests, and not known before.
            SecretSource::Caller => {}
            SecretSource::File(path) => match read_file(path, SECRET) {
                Ok(text) => loggia_text::keep_secret(&String::from_utf8_lossy(&text)),
                // Requests that need the secret report the error.
                Err(_) => continue,
            },
        }
    }
}
