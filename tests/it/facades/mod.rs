//! The plugins of `plugins/`, in the real host.

mod conversations;
mod files;
mod knowledge;
mod memories;
mod search;
