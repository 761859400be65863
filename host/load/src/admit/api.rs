//! Admits the description of an API: its operations as a facade, whose requests go to its servers only.

use std::{
    sync::{Arc, LazyLock},
    time::Instant,
};

use loggia_api::{ApiDescription, ApiFacade, CursorKey, adapt_api, api_grants};
use loggia_egress::{EgressClient, EgressLimits, HttpTapes};
use loggia_gate::catalog::{CatalogEntry, FacadeExposure};
use loggia_sandbox::ArtifactDigest;
use loggia_schema::{Contract, SurfaceLimits, flag_texts};

use super::{
    admitted::{AdmissionFacts, AdmittedPlugin, LoadMethod, explain_grants},
    error::AdmitError,
    facade_state::{FacadeState, FacadeStates},
    files::{PolicyFile, as_text, load_policy, read_file},
    naming::with_name,
    redaction::redact_secrets,
};
use crate::{
    facade_kind::{FacadeKind, FileKind},
    fence::VersionGrants,
    plugin_files::PluginFiles,
};

/// Maximum size of a description, which is larger than its OpenAPI document at most by its text form.
const MAX_BYTES: u64 = 32 << 20;

/// Key of cursors, which are valid until the host ends.
static KEY: LazyLock<CursorKey> = LazyLock::new(|| {
    let mut random = [0; 32];
    // Without the kernel's randomness cursors could be forged. It cannot fail after boot.
    getrandom::fill(&mut random).unwrap_or_else(|e| unreachable!("the kernel gave no random bits: {e}"));
    CursorKey::new(random)
});

/// Reads and checks the description of an API. Tapes answer or keep its requests.
///
/// # Errors
///
/// If the description or the policy cannot be used, or the surface cannot be published.
pub(super) fn admit_api(
    found: &PluginFiles,
    begun: Instant,
    states: &FacadeStates,
    tapes: Option<Arc<dyn HttpTapes>>,
) -> Result<AdmittedPlugin, AdmitError> {
    let text = read_file(found.content(), MAX_BYTES)?;
    let PolicyFile { policy, digest: policy_digest } = load_policy(found)?;
    FacadeKind::File(FileKind::Api).check_grants(&policy)?;
    redact_secrets(&policy.grants);
    let description = ApiDescription::parse(as_text(&text)?)?;
    let grants = api_grants(&description, &policy.grants.http).map_err(AdmitError::ApiServer)?;
    let mut api = adapt_api(Arc::new(description));
    let flags = flag_texts(&api.surface);
    let contract =
        Contract::within(with_name(&api.surface, policy.expose.name.as_deref()), &SurfaceLimits::HOSTED)?
            .with_policy(policy.terms.clone())?;
    // Compiled here, not on the path of a call: the word index of `describe`, too.
    contract.compile()?;
    api.surface = Arc::clone(contract.surface());
    let (granted, explained) = (VersionGrants::from_policy(&policy), explain_grants(&policy));
    // A redirect would leave the operation that was called.
    let limits = EgressLimits { redirects: 0, ..policy.limits.http() };
    let state = states.open(&api.surface.name, &policy.grants)?;
    let contract = state.add_login_codes(contract)?;
    let logins = state.caller_logins();
    let FacadeState { caller_keys, credentials, .. } = state;
    let mut client = EgressClient::setup(grants, limits);
    if let Some(credentials) = credentials {
        client = client.credentials(credentials);
    }
    let facade = ApiFacade::new(api, client.build(), KEY.clone(), policy.limits.result).with_tapes(tapes);
    let digest = ArtifactDigest::of(&text);
    let exposure = FacadeExposure::new(&policy.expose).with_own_names();
    let origin = format!("sha256:{digest}");
    let entry = CatalogEntry::new(Arc::new(facade), contract, policy.rules, exposure, origin)
        .with_policy_digest(policy_digest)
        .with_caller_keys(caller_keys)
        .with_logins(logins);
    let facts = AdmissionFacts {
        digest,
        bytes: text.len(),
        imports: Vec::new(),
        method: LoadMethod::Read,
        took: begun.elapsed(),
        policy: policy_digest,
        grants: explained,
        lacking: Vec::new(),
        flags,
    };
    Ok(AdmittedPlugin { entry, workflow_file: None, grants: granted, facts })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, path::Path};

    use super::*;

    const PUBLIC: &str = "https://api.example.com";
    const LOCAL: &str = "http://127.0.0.1:9";

    /// Admits a description with this server, under this policy.
    fn admit(folder: &Path, server: &str, policy: &str) -> Result<AdmittedPlugin, String> {
        let text = format!(
            "format = 1\nname = \"shop\"\nsummary = \"A shop.\"\nserver = \"{server}\"\n[[operation]]\naction = \"list\"\n\
             method = \"GET\"\npath = \"/items\"\nsummary = \"Lists items.\"\n"
        );
        fs::write(folder.join("shop.api.toml"), text).unwrap();
        fs::write(folder.join("shop.toml"), policy).unwrap();
        let found = PluginFiles::from_path(&folder.join("shop.api.toml")).unwrap();
        let states = FacadeStates::new(folder.join("state"), None, None, BTreeMap::new());
        admit_api(&found, Instant::now(), &states, None).map_err(|error| error.to_string())
    }

    #[test]
    fn a_description_is_admitted_under_its_policy() {
        let folder = tempfile::tempdir().unwrap();
        let check = |server: &str, policy: &str, expected: Result<&str, &str>| {
            let admitted = admit(folder.path(), server, policy);
            let name = admitted.map(|admitted| admitted.entry.surface().name.clone());
            assert_eq!(name.as_deref().map_err(String::as_str), expected, "{server} {policy}");
        };
        check(PUBLIC, "", Ok("shop"));
        check(PUBLIC, "[expose]\nname = \"store\"", Ok("store"));
        check(LOCAL, "[grants]\nhttp = [\"http://127.0.0.1:9\"]", Ok("shop"));
        let address = "the API cannot be served: the server `http://127.0.0.1:9` is an address, which the policy must grant: \
                       `http = [\"http://127.0.0.1:9\"]`";
        check(LOCAL, "", Err(address));
        let grant = "the policy grants store, which an API cannot use: only `http` and `secrets` apply";
        check(PUBLIC, "[grants]\nstore = true", Err(grant));
    }
}
