//! Admits an upstream: its tools as a facade, under its policy.

use std::{sync::Arc, time::Instant};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_credentials::FacadeCredentials;
use loggia_egress::{CallerCredentials, CallerKey, MissingCredential};
use loggia_facade::{Call, Facade, Failure, Reply, ScopeKey, Stop, Surface, Usage, code};
use loggia_gate::catalog::{CatalogEntry, FacadeExposure};
use loggia_policy::{limits::needless_for_upstreams, model::limit_names::RESULT};
use loggia_sandbox::ArtifactDigest;
use loggia_schema::{Contract, SurfaceLimits, flag_texts};
use loggia_text::units::format_bytes;
use loggia_upstream::{CallerCredential, UpstreamFacade};

use super::{
    admitted::{AdmissionFacts, AdmittedPlugin, LoadMethod, explain_grants},
    error::AdmitError,
    facade_state::{FacadeState, FacadeStates},
    files::PolicyFile,
    naming::with_name,
};
use crate::{facade_kind::FacadeKind, fence::VersionGrants};

/// Makes a catalog entry of an upstream's tools.
///
/// # Errors
///
/// If the policy grants something of the sandbox, the surface cannot be published under it, or credentials are needed and
/// cannot be used.
pub fn admit_upstream(
    key: &str,
    facade: Arc<UpstreamFacade>,
    PolicyFile { policy, digest: policy_digest }: PolicyFile,
    states: &FacadeStates,
) -> Result<AdmittedPlugin, AdmitError> {
    let begun = Instant::now();
    FacadeKind::Upstream.check_grants(&policy)?;
    for limit in needless_for_upstreams(&policy) {
        tracing::warn!(file = key, "`{limit}` has no effect: an upstream runs outside of the sandbox");
    }
    let described = facade.surface();
    let flags = flag_texts(described);
    let bytes = format!("{described:?}").into_bytes();
    let surface = with_name(described, policy.expose.name.as_deref());
    let contract = Contract::within(surface, &SurfaceLimits::HOSTED)?.with_policy(policy.terms.clone())?;
    // Compiled here, not on the path of a call: the word index of `describe`, too.
    contract.compile()?;
    let mut grants = VersionGrants::from_policy(&policy);
    let explained = explain_grants(&policy);
    // The operator's settings name it.
    grants.name_given = true;
    let exposure = FacadeExposure::new(&policy.expose).with_own_names();
    let surface = Arc::clone(contract.surface());
    let state = match facade.needs_credential() {
        true => states.open_credentials(&surface.name)?,
        false => FacadeState::default(),
    };
    let contract = state.add_login_codes(contract)?;
    let logins = state.caller_logins();
    let FacadeState { credentials, caller_keys, .. } = state;
    let facade = ServedUpstream { surface, inner: facade, most: policy.limits.result, credentials };
    let digest = ArtifactDigest::of(&bytes);
    let origin = format!("sha256:{digest}");
    let entry = CatalogEntry::new(Arc::new(facade), contract, policy.rules, exposure, origin)
        .with_policy_digest(policy_digest)
        .with_caller_keys(caller_keys)
        .with_logins(logins);
    let facts = AdmissionFacts {
        digest,
        bytes: bytes.len(),
        imports: Vec::new(),
        method: LoadMethod::Read,
        took: begun.elapsed(),
        policy: policy_digest,
        grants: explained,
        lacking: Vec::new(),
        flags,
    };
    Ok(AdmittedPlugin { entry, workflow_file: None, grants, facts })
}

/// An upstream under the name that its policy gives: with bounded results, and credentials of callers.
struct ServedUpstream {
    surface: Arc<Surface>,
    inner: Arc<UpstreamFacade>,
    /// Maximum size of a result, in bytes.
    most: usize,
    /// Credentials of callers, if calls carry them.
    credentials: Option<Arc<FacadeCredentials>>,
}

impl ServedUpstream {
    async fn call(&self, call: Call) -> Result<Reply, Stop> {
        let inner = Arc::clone(&self.inner);
        let Some(credentials) = &self.credentials else { return inner.dispatch(call).await };
        let credential = self.credential(credentials, call.scope.as_ref()).await?;
        inner.dispatch_with(call, credential).await
    }

    /// Reads the credential of a call's caller.
    async fn credential(
        &self,
        credentials: &FacadeCredentials,
        caller: Option<&ScopeKey>,
    ) -> Result<CallerCredential, Failure> {
        let name = &self.surface.name;
        let missing = |why: MissingCredential| {
            let error = format!("calls of `{name}` need the caller's own credential, {why}");
            Failure::new(code::DENIED, error).hint(why.remedy(name))
        };
        let caller = caller.ok_or_else(|| missing(MissingCredential::Anonymous))?;
        match credentials.credential(CallerKey(caller.0)).await {
            Ok(Some(value)) => Ok(CallerCredential { caller: caller.clone(), value }),
            Ok(None) => Err(missing(MissingCredential::None)),
            Err(error) => {
                tracing::error!(facade = name, "a credential cannot be used: {error}");
                let failure = Failure::new(code::DENIED, "the caller's credential cannot be used");
                Err(failure.hint("The server's log has the reason. Storing the credential again may help."))
            }
        }
    }
}

impl Facade for ServedUpstream {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn is_io_bound(&self) -> bool {
        self.inner.is_io_bound()
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        async move {
            let reply = self.call(call).await?;
            let size = reply.size();
            if size <= self.most {
                return Ok(reply);
            }
            let most = format_bytes(self.most as u64);
            let failure = Failure::new(
                code::INTERNAL,
                format!("the upstream's result is too large: {size} bytes, at most {most}"),
            );
            let hint = format!(
                "Ask for less, for example by a filter or a page. The operator can raise `{RESULT}`."
            );
            Err(failure.hint(hint).into())
        }
        .boxed()
    }

    fn usage(&self) -> Usage {
        self.inner.usage()
    }
}
