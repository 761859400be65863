//! The rules of a robots.txt for one agent.

/// Number of rules and bytes of a rule that are read.
const RULES: usize = 5000;
const LENGTH: usize = 2000;

/// Rules that apply to the agent. Without rules, everything is allowed.
#[derive(Debug, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    allows: bool,
    /// Normalised.
    pattern: String,
    line: usize,
    written: String,
}

/// What the rules say of a path.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Allowed,
    Disallowed { line: usize, rule: String },
}

impl Rules {
    /// Collects the rules of all groups for the agent or, if there are none, for `*`.
    pub fn parse(text: &str, agent: &str) -> Self {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let mut has_own = false;
        // Agents of the current group, and whether its rules have begun.
        let (mut is_own, mut is_other, mut has_rules) = (false, false, false);
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        for (number, line) in text.split(['\n', '\r']).enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if has_rules {
                        (is_own, is_other, has_rules) = (false, false, false);
                    }
                    is_other |= value == "*";
                    is_own |= product(value).eq_ignore_ascii_case(agent);
                    has_own |= is_own;
                }
                "allow" | "disallow" => {
                    has_rules = true;
                    if value.is_empty() || value.len() > LENGTH {
                        continue;
                    }
                    let rule = || Rule {
                        allows: key == "allow",
                        pattern: normalise(value),
                        line: number + 1,
                        written: value.to_owned(),
                    };
                    if is_own && own.len() < RULES {
                        own.push(rule());
                    }
                    if is_other && others.len() < RULES {
                        others.push(rule());
                    }
                }
                _ => {}
            }
        }
        Self(if has_own { own } else { others })
    }

    /// Decides about a path with its query: the longest matching rule counts, and `Allow` among equals.
    pub fn verdict(&self, path: &str) -> Verdict {
        let path = normalise(path);
        if path == "/robots.txt" {
            return Verdict::Allowed;
        }
        let matching = self.0.iter().filter(|rule| matches(&rule.pattern, &path));
        match matching.max_by_key(|rule| (rule.pattern.len(), rule.allows)) {
            Some(rule) if !rule.allows => Verdict::Disallowed { line: rule.line, rule: rule.written.clone() },
            _ => Verdict::Allowed,
        }
    }
}

/// `Loggia/1.0` → `Loggia`.
fn product(agent: &str) -> &str {
    let end = agent.find(|char: char| !char.is_ascii_alphabetic() && char != '-' && char != '_');
    &agent[..end.unwrap_or(agent.len())]
}

/// Escapes other characters than ASCII, and decodes escapes of characters that need none.
fn normalise(path: &str) -> String {
    let mut normal = String::with_capacity(path.len());
    let bytes = path.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match escaped {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => normal.push(byte.into()),
            Some(byte) => normal.push_str(&format!("%{byte:02X}")),
            None if bytes[at].is_ascii() => normal.push(bytes[at].into()),
            None => normal.push_str(&format!("%{:02X}", bytes[at])),
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
    normal
}

/// Matches the beginning of a path. `*` is any text, and `$` at the end is the path's end.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, is_anchored) =
        pattern.strip_suffix('$').map_or((pattern, false), |pattern| (pattern, true));
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return !is_anchored || rest.is_empty();
    }
    // The first occurrence leaves the longest rest, so no other one has to be tried.
    while let Some(part) = parts.next() {
        if is_anchored && parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(text: &str, path: &str) -> bool {
        Rules::parse(text, "Loggia").verdict(path) == Verdict::Allowed
    }

    #[test]
    fn groups_apply_to_their_agents() {
        let check = |text: &str, expected| assert_eq!(is_allowed(text, "/private/a"), expected, "{text}");
        check("", true);
        check("User-agent: *\nDisallow: /private", false);
        check("User-agent: *\nDisallow: /", false);
        check("User-agent: *\nDisallow:", true);
        check("user-AGENT : *\r\n disallow : /private # no\r\n", false);
        check("User-agent: loggia\nDisallow: /private", false);
        check("User-agent: Loggia/2.0\nDisallow: /private", false);
        check("User-agent: other\nDisallow: /", true);
        check("User-agent: loggiabot\nDisallow: /", true);
        check("User-agent: other\nUser-agent: loggia\nDisallow: /", false);
        check("User-agent: *\nDisallow: /\n\nUser-agent: Loggia\nAllow: /", true);
        check("User-agent: Loggia\nDisallow: /x\n\nUser-agent: *\nDisallow: /", true);
        check("User-agent: Loggia\nDisallow: /x\n\nUser-agent: Loggia\nDisallow: /private", false);
        check("User-agent: *\nCrawl-delay: 3\nDisallow: /private", false);
        check("User-agent: other\nDisallow: /x\nUser-agent: *\nDisallow: /private", false);
        check("\u{feff}User-agent: *\rDisallow: /private", false);
        check("Disallow: /", true);
        check("<html>not found</html>", true);
    }

    #[test]
    fn the_longest_rule_counts() {
        // The examples of RFC 9309, section 2.2.2 and 5, among others.
        let check = |rules: &str, path: &str, expected| {
            let text = format!("User-agent: *\n{rules}");
            assert_eq!(is_allowed(&text, path), expected, "{rules} {path}");
        };
        let example = "Allow: /example/page/\nDisallow: /example/page/disallowed.gif";
        check(example, "/example/page/a", true);
        check(example, "/example/page/disallowed.gif", false);
        check("Disallow: /a\nAllow: /a", "/a", true);
        check("Disallow: /*.gif$", "/x/y.gif", false);
        check("Disallow: /*.gif$", "/x/y.gif?z", true);
        check("Disallow: /*.gif", "/x/y.gif?z", false);
        check("Disallow: /this/*/exactly$", "/this/that/exactly", false);
        check("Disallow: /this/*/exactly$", "/this/that/exactly/not", true);
        check("Disallow: /*?print=", "/a?print=1", false);
        check("Disallow: /a*b*c", "/axxbyyczz", false);
        check("Disallow: /a*b*c", "/axxcyyb", true);
        check("Disallow: *", "/x", false);
        check("Disallow: /fish", "/Fish", true);
        check("Disallow: /foo/bar/ツ", "/foo/bar/%E3%83%84", false);
        check("Disallow: /foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", false);
        check("Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", false);
        check("Disallow: /a%2Fb", "/a/b", true);
        check("Disallow: /", "/robots.txt", true);
        check("Disallow: /$", "/", false);
        check("Disallow: /$", "/a", true);
    }

    #[test]
    fn the_rule_is_named_with_its_line() {
        let rules = Rules::parse("# a\nUser-agent: *\n\nDisallow: /a b*\n", "Loggia");
        assert_eq!(rules.verdict("/a b/c"), Verdict::Disallowed { line: 4, rule: "/a b*".into() });
    }

    #[test]
    fn hostile_patterns_take_linear_time() {
        let pattern = format!("/{}b", "*a".repeat(900));
        let text = format!("User-agent: *\n{}", format!("Disallow: {pattern}\n").repeat(2000));
        assert!(is_allowed(&text, &format!("/{}", "a".repeat(4000))));
    }
}
