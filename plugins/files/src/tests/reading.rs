//! `get`.

use super::*;

#[test]
fn a_text_is_given_whole_with_its_version() {
    let world = World::new(&[("notes/a.md", "# Milk\n")]);
    let reply = world.reply("get", json!({"path": "/notes/a.md"})).unwrap();
    let version = crate::version::of(b"# Milk\n");
    let expected = json!({"path": "/notes/a.md", "size": 7, "mime": "text/markdown", "text": "# Milk\n", "version": version});
    assert_eq!(reply.data, expected);
    assert_eq!((reply.message, reply.next), (None, None));
}

#[test]
fn parts_of_a_large_text_make_the_whole() {
    let text = "zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich\n".repeat(40);
    let world = World::new(&[("notes/long.txt", &text)]);
    let mut whole = String::new();
    let mut offset = json!(0);
    let mut parts = 0;
    while !offset.is_null() {
        let reply =
            world.reply("get", json!({"path": "/notes/long.txt", "offset": offset, "limit": 333})).unwrap();
        whole.push_str(reply.data["text"].as_str().unwrap());
        offset = reply.data["next_offset"].clone();
        parts += 1;
        assert!(reply.data["version"].is_null(), "a part has no version");
        assert_eq!(reply.next.is_some(), !offset.is_null());
        assert_eq!(reply.message.is_some(), !offset.is_null());
    }
    assert_eq!(whole, text);
    assert!(parts > 5);
}

#[test]
fn a_part_names_the_start_of_the_next() {
    let world = World::new(&[("notes/a.txt", &"x".repeat(100))]);
    let reply = world.reply("get", json!({"path": "/notes/a.txt", "limit": 40})).unwrap();
    let message = "Bytes 0 to 40 of 100. Call again with `offset` 40 for the next part.";
    assert_eq!(reply.message.as_deref(), Some(message));
    assert_eq!(reply.next, Some(Next::of("files", "get").param("path", "/notes/a.txt").param("offset", 40)));
}

#[test]
fn binary_files_return_bytes_only_on_request() {
    let world = World::new(&[]);
    world.write("notes/data.bin", &[0, 159, 146, 150]);
    let reply = world.reply("get", json!({"path": "/notes/data.bin"})).unwrap();
    assert!(reply.data["text"].is_null() && reply.data["base64"].is_null());
    let message =
        "Not UTF-8 text: application/octet-stream, 4 bytes. `encoding: \"base64\"` returns the bytes.";
    assert_eq!(reply.message.as_deref(), Some(message));
    let data = world.data("get", json!({"path": "/notes/data.bin", "encoding": "base64"}));
    assert_eq!(data["base64"], "AJ+Slg==");
    assert_eq!(data["version"], crate::version::of(&[0, 159, 146, 150]));
    let refused = world.reply("get", json!({"path": "/notes/data.bin", "encoding": "text"})).unwrap_err();
    assert_eq!(refused.message, "it is not UTF-8 text: /notes/data.bin");
}

#[test]
fn pictures_and_sounds_are_shown() {
    let world = World::new(&[]);
    let picture = b"\x89PNG\r\n\x1a\n\0\0picture".repeat(4000);
    world.write("notes/p.png", &picture);
    let reply = world.reply("get", json!({"path": "/notes/p.png"})).unwrap();
    let expected = Block::Image { data: picture, mime_type: "image/png".into() };
    assert_eq!(reply.content, [Content::from(expected)]);
    world.write("notes/s.mp3", b"ID3\x04\0sound");
    let reply = world.reply("get", json!({"path": "/notes/s.mp3"})).unwrap();
    let expected = Block::Audio { data: b"ID3\x04\0sound".to_vec(), mime_type: "audio/mpeg".into() };
    assert_eq!(reply.content, [Content::from(expected)]);
}

#[test]
fn the_largest_part_fits_the_hosts_limit() {
    let world = World::new(&[("notes/worst.txt", &"\u{1}".repeat(200_000))]);
    let data = world.data("get", json!({"path": "/notes/worst.txt", "limit": 131_072}));
    assert_eq!(data["next_offset"], 131_072);
    assert!(data.to_string().len() < 1_000_000);
}

#[test]
fn lines_are_read_with_numbers_on_request() {
    let world = World::new(&[("notes/a.md", "one\r\ntwo\nthree\nfour")]);
    let version = crate::version::of(b"one\r\ntwo\nthree\nfour");
    let check = |params: Value, text: &str, lines: &str| {
        let mut params = params;
        params["path"] = json!("/notes/a.md");
        let data = world.data("get", params.clone());
        assert_eq!((&data["text"], &data["lines"]), (&json!(text), &json!(lines)), "{params}");
        assert_eq!((&data["total_lines"], &data["version"]), (&json!(4), &json!(version)));
        assert!(data["next_offset"].is_null());
    };
    check(json!({"lines": "2-3"}), "two\nthree\n", "2-3");
    check(json!({"lines": "-1"}), "four", "4-4");
    check(json!({"lines": "3-"}), "three\nfour", "3-4");
    check(json!({"lines": "1-2", "numbered": true}), "1\tone\r\n2\ttwo\n", "1-2");
    check(json!({"numbered": true}), "1\tone\r\n2\ttwo\n3\tthree\n4\tfour", "1-4");
    let refused = |mut params: Value| {
        params["path"] = json!("/notes/a.md");
        world.failure("get", params)
    };
    let past = "invalid_params: line 5 is past the end: /notes/a.md has 4 lines";
    assert_eq!(refused(json!({"lines": "5-9"})), past);
    assert_eq!(
        refused(json!({"lines": "3-2"})),
        "invalid_params: line 3 is an empty range: /notes/a.md has 4 lines"
    );
    assert_eq!(refused(json!({"lines": "two"})), "invalid_params: `lines` is not a range of lines: \"two\"");
    let both = "invalid_params: `lines` and `numbered` exclude `offset` and `base64`";
    assert_eq!(refused(json!({"lines": "1", "offset": 1})), both);
    assert_eq!(refused(json!({"lines": "1", "encoding": "base64"})), both);
}

