//! Meaning of a text as a direction.

/// Above any model's number. Limits the sum in a cosine.
pub const DIMENSIONS: usize = 16_384;

/// A direction, in steps of 1/127 of its longest part: a byte for each dimension takes a quarter of the space, and moves a
/// cosine by less than a hundredth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector(Vec<i8>);

impl Vector {
    /// Creates a vector from a model's numbers; `None` if it has no direction.
    pub fn new(parts: &[f32]) -> Option<Self> {
        let longest = parts.iter().fold(0.0_f32, |longest, part| longest.max(part.abs()));
        let sound = longest > 0.0 && parts.len() <= DIMENSIONS && parts.iter().all(|part| part.is_finite());
        sound.then(|| Self(parts.iter().map(|part| (part / longest * 127.0).round() as i8).collect()))
    }

    /// A vector without a direction, which is similar to none.
    pub(crate) fn none(dimensions: usize) -> Self {
        Self(vec![0; dimensions])
    }

    /// Similarity of two directions, from -1 to 1; 0 for different models.
    pub fn cosine(&self, other: &Self) -> f32 {
        self.similarity()(&other.bytes())
    }

    /// Returns the [`cosine`](Self::cosine) as a function of stored vectors.
    pub(crate) fn similarity(&self) -> impl Fn(&[u8]) -> f32 {
        let here: i32 = self.0.iter().map(|a| i32::from(*a) * i32::from(*a)).sum();
        move |kept| {
            if kept.len() != self.0.len() {
                return 0.0;
            }
            // One plain loop over bytes, which the compiler vectorises where the machine supports it.
            let (dot, there) = self.0.iter().zip(kept).fold((0, 0), |(dot, there): (i32, i32), (a, b)| {
                let b = i32::from(b.cast_signed());
                (dot + i32::from(*a) * b, there + b * b)
            });
            dot as f32 / (here as f32 * there as f32).sqrt().max(1.0)
        }
    }

    pub(crate) fn length(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().map(|part| part.cast_unsigned()).collect()
    }
}
