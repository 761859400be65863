//! What is known of a client, as data: the types of `table.rs`.

use loggia_policy::clients::{ClientTraits, client_table};

/// A client: where its configuration is, and how a server stands in it.
pub struct ClientRow {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The file of the user's configuration.
    pub user: UserFile,
    /// The file of a project's configuration, from the project's folder. `None` if it reads none.
    pub project: Option<&'static str>,
    /// A key of the user's file under which it keeps servers of one project, by the project's path.
    pub local: Option<&'static str>,
    /// Format of both files.
    pub syntax: FileSyntax,
    /// The key under which servers stand, by their names.
    pub key: &'static str,
    /// The members of an entry.
    pub keys: EntryKeys,
    /// A table of the file, with its lists of the only servers that are used and of those that are not.
    pub lists: Option<(&'static str, &'static str, &'static str)>,
    /// How it reaches a server over HTTP.
    pub http: HttpForm,
    /// Longest name of a tool.
    pub name_ceiling: Option<NameCeiling>,
    /// What the user does after a change.
    pub next: &'static str,
}

impl ClientRow {
    /// How a server treats this client, and what the client does with tools.
    pub fn traits(&self) -> &'static ClientTraits {
        client_table().named(self.name).unwrap_or(&client_table().unknown)
    }
}

/// The file of a user's configuration, on each system.
pub struct UserFile {
    /// Variable that names another folder, and the file's path in that folder.
    pub moved: Option<(&'static str, &'static str)>,
    /// On Linux and other systems.
    pub linux: SystemPath,
    /// On macOS.
    pub macos: SystemPath,
    /// On Windows.
    pub windows: SystemPath,
    /// The folder that shows that the client is installed; that of the file if there is none. From the home folder.
    pub mark: Option<&'static str>,
}

/// A path below a folder of the user.
#[derive(Clone, Copy)]
pub struct SystemPath {
    /// The folder at which it begins.
    pub base: PathBase,
    /// From there, with `/`.
    pub path: &'static str,
}

/// A folder of the user.
#[derive(Clone, Copy)]
pub enum PathBase {
    /// The home folder.
    Home,
    /// `$XDG_CONFIG_HOME`, or `~/.config`.
    Config,
    /// `%APPDATA%`.
    AppData,
}

/// Format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSyntax {
    /// JSON without comments: the client refuses others.
    Json,
    /// JSON that may have comments and trailing commas.
    Jsonc,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// The members of an entry.
pub struct EntryKeys {
    /// Members before the others, of a server that is started.
    pub stdio: &'static [FixedMember],
    /// Name of the member with the program.
    pub command: &'static str,
    /// That of its arguments.
    pub args: &'static str,
    /// That of its variables.
    pub env: &'static str,
    /// Members before the others, of a server over HTTP.
    pub http: &'static [FixedMember],
    /// Name of the member with the address.
    pub url: &'static str,
    /// That of its headers.
    pub headers: &'static str,
    /// Members after the others, of both.
    pub last: &'static [FixedMember],
    /// The member that switches an entry off, and the value that does.
    pub switch: Option<(&'static str, bool)>,
}

/// A member with the same value in each entry.
pub type FixedMember = (&'static str, FixedValue);

/// The value of a fixed member.
#[derive(Clone, Copy)]
pub enum FixedValue {
    /// A string.
    Text(&'static str),
    /// A boolean.
    Flag(bool),
    /// A number.
    Number(u32),
    /// The entry's own name.
    Name,
}

/// How a client reaches a server over HTTP.
pub enum HttpForm {
    /// By itself, with the token in the header `Authorization`.
    Native(TokenForm),
    /// Only through a program that it starts, which does not inherit its environment.
    Bridge,
}

/// How an entry names the environment variable of its token.
pub enum TokenForm {
    /// In the header, by a reference: the text before and after the variable's name.
    Reference(&'static str, &'static str),
    /// In the header, as `${NAME}`; the member lists the names that may be used.
    Listed(&'static str),
    /// By a member of the entry.
    Member(&'static str),
    /// Not at all: a program in between has to, which inherits the client's environment.
    Bridge,
}

/// Longest name of a tool, with the server's name in it.
pub struct NameCeiling {
    /// Characters.
    pub most: usize,
    /// What the client puts around the server's name, before the tool's.
    pub around: (&'static str, &'static str),
    /// What happens to a tool with a longer name.
    pub effect: &'static str,
}
