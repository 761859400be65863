//! Folders whose files decide what is trusted: no plugin may write there, whatever the order of events.
