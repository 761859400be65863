//! Layout of the index in rows of the state.
//!
//! A row holds, for a block of up to 256 consecutive texts, the words of one of 64 buckets. So writing a text changes
//! at most 64 rows of about a kilobyte, whatever the size of the index; a lookup reads one row for every 256 texts, in
//! one call; and the overhead of rows in the quota stays small. Blocks of long texts hold fewer: a commit is limited.

use std::borrow::Cow;

use loggia_sdk::prelude::*;

const BUCKETS: u32 = 64;

/// Maximum size of a block, far below the limits of 1 MiB for a row and 3 MiB for a commit: all words of a block may be
/// in one bucket, and the texts themselves are written too.
pub const FULL: usize = 512 << 10;

/// Maximum size of a text's words in their rows: the word, its length, that of its postings, and one of them.
pub fn bytes<'a>(terms: impl Iterator<Item = &'a String>) -> usize {
    terms.map(|term| term.len() + 10).sum()
}

/// A word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posting {
    /// Position of the text in the block.
    pub at: u8,
    /// Frequency of the word.
    pub times: u32,
    /// Number of words of the text.
    pub length: u32,
}

/// Sorted words of a row, each with its postings, which are decoded on demand.
#[derive(Default)]
pub struct Row<'a>(Vec<(&'a str, Cow<'a, [u8]>)>);

/// Bucket of a word.
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
    /// Decodes a stored row; a missing one is empty.
    pub fn read(bytes: Option<&'a [u8]>) -> Result<Self> {
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        let row: Vec<(&str, &[u8])> = decode(bytes)?;
        Ok(Self(row.into_iter().map(|(term, postings)| (term, Cow::Borrowed(postings))).collect()))
    }

    /// Encodes the row; `None` if it is empty.
    pub fn write(&self) -> Result<Option<Vec<u8>>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let row: Vec<(&str, &[u8])> = self.0.iter().map(|(term, postings)| (*term, &**postings)).collect();
        encode(&row).map(Some)
    }

    /// Postings of a word, ordered by text.
    pub fn postings(&self, term: &str) -> Result<Vec<Posting>> {
        match self.find(term) {
            Ok(place) => decode(&self.0[place].1),
            Err(_) => Ok(Vec::new()),
        }
    }

    fn find(&self, term: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| (*other).cmp(term))
    }

    /// Sets a word's posting for a text.
    pub fn put(&mut self, term: &'a str, posting: Posting) -> Result<()> {
        self.change(term, posting.at, Some(posting))
    }

    /// Removes a word's posting for a text.
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

/// Decodes the output of [`encode`].
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
