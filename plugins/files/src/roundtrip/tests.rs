//! Round trips that are interrupted after each step, and concurrent ones.

use std::{collections::BTreeSet, fs};

use super::{
    changes::New,
    worker::{Flow, Outcome, Worker},
    *,
};
use crate::tests::World;

const OLD: [(&str, &str); 3] = [("notes/a.md", "a"), ("notes/b.md", "b"), ("docs/kept.md", "kept")];
/// New contents.
const NEW: [(&str, &str); 5] = [
    ("docs/kept.md", "kept"),
    ("docs/x/y/c.md", "c 2"),
    ("docs/x/d.md", "d 2"),
    ("notes/a.md", "a 2"),
    ("notes/b.md", "b 2"),
];

fn changed<'r>(roots: &'r Roots) -> Vec<New<'r>> {
    let change = |(path, content): &(&str, &str)| json!({"path": format!("/{path}"), "content": content});
    let changes: Value = NEW[1..].iter().map(change).collect();
    changes::read(roots, Vec::deserialize(changes).unwrap()).unwrap()
}

/// A commit that is decided on.
fn begun<'r>(world: &'r World, new: &[New]) -> Worker<'r> {
    let roots = &world.files.roots;
    let sight = commit::look(roots, "rt_0001", new, Mode::Replace).unwrap().unwrap();
    commit::decide(roots, new, &sight).unwrap().unwrap().unwrap()
}

/// A concurrent change.
type Act = fn(&World);

/// Creates a world whose next journal has a known number.
fn numbered() -> World {
    let world = World::new(&OLD);
    world.store.put("journals", 8_999_999_999_999_999_u64);
    world
}

/// Creates a world with a recorded decision, and runs a function on it.
fn decided<T>(act: impl FnOnce(&World, &mut Worker) -> T) -> (World, T) {
    let world = numbered();
    let paths = json!(["/notes/a.md", "/notes/b.md", "/docs/kept.md", "/docs/x/y/c.md"]);
    world.data("roundtrip_start", json!({"paths": paths}));
    let value = world.host().run(|| {
        let new = changed(&world.files.roots);
        act(&world, &mut begun(&world, &new))
    });
    (world, value)
}

/// Takes this many steps; returns the outcome if the work ended.
fn steps(worker: &mut Worker, count: usize) -> Option<Outcome> {
    (0..count).find_map(|_| match worker.step().unwrap() {
        Flow::On => None,
        Flow::Over(outcome) => Some(outcome),
    })
}

/// All files, hidden ones too.
fn contents(world: &World) -> Vec<(String, String)> {
    world.names().into_iter().map(|name| (name.clone(), world.read(&name))).collect()
}

fn are(world: &World, expected: &[(&str, &str)]) -> bool {
    let mut expected: Vec<_> =
        expected.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect();
    expected.sort();
    contents(world) == expected
}

/// Calls that settle; none concerns the files.
const CALLS: [&str; 5] = ["roundtrip_finish", "roundtrip_start", "put", "move", "delete"];

fn call(world: &World, action: &str) {
    let params = match action {
        "roundtrip_finish" => json!({}),
        "roundtrip_start" => json!({"paths": ["/notes/other"]}),
        "put" => json!({"path": "/docs", "content": ""}),
        "move" => json!({"from": "/notes/none", "to": "/notes/none.md"}),
        _ => json!({"path": "/notes/none"}),
    };
    // Those that fail settle first as well.
    let _ = world.reply(action, params);
}

#[test]
fn the_next_call_finishes_an_interrupted_commit() {
    for count in 0.. {
        let (world, over) = decided(|_, worker| steps(worker, count).is_some());
        call(&world, CALLS[count % CALLS.len()]);
        assert!(are(&world, &NEW), "after {count} steps: {:?}", contents(&world));
        assert_eq!(world.data("roundtrip_finish", json!({}))["did"], "nothing");
        // The manifest continues with the current contents.
        let changes = json!([{"path": "/docs/x/d.md", "content": "d 3"}]);
        world.data("roundtrip_commit", json!({"manifest_id": "rt_0001", "changes": changes}));
        if over {
            assert!(count > 15, "{count}");
            return;
        }
    }
}

#[test]
fn helpers_may_be_interrupted() {
    for (first, second) in (0..18).flat_map(|first| (0..18).step_by(3).map(move |second| (first, second))) {
        let (world, ()) = decided(|world, worker| {
            if steps(worker, first).is_some() {
                return;
            }
            let journal = journal::pending().unwrap().unwrap().take_over().unwrap().unwrap();
            steps(&mut Worker::new(&world.files.roots, journal), second);
        });
        call(&world, "roundtrip_finish");
        assert!(are(&world, &NEW), "after {first} and {second} steps: {:?}", contents(&world));
    }
}

