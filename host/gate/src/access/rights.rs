//! Rights of a caller: the scopes of its token.

use std::{borrow::Cow, sync::Arc};

use loggia_policy::model::AccessScope;
use loggia_schema::{Contract, ToolView};

/// Facades and actions that a caller may call. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallerRights(Option<Arc<[AccessScope]>>);

impl CallerRights {
    /// Unrestricted rights: for the local user, and for servers without authentication.
    pub fn all() -> Self {
        Self(None)
    }

    /// Rights of these scopes; none without any. The order of the scopes does not matter.
    pub fn from_scopes(scopes: impl IntoIterator<Item = AccessScope>) -> Self {
        let mut scopes: Vec<AccessScope> = scopes.into_iter().collect();
        scopes.sort();
        scopes.dedup();
        if scopes.contains(&AccessScope::ALL) { Self::all() } else { Self(Some(scopes.into())) }
    }

    /// Returns the scopes as texts, from which the same rights can be made. `None` if nothing is refused.
    pub fn scopes(&self) -> Option<Vec<String>> {
        self.0.as_ref().map(|scopes| scopes.iter().map(ToString::to_string).collect())
    }

    /// Returns true if nothing is refused.
    pub fn are_unrestricted(&self) -> bool {
        self.0.is_none()
    }

    /// Returns true if this action of a facade may be called.
    pub fn allows(&self, facade: &str, action: &str) -> bool {
        self.0.as_ref().is_none_or(|scopes| scopes.iter().any(|scope| scope.allows(facade, action)))
    }

    /// Returns true if any action of a facade may be called. To other callers the facade does not exist.
    pub fn reaches(&self, facade: &str) -> bool {
        self.0.as_ref().is_none_or(|scopes| scopes.iter().any(|scope| scope.reaches(facade)))
    }

    /// Narrows a view to the caller's rights. `None` if nothing is left: the tool does not exist for this caller.
    pub fn narrow<'a>(&self, contract: &Contract, view: &'a ToolView) -> Option<Cow<'a, ToolView>> {
        let Some(scopes) = &self.0 else { return Some(Cow::Borrowed(view)) };
        let facade = &contract.surface().name;
        let own = scopes.iter().filter(|scope| scope.reaches(facade));
        // Every call comes here, so the time must not depend on the number of actions.
        let actions: Option<Vec<&str>> = own.map(|scope| scope.action()).collect();
        match actions {
            None => Some(Cow::Borrowed(view)),
            Some(actions) => contract.narrow_to(view, actions.into_iter()).map(Cow::Owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_allows_just_what_it_names() {
        let check = |scopes: &str, facade: &str, action: &str, reaches: bool, allowed: bool| {
            let rights =
                CallerRights::from_scopes(scopes.split_whitespace().map(|scope| scope.parse().unwrap()));
            assert_eq!(rights.reaches(facade), reaches, "{scopes} {facade}");
            assert_eq!(rights.allows(facade, action), allowed, "{scopes} {facade}:{action}");
        };
        check("", "notes", "read", false, false);
        check("*", "notes", "read", true, true);
        check("notes:read", "notes", "read", true, true);
        check("notes:read", "notes", "delete", true, false);
        check("notes:read", "notes2", "read", false, false);
        check("notes:read notes:delete", "notes", "delete", true, true);
        check("notes:*", "notes", "delete", true, true);
        check("notes:*", "files", "stat", false, false);
        check("files:stat *", "notes", "read", true, true);
    }

    #[test]
    fn equal_scopes_in_another_order_are_equal_rights() {
        let rights =
            |scopes: [&str; 2]| CallerRights::from_scopes(scopes.map(|scope| scope.parse().unwrap()));
        assert_eq!(rights(["a:b", "c:*"]), rights(["c:*", "a:b"]));
        assert_eq!(rights(["a:b", "*"]), CallerRights::all());
    }
}
