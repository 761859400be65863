//! Results at each detail level, by the marks of `#[detail]`.

use std::{collections::BTreeMap, sync::Arc};

use loggia_facade::{Action, Surface};
use loggia_schema::Contract;
use loggia_sdk::{
    prelude::*,
    testing::{self, Host},
};

#[detail]
#[derive(Serialize, Deserialize, JsonSchema, Clone)]
#[serde(rename_all = "camelCase")]
struct Note {
    #[detail(minimal)]
    note_id: String,
    body_text: String,
    /// Who changed it, and when.
    #[detail(full)]
    #[serde(rename = "log")]
    change_log: Vec<String>,
    #[detail(full)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    draft: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    tags: Vec<String>,
    #[serde(skip, default)]
    secret: u32,
}

fn note() -> Note {
    let log = vec!["made".to_owned()];
    Note {
        note_id: "n_0001".into(),
        body_text: "milk".into(),
        change_log: log,
        draft: None,
        tags: Vec::new(),
        secret: 7,
    }
}

fn drafted() -> Note {
    Note { draft: Some("mil".into()), tags: vec!["shop".into()], ..note() }
}

/// Marks, but none of them minimal: what it is called stays.
#[detail]
#[derive(Serialize, JsonSchema, Clone)]
struct Titled {
    #[serde(rename = "title")]
    heading: String,
    id: u32,
    size: u32,
    #[detail(full)]
    raw: String,
}

/// Marks, none of them minimal, and nothing that it is called by: what is unmarked stays.
#[detail]
#[derive(Serialize, JsonSchema, Clone)]
struct Nameless {
    x: u32,
    /// What has no name in the result is no name of it.
    #[serde(flatten)]
    name: Size,
    #[serde(skip)]
    #[allow(dead_code)]
    id: u32,
    #[detail(full)]
    trace: String,
}

/// No marks of its own.
#[derive(Serialize, JsonSchema)]
struct Folder {
    path: String,
    notes: Vec<Note>,
    newest: Option<Box<Note>>,
    by_id: BTreeMap<String, Note>,
}

#[detail]
#[derive(Serialize, JsonSchema)]
struct Extended {
    #[detail(minimal)]
    #[serde(flatten)]
    note: Note,
    #[serde(flatten)]
    size: Size,
    #[detail(full)]
    #[serde(flatten)]
    origin: Option<Origin>,
    #[detail(full)]
    #[serde(flatten)]
    more: BTreeMap<String, u32>,
}

#[derive(Serialize, JsonSchema, Clone)]
struct Size {
    bytes: u32,
}

#[derive(Serialize, JsonSchema)]
struct Origin {
    url: String,
}

#[detail]
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Event {
    Added {
        #[detail(minimal)]
        at: u32,
        by: String,
        #[detail(full)]
        note: Note,
    },
    Moved {
        from: String,
        to: String,
    },
    Cleared,
    Noted(Note),
}

#[detail]
#[derive(Serialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent<T: Clone> {
    Item {
        id: u32,
        #[detail(full)]
        #[serde(skip_serializing_if = "Option::is_none")]
        extra: Option<T>,
    },
}

#[detail]
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Left {
        id: u32,
        #[detail(full)]
        left: u32,
    },
}

#[detail]
#[derive(Serialize, JsonSchema)]
struct Listing<T>
where
    T: Clone,
{
    items: Vec<T>,
    #[detail(full)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<T>,
}

#[detail]
#[derive(Serialize, JsonSchema)]
struct Chosen {
    id: u32,
    /// Alternatives that exclude each other, each with a name that is required.
    #[detail(full)]
    #[serde(flatten)]
    place: Place,
    /// Alternatives that may overlap.
    #[serde(flatten)]
    reach: Reach,
}

