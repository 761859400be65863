//! Connections before authentication: one address cannot use up the places of all.
