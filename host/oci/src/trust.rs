//! Which artifacts may be used, and who must have signed them. Pure.

use std::{fmt, str::FromStr};

use crate::{reference::ArtifactReference, signature::VerifyingKey};

/// Repositories: `HOST/REPOSITORY`, or `HOST/…/*` for all below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryPattern(String);

impl RepositoryPattern {
    /// Whether it covers a repository.
    pub fn covers(&self, path: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(prefix) => path.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()),
            None => self.0 == path,
        }
    }
}

impl FromStr for RepositoryPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fixed = text.strip_suffix("/*").unwrap_or(text);
        let has_host =
            fixed.split('/').next().is_some_and(|host| host.contains(['.', ':']) || host == "localhost");
        let is_plain = fixed.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/:[]".contains(&b));
        if !has_host || !is_plain || fixed.split('/').any(str::is_empty) {
            return Err("must be a registry's host and a repository, as in \"ghcr.io/acme/notes\" or \"ghcr.io/acme/*\"".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for RepositoryPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who may sign artifacts of some repositories.
#[derive(Debug, Clone)]
pub struct TrustRule {
    /// Name, for messages.
    pub name: String,
    /// Repositories.
    pub from: Vec<RepositoryPattern>,
    /// Key of the signer.
    pub key: VerifyingKey,
}

/// What an artifact needs.
#[derive(Debug)]
pub enum RequiredSignature<'a> {
    /// A signature by one of these.
    By(Vec<&'a TrustRule>),
    /// None, since there are no rules; but the operator must name its digest.
    Digest,
    /// There are rules, and none covers it.
    Refused,
}

/// Decides what an artifact needs.
pub fn required_signature<'a>(
    rules: &'a [TrustRule],
    reference: &ArtifactReference,
) -> RequiredSignature<'a> {
    let path = reference.path();
    let signers: Vec<_> =
        rules.iter().filter(|rule| rule.from.iter().any(|pattern| pattern.covers(&path))).collect();
    match (rules, &signers[..]) {
        ([], _) => RequiredSignature::Digest,
        (_, []) => RequiredSignature::Refused,
        _ => RequiredSignature::By(signers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::tests::key_pair;

    #[test]
    fn patterns_cover_whole_segments() {
        for (pattern, covered, others) in [
            ("ghcr.io/acme/notes", &["ghcr.io/acme/notes"][..], &["ghcr.io/acme/notes2", "ghcr.io/acme"][..]),
            (
                "ghcr.io/acme/*",
                &["ghcr.io/acme/notes", "ghcr.io/acme/a/b"],
                &["ghcr.io/acme", "ghcr.io/acme2/notes", "evil.example/ghcr.io/acme/notes"],
            ),
            ("localhost:5000/*", &["localhost:5000/notes"], &["localhost:5001/notes"]),
        ] {
            let pattern: RepositoryPattern = pattern.parse().unwrap();
            covered.iter().for_each(|path| assert!(pattern.covers(path), "{pattern} {path}"));
            others.iter().for_each(|path| assert!(!pattern.covers(path), "{pattern} {path}"));
        }
        for text in
            ["", "*", "/*", "acme/*", "ghcr.io/*/notes", "ghcr.io//notes", "ghcr.io/ac*", "oci://ghcr.io/a b"]
        {
            assert!(text.parse::<RepositoryPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn rules_that_do_not_cover_refuse() {
        let key = VerifyingKey::from_pem(key_pair().1.as_bytes()).unwrap();
        let rule = |name: &str, from: &str| TrustRule {
            name: name.to_owned(),
            from: vec![from.parse().unwrap()],
            key: key.clone(),
        };
        let rules =
            [rule("acme", "ghcr.io/acme/*"), rule("notes", "ghcr.io/acme/notes"), rule("b", "b.example/*")];
        let of = |text: &str| text.parse::<ArtifactReference>().unwrap();
        let RequiredSignature::By(signers) = required_signature(&rules, &of("oci://ghcr.io/acme/notes:1"))
        else {
            panic!("no signers");
        };
        assert_eq!(signers.iter().map(|rule| &*rule.name).collect::<Vec<_>>(), ["acme", "notes"]);
        let other = of("oci://ghcr.io/other/notes:1");
        assert!(matches!(required_signature(&rules, &other), RequiredSignature::Refused));
        assert!(matches!(required_signature(&[], &other), RequiredSignature::Digest));
    }
}
