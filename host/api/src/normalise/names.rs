//! Names of actions, from the ids of operations or from their methods and paths.

use std::collections::BTreeSet;

use loggia_schema::HOST_ACTIONS;

use crate::description::ApiMethod;

/// Bytes of an action's name.
const NAME: usize = 64;

/// Gives out names, each once, whatever their case.
#[derive(Default)]
pub(super) struct NameRegister(BTreeSet<String>);

impl NameRegister {
    /// Names an operation. The same operations in the same order get the same names.
    pub(super) fn name(&mut self, id: Option<&str>, method: ApiMethod, path: &str) -> String {
        let mut name = id.map(normalised).unwrap_or_default();
        if name.is_empty() {
            name = normalised(&path_words(method, path));
        }
        if name.is_empty() {
            name = method.as_str().to_ascii_lowercase();
        }
        let mut name = shortened(&name, NAME);
        if HOST_ACTIONS.contains(&name.as_str()) {
            name.push_str("_operation");
        }
        if self.0.insert(name.clone()) {
            return name;
        }
        for number in 2.. {
            let end = format!("_{number}");
            let numbered = format!("{}{end}", shortened(&name, NAME - end.len()));
            if self.0.insert(numbered.clone()) {
                return numbered;
            }
        }
        name
    }
}

/// The words of a method and a path: `GET /v1/users/{id}/posts` becomes `get users by id posts`.
fn path_words(method: ApiMethod, path: &str) -> String {
    let mut words = vec![method.as_str().to_ascii_lowercase()];
    for segment in segments(path) {
        match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(parameter) => words.push(format!("by_{parameter}")),
            None => words.push(segment.to_owned()),
        }
    }
    words.join("_")
}

/// The segments of a path, without the version and the word `api` at its beginning.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    let is_version = |segment: &str| {
        let digits = segment.strip_prefix(['v', 'V']).unwrap_or_default();
        segment == "api" || (!digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.'))
    };
    path.split('/').filter(|segment| !segment.is_empty()).skip_while(move |segment| is_version(segment))
}

/// The group of an operation without tags: the first word of its path.
pub(super) fn path_group(path: &str) -> Option<String> {
    segments(path).find(|segment| !segment.contains('{')).map(str::to_owned)
}

/// Rewrites an id in the grammar of actions: `repos/list-for-org` and `reposListForOrg` become `repos_list_for_org`. May be
/// empty.
fn normalised(id: &str) -> String {
    let mut out = String::new();
    let chars: Vec<char> = id.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let after = |is: fn(&char) -> bool| at > 0 && is(&chars[at - 1]);
        let begins_word = c.is_ascii_uppercase()
            && (after(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
                || (after(char::is_ascii_uppercase)
                    && chars.get(at + 1).is_some_and(char::is_ascii_lowercase)));
        if begins_word && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9') => out.push(c),
            _ if !out.is_empty() && !out.ends_with('_') => out.push('_'),
            _ => {}
        }
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

/// Cuts a name at the end of a word.
fn shortened(name: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    let cut = &name[..most];
    let end = cut.rfind('_').filter(|end| *end > most / 2).unwrap_or(most);
    cut[..end].trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_get_unique_names() {
        let mut register = NameRegister::default();
        let long = "get_".repeat(30);
        for (id, method, path, expected) in [
            (Some("repos/list-for-org"), ApiMethod::Get, "/", "repos_list_for_org"),
            (Some("reposListForOrg"), ApiMethod::Get, "/", "repos_list_for_org_2"),
            (Some("GetChargesV2"), ApiMethod::Get, "/", "get_charges_v2"),
            (Some("getHTTPStatus"), ApiMethod::Get, "/", "get_http_status"),
            (Some("describe"), ApiMethod::Get, "/", "describe_operation"),
            (None, ApiMethod::Get, "/v1/users/{user_id}/posts", "get_users_by_user_id_posts"),
            (Some("日本"), ApiMethod::Delete, "/api/v2/x", "delete_x"),
            (None, ApiMethod::Post, "/", "post"),
            (None, ApiMethod::Post, "//", "post_2"),
            (Some(&long), ApiMethod::Get, "/", &"get_".repeat(16)[..63]),
            (Some(&long), ApiMethod::Get, "/", &format!("{}_2", &"get_".repeat(15)[..59])),
        ] {
            assert_eq!(register.name(id, method, path), expected, "{id:?} {path}");
        }
        assert_eq!(path_group("/v1/charges/{id}").as_deref(), Some("charges"));
        assert_eq!(path_group("/{id}"), None);
    }
}
