//! Shared code of the fuzz targets.

pub mod guest;
pub mod json;
pub mod surface;
pub mod told;
