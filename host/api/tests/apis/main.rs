//! Public APIs: their documents are imported, served by a mock made from the description, and called through the facade.

mod calls;
mod documents;
mod mock;
mod samples;
mod session;
