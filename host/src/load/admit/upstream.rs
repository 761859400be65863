//! Admits an upstream: its tools as a facade, under its policy.

use std::{sync::Arc, time::Instant};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{Call, Facade, Failure, Reply, Stop, Surface, Usage, code};
use loggia_gate::catalog::{CatalogEntry, FacadeExposure};
use loggia_policy::{
    grants::needless_for_workflows,
    limits::needless_for_upstreams,
    model::{Exposed, Policy, limit_names::RESULT},
};
use loggia_sandbox::ArtifactDigest;
use loggia_schema::{Contract, SurfaceLimits};
use loggia_text::units::format_bytes;
use loggia_upstream::UpstreamFacade;

use super::{
    admitted::{AdmissionFacts, AdmittedPlugin},
    error::AdmitError,
    naming::with_name,
};
use crate::load::fence::VersionGrants;

/// Makes a catalog entry of an upstream's tools.
///
/// # Errors
///
/// If the policy grants something of the sandbox, or the surface cannot be published under it.
pub fn admit_upstream(
    key: &str,
    facade: Arc<UpstreamFacade>,
    policy: Policy,
) -> Result<AdmittedPlugin, AdmitError> {
    let begun = Instant::now();
    // Like a workflow, an upstream can use `invoke` and `elicit` alone.
    if let Some(grant) = needless_for_workflows(&policy) {
        return Err(AdmitError::UpstreamGrant(grant));
    }
    for limit in needless_for_upstreams(&policy) {
        tracing::warn!(file = key, "`{limit}` has no effect: an upstream runs outside of the sandbox");
    }
    let described = facade.surface();
    let bytes = format!("{described:?}").into_bytes();
    let surface = with_name(described, policy.expose.name.as_deref());
    let contract = Contract::within(surface, &SurfaceLimits::HOSTED)?.with_policy(policy.terms.clone())?;
    // Compiled here, not on the path of a call: the word index of `describe`, too.
    contract.compile()?;
    let mut grants = VersionGrants::from_policy(&policy);
    // The operator's settings name it.
    grants.name_given = true;
    let Exposed { form, split, output_schema, .. } = policy.expose;
    let exposure = FacadeExposure::new(form, split, output_schema).with_own_names();
    let surface = Arc::clone(contract.surface());
    let facade = BoundedFacade { surface, inner: facade, most: policy.limits.result };
    let digest = ArtifactDigest::of(&bytes);
    let origin = format!("sha256:{digest}");
    let entry = CatalogEntry::new(Arc::new(facade), contract, policy.rules, exposure, origin);
    let facts = AdmissionFacts {
        digest,
        bytes: bytes.len(),
        imports: Vec::new(),
        compiled: false,
        took: begun.elapsed(),
    };
    Ok(AdmittedPlugin { entry, workflow_file: None, grants, facts })
}

/// A facade whose results are bounded, under the name that its policy gives.
struct BoundedFacade {
    surface: Arc<Surface>,
    inner: Arc<UpstreamFacade>,
    /// Maximum size of a result, in bytes.
    most: usize,
}

impl Facade for BoundedFacade {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        async move {
            let reply = Arc::clone(&self.inner).dispatch(call).await?;
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
