//! Pages of MCP Apps (`io.modelcontextprotocol/ui`, SEP-1865, version 2026-01-26): what shows a tool's results to a person.
//!
//! A page is two documents. The outer one, the *shell*, is ours: it speaks with the client, makes calls, and shows results of which a
//! plugin has no view. A plugin's view is in an inner frame of its own, which has an opaque origin: its scripts reach neither the
//! shell nor the client, and ask the shell for calls of the page's tool by messages.
//!
//! | file | concept |
//! |---|---|
//! | `page.rs` | a page, composed of the parts below and the views that a caller may see |
//! | `shell.html`, `shell.css`, `shell.js` | the outer document |
//! | `approvals.js` | in it, the approvals for which a run waits |
//! | `frame.html`, `frame.css`, `frame.js` | what is in front of a view in the inner one |

mod page;

pub(crate) use page::{PageAction, ToolPage};
