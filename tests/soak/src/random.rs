//! Chance that a seed repeats.

/// SplitMix64.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// Deterministic numbers for a seed and a place.
    pub fn new(seed: u64, place: u64) -> Self {
        let mut mixed = Self(seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed.next();
        mixed
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// One of these.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.below(of.len() as u64)).unwrap_or_default()]
    }
}
