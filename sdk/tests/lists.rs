//! Counts of items in results.

use std::collections::{BTreeMap, BTreeSet};

use loggia_sdk::{prelude::*, testing};

type Rows = std::result::Result<Vec<u32>, std::num::ParseIntError>;

#[derive(Serialize, JsonSchema)]
struct Wrapped {
    items: Vec<u32>,
}

struct Lists;

/// Lists, and what is none.
#[facade(name = "lists")]
impl Lists {
    /// Bare.
    #[action(read)]
    fn bare(&self) -> Result<Vec<u32>> {
        Ok(vec![1, 2, 3])
    }

    /// By another name of the type.
    #[action(read)]
    fn alias(&self) -> Rows {
        Ok(vec!["7".parse()?])
    }

    /// Nothing in it.
    #[action(read)]
    fn empty(&self) -> Result<Vec<u32>> {
        Ok(Vec::new())
    }

    /// A set.
    #[action(read)]
    fn set(&self) -> Result<BTreeSet<u32>> {
        Ok(BTreeSet::from([1, 1, 2]))
    }

    /// In a reply.
    #[action(read)]
    fn reply(&self) -> Result<Reply<Vec<u32>>> {
        Ok(Reply::new(vec![1, 2]).message("two"))
    }

    /// With a place in a longer list.
    #[action(read)]
    fn part(&self) -> Result<Reply<Vec<u32>>> {
        Ok(Reply::new(vec![1, 2]).page(Page::default().total(9).cursor("c")))
    }

    /// With a count of the author's own.
    #[action(read)]
    fn counted(&self) -> Result<Reply<Vec<u32>>> {
        Ok(Reply::new(vec![1, 2]).page(Page::of(7).total(9)))
    }

    /// A map.
    #[action(read)]
    fn map(&self) -> Result<BTreeMap<String, u32>> {
        Ok(BTreeMap::from([("a".to_owned(), 1)]))
    }

    /// A tuple is no list of like things.
    #[action(read)]
    fn tuple(&self) -> Result<(u32, u32)> {
        Ok((1, 2))
    }

    /// A list within.
    #[action(read)]
    fn wrapped(&self) -> Result<Wrapped> {
        Ok(Wrapped { items: vec![1] })
    }

    /// Nothing.
    #[action(write)]
    fn nothing(&self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_list_gets_a_count_by_default() {
    let check = |action, expected: Option<Page>| {
        let reply = testing::call(&Lists, action, json!({})).unwrap();
        assert_eq!(reply.page, expected, "{action}");
    };
    check("bare", Some(Page::of(3)));
    check("alias", Some(Page::of(1)));
    check("empty", Some(Page::of(0)));
    check("set", Some(Page::of(2)));
    check("reply", Some(Page::of(2)));
    check("part", Some(Page::of(2).total(9).cursor("c")));
    check("counted", Some(Page::of(7).total(9)));
    check("map", None);
    check("tuple", None);
    check("wrapped", None);
    check("nothing", None);
}
