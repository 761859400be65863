//! Estimates against a real vocabulary.

use crate::tokens::estimate;

fn real(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

#[test]
fn estimates_are_never_below_the_count() {
    let texts = [
        include_str!("../../README.md"),
        include_str!("../../../memories/README.md"),
        include_str!("../../../files/README.md"),
        include_str!("../tokens.rs"),
        include_str!("../../Cargo.toml"),
        include_str!("../../../web/src/tests/etna.json"),
        "Der Ätna ist mit rund 3357 Metern der höchste aktive Vulkan Europas; Überquerung nur mit Führer.",
        "L'Etna è un complesso vulcanico siciliano originatosi nel Quaternario.",
        "Этна — действующий вулкан, расположенный на восточном побережье Сицилии.",
        "埃特纳火山是意大利西西里岛东岸的一座活火山。",
        "エトナ火山はシチリア島東部にある活火山である。",
        "에트나 산은 이탈리아 시칠리아섬 동부에 있는 활화산이다.",
        "جبل إتنا هو بركان نشط على الساحل الشرقي لصقلية.",
        "🌋 🚂 ⛴️ 👩‍👩‍👧‍👦 ✅",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "0193e5a7-7c1e-7b0a-9c57-2f6f3a1d8e44",
        "SGVsbG8gV29ybGQsIHRoaXMgaXMgYmFzZTY0IHRleHQu",
        "THE QUICK BROWN FOX; MAX_TRAIL_DATA, HTTP_REQUEST_TIMEOUT",
        "fn estimate(text: &str) -> usize { text.chars().map(|c| c.len_utf8()).sum::<usize>() / 4 }",
        "a\n\n\n    b\t\tc     d",
        "",
    ];
    for text in texts {
        let (estimated, real) = (estimate(text), real(text));
        assert!(estimated >= real, "{estimated} < {real}: {text:.80}");
    }
}

#[test]
fn prose_is_estimated_within_a_half() {
    for text in [include_str!("../../../memories/README.md"), include_str!("../../../files/README.md")] {
        let prose: String = text
            .lines()
            .filter(|line| !line.starts_with(['{', '|', '$', '`']))
            .collect::<Vec<_>>()
            .join("\n");
        let (estimated, real) = (estimate(&prose), real(&prose));
        assert!(estimated * 2 <= real * 3, "{estimated} for {real}");
    }
}