/// Creates a full directory there, unless a file exists.
fn occupy(world: &World, path: &str) {
    if fs::create_dir(world.real(path)).is_ok() {
        world.write(&format!("{path}/full"), b"");
    }
}

#[test]
fn failed_commits_roll_back_even_when_interrupted() {
    // Obstacles: a directory in place of a draft, of a kept file, and a file of another program.
    let ways: [(&str, Act); 4] = [
        ("a draft", |world| occupy(world, "notes/.loggia-rt9000000000000000-3.1.part")),
        ("a kept file", |world| occupy(world, "notes/.loggia-rt9000000000000000-2.0.old")),
        ("a written file", |world| world.write("notes/b.md", b"theirs")),
        ("a new file", |world| world.write("docs/x/d.md", b"theirs")),
    ];
    let mut undone = BTreeSet::new();
    for (way, block) in ways {
        for (first, second) in (0..18).flat_map(|first| [0, 2, 6, 11].map(|second| (first, second))) {
            let (world, over) = decided(|world, worker| {
                let over = steps(worker, first);
                block(world);
                over.or_else(|| steps(worker, second)).is_some()
            });
            // It blocks this attempt, and none that takes over.
            let finished = world.data("roundtrip_finish", json!({}));
            let names = world.names();
            let (blocked, rest): (Vec<_>, Vec<_>) = contents(&world)
                .into_iter()
                .partition(|(name, content)| name.contains(".loggia-") || content == "theirs");
            assert!(blocked.len() <= 1, "{way}, {first} and {second}: {names:?}");
            let is = |expected: &[(&str, &str)]| {
                let expected =
                    expected.iter().filter(|(path, _)| blocked.iter().all(|(name, _)| name != path));
                expected
                    .map(|(path, content)| ((*path).to_owned(), (*content).to_owned()))
                    .eq(rest.iter().cloned())
            };
            let mut old = OLD;
            old.sort_unstable();
            let mut new = NEW;
            new.sort_unstable();
            assert!(is(&old) || is(&new), "{way}, {first} and {second}: {finished} {rest:?}");
            if is(&old) {
                undone.insert(way);
                assert!(finished["did"] == "undone" || (over && finished["did"] == "nothing"), "{finished}");
                assert!(!world.real("docs/x/y").exists(), "{way}, {first} and {second}");
            }
        }
    }
    assert_eq!(undone.len(), 4, "each was in the way once: {undone:?}");
}

#[test]
fn a_failed_commit_reports_that_nothing_changed() {
    let world = numbered();
    world.data("roundtrip_start", json!({"paths": ["/notes/a.md", "/notes/b.md"]}));
    occupy(&world, "notes/.loggia-rt9000000000000000-0.1.part");
    let changes = json!([
        {"path": "/notes/a.md", "content": "a 2"},
        {"path": "/notes/new/c.md", "content": "c 2"},
    ]);
    let failure = world.failure("roundtrip_commit", json!({"manifest_id": "rt_0001", "changes": changes}));
    let expected = "conflict: nothing was changed: a temporary name is taken next to /notes/a.md";
    assert_eq!(failure, expected);
    assert_eq!(contents(&world).len(), 4);
    assert!(!world.real("notes/new").exists());
}

#[test]
fn a_lost_race_names_the_call_to_restart() {
    let world = World::new(&OLD);
    world.data("roundtrip_start", json!({"paths": ["/notes/a.md", "/notes/b.md"]}));
    let failure = world.host().run(|| {
        let roots = &world.files.roots;
        let changes = Vec::deserialize(json!([{"path": "/notes/a.md", "content": "a 2"}])).unwrap();
        let worker = begun(&world, &changes::read(roots, changes).unwrap());
        world.write("notes/a.md", b"theirs");
        commit::carry_out(roots, worker, Duration::ZERO).unwrap_err()
    });
    assert_eq!(failure.to_string(), "conflict: nothing was changed: modified concurrently: /notes/a.md");
    let next = Next::action("roundtrip_start").param("paths", ["/notes/a.md", "/notes/b.md"]);
    assert_eq!(failure.next, Some(next));
}

#[test]
fn a_slow_worker_does_no_harm() {
    for count in 0..17 {
        let (world, ()) = decided(|world, worker| {
            assert!(steps(worker, count).is_none(), "{count}");
            let settled = settle(&world.files.roots, Duration::ZERO).unwrap().unwrap();
            assert!(matches!(settled.outcome, Outcome::Done { .. }));
            // The files change later.
            fs::write(world.real("notes/a.md"), "a 3").unwrap();
            fs::remove_file(world.real("docs/x/d.md")).unwrap();
            assert!(matches!(settle::run(worker), Ok(Outcome::Lost)), "{count}");
            worker.sweep_up();
        });
        let expected: Vec<_> = NEW
            .into_iter()
            .filter(|(path, _)| *path != "docs/x/d.md")
            .map(|(path, content)| if path == "notes/a.md" { (path, "a 3") } else { (path, content) })
            .collect();
        assert!(are(&world, &expected), "{count}: {:?}", contents(&world));
    }
}

