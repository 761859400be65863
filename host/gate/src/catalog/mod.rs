//! The facades now served, and the tools that they are published as.
//!
//! | file | concept |
//! |---|---|
//! | `entry.rs` | one facade being served |
//! | `entry_resource.rs` | the resources of one facade |
//! | `exposure.rs` | tools, and how a policy publishes a facade |
//! | `publish.rs` | from facades to their published tools |
//! | `tool_list.rs` | the tools as some clients see them |
//! | `snapshot.rs` | an immutable set of facades, with its lists |
//! | `list_plan.rs` | which list each client sees |
//! | `narrowed.rs` | a list for limited rights |
//! | `prompts.rs` | the actions that clients see as prompts |
//! | `resources.rs` | the actions that clients also read as resources |
//! | `skill.rs` | instructions for models that come with a plugin |
//! | `skills.rs` | the skills that clients see |
//! | `visible.rs` | the actions of a facade that a client sees |
//! | `lint.rs` | client compatibility warnings in the log |
//! | `notices.rs` | notices for callers while an older version answers |
//! | `live.rs` | the current snapshot and its change notifications |

mod entry;
mod entry_resource;
mod exposure;
mod lint;
mod list_plan;
mod live;
mod narrowed;
mod notices;
mod prompts;
mod publish;
mod resources;
mod skill;
mod skills;
mod snapshot;
mod tool_list;
mod visible;

pub use entry::{CatalogEntry, CatalogSlot};
pub use exposure::{FacadeExposure, PublishedFacade};
pub use list_plan::{ClientLists, ListPlan};
pub use live::Catalog;
pub use narrowed::list_tools;
pub use notices::{CatalogNotices, NoticeMap};
pub use prompts::CatalogPrompt;
pub use publish::{HIDDEN_REASON, ToolPublisher, UNSERVED_REASON};
pub use resources::{CatalogResource, FOREIGN_SCHEME_REASON};
pub use skill::{PluginSkill, SKILL_FILE, SkillFile};
pub use skills::CatalogSkill;
pub use snapshot::CatalogSnapshot;
pub use tool_list::ToolList;
