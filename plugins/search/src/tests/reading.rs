//! Any reply of a source can be read.

use super::*;
use crate::source::{Candidate, Source};

#[test]
fn each_source_is_read_by_its_own_fields() {
    let check = |source: Source, record: Value, expected: [&str; 4], open: &str| {
        let read = source.read(&json!([record]));
        let [Candidate { id, title, place, text, open: next, .. }] = read.as_slice() else {
            panic!("{read:?}")
        };
        assert_eq!([id, title, place, text], expected.each_ref());
        assert_eq!(format!("{} {}", next.action, Value::Object(next.params.clone())), open);
        assert_eq!(next.facade.as_deref(), Some(source.name()));
    };
    check(
        Source::Memories,
        json!({"id": "m_0001", "title": "Tea", "excerpt": "Green.", "tags": ["taste"], "score": 1}),
        ["m_0001", "Tea", "", "Green."],
        r#"get {"id":"m_0001"}"#,
    );
    check(
        Source::Memories,
        json!({"id": "m_0001", "title": "Tea"}),
        ["m_0001", "Tea", "", ""],
        r#"get {"id":"m_0001"}"#,
    );
    check(
        Source::Knowledge,
        json!({"id": "k_0001", "title": "Tea", "heading": "A > B", "chunk": 3, "of": 4, "lines": [1, 2], "source": "tea.md", "text": "Hot."}),
        ["k_0001", "Tea", "A > B, passage 3, tea.md", "Hot."],
        r#"get {"id":"k_0001","chunk":3}"#,
    );
    check(
        Source::Knowledge,
        json!({"document": "d_1", "title": "Tea", "headings": ["A", "B"], "position": 3, "excerpt": "Hot."}),
        ["d_1", "Tea", "A > B, passage 3", "Hot."],
        r#"get {"id":"d_1"}"#,
    );
    check(
        Source::Conversations,
        json!({"conversation": "c_0001", "title": "Tea", "position": 12, "role": "user", "text": "Hot?"}),
        ["c_0001", "Tea", "message 12, user", "Hot?"],
        r#"get {"conversation":"c_0001","from":12}"#,
    );
    check(
        Source::Files,
        json!({"path": "/a.md", "line": 3, "text": "  <b>hot</b>\u{200b} \n"}),
        ["/a.md", "", "line 3", "<b>hot</b>"],
        r#"get {"path":"/a.md"}"#,
    );
}

#[test]
fn odd_answers_are_passed_over() {
    let check = |data: Value, expected: usize| {
        for source in [Source::Memories, Source::Knowledge, Source::Conversations, Source::Files] {
            assert_eq!(source.read(&data).len(), expected, "{source:?} {data}");
        }
    };
    for none in [json!(null), json!(1), json!("x"), json!({}), json!([]), json!({"a": {"b": []}})] {
        check(none, 0);
    }
    check(json!([null, 1, "x", [], {}, {"id": null}, {"id": ["x"]}, {"path": {}}]), 0);
    let record = json!({"id": "1", "path": "1", "text": "x"});
    check(json!([{"id": "1", "path": "1"}, record.clone()]), 1);
    check(json!({"total": 1, "results": [record]}), 1);
    check(json!(vec![json!({"id": "1", "path": "1", "text": "x"}); 1000]), 200);
    check(json!([{"id": "i".repeat(1001), "path": "i".repeat(1001), "text": "x"}]), 0);
}

#[test]
fn calls_that_open_a_result_have_short_arguments() {
    let of = |chunk: Value| {
        let record = json!([{"id": "k_0001", "title": "x", "chunk": chunk}]);
        Value::Object(Source::Knowledge.read(&record).remove(0).open.params)
    };
    assert_eq!(of(json!(3)), json!({"id": "k_0001", "chunk": 3}));
    for odd in [
        json!("x".repeat(100_000)),
        json!({"a": "x".repeat(100_000)}),
        json!(["x".repeat(100_000)]),
        json!(""),
    ] {
        assert_eq!(of(odd), json!({"id": "k_0001"}));
    }
}

#[test]
fn long_texts_are_cut() {
    let long = "word ".repeat(10_000);
    let read = Source::Knowledge.read(&json!([{"id": "d_1", "title": long, "text": long, "source": long}]));
    let lengths = [&read[0].title, &read[0].place, &read[0].text].map(|text| text.chars().count());
    assert!(lengths.iter().zip([200, 200, 2000]).all(|(length, most)| *length <= most + 1), "{lengths:?}");
}
