//! What browsers show at the end of a login.

use loggia_text::printable;

/// Page at the end of a login.
pub enum LoginPage {
    /// The request is not the answer to a pending login.
    Unknown,
    /// The login failed, with this reason.
    Failed {
        /// Facade.
        facade: String,
        /// Reason.
        reason: String,
    },
    /// The caller has to send the code.
    Code {
        /// Facade.
        facade: String,
        /// Name of the caller.
        caller: String,
        /// Code.
        code: String,
    },
    /// The credential is stored.
    Done {
        /// Facade.
        facade: String,
    },
}

impl LoginPage {
    /// Whether the request belonged to a login.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// Renders the page as HTML.
    pub fn render(&self) -> String {
        let (title, text) = match self {
            Self::Unknown => (
                "No login",
                "<p>This is not the answer to a login that is pending here. An answer counts once, for ten minutes: call \
                 the tool again to begin another login.</p>"
                    .to_owned(),
            ),
            Self::Failed { facade, reason } => {
                let (facade, reason) = (escape(facade), escape(reason));
                ("Login failed", format!("<p>The login to <b>{facade}</b> failed: {reason}</p><p>Nothing was stored.</p>"))
            }
            Self::Code { facade, caller, code } => {
                let (facade, caller) = (escape(facade), escape(caller));
                let text = format!(
                    "<p>The caller <b>{caller}</b> of this server will use <b>{facade}</b> with your account once it has this \
                     code:</p><p><big><code>{code}</code></big></p><p>Give it to the agent that asked you, and only if you \
                     started this yourself. If somebody sent you the link, close this page: the code would give them your \
                     access.</p>"
                );
                ("One step is left", text)
            }
            Self::Done { facade } => {
                let facade = escape(facade);
                ("Logged in", format!("<p>You are logged in to <b>{facade}</b>. You can close this page.</p>"))
            }
        };
        format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Loggia: {title}</title><h1>{title}</h1>{text}</html>\n"
        )
    }
}

/// Escapes a text for HTML. Names of callers and reasons come from others.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_escape_what_others_wrote() {
        let pages = [
            LoginPage::Unknown,
            LoginPage::Failed {
                facade: "shop".into(),
                reason: "<script>alert('&\"')</script>\u{202e}".into(),
            },
            LoginPage::Done { facade: "shop".into() },
            LoginPage::Code {
                facade: "shop".into(),
                caller: "https://id.example#<b>ada</b>".into(),
                code: "10AB-CDEF".into(),
            },
        ];
        let pages: String = pages.iter().map(LoginPage::render).collect();
        insta::assert_snapshot!(pages);
    }
}
