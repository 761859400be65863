//! Table of all grants, and requests of plugins for them.

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

/// All grants, in the order of the reference page. `secrets` must follow `http`, since it checks its hosts against the rules.
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

/// Iterates over the names of the keys.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    GRANTS.iter().map(|grant| grant.key().name)
}

/// Parses the text of a request. `None`: it names no grant of this host.
pub fn wanted(text: &str) -> Option<WantedGrant<'_>> {
    let (word, detail) = match text.split_once(':') {
        Some((word, detail)) => (word, Some(detail.trim()).filter(|detail| !detail.is_empty())),
        None => (text, None),
    };
    let grant = GRANTS.iter().find(|grant| grant.key().name == word.trim())?;
    Some(WantedGrant { grant: *grant, detail })
}

/// Collects the requests of a plugin.
pub fn wanted_by(surface: &Surface) -> WantedGrants<'_> {
    WantedGrants::new(surface.wants.iter().map(|want| (want, wanted(&want.grant))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{file::tests::parse, model::Policy};

    #[test]
    fn requests_name_a_grant_and_optionally_a_detail() {
        let check = |text: &str, expected: Option<(&str, Option<&str>)>| {
            let request = wanted(text).map(|want| (want.grant.key().name, want.detail));
            assert_eq!(request, expected, "{text}");
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
    fn granted_requests_are_recognised() {
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
            let request = wanted(text).unwrap();
            assert_eq!(request.is_granted(&policy), expected, "{text}");
            assert!(!request.is_granted(&Policy::default()), "{text}");
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
