//! Splits words into tokens, like the model's own tokenizer (WordPiece).

/// Characters of the longest token.
const LONGEST: usize = 18;

/// Characters of a word from which on it is none of a language, as in `ranking_words`.
const WORD: usize = 64;

/// Letters with accents, after the letter without, which the model knows instead.
const ACCENTS: [&str; 19] = [
    "aàáâãäåāăą",
    "cçćĉċč",
    "dď",
    "eèéêëēĕėęě",
    "gĝğġģ",
    "hĥ",
    "iìíîïĩīĭį",
    "jĵ",
    "kķ",
    "lĺļľ",
    "nñńņň",
    "oòóôõöōŏő",
    "rŕŗř",
    "sśŝşš",
    "tţť",
    "uùúûüũūŭůűų",
    "wŵ",
    "yýÿŷ",
    "zźżž",
];

/// Returns the places of a word's tokens: the longest that it begins with, then the longest that continues it. None if a
/// part of it is unknown. `find` looks a token's hash up.
pub fn pieces(word: &str, find: impl Fn(u32) -> Option<usize>) -> Vec<usize> {
    let letters: Vec<char> = word.chars().flat_map(char::to_lowercase).filter(is_letter).map(plain).collect();
    let mut places = Vec::new();
    let mut from = 0;
    while from < letters.len().min(WORD) {
        let start = if from == 0 { BASIS } else { hashed(hashed(BASIS, '#'), '#') };
        let begin = |hash: &mut u32, letter: &char| {
            *hash = hashed(*hash, *letter);
            Some(*hash)
        };
        let hashes: Vec<u32> = letters[from..].iter().take(LONGEST).scan(start, begin).collect();
        // Most words are tokens themselves, and found at once.
        let longest = hashes.iter().enumerate().rev().find_map(|(at, hash)| Some((at, find(*hash)?)));
        let Some((at, place)) = longest else { return Vec::new() };
        places.push(place);
        from += at + 1;
    }
    places
}

/// Whether a character is more than the accent of the one before.
fn is_letter(letter: &char) -> bool {
    !matches!(letter, '\u{300}'..='\u{36f}')
}

fn plain(letter: char) -> char {
    if letter.is_ascii() {
        return letter;
    }
    let group = ACCENTS.iter().find(|group| group.contains(letter));
    group.and_then(|group| group.chars().next()).unwrap_or(letter)
}

/// FNV-1a, as in `make.py`.
const BASIS: u32 = 0x811c_9dc5;

fn hashed(hash: u32, letter: char) -> u32 {
    let mut bytes = [0; 4];
    let bytes = letter.encode_utf8(&mut bytes).bytes();
    bytes.fold(hash, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
