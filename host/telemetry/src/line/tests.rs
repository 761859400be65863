use std::sync::{Arc, Mutex};

use tracing_subscriber::layer::SubscriberExt;

use super::*;

/// Returns the lines that these events produce, without their time.
fn lines(format: Format, colours: bool, log_events: impl FnOnce()) -> Vec<String> {
    let written: Arc<Mutex<Vec<String>>> = Arc::default();
    let into = Arc::clone(&written);
    let write = move |line: &str| into.lock().unwrap().push(line.to_owned());
    let subscriber = tracing_subscriber::registry().with(LineLayer { format, colours, write, trail: None });
    tracing::subscriber::with_default(subscriber, log_events);
    let written = written.lock().unwrap();
    written.iter().map(|line| without_time(line)).collect()
}

fn without_time(line: &str) -> String {
    assert!(line.ends_with('\n') && line.len() <= MAX_LINE, "{} bytes", line.len());
    let at = line.find("20").unwrap();
    let (time, rest) = line[at..].split_once('Z').unwrap();
    assert!(DateTime::parse_from_rfc3339(&format!("{time}Z")).is_ok() && time.len() == 26, "{time}");
    format!("{}T{rest}", &line[..at])
}

/// Logs what a library or a guest may make us log.
fn log_samples() {
    let span = tracing::info_span!("request", request = "r1", facade = "of the span");
    let _entered = span.enter();
    tracing::info!(
        facade = "notes",
        n = 3,
        ok = true,
        share = 0.5,
        odd = f64::NAN,
        "loaded {}",
        "two\nlines"
    );
    tracing::warn!(text = "say \"hi\"\\", debug = ?Some("x"), "\u{1b}[31m \u{2028}\u{202e}\u{e0041}");
    tracing::error!(token = "abc", level = "mine", "Authorization: Basic eHl6");
    tracing::debug!(empty = "", "");
    tracing::trace!(only = "fields");
}

#[test]
fn an_event_is_one_line_for_a_person() {
    insta::assert_snapshot!(lines(Format::Human, false, log_samples).concat());
}

#[test]
fn an_event_is_one_object_for_a_program() {
    let lines = lines(Format::Json, false, log_samples);
    for line in &lines {
        let time = line.replacen("\"T\"", "\"2026\"", 1);
        serde_json::from_str::<serde_json::Map<_, _>>(&time).expect(line);
    }
    insta::assert_snapshot!(lines.concat());
}

#[test]
fn a_terminal_gets_only_our_colours() {
    insta::assert_snapshot!(lines(Format::Human, true, log_samples).concat().replace('\u{1b}', "ESC"));
}

#[test]
fn lines_are_bounded() {
    /// A megabyte that prints itself bit by bit, and panics if more is requested than is read.
    struct Endless;
    impl fmt::Debug for Endless {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for n in 0..1_000_000 {
                assert!(n < MAX_READ, "formatting stops once the text is full");
                write!(f, "{n} \u{1}\"")?;
            }
            Ok(())
        }
    }
    let large = "é\u{1}".repeat(100_000);
    for format in [Format::Human, Format::Json] {
        let lines = lines(format, false, || {
            tracing::info!("{large}");
            tracing::info!("{:?}", Endless);
            tracing::info!(
                a = large,
                b = large,
                c = large,
                d = large,
                e = large,
                f = large,
                g = large,
                h = large,
                "x"
            );
            let span = tracing::info_span!("request", a = large, endless = ?Endless);
            let _entered = span.enter();
            tracing::info!(a = large, b = ?Endless, c = large, d = %large, "{large}");
            tracing::info!("short");
        });
        assert!(
            lines[0].contains('…') && lines[3].contains('…') && !lines[4].contains("short…"),
            "{lines:?}"
        );
        for line in &lines {
            assert!(!line.trim_end_matches('\n').contains(|c: char| c.is_control()), "{line:.200}");
            if format == Format::Json {
                let time = line.replacen("\"T\"", "\"2026\"", 1);
                serde_json::from_str::<serde_json::Map<_, _>>(&time).expect(line);
            }
        }
        // Fields that find no room are dropped and marked.
        assert!(lines[2].contains("f=") || lines[2].contains("\"f\""), "{}", lines[2]);
    }
}

#[test]
fn truncated_credentials_are_still_redacted() {
    let text = format!("{} Bearer {}", "x".repeat(MAX_MESSAGE - 20), "secret".repeat(100));
    let lines = lines(Format::Human, false, || tracing::info!("{text}"));
    assert!(
        !lines[0].contains("secret") && lines[0].contains("Bearer [reda"),
        "{}",
        &lines[0][MAX_MESSAGE - 20..]
    );
}

#[test]
fn events_of_the_trail_are_logged_only_on_request() {
    for (is_logged, expected) in [(false, 1), (true, 2)] {
        let [log, trail]: [Arc<Mutex<Vec<String>>>; 2] = Default::default();
        let (logged, written) = (Arc::clone(&log), Arc::clone(&trail));
        let layer = LineLayer {
            format: Format::Human,
            colours: false,
            write: move |line: &str| logged.lock().unwrap().push(line.to_owned()),
            trail: Some(TrailRoute {
                target: "trail",
                write: Box::new(move |line| written.lock().unwrap().push(line.to_owned())),
                is_logged,
            }),
        };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            tracing::info!(target: "trail", event = "tokens", "reloaded");
            tracing::info!(target: "trail::call", "a call");
        });
        assert_eq!(log.lock().unwrap().len(), expected, "{log:?}");
        let trail = trail.lock().unwrap();
        assert!(trail.len() == 1 && trail[0].contains(r#""event":"tokens""#), "{trail:?}");
    }
}
