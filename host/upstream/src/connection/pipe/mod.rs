//! Messages to and from a child, over its standard streams.
//!
//! rmcp speaks the protocol over [`PipeTransport`]. The requests of calls pass it by: [`PipeRequests`] writes them where the
//! call runs, and the reader hands each response to its call. Through rmcp's loop, a call would change threads twice more.
//!
//! | file | concept |
//! |---|---|
//! | `writer` | messages to the child, in order, written at once if it reads |
//! | `responses` | calls that wait for their responses |
//! | `parse_budget` | how much is parsed on the I/O runtime |
//! | `pipe_state` | what both directions share, and who gets a message |
//! | `reader` | messages of the child, within a budget |
//! | `requests` | requests of calls |
//! | `transport` | rmcp's transport |

mod parse_budget;
mod pipe_state;
mod reader;
mod requests;
mod responses;
mod transport;
mod writer;

pub(super) use reader::PipeReader;
pub(super) use requests::PipeRequests;
pub(super) use transport::PipeTransport;
