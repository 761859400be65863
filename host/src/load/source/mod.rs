//! Where offers come from. A source keeps its offers and says when they changed; it knows nothing of the catalog.
//!
//! | folder | source |
//! |---|---|
//! | `folder/` | the plugin folder: components, workflows and their policies |

pub mod folder;