#[detail]
#[derive(Serialize, JsonSchema, Default)]
struct Tree {
    name: String,
    leaves: u32,
    #[detail(minimal)]
    children: Vec<Tree>,
    #[detail(full)]
    #[serde(skip_serializing_if = "Option::is_none")]
    graft: Option<Box<Tree>>,
}

#[derive(Serialize, JsonSchema)]
enum Place {
    Shelf { row: u32 },
    Lent { to: String },
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Reach {
    Near { steps: u32 },
    Far { miles: u32 },
}

struct Shelf;

/// Notes on a shelf.
#[facade(name = "shelf")]
impl Shelf {
    /// One.
    #[action(read)]
    fn one(&self) -> Result<Note> {
        Ok(note())
    }

    /// One with all there may be.
    #[action(read)]
    fn drafted(&self) -> Result<Reply<Note>> {
        Ok(Reply::new(drafted()))
    }

    /// By what it is called.
    #[action(read)]
    fn titled(&self) -> Result<Vec<Titled>> {
        Ok(vec![Titled { heading: "Milk".into(), id: 1, size: 4, raw: "# Milk".into() }])
    }

    /// Without a name.
    #[action(read)]
    fn nameless(&self) -> Result<Nameless> {
        Ok(Nameless { x: 1, name: Size { bytes: 4 }, id: 1, trace: "t".into() })
    }

    /// Held by a type without marks.
    #[action(read)]
    fn folder(&self) -> Result<Folder> {
        Ok(Folder {
            path: "/".into(),
            notes: vec![note()],
            newest: Some(Box::new(note())),
            by_id: BTreeMap::from([("n_0001".to_owned(), note())]),
        })
    }

    /// Flattened.
    #[action(read)]
    fn extended(&self) -> Result<Extended> {
        let origin = Some(Origin { url: "u".into() });
        Ok(Extended {
            note: note(),
            size: Size { bytes: 4 },
            origin,
            more: BTreeMap::from([("m".to_owned(), 1)]),
        })
    }

    /// Flattened alternatives.
    #[action(read)]
    fn chosen(&self) -> Result<Vec<Chosen>> {
        Ok(vec![
            Chosen { id: 1, place: Place::Shelf { row: 2 }, reach: Reach::Near { steps: 3 } },
            Chosen { id: 2, place: Place::Lent { to: "Ada".into() }, reach: Reach::Near { steps: 4 } },
        ])
    }

    /// A type within itself.
    #[action(read)]
    fn tree(&self) -> Result<Tree> {
        let graft = Some(Box::new(Tree { name: "graft".into(), ..Tree::default() }));
        let child = Tree { name: "child".into(), leaves: 1, graft, ..Tree::default() };
        Ok(Tree { name: "root".into(), leaves: 2, children: vec![child], graft: None })
    }

    /// Alternatives.
    #[action(read)]
    fn events(&self) -> Result<Vec<Event>> {
        Ok(vec![
            Event::Added { at: 1, by: "me".into(), note: note() },
            Event::Moved { from: "a".into(), to: "b".into() },
            Event::Cleared,
            Event::Noted(note()),
        ])
    }

    /// Other tags.
    #[action(read)]
    fn tagged(&self) -> Result<(Adjacent<u32>, Either)> {
        Ok((Adjacent::Item { id: 1, extra: Some(2) }, Either::Left { id: 1, left: 2 }))
    }

    /// Generic.
    #[action(read)]
    fn listing(&self) -> Result<Listing<Titled>> {
        let titled = Titled { heading: "Milk".into(), id: 1, size: 4, raw: "# Milk".into() };
        Ok(Listing { items: vec![titled.clone()], others: vec![titled] })
    }

    /// No marks anywhere.
    #[action(read)]
    fn plain(&self) -> Result<Size> {
        Ok(Size { bytes: 4 })
    }

    /// What the action itself writes.
    #[action(read)]
    fn kept(&self) -> Result<(String, Value)> {
        Ok((serde_json::to_string(&note())?, json!(note())))
    }

