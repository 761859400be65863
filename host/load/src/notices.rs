//! Pure: notices for callers of `loggia dev` about versions that do not load. Other servers report them to operators only.

use std::path::Path;

use loggia_gate::catalog::NoticeMap;
use loggia_text::{redact, sanitise_line, without_paths};

use super::{
    facade_kind::file_stem,
    load_status::{LoadState, LoadStatusReport},
};

/// Ends what is logged about a version while an older one serves.
pub(super) const KEEPS_SERVING: &str = "; the previous version keeps serving";
/// Length of a reason, in bytes.
const MAX_BYTES: usize = 600;

/// Builds a sentence for each facade whose newest version does not load, without paths of this machine.
pub(super) fn load_notices(report: &LoadStatusReport, folder: &Path) -> NoticeMap {
    let refused =
        report.files.iter().filter(|file| matches!(file.state, LoadState::Stale | LoadState::Failed));
    let notices = refused.filter_map(|file| {
        let why = file.why.as_ref()?;
        let name = file.facade.as_deref().unwrap_or_else(|| file_stem(&file.file));
        let why = why.strip_suffix(KEEPS_SERVING).unwrap_or(why);
        let why = sanitise_line(&redact(&without_paths(why, folder)), MAX_BYTES);
        Some((name.to_owned(), format!("the newest version of `{name}` does not load: {why}")))
    });
    notices.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OfferStatus;

    #[test]
    fn reasons_reach_callers_without_paths() {
        let file = |file: &str, facade: Option<&str>, state, why: &str| OfferStatus {
            file: file.to_owned(),
            facade: facade.map(str::to_owned),
            state,
            why: Some(why.to_owned()),
        };
        let kept =
            "the policy /srv/plugins/notes.toml cannot be used: no `x`; the previous version keeps serving";
        let files = vec![
            file("n.wasm", Some("notes"), LoadState::Stale, kept),
            file("b.wasm", None, LoadState::Failed, "`/home/ada/data` cannot be opened"),
            file("c.wasm", Some("c"), LoadState::Serving, "a workflow waits"),
        ];
        let report = LoadStatusReport { files, ..LoadStatusReport::default() };
        let notices = load_notices(&report, Path::new("/srv/plugins"));
        let notices: Vec<_> = notices.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(
            notices,
            [
                ("b", "the newest version of `b` does not load: `data` cannot be opened"),
                (
                    "notes",
                    "the newest version of `notes` does not load: the policy notes.toml cannot be used: no `x`"
                ),
            ]
        );
    }
}