#[test]
fn a_commit_taken_over_reports_its_true_outcome() {
    let told = |block: Act| {
        let world = numbered();
        world.data("roundtrip_start", json!({"paths": ["/notes/a.md", "/notes/b.md"]}));
        world.host().run(|| {
            let roots = &world.files.roots;
            let new = changed(roots);
            let mut worker = begun(&world, &new);
            assert!(steps(&mut worker, 5).is_none());
            block(&world);
            settle(roots, Duration::ZERO).unwrap();
            commit::carry_out(roots, worker, Duration::ZERO).map_err(|failure| failure.to_string())
        })
    };
    assert_eq!(told(|_| {}), Ok(()));
    let written_again = |world: &World| {
        settle(&world.files.roots, Duration::ZERO).unwrap();
        let changes = Vec::deserialize(json!([{"path": "/notes/a.md", "content": "a 3"}])).unwrap();
        commit::commit(&world.files.roots, "rt_0001", changes, Mode::Replace, Duration::ZERO).unwrap();
    };
    assert_eq!(told(written_again), Err("unavailable: interrupted: the files have changed since".to_owned()));
    let undone = "unavailable: interrupted: nothing was changed".to_owned();
    assert_eq!(told(|world| occupy(world, "notes/.loggia-rt9000000000000000-2.2.part")), Err(undone));
}

#[test]
fn no_decision_is_based_on_stale_reads() {
    // The other only writes a file that this one does not: the worker's own checks would find no difference.
    for content in ["b", "b 2"] {
        let world = World::new(&OLD);
        for _ in 0..2 {
            world.data("roundtrip_start", json!({"paths": ["/notes/a.md", "/notes/b.md"]}));
        }
        let roots = &world.files.roots;
        let changes = || Vec::deserialize(json!([{"path": "/notes/b.md", "content": content}])).unwrap();
        let new = changes::read(roots, changes()).unwrap();
        let sight =
            world.host().run(|| commit::look(roots, "rt_0001", &new, Mode::Replace).unwrap().unwrap());
        let other = json!([{"path": "/notes/a.md", "content": "a 2"}]);
        world.data("roundtrip_commit", json!({"manifest_id": "rt_0002", "changes": other}));
        assert!(world.host().run(|| commit::decide(roots, &new, &sight).unwrap().is_none()), "{content}");
        let again = world
            .host()
            .run(|| commit::commit(roots, "rt_0001", changes(), Mode::Replace, Duration::ZERO).map(drop));
        assert_eq!(again.unwrap_err().message, "differs from the manifest: /notes/a.md has changed");
        assert_eq!(world.read("notes/b.md"), "b");
    }
}

#[test]
fn reads_wait_for_a_pending_round_trip() {
    let (world, ()) = decided(|_, worker| drop(steps(worker, 13)));
    let changes = json!([{"path": "/notes/a.md", "content": "x"}]);
    for (action, params) in [
        ("list", json!({})),
        ("get", json!({"path": "/notes/a.md"})),
        ("search", json!({"pattern": "a"})),
        ("stat", json!({"path": "/notes/a.md"})),
        ("roundtrip_preview", json!({"manifest_id": "rt_0001", "changes": changes})),
    ] {
        let failure = world.reply(action, params).unwrap_err();
        let expected = "unavailable: a round trip was interrupted, and must be finished first";
        assert_eq!(failure.to_string(), expected, "{action}");
        assert_eq!(failure.next, Some(Next::of("files", "roundtrip_finish")));
    }
    let finished = world.reply("roundtrip_finish", json!({})).unwrap();
    assert_eq!(finished.data["did"], "finished");
    assert_eq!(finished.message.as_deref(), Some("The files are as the round trip wrote them."));
    assert_eq!(world.data("get", json!({"path": "/notes/a.md"}))["text"], "a 2");
}

#[test]
fn revoked_directories_are_left_alone() {
    let (world, ()) = decided(|_, worker| drop(steps(worker, 11)));
    let mut files = crate::Files::over([("/notes", world.real("notes"))]);
    files.patience = Duration::ZERO;
    let finished = world.host().call(&files, "roundtrip_finish", json!({})).unwrap();
    assert_eq!(finished.data["did"], "finished");
    assert_eq!(finished.data["left"], json!(["/docs/x/d.md", "/docs/x/y/c.md"]));
    let message = "The files are as the round trip wrote them, but for those in `left`: written to since, or granted no more.";
    assert_eq!(finished.message.as_deref(), Some(message));
    assert_eq!((world.read("notes/a.md"), world.read("notes/b.md")), ("a 2".into(), "b 2".into()));
}

