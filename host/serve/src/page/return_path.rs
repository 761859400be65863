//! Pure: the page to which a login leads. A link to an approval is often opened by somebody who has not logged in yet.

/// Longest path.
const LONGEST: usize = 128;

/// Path of a page of the navigation, or of one approval or run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReturnPath(String);

impl Default for ReturnPath {
    fn default() -> Self {
        Self("/operator/".to_owned())
    }
}

impl ReturnPath {
    /// Parses a path. `None` for everything that is no page: a link must not lead elsewhere.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let rest = path.strip_prefix("/operator/").filter(|_| path.len() <= LONGEST)?;
        let mut parts = rest.split('/');
        let is_page = match (parts.next()?, parts.next(), parts.next()) {
            ("" | "facades" | "runs" | "callers" | "audit" | "tokens" | "approvals", None, None) => true,
            ("approvals" | "runs", Some(id), None) => is_id(id),
            _ => false,
        };
        is_page.then(|| Self(path.to_owned()))
    }

    /// The path.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The login that leads to it. All characters of a path may stand in a query.
    pub(super) fn login(&self) -> String {
        match *self == Self::default() {
            true => "/operator/login".to_owned(),
            false => format!("/operator/login?to={}", self.0),
        }
    }
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_to_pages_alone() {
        for (path, is_page) in [
            ("/operator/", true),
            ("/operator/approvals", true),
            ("/operator/approvals/ap_6swnrv3mfuzf8k2e", true),
            ("/operator/runs/run_4Zc1mT0yQ2a7Kx9vB3n5Lw", true),
            ("/operator/runs/run_4Zc1mT0yQ2a7Kx9vB3n5Lw/cancel", false),
            ("/operator/events", false),
            ("/operator/login", false),
            ("/operator/logout", false),
            ("/operator/approvals/", false),
            ("/operator/approvals/../../x", false),
            ("/operator/approvals/%2e%2e", false),
            ("/operator/approvals/a?b", false),
            ("/operator/approvals/a&to=b", false),
            ("/operator//evil.example", false),
            ("//evil.example/operator/", false),
            ("https://evil.example/operator/", false),
            ("/operator", false),
            ("", false),
        ] {
            assert_eq!(ReturnPath::parse(path).is_some(), is_page, "{path}");
        }
        assert!(ReturnPath::parse(&format!("/operator/runs/{}", "a".repeat(LONGEST))).is_none());
        assert_eq!(ReturnPath::default().login(), "/operator/login");
        let page = ReturnPath::parse("/operator/approvals/ap_a").unwrap();
        assert_eq!(page.login(), "/operator/login?to=/operator/approvals/ap_a");
    }
}
