//! Which list of tools a client sees.

/// One of the catalog's lists of tools: the place of its publisher. Clients differ in the forms that serve them best. The
/// default list is for those of which nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ListId(pub u16);