#[test]
fn a_rollback_names_leftovers_even_when_interrupted() {
    for interrupted in [false, true] {
        let (world, ()) = decided(|world, worker| {
            assert!(steps(worker, 14).is_none());
            world.write("docs/x/d.md", b"theirs");
            if interrupted {
                // A helper finds it, and undoes it.
                let journal = journal::pending().unwrap().unwrap().take_over().unwrap().unwrap();
                assert!(steps(&mut Worker::new(&world.files.roots, journal), 4).is_none());
            }
        });
        let finished = world.reply("roundtrip_finish", json!({})).unwrap();
        assert_eq!(
            (&finished.data["did"], &finished.data["left"]),
            (&json!("undone"), &json!(["/docs/x/d.md"]))
        );
        assert!(finished.message.unwrap().contains("but for those in `left`"));
    }
}

#[test]
fn a_stuck_round_trip_stays_until_resolvable() {
    const KEPT: &str = "notes/.loggia-rt9000000000000000-2.0.old";
    let (world, ()) = decided(|world, worker| {
        // All but the last file are in place.
        assert!(steps(worker, 14).is_none());
        world.write("docs/x/d.md", b"theirs");
        fs::rename(world.real(KEPT), world.real("outside/kept")).unwrap();
        fs::create_dir(world.real(KEPT)).unwrap();
    });
    let failure = world.reply("roundtrip_finish", json!({})).unwrap_err();
    let expected = "unavailable: the round trip is unfinished: modified concurrently: /docs/x/d.md; \
         undoing it failed: not a directory: /notes/a.md";
    assert_eq!(failure.to_string(), expected);
    assert_eq!(failure.details.as_ref().unwrap()["files"].as_array().unwrap().len(), 4);
    let put = world.failure("put", json!({"path": "/notes/z", "content": ""}));
    assert_eq!(put, "unavailable: the round trip is unfinished: not a directory: /notes/a.md");
    assert_eq!(world.reply("get", json!({"path": "/notes/b.md"})).unwrap_err().code, "unavailable");

    fs::remove_dir(world.real(KEPT)).unwrap();
    fs::rename(world.real("outside/kept"), world.real(KEPT)).unwrap();
    assert_eq!(world.data("roundtrip_finish", json!({}))["did"], "undone");
    assert!(are(&world, &[OLD[0], OLD[1], OLD[2], ("docs/x/d.md", "theirs")]), "{:?}", contents(&world));
}

#[test]
fn a_journal_of_another_version_is_reported() {
    let world = World::new(&OLD);
    for head in [json!({"number": 1, "attempt": 1, "phase": "later"}), json!("rubbish")] {
        world.store.put("journal", head);
        world.store.put(
            "journal/plan",
            json!({"manifest": {"id": "rt_0001", "files": []}, "files": [], "directories": []}),
        );
        let failure = world.reply("put", json!({"path": "/notes/z", "content": ""})).unwrap_err();
        let shown = format!("{failure} {:?}", failure.hint);
        assert!(shown.contains("journal") && shown.contains("Another version"), "{shown}");
        assert!(world.store.value("journal").is_some());
    }
}

#[test]
fn a_host_ignores_journals_of_other_stores() {
    // The state was deleted halfway, and with it the number of the journal.
    let (mut world, ()) = decided(|_, worker| drop(steps(worker, 13)));
    let ours =
        |world: &World| world.names().into_iter().filter(|name| name.contains(OURS)).collect::<Vec<_>>();
    world.store = loggia_sdk::testing::Store::new();
    let was = ours(&world);
    world.data("roundtrip_start", json!({"paths": ["/notes/a.md", "/notes/b.md"]}));
    let names = world.host().run(|| {
        let changes = Vec::deserialize(json!([{"path": "/notes/b.md", "content": "b 3"}])).unwrap();
        let new = changes::read(&world.files.roots, changes).unwrap();
        let mut worker = begun(&world, &new);
        let number = worker.journal().head.number;
        assert!((1_700_000_000_000..9_000_000_000_000_000).contains(&number), "{number}");
        assert!(settle::run(&mut worker).is_ok());
        ours(&world)
    });
    assert_eq!((names, world.read("notes/b.md")), (was, "b 3".into()));
}

#[test]
fn a_copy_is_whole_or_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name| directory.path().join(name);
    fs::write(at("a"), "content").unwrap();
    let sha256 = crate::version::sha256(b"content");
    beside::copy(&at("a"), &sha256, &at("beside"), &at("b")).unwrap();
    fs::write(at("a"), "new").unwrap();
    assert!(beside::copy(&at("a"), &sha256, &at("beside"), &at("b")).is_err());
    assert_eq!(fs::read_to_string(at("b")).unwrap(), "content");
    assert!(!at("beside").exists());
}
