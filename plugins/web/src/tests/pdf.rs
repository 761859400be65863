//! PDFs.

use loggia_sdk::http::Response;

use super::*;
use crate::pdf::{self, PdfError};

/// A file of one page with this content and these fonts. Its table of objects is missing, so it is searched.
fn made(content: &[u8], fonts: &str, others: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = format!(
        "%PDF-1.7\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj\n\
         3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <<{fonts}>> \
         /XObject <</X 9 0 R>>>>>> endobj\n"
    )
    .into_bytes();
    for (dict, data) in [[("4 0 obj <<", content)].as_slice(), others].concat() {
        file.extend(format!("{dict} /Length {}>> stream\n", data.len()).into_bytes());
        file.extend(data);
        file.extend(b"\nendstream endobj\n");
    }
    file.extend(b"trailer <</Root 1 0 R>>\n%%EOF\n");
    file
}

fn text(file: Vec<u8>) -> String {
    let read = pdf::read(file, usize::MAX).unwrap();
    read.text.trim_start_matches("--- page 1 ---").trim().to_owned()
}

#[test]
fn files_of_common_writers_are_read() {
    for name in ["unicode.pdf", "standard.pdf"] {
        let body = page(name);
        let host = site(move |_| {
            Response::new(200).with_header("content-type", "application/pdf").with_body(body.clone())
        });
        let reply = host.call(&Web, "fetch", json!({"url": SITE})).unwrap();
        let text = reply.data["text"].as_str().unwrap();
        let data = &reply.data;
        insta::assert_snapshot!(
            format!("pdf_{name}"),
            format!("{} {} {:?}\n{text}", data["title"], data["pages"], reply.message)
        );
    }
}

#[test]
fn only_the_wanted_pages_are_read() {
    let body = page("standard.pdf");
    let host = site(move |_| {
        Response::new(200).with_header("content-type", "application/pdf").with_body(body.clone())
    });
    let whole = host.call(&Web, "fetch", json!({"url": SITE})).unwrap();
    let whole = whole.data["text"].as_str().unwrap().to_owned();
    // The smallest part is longer than the pages; their reader is asked directly.
    let first = pdf::read(page("standard.pdf"), 10).unwrap();
    assert!(!first.is_complete && first.pages == 3 && !first.text.contains("Page three"), "{first:?}");
    assert!(whole.starts_with(&first.text), "{whole}");
    let all = pdf::read(page("standard.pdf"), whole.len()).unwrap();
    assert_eq!((all.is_complete, all.text), (true, whole));
}

#[test]
fn encodings_of_fonts_are_understood() {
    let check = |font: &str, content: &[u8], expected: &str| {
        let content = [b"BT /F 10 Tf 10 10 Td ", content, b" Tj ET"].concat();
        let file = made(&content, &format!("/F <</Type /Font {font}>>"), &[]);
        assert_eq!(text(file), expected, "{font}");
    };
    check("/Subtype /Type1 /BaseFont /Helvetica", b"(it's \xaene)", "it’s ﬁne");
    check("/Subtype /TrueType /Encoding /WinAnsiEncoding", b"(\x80 5 \x93x\x94)", "€ 5 “x”");
    check("/Subtype /Type1 /Encoding /MacRomanEncoding", b"(caf\x8e)", "café");
    let differences = "/Subtype /Type1 /Encoding <</Differences [1 /eacute /f_i 65 /uni00DF /g7 /alpha]>>";
    check(differences, b"(\\001\\002ABC)", "éfißα");
    check("/Subtype /Type0 /Encoding /UniJIS-UTF16-H", b"<65E5672C>", "日本");
    check("/Subtype /Type0 /Encoding /90ms-RKSJ-H", b"(\x93\xfa\x96\x7b)", "日本");
    check("/Subtype /Type0 /Encoding /GBK-EUC-H", b"<C4E3BAC3>", "你好");
    check("/Subtype /Type3 /FontMatrix [1 0 0 1 0 0] /Encoding <</Differences [97 /a]>>", b"(aa)", "aa");
}

#[test]
fn maps_to_unicode_come_first() {
    let map = b"1 begincodespacerange <00> <ff> endcodespacerange\n2 beginbfchar <01> <0041> <02> <D83DDE00> endbfchar\n\
        1 beginbfrange <10> <12> <0061> endbfrange";
    let fonts = "/F <</Type /Font /Subtype /Type1 /ToUnicode 5 0 R>>";
    let file = made(b"BT /F 10 Tf <0102101112> Tj ET", fonts, &[("5 0 obj <<", map)]);
    assert_eq!(text(file), "A😀abc");
}

