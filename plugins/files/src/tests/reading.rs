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
fn a_picture_is_shown() {
    let world = World::new(&[]);
    let picture = b"\x89PNG\r\n\x1a\n\0\0picture".repeat(4000);
    world.write("notes/p.png", &picture);
    let reply = world.reply("get", json!({"path": "/notes/p.png"})).unwrap();
    let expected = Block::Image { data: picture, mime_type: "image/png".into() };
    assert_eq!(reply.content, [Content::from(expected)]);
}

#[test]
fn the_largest_part_fits_the_hosts_limit() {
    let world = World::new(&[("notes/worst.txt", &"\u{1}".repeat(200_000))]);
    let data = world.data("get", json!({"path": "/notes/worst.txt", "limit": 131_072}));
    assert_eq!(data["next_offset"], 131_072);
    assert!(data.to_string().len() < 1_000_000);
}