#[test]
fn empty_and_binary_files_have_no_lines() {
    let world = World::new(&[("notes/empty", "")]);
    world.write("notes/bin", &[0, 159, 10]);
    let empty = world.data("get", json!({"path": "/notes/empty", "lines": "1-"}));
    assert_eq!((&empty["text"], &empty["total_lines"]), (&json!(""), &json!(0)));
    let failure = world.failure("get", json!({"path": "/notes/bin", "lines": "1"}));
    assert_eq!(failure, "conflict: it is not UTF-8 text: /notes/bin");
}

#[test]
fn lines_beyond_the_limit_come_next() {
    let text: String = (1..=100).map(|number| format!("line {number}\n")).collect();
    let world = World::new(&[("notes/a.md", &text), ("notes/long.md", &"é".repeat(100))]);
    let mut params = json!({"path": "/notes/a.md", "lines": "-90", "limit": 200});
    let (mut whole, mut parts) = (String::new(), 0);
    loop {
        let reply = world.reply("get", params).unwrap();
        whole.push_str(reply.data["text"].as_str().unwrap());
        parts += 1;
        let Some(next) = reply.next else { break };
        assert!(reply.message.unwrap().starts_with("The limit is reached at line "));
        params = Value::Object(next.params);
        params["limit"] = json!(200);
    }
    assert_eq!(whole, text[text.find("line 11\n").unwrap()..]);
    assert_eq!(parts, 4);
    let long = world.reply("get", json!({"path": "/notes/long.md", "lines": "1", "limit": 33})).unwrap();
    assert_eq!(long.data["text"], "é".repeat(16));
    assert_eq!(long.message.as_deref(), Some("Line 1 is longer than `limit`, and cut."));
    let large = World::new(&[]);
    let file = fs::File::create(large.real("notes/large.log")).unwrap();
    file.set_len((32 << 20) + 1).unwrap();
    let failure = large.reply("get", json!({"path": "/notes/large.log", "lines": "-5"})).unwrap_err();
    assert!(failure.message.starts_with("too large to count its lines"), "{failure}");
    assert_eq!(failure.next.clone().unwrap().params["offset"], (32 << 20) + 1 - 32_768);
}

#[test]
fn many_files_have_their_own_errors() {
    let world = World::new(&[("notes/a.md", "a\nb\n"), ("docs/b.md", "b")]);
    world.write("notes/p.png", b"\x89PNG\r\n\x1a\n\0\0");
    let paths = ["/notes/a.md", "/notes/missing", "/etc/passwd", "/notes", "/notes/p.png", "/docs/b.md"];
    let reply = world.reply("get", json!({"paths": paths})).unwrap();
    assert_eq!(reply.content, [], "pictures are described only");
    insta::assert_snapshot!(format!("{:#}\n{}", reply.data, reply.message.unwrap()));
    assert_eq!(reply.page.unwrap().count, Some(6));
    let heads =
        world.data("get", json!({"paths": ["/notes/a.md", "/docs/b.md"], "lines": "1", "numbered": true}));
    assert_eq!((&heads[0]["text"], &heads[1]["text"]), (&json!("1\ta\n"), &json!("1\tb")));
    let refused = |params| world.failure("get", params);
    assert_eq!(refused(json!({})), "invalid_params: `path` is required, or `paths`");
    let both = json!({"path": "/a", "paths": ["/b"]});
    assert_eq!(refused(both), "invalid_params: `path` and `paths` exclude each other");
    let offset = json!({"paths": ["/notes/a.md"], "offset": 1});
    assert_eq!(refused(offset), "invalid_params: `offset` is for one file: pass `path`");
}

#[test]
fn many_files_fit_the_hosts_limit() {
    let world = World::new(&[]);
    let paths: Vec<String> = (0..50).map(|number| format!("/notes/{number}.txt")).collect();
    for path in &paths {
        world.write(&path[1..], "\u{1}".repeat(20_000).as_bytes());
    }
    let (mut params, mut read, mut calls) = (json!({"paths": paths, "limit": 131_072}), Vec::new(), 0);
    loop {
        let reply = world.reply("get", params).unwrap();
        assert!(reply.data.to_string().len() < 900_000);
        read.extend(reply.data.as_array().unwrap().iter().map(|file| file["path"].clone()));
        calls += 1;
        let Some(next) = reply.next else { break };
        params = Value::Object(next.params);
    }
    assert_eq!((json!(read), calls), (json!(paths), 10));
    let alone = json!({"paths": ["/notes/0.txt"], "limit": 16});
    let part = world.reply("get", alone).unwrap();
    assert_eq!(part.data[0]["next_offset"], 16);
    assert!(part.message.unwrap().starts_with("Only in part: 1"));
    let long = json!({"paths": vec![format!("/notes/{}", "x".repeat(1000)); 20]});
    assert_eq!(world.failure("get", long), "invalid_params: `paths` have more than 16 KiB together");
}