#[test]
fn characters_without_names_are_counted() {
    let fonts = "/F <</Type /Font /Subtype /Type0 /Encoding /Identity-H>> /G <</Type /Font /Subtype /Type1>>";
    let read = pdf::read(made(b"BT /F 10 Tf <00010002> Tj /G 10 Tf (ok) Tj ET", fonts, &[]), 1000).unwrap();
    assert_eq!((read.text.as_str(), read.unknown), ("--- page 1 ---\n\nok", 2));
}

#[test]
fn operators_place_their_texts() {
    let check = |content: &str, expected: &str| {
        let file = made(content.as_bytes(), "/F <</Type /Font /Subtype /Type1>>", &[]);
        assert_eq!(text(file), expected, "{content}");
    };
    check("BT /F 10 Tf (a) Tj 0 -12 Td (b) Tj T* (c) Tj ET", "a\nbc");
    check("BT /F 10 Tf 12 TL (a) Tj T* (b) Tj (c) ' 1 2 (d) \" ET", "a\nb\nc\nd");
    check("BT /F 10 Tf 0 -12 TD (a) Tj T* (b) Tj ET", "a\nb");
    check("BT /F 10 Tf [(W) 80 (ord) -300 (next)] TJ ET", "Word next");
    check("BT /F 10 Tf 1 0 0 1 50 50 Tm (a) Tj 1 0 0 1 200 50 Tm (b) Tj ET", "a b");
    check("q 2 0 0 2 0 0 cm BT /F 10 Tf (a) Tj ET Q BT /F 10 Tf 0 -30 Td (b) Tj ET", "a\nb");
    check("BT /F 10 Tf (a) Tj 5 Ts (2) Tj ET", "a2");
    check("BT (no font) Tj /F 10 Tf (a) Tj ET", "a");
}

#[test]
fn hostile_files_fail_or_end() {
    // A form that draws itself.
    let form = ("9 0 obj <</Type /XObject /Subtype /Form", b"BT /F 10 Tf (x) Tj ET /X Do /X Do".as_slice());
    let looped = made(b"/X Do", "/F <</Type /Font /Subtype /Type1>>", &[form]);
    assert!(text(looped).contains('x'));
    let nested = made(&[b"[".repeat(5_000), b" TJ".to_vec()].concat(), "", &[]);
    assert_eq!(text(nested), "");
    let check = |file: &[u8], expected| assert_eq!(pdf::read(file.to_vec(), 100).map(|_| ()), Err(expected));
    check(b"%PDF-1.7\n", PdfError::Damaged);
    check(b"%PDF-1.7\nrubbish \0\xff".repeat(1000).as_slice(), PdfError::Damaged);
    check(&b"%PDF-1.7 <<".repeat(2_000), PdfError::Damaged);
    check(&[b"%PDF-1.7 ".as_slice(), &b"[".repeat(10_000)].concat(), PdfError::Damaged);
    let bomb = zlib(&vec![b' '; 9 << 20]);
    assert!(bomb.len() < 20_000);
    check(&made_flate(&bomb), PdfError::Bomb);
}

fn made_flate(data: &[u8]) -> Vec<u8> {
    let mut file = made(b"", "", &[("5 0 obj <</Filter /FlateDecode", data)]);
    // As the content of the page.
    let place = file.windows(5).position(|bytes| bytes == b"4 0 R").unwrap();
    file[place] = b'5';
    file
}

fn zlib(data: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Bytes changed at random places: the parser must end, with a text or an error.
#[test]
fn damaged_files_never_panic() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let words: [&[u8]; 8] = [b"<<", b">>", b"[", b"0 0 R", b"stream\n", b"99999999999", b"-1", b"/Length"];
    let mut readable = 0;
    let rounds = std::env::var("WEB_PDF_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(300);
    for round in 0..rounds {
        let mut file = page(if round % 2 == 0 { "unicode.pdf" } else { "standard.pdf" });
        for _ in 0..=random(12) {
            let at = random(file.len() - 16);
            match random(4) {
                0 => file[at] = random(256) as u8,
                1 => file.truncate(at + 16),
                2 => drop(file.drain(at..at + random(16))),
                _ => drop(file.splice(at..at, words[random(words.len())].iter().copied())),
            }
            if file.len() < 64 {
                break;
            }
        }
        readable += usize::from(pdf::read(file, 100_000).is_ok());
    }
    assert!(readable > rounds / 10, "{readable}");
}
