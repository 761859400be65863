//! What a kept run holds: all of it is weighed, and none of it outlives its use.
