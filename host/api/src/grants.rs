//! Grants of an API: its own servers, and what the policy says about them.

use loggia_egress::{EgressGrants, HostPattern, HttpRule, RuleDestination};

use crate::description::ApiDescription;

/// Builds the grants of an API from its servers and from the `http` and `secrets` of its policy.
///
/// A description grants its own servers: importing it was the operator's decision. Rules of the policy for such a server
/// replace that grant, so that they can restrict methods. Two things need the policy, as for any plugin: servers that are
/// addresses, which may be private, and names that resolve to such.
///
/// # Errors
///
/// A server that the policy has to grant, with the grant.
pub fn api_grants(description: &ApiDescription, policy: &EgressGrants) -> Result<EgressGrants, String> {
    let mut rules: Vec<HttpRule> = Vec::new();
    for server in description.servers() {
        let origin = url::Url::parse(server)
            .map_err(|error| format!("the server `{server}` is no URL: {error}"))?
            .origin()
            .ascii_serialization();
        let to = RuleDestination::parse(&origin).map_err(|reason| format!("the server {reason}"))?;
        if rules.iter().any(|rule| rule.to == to) {
            continue;
        }
        let own: Vec<HttpRule> = policy
            .rules
            .iter()
            .filter(|rule| includes(&rule.to, &to))
            .map(|rule| HttpRule { to: to.clone(), ..rule.clone() })
            .collect();
        match (&to.host, own.is_empty()) {
            (_, false) => rules.extend(own),
            (HostPattern::Name(_), true) => rules.push(HttpRule { to, methods: None, reads: Vec::new() }),
            (_, true) => {
                return Err(format!(
                    "the server `{origin}` is an address, which the policy must grant: `http = [\"{origin}\"]`"
                ));
            }
        }
    }
    // Requests go to the servers only, but their names may resolve to addresses that the policy grants.
    let addresses = policy.rules.iter().filter(|rule| matches!(rule.to.host, HostPattern::Address(_)));
    for rule in addresses {
        if !rules.contains(rule) {
            rules.push(rule.clone());
        }
    }
    Ok(EgressGrants { rules, secrets: policy.secrets.clone() })
}

/// Whether a rule's destination includes a single host.
fn includes(rule: &RuleDestination, to: &RuleDestination) -> bool {
    let is_host = match (&rule.host, &to.host) {
        (HostPattern::Any, HostPattern::Name(_)) => true,
        (HostPattern::Below(parent), HostPattern::Name(name)) => {
            name.strip_suffix(parent.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        }
        (rule, host) => rule == host,
    };
    rule.scheme == to.scheme && rule.port == to.port && is_host
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The grants of an API at these servers, under these rules.
    fn grants(server: &str, rules: &[(&str, Option<&[&str]>)]) -> Result<Vec<String>, String> {
        let text = format!(
            "format = 1\nname = \"api\"\nsummary = \"An API.\"\nserver = \"{server}\"\n[[operation]]\naction = \"a\"\nmethod = \"GET\"\n\
             path = \"/\"\nsummary = \"Reads.\"\n"
        );
        let description = ApiDescription::parse(&text).map_err(|error| error.to_string())?;
        let rule = |(to, methods): &(&str, Option<&[&str]>)| HttpRule {
            to: RuleDestination::parse(to).expect("a destination"),
            methods: methods.map(|methods| methods.iter().map(|m| (*m).to_owned()).collect()),
            reads: Vec::new(),
        };
        let policy = EgressGrants { rules: rules.iter().map(rule).collect(), secrets: Vec::new() };
        let granted = api_grants(&description, &policy)?;
        Ok(granted.rules.iter().map(|rule| format!("{} {:?}", rule.to, rule.methods)).collect())
    }

    #[test]
    fn servers_are_the_only_destinations() {
        let get: Option<&[&str]> = Some(&["GET"]);
        for (server, rules, expected) in [
            ("https://api.example.com/v1", vec![], Ok(vec!["https://api.example.com None"])),
            (
                "https://api.example.com:8443",
                vec![("https://other.example", None)],
                Ok(vec!["https://api.example.com:8443 None"]),
            ),
            (
                "https://api.example.com",
                vec![("https://*.example.com", get)],
                Ok(vec!["https://api.example.com Some([\"GET\"])"]),
            ),
            (
                "https://api.example.com",
                vec![("http://api.example.com", get)],
                Ok(vec!["https://api.example.com None"]),
            ),
            ("http://127.0.0.1:9", vec![], Err("http = [\"http://127.0.0.1:9\"]")),
            ("http://2130706433", vec![], Err("is an address")),
            (
                "http://127.0.0.1:9",
                vec![("http://127.0.0.1:9", get)],
                Ok(vec!["http://127.0.0.1:9 Some([\"GET\"])"]),
            ),
            (
                "https://api.example.com",
                vec![("https://10.0.0.1", None)],
                Ok(vec!["https://api.example.com None", "https://10.0.0.1 None"]),
            ),
        ] {
            match (grants(server, &rules), expected) {
                (Ok(granted), Ok(expected)) => assert_eq!(granted, expected, "{server}"),
                (Err(reason), Err(part)) => assert!(reason.contains(part), "{server}: {reason}"),
                (granted, _) => panic!("{server}: {granted:?}"),
            }
        }
    }
}
