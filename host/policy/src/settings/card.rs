//! `[card]`.

use std::collections::BTreeMap;

use super::{
    card_values::{
        CardRepository, CardUrl, IconTheme, IconType, icon, name, one_line, size, version, website,
    },
    named_tables::named_tables,
    table::table,
    value::{list, text},
};

table! {
    /// The server card: who this server is and how to connect, for clients that know only its domain (SEP-2127). It is public, also
    /// with `[auth]`, at `/mcp/server-card`, and listed at `/.well-known/ai-catalog.json`. Without this table there is none.
    pub struct CardSettings {
        /// A reverse domain name of yours, a slash and a name: `com.example/tools`, `io.github.ada/tools`.
        name: String, text(name);
        /// URL of this server's MCP endpoint as clients know it, such as `https://tools.example.com/mcp`. `http://` only for this
        /// machine.
        url: CardUrl;
        /// What the tools are for, in at most 100 characters.
        description: String, text(one_line);
        /// Name for people, in at most 100 characters.
        title: Option<String> = None, text(one_line);
        /// Version of this server, such as `1.4.0`. Default: that of Loggia, which clients that connect see, too.
        version: Option<String> = None, text(version);
        /// Page about this server, at an `https://` URL.
        website: Option<String> = None, text(website);
        /// Source code, at an `https://` URL such as `https://github.com/ada/tools`.
        repository: Option<CardRepository> = None;
        /// Icons.
        icons: Vec<CardIcon> = Vec::new();
        /// Profiles that have a card, too. Others are not mentioned.
        profile: BTreeMap<String, CardProfile> = BTreeMap::new(), named_tables;
    }
}

table! {
    /// The card of `[profile.NAME]`, at `/mcp/NAME/server-card`. Its name is that of the server, a dot and NAME.
    pub struct CardProfile {
        /// What its tools are for, in at most 100 characters.
        description: String, text(one_line);
        /// Name for people. Default: that of the server.
        title: Option<String> = None, text(one_line);
    }
}

table! {
    /// An icon of the server.
    pub struct CardIcon {
        /// Image at an `https://` URL.
        src: String, text(icon);
        /// Type of the image.
        mime_type: Option<IconType> = None;
        /// Sizes at which it can be used: `48x48`, or `any`. An empty list means any.
        sizes: Vec<String> = Vec::new(), list(text(size));
        /// Background for which it is made. Default: both.
        theme: Option<IconTheme> = None;
    }
}
