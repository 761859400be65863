//! Sources that are absent, fail, or answer strangely.

use super::*;

#[test]
fn a_failing_source_spoils_no_other() {
    let host = world().refuse("knowledge", "search", Failure::timed_out("timed out after 10 s")).refuse(
        "projects",
        "list",
        Failure::unavailable("`projects` is unavailable"),
    );
    let data = suggest(&host, trip(4000)).data;
    insta::assert_snapshot!(format!("{:#}", data["unavailable"]), @r#"
    [
      {
        "source": "knowledge",
        "reason": "timed out after 10 s"
      },
      {
        "source": "projects",
        "reason": "`projects` is unavailable"
      }
    ]
    "#);
    let ids = ids(&data);
    assert!(ids.contains(&"memories/m_0007") && ids.contains(&"conversations/c_0004#12"), "{ids:?}");
}

#[test]
fn without_sources_the_grants_are_named() {
    let failure = Host::new().call(&Context, "context", trip(1000)).unwrap_err();
    let mut params = trip(1000);
    params["sources"] = json!(["projects"]);
    let one = Host::new().call(&Context, "context", params).unwrap_err();
    insta::assert_snapshot!([explained(&failure), explained(&one)].join("\n"), @r#"
    unavailable: no source is available: memories (access denied: the policy does not grant `invoke` of `memories:search`), knowledge (access denied: the policy does not grant `invoke` of `knowledge:search`), conversations (access denied: the policy does not grant `invoke` of `conversations:search`), projects (access denied: the policy does not grant `invoke` of `projects:list`)
        Each must be installed, and the operator grants them in the plugin's policy file, under [grants]: `invoke = ["memories:search", "knowledge:search", "conversations:search", "projects:list"]`.
    unavailable: no source is available: projects (access denied: the policy does not grant `invoke` of `projects:list`)
        Each must be installed, and the operator grants them in the plugin's policy file, under [grants]: `invoke = ["projects:list"]`.
    "#);
}

#[test]
fn a_persona_needs_no_source() {
    let store = Store::new();
    let host = Host::new().store(&store);
    host.call(&Context, "set_persona", json!({"text": "A patient guide."})).unwrap();
    let mut params = trip(1000);
    params["include"] = json!(["persona"]);
    let data = suggest(&host, params).data;
    assert_eq!(data["persona"], "A patient guide.");
    assert_eq!(data["unavailable"].as_array().unwrap().len(), 4, "{data}");
}

#[test]
fn a_missing_store_is_named() {
    let mut params = trip(4000);
    params["include"] = json!(["persona"]);
    let data = suggest(&world(), params).data;
    assert_eq!(data["unavailable"][0]["source"], "persona and preferences", "{data}");
    assert!(!ids(&data).is_empty());
}

#[test]
fn strange_replies_are_survived() {
    let replies = [
        json!(null),
        json!("text"),
        json!({"hits": [{"id": "m_0001", "title": "Sicily"}]}),
        json!([null, 7, "x", {}, {"id": 7, "title": "Sicily"}, {"id": "", "title": "Sicily"}]),
        json!([{"id": "m_0001"}, {"id": "x".repeat(5000), "title": "Sicily"}]),
    ];
    for reply in replies {
        let shown = reply.to_string();
        let host = Host::new().answer("memories", "search", move |_| Ok(Reply::new(reply.clone())));
        let data = suggest(&host, trip(1000)).data;
        assert_eq!(data["suggested_context"], json!([]), "{shown:.80}");
    }
}

#[test]
fn hidden_characters_are_removed() {
    let host = Host::new().answer("memories", "search", |_| {
        Ok(Reply::new(
            json!([{"id": "m_0001", "title": "Si\u{200b}cily\n\u{e0041}", "excerpt": "a\u{202e}b \u{7} c"}]),
        ))
    });
    let data = suggest(&host, trip(1000)).data;
    let item = &data["suggested_context"][0];
    assert_eq!((&item["title"], &item["text"]), (&json!("Sicily"), &json!("ab c")));
}