    /// The type as a parameter.
    #[action(write)]
    fn put(&self, note: Note) -> Result<u32> {
        Ok(note.change_log.len() as u32 + note.secret)
    }
}

#[test]
fn each_level_shows_the_fields_marked_for_it() {
    let actions = [
        "one", "drafted", "titled", "nameless", "folder", "extended", "chosen", "tree", "events", "tagged",
        "listing", "plain",
    ];
    let mut shown = String::new();
    for action in actions {
        for level in [Detail::Minimal, Detail::Standard, Detail::Full] {
            let reply = Host::new().detail(level).call(&Shelf, action, json!({})).unwrap();
            shown += &format!("{action} {level:?}: {}\n", reply.data);
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn serialised_data_is_complete() {
    let whole = json!({"noteId": "n_0001", "bodyText": "milk", "log": ["made"]});
    let reply = Host::new().detail(Detail::Minimal).call(&Shelf, "kept", json!({})).unwrap();
    assert_eq!(reply.data, json!([serde_json::to_string(&whole).unwrap(), whole]));
    assert_eq!(serde_json::to_value(note()).unwrap(), whole, "and so is what is written after a call");
}

#[test]
fn marks_of_a_result_publish_the_detail_levels() {
    let described = testing::describe(&Shelf);
    let with: Vec<_> = described["actions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|action| action["details"] == true)
        .map(|action| action["name"].as_str().unwrap())
        .collect();
    let expected = [
        "one", "drafted", "titled", "nameless", "folder", "extended", "chosen", "tree", "events", "tagged",
        "listing",
    ];
    assert_eq!(with, expected);
}

#[test]
fn the_schema_requires_only_what_every_level_shows() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&testing::describe(&Shelf)["actions"]).unwrap());
}

#[test]
fn every_level_fits_the_published_schema() {
    let nonsense = Object::from_iter([("data".to_owned(), json!({"bytes": "many"}))]);
    let contract = checking(&json!({"type": "object", "properties": {"bytes": {"type": "integer"}}}));
    assert!(contract.prepare(contract.action("check").unwrap(), nonsense).is_err(), "the check checks");

    let described = testing::describe(&Shelf);
    for action in described["actions"].as_array().unwrap() {
        // One takes something, and the other's recursion no parameter may have.
        if ["put", "tree"].contains(&action["name"].as_str().unwrap()) {
            continue;
        }
        let name = action["name"].as_str().unwrap();
        let Some(contract) = action.get("data").map(checking) else { continue };
        for level in [Detail::Minimal, Detail::Standard, Detail::Full] {
            let data = Host::new().detail(level).call(&Shelf, name, json!({})).unwrap().data;
            let params = Object::from_iter([("data".to_owned(), data)]);
            let checked = contract.prepare(contract.action("check").unwrap(), params);
            assert!(checked.is_ok(), "{name} at {level:?}: {:?}", checked.err());
        }
    }
}

/// The host's own validator, of a result as if it were a parameter.
fn checking(data: &Value) -> Contract {
    let Value::Object(params) = json!({"type": "object", "properties": {"data": data}, "required": ["data"]})
    else {
        unreachable!("an object")
    };
    let action = Action {
        name: "check".into(),
        summary: "Checks.".into(),
        effect: loggia_facade::Effect::Read,
        idempotent: false,
        open_world: false,
        long_running: false,
        details: false,
        aliases: Vec::new(),
        needs: Vec::new(),
        group: None,
        resource: None,
        view: None,
        params: Arc::new(params),
        data: None,
        examples: Vec::new(),
    };
    let surface = Surface {
        name: "check".into(),
        title: "Check".into(),
        version: "1".into(),
        summary: "Checks.".into(),
        instructions: None,
        default_action: None,
        actions: vec![action],
        views: Vec::new(),
        wants: Vec::new(),
    };
    Contract::new(Arc::new(surface)).unwrap()
}
