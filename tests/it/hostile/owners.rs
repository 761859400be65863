//! Names and what belongs to them: callers, grants and durable state stay with the file that had them.
