//! Style sheet, script and icon.

use axum::{
    extract::Path,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};

/// Name, type and content of each.
const ASSETS: [(&str, &str, &str); 3] = [
    ("page.css", "text/css; charset=utf-8", include_str!("assets/page.css")),
    ("page.js", "text/javascript; charset=utf-8", include_str!("assets/page.js")),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

/// Serves one. They are the same for everybody, so they need no session.
pub(super) async fn serve(Path(name): Path<String>) -> Response {
    match ASSETS.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, content)) => ([(CONTENT_TYPE, *kind)], *content).into_response(),
        None => (StatusCode::NOT_FOUND, "there is no such file\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_together_is_small_and_of_this_server() {
        let sizes: usize = ASSETS.iter().map(|(.., content)| content.len()).sum();
        assert!(sizes < 40 << 10, "{sizes}");
        for (name, _, content) in ASSETS {
            let content = content.replace("http://www.w3.org/2000/svg", "");
            assert!(
                !content.contains("http:") && !content.contains("https:") && !content.contains("//www"),
                "{name}"
            );
        }
    }
}
