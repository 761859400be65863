//! Names of glyphs, and the encodings of simple fonts.

use encoding_rs::Encoding;

/// Names of characters that are no letters of ASCII, as fonts of Western texts use them.
const NAMES: &str = "exclam ! quotedbl \" numbersign # dollar $ percent % ampersand & quotesingle ' quoteright ’ \
    quoteleft ‘ parenleft ( parenright ) asterisk * plus + comma , hyphen - minus − period . slash / zero 0 one 1 two 2 \
    three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @ \
    bracketleft [ backslash \\ bracketright ] asciicircum ^ underscore _ grave ` braceleft { bar | braceright } asciitilde ~ \
    exclamdown ¡ cent ¢ sterling £ fraction ⁄ yen ¥ florin ƒ section § currency ¤ quotedblleft “ quotedblright ” \
    guillemotleft « guillemotright » guilsinglleft ‹ guilsinglright › fi fi fl fl ff ff ffi ffi ffl ffl endash – emdash — \
    dagger † daggerdbl ‡ periodcentered · paragraph ¶ bullet • quotesinglbase ‚ quotedblbase „ ellipsis … perthousand ‰ \
    questiondown ¿ acute ´ circumflex ˆ tilde ˜ macron ¯ breve ˘ dotaccent ˙ dieresis ¨ ring ˚ cedilla ¸ hungarumlaut ˝ \
    ogonek ˛ caron ˇ AE Æ ae æ OE Œ oe œ Oslash Ø oslash ø Lslash Ł lslash ł ordfeminine ª ordmasculine º dotlessi ı \
    germandbls ß Eth Ð eth ð Thorn Þ thorn þ Dcroat Đ dcroat đ brokenbar ¦ copyright © registered ® trademark ™ degree ° \
    plusminus ± multiply × divide ÷ logicalnot ¬ mu µ onehalf ½ onequarter ¼ threequarters ¾ onesuperior ¹ twosuperior ² \
    threesuperior ³ Euro € infinity ∞ notequal ≠ lessequal ≤ greaterequal ≥ partialdiff ∂ summation ∑ product ∏ integral ∫ \
    radical √ approxequal ≈ Delta Δ Omega Ω lozenge ◊ arrowleft ← arrowup ↑ arrowright → arrowdown ↓ alpha α \
    beta β gamma γ delta δ epsilon ε epsilon1 ϵ zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ pi π rho ρ sigma σ \
    tau τ upsilon υ phi φ phi1 ϕ chi χ psi ψ omega ω Gamma Γ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ element ∈ \
    proportional ∝ similar ∼ equivalence ≡ union ∪ intersection ∩ existential ∃ universal ∀ emptyset ∅ gradient ∇ \
    asteriskmath ∗ periodcentered · angbracketleft ⟨ angbracketright ⟩ bardbl ‖ prime ′ sfthyphen -";

/// Accents in names such as `eacute`.
const ACCENTS: [&str; 10] =
    ["acute", "grave", "circumflex", "dieresis", "tilde", "ring", "caron", "cedilla", "ogonek", "macron"];

/// Letters with accents, by letter, in the order of [`ACCENTS`]; `-` where there is none.
const LETTERS: &str = "A ÁÀÂÄÃÅ---Ā C Ć-Ĉ---ČÇ-- D ------Ď--- E ÉÈÊË--Ě-ĘĒ I ÍÌÎÏĨ---ĮĪ L Ĺ-----ĽĻ-- N Ń---Ñ-ŇŅ-- \
    O ÓÒÔÖÕ----Ō R Ŕ-----ŘŖ-- S Ś-Ŝ---ŠŞ-- T ------ŤŢ-- U ÚÙÛÜŨŮ--ŲŪ Y Ý-ŶŸ------ Z Ź-----Ž--- \
    a áàâäãå--ąā c ć-ĉ---čç-- d ------ď--- e éèêë--ě-ęē i íìîïĩ---įī l ĺ-----ľļ-- n ń---ñ-ňņ-- o óòôöõ----ō \
    r ŕ-----řŗ-- s ś-ŝ---šş-- t ------ťţ-- u úùûüũů--ųū y ý-ŷÿ------ z ź-----ž---";

/// Characters of the upper half of Adobe's standard encoding; a blank is none.
const STANDARD: &str =
    "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß";

