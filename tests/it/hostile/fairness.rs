//! One caller among others: unfinished runs and questions are bounded per caller.
