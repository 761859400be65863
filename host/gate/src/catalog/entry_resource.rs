//! The resources of one facade.

use loggia_facade::Surface;
use loggia_schema::UriTemplate;

/// An action of a facade as a resource.
#[derive(Debug, Clone)]
pub(crate) struct EntryResource {
    /// Index of the action in the facade's surface.
    pub index: usize,
    pub template: UriTemplate,
}

impl EntryResource {
    /// Reads the resources of a surface. Templates were checked when it was.
    pub(super) fn of_surface(surface: &Surface) -> Vec<Self> {
        let actions = surface.actions.iter().enumerate();
        let resources = actions.filter_map(|(index, action)| {
            let template = UriTemplate::parse(&action.resource.as_ref()?.uri).ok()?;
            Some(Self { index, template })
        });
        resources.collect()
    }
}
