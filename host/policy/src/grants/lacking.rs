//! Grants that a plugin needs and its policy lacks, with what to write.

use std::fmt;

use loggia_facade::Want;
use loggia_text::{mention, printable};

use super::grant::{WantedGrant, WantedGrants};
use crate::model::Policy;

/// A grant that a plugin needs and does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LackingGrant {
    /// As the plugin requests it, such as `http: https://api.example.com`.
    pub grant: String,
    /// Why it needs it.
    pub reason: String,
    /// The line to write under `[grants]`; `None`: this host has no such grant.
    pub line: Option<String>,
}

/// Longest reason of a plugin in a message, in characters.
const MAX_REASON: usize = 200;

/// Lists the requests that a plugin needs and a policy lacks, in the plugin's order.
pub(super) fn find_lacking<'a>(
    wants: impl Iterator<Item = (&'a Want, Option<WantedGrant<'a>>)>,
    policy: &Policy,
) -> Vec<LackingGrant> {
    let lacking = wants.filter(|(want, _)| want.needed).filter_map(|(want, parsed)| {
        if parsed.is_some_and(|wanted| wanted.is_granted(policy)) {
            return None;
        }
        let line = parsed.and_then(|wanted| {
            let value = wanted.grant.draft(&WantedGrants::new(vec![(want, Some(wanted))]))?;
            Some(format!("{} = {value}", wanted.grant.key().name))
        });
        Some(LackingGrant { grant: want.grant.clone(), reason: want.reason.clone(), line })
    });
    lacking.collect()
}

/// Displays as a sentence without its subject, the plugin.
impl fmt::Display for LackingGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (grant, reason) = (mention(&self.grant, 100), mention(&self.reason, MAX_REASON));
        write!(f, "needs `{}`, which its policy does not grant ({})", printable(&grant), printable(&reason))?;
        match &self.line {
            Some(line) => write!(f, ": write `{line}` under [grants]"),
            None => f.write_str(": this host has no such grant"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use loggia_facade::Surface;

    use super::*;
    use crate::{document::PolicySetting, grants::lacking_grants};

    fn lacking(wants: &[(&str, bool)], policy: &str) -> Vec<String> {
        let wants = wants.iter().map(|(grant, needed)| Want {
            grant: (*grant).to_owned(),
            reason: "looks words\nup".to_owned(),
            needed: *needed,
        });
        let surface = Surface {
            name: "words".to_owned(),
            title: String::new(),
            version: String::new(),
            summary: String::new(),
            instructions: None,
            default_action: None,
            actions: Vec::new(),
            views: Vec::new(),
            wants: wants.collect(),
        };
        let setting = PolicySetting { folder: Path::new("/plugins"), home: None, variable: &|_| None };
        let policy = Policy::parse(policy, &setting).unwrap();
        lacking_grants(&surface, &policy).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn needed_grants_come_with_the_line_to_write() {
        let wants = [("http: https://api.example.com", true), ("store", false), ("stor", true)];
        let http = "needs `http: https://api.example.com`, which its policy does not grant (looks words up): \
                    write `http = [\"https://api.example.com\"]` under [grants]";
        let unknown =
            "needs `stor`, which its policy does not grant (looks words up): this host has no such grant";
        assert_eq!(lacking(&wants, ""), [http, unknown]);
        assert_eq!(lacking(&wants, "[grants]\nhttp = [\"https://other.example.com\"]"), [http, unknown]);
        assert_eq!(lacking(&wants, "[grants]\nhttp = [\"https://api.example.com\"]"), [unknown]);
        assert_eq!(lacking(&[("store", true)], "[grants]\nstore = true"), [""; 0]);
        assert_eq!(lacking(&[("elicit", true)], "").len(), 1);
    }
}
