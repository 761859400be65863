//! What a plugin asks for, which it says in the words of the grants: `dirs`, `http: https://api.example.com`,
//! `secrets: GITHUB_TOKEN`.

use loggia_egress::{Destination, Source};
use loggia_gate::access::InvokeRule;
use loggia_text::units;

use super::{
    Policy,
    grants::{MOST_QUOTA, covers},
};

/// A grant, by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is the key of its name")]
pub enum Kind {
    Dirs,
    Http,
    Env,
    Config,
    Secrets,
    Store,
    Caller,
    Invoke,
    Elicit,
}

/// A want as it is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked<'a> {
    /// Which grant.
    pub kind: Kind,
    /// Which part of it, where the plugin says: a destination, a variable, an action.
    pub detail: Option<&'a str>,
}

impl Kind {
    /// All, in the order of the reference.
    pub const ALL: [Self; 9] = [
        Self::Dirs,
        Self::Http,
        Self::Env,
        Self::Config,
        Self::Secrets,
        Self::Store,
        Self::Caller,
        Self::Invoke,
        Self::Elicit,
    ];

    /// The key.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dirs => "dirs",
            Self::Http => "http",
            Self::Env => "env",
            Self::Config => "config",
            Self::Secrets => "secrets",
            Self::Store => "store",
            Self::Caller => "caller",
            Self::Invoke => "invoke",
            Self::Elicit => "elicit",
        }
    }
}

impl<'a> Asked<'a> {
    /// Reads a want's text; none where it names no grant.
    pub fn parse(grant: &'a str) -> Option<Self> {
        let (word, detail) = match grant.split_once(':') {
            Some((word, detail)) => (word, Some(detail.trim()).filter(|detail| !detail.is_empty())),
            None => (grant, None),
        };
        let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == word.trim())?;
        Some(Self { kind, detail })
    }

    /// The detail's first word: what comes after it says more of it.
    pub fn word(&self) -> Option<&'a str> {
        let mut words = self.detail.unwrap_or_default().split_whitespace();
        words.next().map(|word| word.trim_end_matches([',', ';'])).filter(|word| !word.is_empty())
    }

    /// Whether a directory is to be written to.
    pub fn is_writing(&self) -> bool {
        self.detail.is_some_and(|detail| detail.split_whitespace().any(|word| word == "read-write"))
    }

    /// How much state it asks for, where it says so and so much can be granted.
    pub fn quota(&self) -> Option<u64> {
        self.word().and_then(|word| units::bytes(word).ok()).filter(|bytes| (1..=MOST_QUOTA).contains(bytes))
    }

    /// Whether a policy grants it. What a detail means that is not understood, nobody knows; then it is granted when
    /// something of its kind is.
    pub fn is_granted(&self, policy: &Policy) -> bool {
        let Policy { grants, rules, .. } = policy;
        let word = self.word();
        match self.kind {
            Kind::Dirs => {
                let at = word.filter(|word| word.starts_with('/')).map(|at| at.trim_end_matches('/'));
                let fits = |dir: &loggia_sandbox::DirGrant| {
                    at.is_none_or(|at| at == dir.at) && (dir.writable || !self.is_writing())
                };
                grants.dirs.iter().any(fits)
            }
            Kind::Http => match word.and_then(|word| Destination::parse(word).ok()) {
                Some(to) => grants.http.rules.iter().any(|rule| covers(&rule.to, &to)),
                None => !grants.http.rules.is_empty(),
            },
            Kind::Env => word.map_or(!grants.env.is_empty(), |name| grants.env.contains_key(name)),
            Kind::Config => word.map_or(!grants.config.is_empty(), |name| grants.config.contains_key(name)),
            Kind::Secrets => {
                // Which secret a file holds, it does not say.
                let fits = |source: &Source| match source {
                    Source::Value(name, _) => word.is_none_or(|word| word == name),
                    Source::File(_) => true,
                };
                grants.http.secrets.iter().any(|secret| fits(&secret.source))
            }
            Kind::Store => grants.store.is_some_and(|quota| quota >= self.quota().unwrap_or(0)),
            Kind::Caller => grants.caller,
            Kind::Invoke => match word.and_then(InvokeRule::parse) {
                Some(InvokeRule { facade, action: Some(action) }) => rules.may_invoke(&facade, &action),
                Some(wanted) => rules.invoke.contains(&wanted),
                None => !rules.invoke.is_empty(),
            },
            Kind::Elicit => rules.elicit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{grants::GRANTS, tests::parse},
        *,
    };

    #[test]
    fn each_kind_is_a_key() {
        let keys: Vec<&str> = GRANTS.names().collect();
        assert_eq!(Kind::ALL.map(Kind::as_str).to_vec(), keys);
    }

    #[test]
    fn a_want_is_a_grant_and_perhaps_a_part_of_it() {
        let check = |text: &str, expected: Option<(Kind, Option<&str>)>| {
            let asked = Asked::parse(text).map(|asked| (asked.kind, asked.detail));
            assert_eq!(asked, expected, "{text}");
        };
        check("dirs", Some((Kind::Dirs, None)));
        check("dirs: /notes read-write", Some((Kind::Dirs, Some("/notes read-write"))));
        check("http: https://api.example.com", Some((Kind::Http, Some("https://api.example.com"))));
        check("secrets:GITHUB_TOKEN", Some((Kind::Secrets, Some("GITHUB_TOKEN"))));
        check("invoke: projects:create", Some((Kind::Invoke, Some("projects:create"))));
        check("store:", Some((Kind::Store, None)));
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
            let asked = Asked::parse(text).unwrap();
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
