//! A first policy for a plugin: what it wants, with its reasons, all of it commented out. Pure.
//!
//! Lines that begin with `# ` are prose, those that begin with `#` alone are settings, which hold once the `#` is gone.

use loggia_egress::{Destination, HostPattern, Scheme};
use loggia_facade::{Surface, Want};
use loggia_gate::access::InvokeRule;
use loggia_text::{printable, units};
use toml::Value;

use crate::config::policy::want::{Asked, Kind};

/// What stands for a host that the plugin does not name.
const HOST: &str = "api.example.com";

/// The policy's text.
pub fn draft(surface: &Surface, file: &str) -> String {
    let mut lines = vec![
        format!(
            "# Policy of `{}`, for {}.wasm beside it. It grants nothing yet.",
            surface.name,
            printable(file)
        ),
        "# What the plugin asks for stands below: remove the `#` before what you grant.".to_owned(),
        "# Every key: loggia policy reference. What it comes to: loggia policy explain.".to_owned(),
        String::new(),
        "[grants]".to_owned(),
    ];
    let draft = Draft::of(surface);
    if draft.asked.is_empty() {
        lines.push("# The plugin asks for nothing.".to_owned());
    }
    for kind in Kind::ALL {
        let Some(value) = draft.value(kind) else { continue };
        lines.push(String::new());
        lines.extend(draft.wants(Some(kind)).map(reason));
        lines.push(format!("#{} = {value}", kind.as_str()));
    }
    if draft.wants(None).next().is_some() {
        lines.push(String::new());
        lines.push("# This host has no such grants:".to_owned());
        lines.extend(draft.wants(None).map(reason));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn reason(want: &Want) -> String {
    let needed = if want.needed { " (needed)" } else { "" };
    format!("# {}{needed}: {}", printable(&want.grant), printable(&want.reason))
}

/// What the keys are drawn from.
struct Draft<'a> {
    asked: Vec<(&'a Want, Option<Asked<'a>>)>,
}

impl<'a> Draft<'a> {
    fn of(surface: &'a Surface) -> Self {
        Self { asked: surface.wants.iter().map(|want| (want, Asked::parse(&want.grant))).collect() }
    }

    /// The wants of one kind, or of none that is known.
    fn wants(&self, kind: Option<Kind>) -> impl Iterator<Item = &'a Want> {
        let is_meant = move |asked: &Option<Asked<'_>>| asked.map(|asked| asked.kind) == kind;
        self.asked.iter().filter(move |(_, asked)| is_meant(asked)).map(|(want, _)| *want)
    }

    fn asked(&self, kind: Kind) -> impl Iterator<Item = Asked<'a>> {
        self.asked.iter().filter_map(move |(_, asked)| asked.filter(|asked| asked.kind == kind))
    }

    fn asks(&self, kind: Kind) -> bool {
        self.asked(kind).next().is_some()
    }

    /// The value of one key, as little as what is asked for needs; none where nothing is asked for.
    fn value(&self, kind: Kind) -> Option<String> {
        Some(match kind {
            // A secret goes to a host to which requests are granted.
            Kind::Http if self.asks(Kind::Http) || self.asks(Kind::Secrets) => self.http(),
            _ if !self.asks(kind) => return None,
            Kind::Dirs => self.dirs(),
            Kind::Env | Kind::Config => {
                let names = self.asked(kind).filter_map(|asked| asked.word()).filter(|word| is_key(word));
                let entries = unique(names.map(|name| format!("{name} = \"\"")));
                if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
            }
            Kind::Secrets => self.secrets(),
            Kind::Invoke => {
                let rules = self.asked(kind).filter_map(|asked| asked.word());
                list(rules.filter(|word| InvokeRule::parse(word).is_some()).map(quoted))
            }
            Kind::Store => match self.asked(kind).filter_map(|asked| asked.quota()).max() {
                Some(quota) => format!("{{ quota = {} }}", quoted(&units::bytes_text(quota))),
                None => "true".to_owned(),
            },
            Kind::Http | Kind::Caller | Kind::Elicit => "true".to_owned(),
        })
    }

    fn dirs(&self) -> String {
        let mut dirs: Vec<(String, bool)> = Vec::new();
        for (n, asked) in self.asked(Kind::Dirs).enumerate() {
            let number = if n == 0 { String::new() } else { (n + 1).to_string() };
            let at = asked.word().filter(|at| is_plain(at)).map(|at| at.trim_end_matches('/').to_owned());
            let at = at.unwrap_or(format!("/data{number}"));
            match dirs.iter_mut().find(|(known, _)| *known == at) {
                Some((_, writing)) => *writing |= asked.is_writing(),
                None => dirs.push((at, asked.is_writing())),
            }
        }
        list(dirs.into_iter().map(|(at, writing)| {
            let access = if writing { "read-write" } else { "read" };
            // Beside the plugin folder, in which no directory may be granted.
            let (path, at) = (quoted(&format!("..{at}")), quoted(&at));
            format!("{{ path = {path}, at = {at}, access = \"{access}\" }}")
        }))
    }

    fn http(&self) -> String {
        let named = self.asked(Kind::Http).filter_map(destination).map(|(text, _)| text.to_owned());
        let mut named: Vec<String> = named.collect();
        if named.is_empty() || (self.asks(Kind::Secrets) && self.hosts().is_empty()) {
            named.push(format!("https://{HOST}"));
        }
        list(named.iter().map(|text| quoted(text)))
    }

    /// The single hosts that the plugin names, reached over HTTPS: a secret goes to one of them.
    fn hosts(&self) -> Vec<String> {
        let named = self.asked(Kind::Http).filter_map(destination);
        let hosts = named.filter_map(|(_, to)| {
            let HostPattern::Name(name) = to.host else { return None };
            let port = if to.port == 443 { String::new() } else { format!(":{}", to.port) };
            (to.scheme == Scheme::Https).then(|| format!("{name}{port}"))
        });
        hosts.collect()
    }

    fn secrets(&self) -> String {
        let hosts = self.hosts();
        let mut names: Vec<&str> = Vec::new();
        let mut secrets = Vec::new();
        for asked in self.asked(Kind::Secrets) {
            let name = asked.word().filter(|word| is_variable(word)).unwrap_or("TOKEN");
            if names.contains(&name) {
                continue;
            }
            names.push(name);
            // One host gets each header once.
            let (header, format) = match names.len() {
                1 => ("Authorization".to_owned(), ", format = \"Bearer {}\""),
                n => (format!("X-Secret-{n}"), ""),
            };
            let mut words = asked.detail.unwrap_or_default().split_whitespace();
            let named = words.find_map(|word| hosts.iter().find(|host| *host == word));
            let host = quoted(named.or(hosts.first()).map_or(HOST, String::as_str));
            let (name, header) = (quoted(name), quoted(&header));
            secrets.push(format!("{{ from-env = {name}, host = {host}, header = {header}{format} }}"));
        }
        list(secrets.into_iter())
    }
}

