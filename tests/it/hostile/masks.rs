//! Secrets in what comes back: cut echoes, ranges, and answers to requests that carried none.
