//! Sources of offers. A source keeps its offers and reports changes; it does not know the catalog.
//!
//! | folder | source |
//! |---|---|
//! | `folder/` | the plugin folder: components, workflows and their policies |

pub mod folder;
