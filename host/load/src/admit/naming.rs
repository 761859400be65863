//! The name under which a facade is served.

use std::sync::Arc;

use loggia_facade::Surface;

/// Returns the surface under the name that the policy sets.
pub(super) fn with_name(surface: &Arc<Surface>, name: Option<&str>) -> Arc<Surface> {
    match name {
        Some(name) if name != surface.name => {
            Arc::new(Surface { name: name.to_owned(), ..Surface::clone(surface) })
        }
        _ => Arc::clone(surface),
    }
}
