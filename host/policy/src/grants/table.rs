//! The grants of this host, and what plugins want of them.

use loggia_facade::Surface;

use super::{
    caller::CallerGrant,
    config::ConfigGrant,
    dirs::DirsGrant,
    elicit::ElicitGrant,
    env::EnvGrant,
    grant::{Grant, WantedGrant, WantedGrants},
    http::HttpGrant,
    invoke::InvokeGrant,
    secrets::SecretsGrant,
    store::StoreGrant,
};

/// Every grant, in the order of the reference. `secrets` reads what `http` has read, so it comes later.
pub static GRANTS: [&dyn Grant; 9] = [
    &DirsGrant,
    &HttpGrant,
    &EnvGrant,
    &ConfigGrant,
    &SecretsGrant,
    &StoreGrant,
    &CallerGrant,
    &InvokeGrant,
    &ElicitGrant,
];

/// The keys' names.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    GRANTS.iter().map(|grant| grant.key().name)
}

/// Parses a want's text; none where it names no grant.
pub fn wanted(text: &str) -> Option<WantedGrant<'_>> {
    let (word, detail) = match text.split_once(':') {
        Some((word, detail)) => (word, Some(detail.trim()).filter(|detail| !detail.is_empty())),
        None => (text, None),
    };
    let grant = GRANTS.iter().find(|grant| grant.key().name == word.trim())?;
    Some(WantedGrant { grant: *grant, detail })
}

/// Everything that a surface wants.
pub fn wanted_by(surface: &Surface) -> WantedGrants<'_> {
    WantedGrants::new(surface.wants.iter().map(|want| (want, wanted(&want.grant))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{file::tests::parse, model::Policy};

    #[test]
    fn a_want_is_a_grant_and_perhaps_a_part_of_it() {
        let check = |text: &str, expected: Option<(&str, Option<&str>)>| {
            let asked = wanted(text).map(|want| (want.grant.key().name, want.detail));
            assert_eq!(asked, expected, "{text}");
        };
        check("dirs", Some(("dirs", None)));
        check("dirs: /notes read-write", Some(("dirs", Some("/notes read-write"))));
        check("http: https://api.example.com", Some(("http", Some("https://api.example.com"))));
        check("secrets:GITHUB_TOKEN", Some(("secrets", Some("GITHUB_TOKEN"))));
        check("invoke: projects:create", Some(("invoke", Some("projects:create"))));
        check("store:", Some(("store", None)));
        check("network", None);
        check("", None);
        check("https://api.example.com", None);
    }

    #[test]
    fn what_is_granted_is_known() {
        let policy = parse(
            r#"[grants]
            dirs = [{ path = "a", at = "/a", access = "read" }, { path = "b", at = "/b", access = "read-write" }]
            http = ["https://*.example.com"]
            secrets = [{ from-env = "GITHUB_TOKEN", host = "api.example.com", header = "X" }]
            env = { LANG = "C" }
            config = { region = "eu" }
            store = true
            invoke = ["projects:create", "search:*"]"#,
        )
        .unwrap();
        let check = |text: &str, expected: bool| {
            let asked = wanted(text).unwrap();
            assert_eq!(asked.is_granted(&policy), expected, "{text}");
            assert!(!asked.is_granted(&Policy::default()), "{text}");
        };
        check("dirs", true);
        check("dirs: /a", true);
        check("dirs: /a/ read-write", false);
        check("dirs: /b read-write", true);
        check("dirs: /c", false);
        check("dirs: a folder for notes", true);
        check("http", true);
        check("http: https://api.example.com", true);
        check("http: https://example.com", false);
        check("http: http://api.example.com", false);
        check("secrets: GITHUB_TOKEN", true);
        check("secrets: GITHUB_TOKEN for api.example.com", true);
        check("secrets: OTHER", false);
        check("env: LANG", true);
        check("env: TZ", false);
        check("config: region", true);
        check("config: zone", false);
        check("store", true);
        check("store: 16MiB", true);
        check("store: 64MiB", false);
        check("store: much", true);
        check("invoke: projects:create", true);
        check("invoke: projects:delete", false);
        check("invoke: projects:*", false);
        check("invoke: search:web", true);
        check("invoke: search:*", true);
        check("invoke", true);
        check("caller", false);
        check("elicit", false);
    }
}
