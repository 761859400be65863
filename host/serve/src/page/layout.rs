//! Pure: what all pages have in common.

use maud::{DOCTYPE, Markup, html};

use super::session::OperatorSession;

/// Name of the field of forms that proves that they are of the session.
pub(super) const FORM_TOKEN: &str = "form_token";

/// Pages of the navigation: path, name.
const PAGES: [(&str, &str); 8] = [
    ("/operator/", "Overview"),
    ("/operator/approvals", "Approvals"),
    ("/operator/versions", "Versions"),
    ("/operator/facades", "Facades"),
    ("/operator/runs", "Runs"),
    ("/operator/callers", "Callers"),
    ("/operator/tokens", "Tokens"),
    ("/operator/audit", "Audit"),
];

/// A page of the navigation.
pub(super) struct PageFrame<'a> {
    /// Path of the page of the navigation to which it belongs.
    pub(super) path: &'static str,
    /// Heading.
    pub(super) title: &'a str,
    /// Result of an action.
    pub(super) notice: Option<&'a str>,
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · Loggia" }
            link rel="icon" href="/operator/assets/icon.svg" type="image/svg+xml";
            link rel="stylesheet" href="/operator/assets/page.css";
            script src="/operator/assets/page.js" defer {}
        }
    }
}

impl PageFrame<'_> {
    /// Renders the page with this content.
    pub(super) fn render(&self, session: &OperatorSession, content: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                (head(self.title))
                body data-events="/operator/events" {
                    a.skip href="#main" { "Skip to content" }
                    header {
                        p.brand { a href="/operator/" { "Loggia" } }
                        nav aria-label="Pages" {
                            ul {
                                @for (path, name) in PAGES {
                                    li { a href=(path) aria-current=[(path == self.path).then_some("page")] { (name) } }
                                }
                            }
                        }
                        form method="post" action="/operator/logout" {
                            (form_token(session))
                            button.plain type="submit" { "Log out" }
                        }
                    }
                    main id="main" tabindex="-1" {
                        div.title {
                            h1 { (self.title) }
                            p id="live" role="status" {}
                        }
                        @if let Some(notice) = self.notice {
                            p.notice role="status" { (notice) }
                        }
                        (content)
                    }
                    footer { "Loggia " (env!("CARGO_PKG_VERSION")) ". Times are in UTC." }
                }
            }
        }
    }
}

/// The field of a form that proves that it is of the session.
pub(super) fn form_token(session: &OperatorSession) -> Markup {
    html! { input type="hidden" name=(FORM_TOKEN) value=(session.form_token); }
}

/// A part of a page that the script replaces when it has changed.
pub(super) fn live_part(id: &str, content: &Markup) -> Markup {
    html! { div.part id=(id) data-part { (content) } }
}

/// Renders a page without navigation: the login, and errors.
pub(super) fn render_plain(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body.narrow {
                main id="main" {
                    p.brand { "Loggia" }
                    h1 { (title) }
                    (content)
                }
            }
        }
    }
}
