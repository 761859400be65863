//! Which list each client sees.

use std::collections::BTreeMap;

use loggia_policy::clients::{ClientTraits, client_table};
use loggia_schema::SchemaForm;

use super::publish::ToolPublisher;
use crate::access::ListId;

/// The publishers of all lists of a server. Equal ones are one list.
#[derive(Debug, Clone)]
pub struct ListPlan(Vec<ToolPublisher>);

/// The lists of one endpoint: one for all clients, or one for each form that serves some of them best.
#[derive(Debug, Clone, Default)]
pub struct ClientLists {
    default: ListId,
    by_form: BTreeMap<SchemaForm, ListId>,
}

impl ListPlan {
    /// Begins with the list of clients that no endpoint has another list for.
    pub fn new(default: ToolPublisher) -> Self {
        Self(vec![default])
    }

    /// Adds the lists of an endpoint. With `by_client`, each client gets the form that serves it best, the form of `publisher`
    /// only those of which nothing is known.
    pub fn add(&mut self, publisher: &ToolPublisher, by_client: bool) -> ClientLists {
        let mut lists = ClientLists { default: self.find(publisher), by_form: BTreeMap::new() };
        let clients = client_table().clients.iter().filter(|_| by_client);
        for form in clients.map(|client| client.form) {
            let id = self.find(&ToolPublisher { form, ..publisher.clone() });
            lists.by_form.insert(form, id);
        }
        lists
    }

    fn find(&mut self, publisher: &ToolPublisher) -> ListId {
        let known = self.0.iter().position(|known| known == publisher);
        let at = known.unwrap_or_else(|| {
            self.0.push(publisher.clone());
            self.0.len() - 1
        });
        u16::try_from(at).map(ListId).unwrap_or_default()
    }

    /// Returns the publishers, in the order of the ids of their lists.
    pub fn into_publishers(self) -> Vec<ToolPublisher> {
        self.0
    }
}

impl ClientLists {
    /// Returns the list that a client sees.
    pub fn list_of(&self, client: &ClientTraits) -> ListId {
        let is_known = !client.info.is_empty();
        let own = self.by_form.get(&client.form).filter(|_| is_known);
        own.copied().unwrap_or(self.default)
    }

    /// Returns true if clients may see different lists.
    pub fn differ(&self) -> bool {
        self.by_form.values().any(|id| *id != self.default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_one_form_share_a_list() {
        let flat = ToolPublisher::default();
        let names = ToolPublisher { form: SchemaForm::Names, ..flat.clone() };
        let mut plan = ListPlan::new(flat.clone());
        let (all, own, same) = (plan.add(&flat, true), plan.add(&names, false), plan.add(&flat, true));
        let client = |name: &str| client_table().named(name).unwrap();
        assert_eq!(all.list_of(client("other")), ListId(0));
        assert_eq!(all.list_of(client("claude-code")), ListId(0));
        assert_ne!(all.list_of(client("zed")), ListId(0));
        assert_eq!(all.list_of(client("zed")), all.list_of(client("goose")));
        assert_eq!(all.list_of(client("zed")), same.list_of(client("zed")));
        assert_eq!(own.list_of(client("zed")), own.list_of(client("other")));
        assert!(all.differ() && !own.differ());
        let publishers = plan.into_publishers();
        assert_eq!(publishers[usize::from(own.list_of(client("zed")).0)], names);
        let forms: std::collections::BTreeSet<_> =
            client_table().clients.iter().map(|client| client.form).collect();
        assert_eq!(publishers.len(), forms.len() + 1, "one for each form, and `names`");
    }
}
