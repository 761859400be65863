//! What the fuzz targets share.

pub mod guest;
pub mod json;
pub mod surface;
pub mod told;
