//! Text in messages: independent of schemas and contracts.
//!
//! | file | concept |
//! |---|---|
//! | `near` | "did you mean": the known name closest to an unknown one |
//! | `path` | a place in the parameters, as messages name it: `items[3].name` |
//! | `secret_words` | words by which a form field asks for a secret |
//! | `show` | values and names: short, on one line, with nothing hidden |
//! | `tool_names` | suggestions for the name of a tool that does not exist |
//! | `verbs` | verbs that mean the same in the names of actions |

pub(crate) mod near;
pub(crate) mod path;
pub(crate) mod secret_words;
pub(crate) mod show;
pub(crate) mod tool_names;
pub(crate) mod verbs;
