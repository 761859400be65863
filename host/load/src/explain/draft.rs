//! Pure: drafts a policy that lists what a plugin requests, with its reasons, all commented out.
//!
//! Lines that begin with `# ` are prose; lines that begin with `#` alone are settings to uncomment.

use loggia_facade::{Surface, Want};
use loggia_policy::grants::{GRANTS, wanted_by};
use loggia_text::printable;

/// Renders the policy.
pub fn draft_policy(surface: &Surface, file: &str) -> String {
    let mut lines = vec![
        format!(
            "# Policy of `{}`, for {}.wasm in the same folder. It grants nothing yet.",
            surface.name,
            printable(file)
        ),
        "# The plugin requests the grants below. Uncomment those that you grant.".to_owned(),
        "# All keys: loggia policy reference. The effect: loggia policy explain.".to_owned(),
        String::new(),
        "[grants]".to_owned(),
    ];
    let wants = wanted_by(surface);
    if wants.is_empty() {
        lines.push("# The plugin requests nothing.".to_owned());
    }
    for grant in GRANTS {
        let (key, Some(value)) = (grant.key().name, grant.draft(&wants)) else { continue };
        lines.push(String::new());
        lines.extend(wants.wants(Some(key)).map(reason));
        lines.extend(grant.draft_alternative(&wants).map(|text| format!("# {text}")));
        lines.push(format!("#{key} = {value}"));
    }
    if wants.wants(None).next().is_some() {
        lines.push(String::new());
        lines.push("# Grants that this host does not have:".to_owned());
        lines.extend(wants.wants(None).map(reason));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn reason(want: &Want) -> String {
    let needed = if want.needed { " (needed)" } else { "" };
    format!("# {}{needed}: {}", printable(&want.grant), printable(&want.reason))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use loggia_facade::Effect;
    use loggia_policy::{PolicySetting, grants::wanted, model::Policy};

    use super::*;
    use crate::explain::tests::surface;

    fn drafted(wants: &[(&str, &str, bool)]) -> String {
        draft_policy(&surface("notes", &[("add", Effect::Write)], wants), "notes")
    }

    fn parse(text: &str) -> Policy {
        let variable = |_: &str| Some("hunter2-hunter2".to_owned());
        let setting = PolicySetting { folder: Path::new("/plugins"), home: None, variable: &variable };
        Policy::parse(text, &setting).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// Uncomments all settings, as an operator who grants everything.
    fn uncommented(text: &str) -> String {
        let lines = text.lines().map(|line| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => setting,
            _ => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    const WANTS: &[(&str, &str, bool)] = &[
        ("dirs: /notes read-write", "keeps the notes there", true),
        ("dirs: /notes", "reads them", false),
        ("dirs", "exports", false),
        ("http: https://api.example.com", "looks words up", true),
        ("http: https://*.example.org:8443", "pictures", false),
        ("env: LANG", "its language", false),
        ("config: region", "where you are", false),
        ("secrets: EXAMPLE_TOKEN for api.example.com", "signs in", true),
        ("secrets: OTHER_TOKEN", "signs in elsewhere", false),
        ("store: 64MiB", "remembers what it looked up", false),
        ("caller", "keeps yours apart", false),
        ("invoke: projects:create", "makes a project of a note", false),
        ("elicit", "asks which note is meant", false),
        ("gpu", "dreams", false),
    ];

    #[test]
    fn a_draft_grants_requests_only_when_uncommented() {
        let text = drafted(WANTS);
        insta::assert_snapshot!(text);
        let (policy, nothing) = (parse(&text), Policy::default());
        assert_eq!((policy.grants, policy.rules.invoke.len()), (nothing.grants, 0));
        let policy = parse(&uncommented(&text));
        for (grant, ..) in WANTS.iter().filter(|(grant, ..)| *grant != "gpu") {
            assert!(wanted(grant).unwrap().is_granted(&policy), "{grant}");
        }
    }

    #[test]
    fn drafts_of_hostile_texts_grant_nothing() {
        let texts = [
            "",
            "x",
            "/",
            "/a/../b",
            "/a/ b",
            "\"quoted\"",
            "'''",
            "/'''\"\"\"",
            "${HOME}",
            "/${HOME}",
            "a\nelicit = true",
            "a = b",
            "https://x:99999",
            "https://a.example.com/path",
            "projects",
            "p:*",
            "p:\"",
            "#",
            "A=B",
            "\\",
            "é",
        ];
        for kind in GRANTS.map(|grant| grant.key().name) {
            for text in texts {
                let grant = format!("{kind}: {text}");
                let drafted =
                    drafted(&[(&grant, text, true), ("secrets", text, false), ("http", text, false)]);
                assert_eq!(parse(&drafted).grants, Policy::default().grants, "{grant}");
                assert!(!parse(&drafted).rules.elicit, "{grant}");
                parse(&uncommented(&drafted));
            }
        }
    }

    #[test]
    fn roots_are_offered_to_plugins_without_paths() {
        let offers = |wants: &[(&str, &str, bool)]| drafted(wants).contains("roots = true");
        assert!(offers(&[("dirs", "r", true)]) && offers(&[("dirs: read-write", "r", false)]));
        assert!(
            !offers(&[("dirs", "r", true), ("dirs: /notes", "r", false)]) && !offers(&[("store", "r", true)])
        );
    }

    #[test]
    fn a_draft_has_only_requested_grants() {
        let settings = |wants: &[(&str, &str, bool)]| {
            let text = drafted(wants);
            let lines = text.lines().filter(|line| line.starts_with('#') && !line.starts_with("# "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(settings(&[]), [""; 0]);
        assert_eq!(settings(&[("store", "r", true)]), ["#store = true"]);
        let listed = ("invoke: notes:add, notes:get and others", "r", false);
        assert_eq!(settings(&[listed]), ["#invoke = [\"notes:add\", \"notes:get\"]"]);
        let http = ("http: https://*.example.org", "r", true);
        assert_eq!(settings(&[http]), ["#http = [\"https://*.example.org\"]"]);
        let secret = "#secrets = [{ from-env = \"KEY\", host = \"api.example.com\", header = \"Authorization\", \
                      format = \"Bearer {}\" }]";
        let drafted = settings(&[("secrets: KEY", "r", true)]);
        assert_eq!(drafted, ["#http = [\"https://api.example.com\"]", secret]);
    }
}
