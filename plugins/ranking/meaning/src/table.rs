//! Vectors of the tokens, as `make.py` wrote them.

/// Numbers of a vector.
pub const DIMENSIONS: usize = 64;

static FILE: &[u8] = include_bytes!("../vectors.bin");

/// Bytes of a vector: two numbers each.
const ROW: usize = DIMENSIONS / 2;

/// The parts of the file. Read in place: the file is a part of the program's data and needs no memory of its own.
pub struct Table {
    step: f32,
    /// Hashes of the tokens, ascending. Names are not stored: 27,620 hashes of 32 bits find an unknown word by mistake
    /// once in 155,000 attempts.
    hashes: &'static [[u8; 4]],
    scales: &'static [[u8; 2]],
    vectors: &'static [[u8; ROW]],
}

impl Table {
    pub fn open() -> Self {
        let (head, rest) = FILE.as_chunks::<4>().0.split_at(2);
        let count = u32::from_le_bytes(head[1]) as usize;
        let (scales, vectors) = rest[count..].as_flattened().split_at(2 * count);
        Self {
            step: f32::from_le_bytes(head[0]),
            hashes: &rest[..count],
            scales: scales.as_chunks().0,
            vectors: vectors.as_chunks().0,
        }
    }

    /// Place of the token with this hash.
    pub fn find(&self, hash: u32) -> Option<usize> {
        self.hashes.binary_search_by_key(&hash, |bytes| u32::from_le_bytes(*bytes)).ok()
    }

    /// Adds a token's vector.
    pub fn add(&self, place: usize, sum: &mut [f32; DIMENSIONS]) {
        let scale = self.step * f32::from(u16::from_le_bytes(self.scales[place]));
        for (pair, byte) in sum.as_chunks_mut::<2>().0.iter_mut().zip(&self.vectors[place]) {
            pair[0] += scale * (f32::from(byte & 15) - 8.0);
            pair[1] += scale * (f32::from(byte >> 4) - 8.0);
        }
    }
}
