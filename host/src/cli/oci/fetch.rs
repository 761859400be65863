//! Pulls an artifact as the rules of the settings allow.

use anyhow::{Context, bail};
use loggia_oci::{
    ArtifactReference, PulledArtifact, RegistryClient, RequiredSignature, ResolvedArtifact, TrustRule,
    required_signature,
};

use crate::cli::term;

/// Maximum size of a component. A policy can set a lower limit, which is checked when the component is loaded.
const MAX_COMPONENT: u64 = 128 << 20;

/// An artifact of a registry that may be used.
pub struct TrustedArtifact {
    client: RegistryClient,
    /// The artifact.
    pub artifact: ResolvedArtifact,
    /// Name of the rule whose key signed it; `None` if there are no rules, and the operator named or confirmed its digest.
    pub signer: Option<String>,
}

impl TrustedArtifact {
    /// Pulls the component.
    ///
    /// # Errors
    ///
    /// If it has none, or it is damaged or too large.
    pub async fn pull(&self, component: Option<&str>) -> anyhow::Result<PulledArtifact> {
        let pulled = self.client.pull(&self.artifact, component, MAX_COMPONENT).await;
        pulled.with_context(|| format!("failed to pull {}", self.artifact.reference))
    }
}

/// Finds an artifact, and whether it may be used. `None` if the operator was asked, and declined.
///
/// # Errors
///
/// If it cannot be found, no rule covers it, or it is not signed as a rule requires.
pub async fn find_trusted(
    reference: &ArtifactReference,
    rules: &[TrustRule],
) -> anyhow::Result<Option<TrustedArtifact>> {
    let required = required_signature(rules, reference);
    if let RequiredSignature::Refused = required {
        bail!("no [trust] table covers {}; nothing was pulled", reference.path());
    }
    let failed = || format!("failed to find {reference}");
    let client = RegistryClient::new(reference.clone()).with_context(failed)?;
    let artifact = client.resolve().await.with_context(failed)?;
    let signer = match required {
        RequiredSignature::By(signers) => {
            let keys: Vec<_> = signers.iter().map(|rule| (&*rule.name, &rule.key)).collect();
            let signer = client.find_signer(&artifact, &keys).await;
            Some(signer.with_context(|| format!("{} is not trusted", artifact.reference))?.to_owned())
        }
        RequiredSignature::Digest | RequiredSignature::Refused => None,
    };
    if signer.is_none() && reference.digest().is_none() && !confirm_digest(&artifact)? {
        return Ok(None);
    }
    Ok(Some(TrustedArtifact { client, artifact, signer }))
}

/// Asks whether a digest that the registry chose is the right one.
fn confirm_digest(artifact: &ResolvedArtifact) -> anyhow::Result<bool> {
    term::note(&format!("the tag names {} now, and no [trust] table says who must sign it", artifact.digest));
    match term::confirm("Use this artifact?") {
        Some(answer) => Ok(answer),
        None => bail!(
            "a tag can move: name the digest that you expect, as in {}, or the signer in a [trust] table of the settings (--config)",
            artifact.reference
        ),
    }
}
