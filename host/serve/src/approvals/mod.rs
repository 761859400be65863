//! Approvals of people whom clients cannot ask, outside of the clients. The gate opens them and takes their decisions.
//!
//! | file | concept |
//! |---|---|
//! | `options.rs` | the settings |
//! | `render.rs` | pure: an approval as JSON |
//! | `notice.rs` | tells operators of opened approvals: in the log, and through a webhook |

mod notice;
mod options;
mod render;

pub use self::{
    notice::OperatorNotice,
    options::{ApprovalOptions, WebhookTarget},
    render::{format_time, now_ms, render_approval},
};
