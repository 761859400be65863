//! What a policy grants, over the real process.

mod http;
