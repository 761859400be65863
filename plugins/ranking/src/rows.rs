//! How the index is cut into rows of the state.
//!
//! A row holds, for a block of up to 256 neighbouring texts, the words that fall into one of 64 buckets. So writing a text
//! touches at most 64 rows of about a kilobyte, whatever the size of the index; looking a word up reads one row for every
//! 256 texts, all at once; and no row is worth its overhead in the quota only with many words in it. Blocks of long texts
//! hold fewer: what a commit may write is bounded.

use std::borrow::Cow;

use loggia_sdk::prelude::*;

const BUCKETS: u32 = 64;

/// Bytes of a block that begins a new one, far below the 1 MiB that a row and the 3 MiB that a commit may have: all words
/// of a block may fall into one bucket, and with them, what they are the words of is written.
pub const FULL: usize = 512 << 10;

/// What the words of a text take in their rows, at most: the word, its length, that of its postings, and one of them.
pub fn bytes<'a>(terms: impl Iterator<Item = &'a String>) -> usize {
    terms.map(|term| term.len() + 10).sum()
}

/// A word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posting {
    /// Which text of the block.
    pub at: u8,
    /// How often the word stands there.
    pub times: u32,
    /// How many words the text has.
    pub length: u32,
}

/// The words of a row, in order, each with its postings, which stay encoded until they are asked for.
#[derive(Default)]
pub struct Row<'a>(Vec<(&'a str, Cow<'a, [u8]>)>);

/// Which row holds a word of a text.
pub fn bucket(term: &str) -> u32 {
    // FNV-1a: the same in every build, unlike the hashes of `std`.
    let hash =
        term.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash % BUCKETS
}

/// The row's key.
pub fn key(name: &str, bucket: u32, block: u32) -> String {
    format!("{name}#{bucket:02x}/{block}")
}

impl<'a> Row<'a> {
    /// A row as it was kept; an empty one where there is none.
    pub fn read(bytes: Option<&'a [u8]>) -> Result<Self> {
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        let row: Vec<(&str, &[u8])> = decode(bytes)?;
        Ok(Self(row.into_iter().map(|(term, postings)| (term, Cow::Borrowed(postings))).collect()))
    }

    /// As it is to be kept; nothing where it has become empty.
    pub fn write(&self) -> Result<Option<Vec<u8>>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let row: Vec<(&str, &[u8])> = self.0.iter().map(|(term, postings)| (*term, &**postings)).collect();
        encode(&row).map(Some)
    }

    /// Where the word stands, ordered by text.
    pub fn postings(&self, term: &str) -> Result<Vec<Posting>> {
        match self.find(term) {
            Ok(place) => decode(&self.0[place].1),
            Err(_) => Ok(Vec::new()),
        }
    }

    fn find(&self, term: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| (*other).cmp(term))
    }

    /// Says that the word stands in the text, in place of what was said of it.
    pub fn put(&mut self, term: &'a str, posting: Posting) -> Result<()> {
        self.change(term, posting.at, Some(posting))
    }

    /// Says that it does not.
    pub fn take(&mut self, term: &'a str, at: u8) -> Result<()> {
        self.change(term, at, None)
    }

    fn change(&mut self, term: &'a str, at: u8, posting: Option<Posting>) -> Result<()> {
        let mut postings = self.postings(term)?;
        let place = postings.binary_search_by_key(&at, |posting| posting.at);
        match (place, posting) {
            (Ok(place), Some(posting)) => postings[place] = posting,
            (Ok(place), None) => {
                postings.remove(place);
            }
            (Err(place), Some(posting)) => postings.insert(place, posting),
            (Err(_), None) => {}
        }
        match (self.find(term), postings.is_empty()) {
            (Ok(place), true) => drop(self.0.remove(place)),
            (Ok(place), false) => self.0[place].1 = Cow::Owned(encode(&postings)?),
            (Err(_), true) => {}
            (Err(place), false) => self.0.insert(place, (term, Cow::Owned(encode(&postings)?))),
        }
        Ok(())
    }
}

/// Reads what was written by [`encode`].
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(unreadable)
}

/// Writes it as few bytes.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    let unwritable = |error| Failure::internal(format!("the search index cannot be written: {error}"));
    postcard::to_allocvec(value).map_err(unwritable)
}

fn unreadable(error: postcard::Error) -> Failure {
    Failure::internal(format!("the search index cannot be read: {error}"))
        .hint("Another version of the plugin may have written it.")
}
