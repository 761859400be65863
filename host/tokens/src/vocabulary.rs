//! The vocabulary: every token by its rank.

use std::{collections::HashMap, io::Read, sync::LazyLock};

use flate2::read::DeflateDecoder;

/// All tokens in the order of their ranks, each a byte of length and its bytes, compressed. The data of OpenAI's tiktoken
/// (MIT); `LOGGIA_WRITE=1 cargo test -p loggia-tokens` writes it from a copy of tiktoken's.
static COMPRESSED: &[u8] = include_bytes!("../o200k_base.deflate");

/// Ranks of tokens: the lower, the earlier two parts merge into it.
pub struct Vocabulary {
    ranks: HashMap<&'static [u8], u32>,
    longest: usize,
}

/// Returns the vocabulary; unpacks it at the first use.
pub fn o200k_base() -> &'static Vocabulary {
    static UNPACKED: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::unpack(COMPRESSED));
    &UNPACKED
}

impl Vocabulary {
    fn unpack(compressed: &[u8]) -> Self {
        let mut bytes = Vec::new();
        DeflateDecoder::new(compressed).read_to_end(&mut bytes).expect("the binary's own data is intact");
        // Lives as long as the process, like the vocabulary.
        let mut rest: &'static [u8] = bytes.leak();
        let mut ranks = HashMap::new();
        let mut longest = 0;
        while let Some((length, tail)) = rest.split_first() {
            let (token, tail) = tail.split_at(usize::from(*length));
            longest = longest.max(token.len());
            ranks.insert(token, ranks.len() as u32);
            rest = tail;
        }
        Self { ranks, longest }
    }

    /// Returns the rank of a token; `None` if these bytes are not one.
    pub fn rank(&self, bytes: &[u8]) -> Option<u32> {
        // Bounds the cost of a look-up, which hashes the bytes.
        (bytes.len() <= self.longest).then(|| self.ranks.get(bytes).copied()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use flate2::{Compression, write::DeflateEncoder};

    use super::*;

    /// The file's content, from the tokens of another implementation.
    fn compress() -> Vec<u8> {
        let other = &bpe_openai::o200k_base().bpe;
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        for rank in 0..other.num_tokens() {
            let token = other.token_bytes(rank as u32);
            encoder.write_all(&[u8::try_from(token.len()).unwrap()]).unwrap();
            encoder.write_all(token).unwrap();
        }
        encoder.finish().unwrap()
    }

    #[test]
    fn every_token_has_its_rank() {
        if std::env::var_os("LOGGIA_WRITE").is_some() {
            fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/o200k_base.deflate"), compress()).unwrap();
            return;
        }
        let other = &bpe_openai::o200k_base().bpe;
        assert_eq!(o200k_base().ranks.len(), other.num_tokens());
        for rank in 0..other.num_tokens() as u32 {
            assert_eq!(o200k_base().rank(other.token_bytes(rank)), Some(rank));
        }
    }
}