/// The text of a glyph's name; `None` if it has none, like `g42`.
pub fn text(name: &str) -> Option<String> {
    // `a.sc` is another shape of `a`, and `f_i` a ligature.
    let name = name.split('.').next().unwrap_or_default();
    if name.contains('_') {
        return name.split('_').map(text).collect();
    }
    let hex = |digits: &str| {
        let is_hex = digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| char::from_u32(u32::from_str_radix(digits, 16).ok()?)).flatten().map(String::from)
    };
    if name.len() == 1 && name.is_ascii() {
        return Some(name.to_owned());
    }
    if let Some(text) = name.strip_prefix("uni").filter(|digits| digits.len() == 4).and_then(hex) {
        return Some(text);
    }
    if let Some(text) = name.strip_prefix('u').filter(|digits| digits.len() <= 6).and_then(hex) {
        return Some(text);
    }
    if matches!(name, "space" | "nbspace") {
        return Some(" ".to_owned());
    }
    let mut names = NAMES.split_ascii_whitespace();
    while let (Some(known), Some(text)) = (names.next(), names.next()) {
        if known == name {
            return Some(text.to_owned());
        }
    }
    accented(name).map(String::from)
}

fn accented(name: &str) -> Option<char> {
    let (letter, accent) = name.split_at_checked(1)?;
    let place = ACCENTS.iter().position(|known| *known == accent)?;
    let mut letters = LETTERS.split_ascii_whitespace();
    while let (Some(known), Some(row)) = (letters.next(), letters.next()) {
        if known == letter {
            return row.chars().nth(place).filter(|char| *char != '-');
        }
    }
    None
}

/// The characters of an encoding of one byte. Control characters are none.
pub fn encoded(encoding: &'static Encoding) -> Vec<Option<char>> {
    let character = |byte: u8| {
        let bytes = [byte];
        let (text, _) = encoding.decode_without_bom_handling(&bytes);
        text.chars().next().filter(|char| !char.is_control() && *char != char::REPLACEMENT_CHARACTER)
    };
    (0..=255).map(character).collect()
}

/// Adobe's standard encoding.
pub fn standard() -> Vec<Option<char>> {
    let mut table = vec![None; 256];
    for (byte, place) in table.iter_mut().enumerate().take(0x7f).skip(0x20) {
        *place = Some(match byte as u8 {
            b'\'' => '’',
            b'`' => '‘',
            byte => char::from(byte),
        });
    }
    for (char, place) in STANDARD.chars().zip(&mut table[0xa1..]) {
        *place = (char != ' ').then_some(char);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_texts() {
        let check =
            |name: &str, expected: Option<&str>| assert_eq!(text(name).as_deref(), expected, "{name}");
        check("A", Some("A"));
        check("eacute", Some("é"));
        check("Adieresis", Some("Ä"));
        check("scaron", Some("š"));
        check("Zcaron", Some("Ž"));
        check("ccedilla", Some("ç"));
        check("aogonek", Some("ą"));
        check("uring", Some("ů"));
        check("umacron", Some("ū"));
        check("fi", Some("fi"));
        check("f_f_i", Some("ffi"));
        check("a.sc", Some("a"));
        check("uni20AC", Some("€"));
        check("u1F600", Some("😀"));
        check("space", Some(" "));
        check("exclam", Some("!"));
        check("quotedbl", Some("\""));
        check("sfthyphen", Some("-"));
        check("arrowdown", Some("↓"));
        check("alpha", Some("α"));
        check("g42", None);
        check("cid_1", None);
        check("", None);
        check("uniD800", None);
    }

    #[test]
    fn tables_pair_names_and_characters() {
        let words: Vec<&str> = NAMES.split_ascii_whitespace().collect();
        assert_eq!(words.len() % 2, 0);
        assert!(words.chunks(2).all(|pair| pair[0].is_ascii() && pair[1].chars().count() <= 3), "{words:?}");
        let mut letters = LETTERS.split_ascii_whitespace();
        while let (Some(letter), Some(row)) = (letters.next(), letters.next()) {
            assert_eq!((letter.len(), row.chars().count()), (1, ACCENTS.len()), "{letter} {row}");
        }
        assert_eq!(STANDARD.chars().count(), 0xfb - 0xa1 + 1);
        let table = standard();
        assert_eq!(
            [0x41, 0x27, 0xae, 0xd0, 0xe1, 0xf5, 0xfb].map(|at| table[at]),
            [Some('A'), Some('’'), Some('ﬁ'), Some('—'), Some('Æ'), Some('ı'), Some('ß')]
        );
        assert_eq!(encoded(encoding_rs::WINDOWS_1252)[0x80], Some('€'));
    }
}