fn destination(asked: Asked<'_>) -> Option<(&str, Destination)> {
    let text = asked.word()?;
    Some((text, Destination::parse(text).ok()?))
}

/// Whether a path can be one of the plugin's own.
fn is_plain(at: &str) -> bool {
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
    let rest = at.strip_prefix('/').map(|rest| rest.strip_suffix('/').unwrap_or(rest));
    rest.is_some_and(|rest| rest.split('/').all(plain))
}

/// Whether a word is a variable's name, as variables of secrets are called.
fn is_variable(word: &str) -> bool {
    let named = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    word.chars().all(named) && !word.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a word needs no quotes as a key.
fn is_key(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", unique(items).join(", "))
}

fn unique(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for item in items {
        if !out.contains(&item) {
            out.push(item);
        }
    }
    out
}

/// As TOML writes a string that holds no variables, on one line.
fn quoted(text: &str) -> String {
    Value::String(printable(text).replace("${", "$${")).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use loggia_facade::Effect;

    use super::*;
    use crate::{
        cli::policy::explanation::tests::surface,
        config::{Policy, Setting},
    };

    fn drafted(wants: &[(&str, &str, bool)]) -> String {
        draft(&surface("notes", &[("add", Effect::Write)], wants), "notes")
    }

    fn parse(text: &str) -> Policy {
        let variable = |_: &str| Some("hunter2-hunter2".to_owned());
        let setting = Setting { folder: Path::new("/plugins"), home: None, variable: &variable };
        Policy::parse(text, &setting).unwrap_or_else(|said| panic!("{said}\n{text}"))
    }

    /// What an operator does who grants all of it.
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
    fn a_draft_grants_nothing_as_it_is_and_all_that_is_asked_for_when_uncommented() {
        let text = drafted(WANTS);
        insta::assert_snapshot!(text);
        let (policy, nothing) = (parse(&text), Policy::default());
        assert_eq!((policy.grants, policy.rules.invoke.len()), (nothing.grants, 0));
        let policy = parse(&uncommented(&text));
        for (grant, ..) in WANTS.iter().filter(|(grant, ..)| *grant != "gpu") {
            assert!(Asked::parse(grant).unwrap().is_granted(&policy), "{grant}");
        }
    }

    #[test]
    fn whatever_a_plugin_writes_its_draft_is_a_policy_that_grants_nothing() {
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
        for kind in Kind::ALL {
            for text in texts {
                let grant = format!("{}: {text}", kind.as_str());
                let drafted =
                    drafted(&[(&grant, text, true), ("secrets", text, false), ("http", text, false)]);
                assert_eq!(parse(&drafted).grants, Policy::default().grants, "{grant}");
                assert!(!parse(&drafted).rules.elicit, "{grant}");
                parse(&uncommented(&drafted));
            }
        }
    }

    #[test]
    fn little_is_drafted_where_little_is_asked_for() {
        let settings = |wants: &[(&str, &str, bool)]| {
            let text = drafted(wants);
            let lines = text.lines().filter(|line| line.starts_with('#') && !line.starts_with("# "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(settings(&[]), [""; 0]);
        assert_eq!(settings(&[("store", "r", true)]), ["#store = true"]);
        let http = ("http: https://*.example.org", "r", true);
        assert_eq!(settings(&[http]), ["#http = [\"https://*.example.org\"]"]);
        let secret = "#secrets = [{ from-env = \"KEY\", host = \"api.example.com\", header = \"Authorization\", \
                      format = \"Bearer {}\" }]";
        let drafted = settings(&[("secrets: KEY", "r", true)]);
        assert_eq!(drafted, ["#http = [\"https://api.example.com\"]", secret]);
    }
}
