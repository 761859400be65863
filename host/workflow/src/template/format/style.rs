//! Flags, width and precision of a verb.

/// Flags, width and precision of a verb.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VerbStyle {
    pub minus: bool,
    pub plus: bool,
    pub sharp: bool,
    pub space: bool,
    pub zero: bool,
    pub width: Option<usize>,
    pub precision: Option<usize>,
}
