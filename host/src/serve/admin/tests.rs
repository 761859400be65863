use super::*;
use crate::load::LoadState::{Failed, Refused, Serving, Stale};

fn report(files: &[(&str, load::LoadState)]) -> LoadStatusReport {
    let files = files.iter().map(|(file, state)| OfferStatus {
        file: (*file).to_owned(),
        facade: None,
        state: *state,
        why: (*state != Serving).then(|| "why".to_owned()),
    });
    LoadStatusReport { files: files.collect(), ..LoadStatusReport::default() }
}

#[test]
fn ready_when_something_serves_or_nothing_failed() {
    let check = |(draining, loaded), files: &[(&str, load::LoadState)], expected: Option<&str>| {
        let readiness = Readiness::new(draining, loaded, true, &report(files));
        assert_eq!((readiness.ready, readiness.why.as_deref()), (expected.is_none(), expected), "{files:?}");
    };
    let (ends, loads, serves) = ((true, true), (false, false), (false, true));
    check(ends, &[("a", Serving)], Some("the server is shutting down"));
    check(loads, &[("a", Serving)], Some("plugins are still being loaded"));
    check(serves, &[], None);
    check(serves, &[("a", Serving)], None);
    check(serves, &[("a", Serving), ("b", Failed)], None);
    check(serves, &[("a", Stale)], None);
    check(serves, &[("a", Failed), ("b", Refused)], Some("no plugin serves, and some failed"));
    let folder =
        |files| LoadStatusReport { folder_error: Some("the folder\ncannot be read".into()), ..report(files) };
    assert_eq!(
        Readiness::new(false, true, true, &folder(&[])).why.as_deref(),
        Some("the folder\\ncannot be read")
    );
    assert!(Readiness::new(false, true, true, &folder(&[("a", Serving)])).ready);
    assert!(!Readiness::new(false, true, false, &folder(&[("a", Serving)])).ready, "no keys yet");
    let behind = LoadStatusReport { is_behind: true, ..report(&[("a", Stale)]) };
    assert_eq!(
        Readiness::new(false, true, true, &behind).why.as_deref(),
        Some("the other servers serve newer versions of plugins, which do not load here")
    );
}

#[test]
fn failures_are_listed_first_and_bounded() {
    let names: Vec<String> = (0..FILES).map(|n| format!("{n:04}.wasm")).collect();
    let mut files: Vec<_> = names.iter().map(|name| (name.as_str(), Serving)).collect();
    files.extend([("z.wasm", Failed), ("y.wasm", Stale)]);
    let mut report = report(&files);
    report.files[FILES].why = Some(format!("{}\u{1b}", "é".repeat(5000)));
    let readiness = Readiness::new(false, true, true, &report);
    let first: Vec<_> = readiness.plugins.iter().take(3).map(|stands| stands.file.as_str()).collect();
    assert_eq!(first, ["z.wasm", "y.wasm", "0000.wasm"]);
    assert_eq!(
        (readiness.plugins.len(), readiness.more, readiness.serving, readiness.failed, readiness.stale),
        (FILES, 2, FILES, 1, 1)
    );
    let why = readiness.plugins[0].why.as_deref().unwrap();
    assert!(why.chars().count() == REASON && why.ends_with('…'), "{why}");
}

#[test]
fn addresses_are_accepted_and_foreign_names_are_refused() {
    let names = ["loggia.internal".to_owned()];
    let check = |host: &str, expected: bool| assert_eq!(is_own(host, &names), expected, "{host}");
    for own in [
        "localhost",
        "LOCALHOST:9090",
        "127.0.0.1:9090",
        "10.1.2.3",
        "[::1]:9090",
        "[::1]",
        "Loggia.internal:1",
    ] {
        check(own, true);
    }
    for other in [
        "evil.com",
        "evil.com:9090",
        "",
        ":9090",
        "localhost.evil.com",
        "127.0.0.1.evil.com:80",
        "::1",
        "localhost:x",
        "localhost:99999",
        "[127.0.0.1]",
        "[::1",
        "[::1]x",
        "user@localhost",
        "127.1",
    ] {
        check(other, false);
    }
}
