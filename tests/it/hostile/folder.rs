//! Changes of a folder: half-written files, alternating versions, more events than the queue holds.

use std::{
    cell::RefCell,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{FileExt, symlink},
    path::{Path, PathBuf},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, eventually, fixture, memory};
use rustix::process::{Pid, Signal, kill_process};

use crate::reload::{becomes, version};

/// One change of the folder.
type Step = Box<dyn Fn(&Path) -> io::Result<()>>;

/// One way to replace version one by version two.
struct Way {
    name: &'static str,
    /// The file is missing for a moment, so the name may be unavailable.
    gap: bool,
    /// Step that completes the file: from then on version two may answer, whatever follows.
    whole: usize,
    /// One after another.
    steps: Vec<Step>,
}

/// All ways to replace a plugin that we know of editors, copying tools and deployments.
fn ways() -> Result<Vec<Way>> {
    let two = fs::read(fixture("version_two"))?;
    let pieces: Vec<Vec<u8>> = two.chunks(two.len() / 8 + 1).map(<[u8]>::to_vec).collect();
    let target = |folder: &Path| folder.join("version.wasm");
    let whole = two.clone();
    let put = move |path: PathBuf| fs::write(path, &whole);
    let way = |name, gap, whole, steps| Way { name, gap, whole, steps };
    let last = pieces.len() - 1;

    // One writer that keeps its file open, in eight pieces.
    let open: Rc<RefCell<Option<File>>> = Rc::default();
    let truncate = |open: &Rc<RefCell<Option<File>>>| {
        let open = Rc::clone(open);
        Box::new(move |folder: &Path| {
            *open.borrow_mut() = Some(File::create(target(folder))?);
            Ok(())
        }) as Step
    };
    let append = |open: &Rc<RefCell<Option<File>>>, piece: &Vec<u8>, pause: Duration| {
        let (open, piece) = (Rc::clone(open), piece.clone());
        Box::new(move |_: &Path| {
            std::thread::sleep(pause);
            if let Some(file) = &mut *open.borrow_mut() {
                file.write_all(&piece)?;
                file.sync_data()?;
            }
            Ok(())
        }) as Step
    };
    let close = |open: &Rc<RefCell<Option<File>>>| {
        let open = Rc::clone(open);
        Box::new(move |_: &Path| {
            drop(open.borrow_mut().take());
            Ok(())
        }) as Step
    };
    let written = |pause: Duration| {
        let pieces = pieces.iter().map(|piece| append(&open, piece, pause));
        std::iter::once(truncate(&open)).chain(pieces).chain([close(&open)]).collect()
    };
    let appended = pieces.iter().enumerate().map(|(index, piece)| {
        let piece = piece.clone();
        Box::new(move |folder: &Path| {
            let mut file =
                OpenOptions::new().create(true).append(true).truncate(false).open(target(folder))?;
            if index == 0 {
                file.set_len(0)?;
            }
            file.write_all(&piece)
        }) as Step
    });
    // As curl and torrents may do: the length first, the beginning last.
    let backwards = pieces.iter().enumerate().rev().map(|(index, piece)| {
        let (piece, at, length) = (piece.clone(), (index * pieces[0].len()) as u64, two.len() as u64);
        Box::new(move |folder: &Path| {
            let file = OpenOptions::new().write(true).open(target(folder))?;
            file.set_len(length)?;
            if index == last {
                file.write_all_at(&vec![0; at as usize], 0)?;
            }
            file.write_all_at(&piece, at)
        }) as Step
    });
    let (a, b, c, d, e, f) = (put.clone(), put.clone(), put.clone(), put.clone(), put.clone(), put);
    Ok(vec![
        way("truncated and written in pieces", false, pieces.len(), written(Duration::ZERO)),
        // Longer than a file that is still open is waited for.
        way("written in pieces with long pauses", false, pieces.len(), written(Duration::from_millis(300))),
        way("appended to and closed each time", false, last, appended.collect()),
        way("written from its end", false, last, backwards.collect()),
        way(
            "renamed over",
            false,
            1,
            vec![
                Box::new(move |folder| a(folder.join(".version.wasm.Xw3f"))),
                Box::new(move |folder| fs::rename(folder.join(".version.wasm.Xw3f"), target(folder))),
            ],
        ),
        way(
            "saved as vim does",
            true,
            3,
            vec![
                Box::new(|folder| fs::write(folder.join("4913"), "")),
                Box::new(|folder| fs::remove_file(folder.join("4913"))),
                Box::new(move |folder| fs::rename(target(folder), folder.join("version.wasm~"))),
                Box::new(move |folder| b(target(folder))),
                Box::new(|folder| fs::remove_file(folder.join("version.wasm~"))),
            ],
        ),
        way(
            "saved as Emacs does",
            false,
            2,
            vec![
                Box::new(|folder| symlink("me@here.1:1", folder.join(".#version.wasm"))),
                Box::new(move |folder| c(folder.join("#version.wasm#"))),
                Box::new(move |folder| d(target(folder))),
                Box::new(|folder| fs::remove_file(folder.join("#version.wasm#"))),
                Box::new(|folder| fs::remove_file(folder.join(".#version.wasm"))),
            ],
        ),
        way(
            "removed and written anew",
            true,
            1,
            vec![
                Box::new(move |folder| fs::remove_file(target(folder))),
                Box::new(move |folder| e(target(folder))),
            ],
        ),
        way(
            "the whole folder exchanged",
            true,
            3,
            vec![
                Box::new(|folder| fs::create_dir(folder.with_extension("next"))),
                Box::new(move |folder| f(folder.with_extension("next").join("version.wasm"))),
                Box::new(|folder| fs::rename(folder, folder.with_extension("old"))),
                Box::new(|folder| fs::rename(folder.with_extension("next"), folder)),
            ],
        ),
    ])
}

/// H30.
#[tokio::test]
async fn the_old_version_serves_until_writes_complete() -> Result<()> {
    for way in ways()? {
        let folder = Folder::new();
        folder.put("version", &fixture("version_one"));
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        becomes(&client, "one").await;
        for (index, step) in way.steps.iter().enumerate() {
            step(folder.path()).with_context(|| format!("{}, step {index}", way.name))?;
            match version(&client).await {
                Ok(found) if found == "one" => {}
                Ok(found) if found == "two" && index >= way.whole => {}
                Err(said) if way.gap && said.contains(r#""code":"unavailable""#) => {}
                other => panic!("{}, step {index}: {other:?}", way.name),
            }
        }
        becomes(&client, "two").await;
        client.end().await?;
    }
    Ok(())
}

/// H31.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alternating_versions_answer_every_call() -> Result<()> {
    let folder = Arc::new(Folder::new());
    folder.put("version", &fixture("version_one"));
    let host = HttpHost::start(folder.path()).await?;
    let process = host.child.id().context("the host ended")?;
    let mut clients = Vec::new();
    for era in ERAS.into_iter().cycle().take(8) {
        clients.push(Arc::new(Client::http(&host, era).await?));
    }
    // Both are known, and the allocator has seen some work.
    for (file, expected) in [("version_two", "two"), ("version_one", "one")] {
        folder.put("version", &fixture(file));
        becomes(&clients[0], expected).await;
    }
    let before = memory(process, "VmRSS")?;
    let stop = Arc::new(AtomicBool::new(false));
    let counter = || Arc::new(AtomicUsize::new(0));
    let (made, puts, seen) = (counter(), counter(), Arc::new([const { AtomicUsize::new(0) }; 2]));
    let storm = {
        let (folder, stop) = (Arc::clone(&folder), Arc::clone(&stop));
        let (made, puts) = (Arc::clone(&made), Arc::clone(&puts));
        std::thread::spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                let put = puts.fetch_add(1, Ordering::SeqCst);
                folder.put("version", &fixture(["version_two", "version_one"][put % 2]));
                // Not faster than the host can answer, however busy the machine is.
                let enough = made.load(Ordering::SeqCst) + 4;
                while made.load(Ordering::SeqCst) < enough && !stop.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        })
    };
    let callers: Vec<_> = (0..24)
        .map(|n| {
            let client = Arc::clone(&clients[n % clients.len()]);
            let (stop, made, seen) = (Arc::clone(&stop), Arc::clone(&made), Arc::clone(&seen));
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    match version(&client).await?.as_str() {
                        "one" => seen[0].fetch_add(1, Ordering::SeqCst),
                        "two" => seen[1].fetch_add(1, Ordering::SeqCst),
                        other => return Err(other.to_owned()),
                    };
                    made.fetch_add(1, Ordering::SeqCst);
                }
                Ok(())
            })
        })
        .collect();
    // For some seconds, or until both versions have answered during many changes.
    eventually(async || {
        let (made, puts) = (made.load(Ordering::SeqCst), puts.load(Ordering::SeqCst));
        let both = seen.iter().all(|n| n.load(Ordering::SeqCst) >= 20);
        if made >= 500 && puts > 100 && both {
            Ok(())
        } else {
            Err(format!("{made} calls, {puts} puts, {seen:?}"))
        }
    })
    .await;
    stop.store(true, Ordering::SeqCst);
    for caller in callers {
        caller.await?.map_err(anyhow::Error::msg)?;
    }
    storm.join().expect("the storm ends");
    let grown = memory(process, "VmRSS")?.saturating_sub(before);
    assert!(grown < 128 << 20, "{grown} bytes more after {puts:?} versions");
    folder.put("version", &fixture("version_two"));
    becomes(&clients[0], "two").await;
    Ok(())
}

/// H32: more events than the kernel queues while the host does not read them; the decisive one is among the lost.
#[tokio::test]
async fn events_that_are_lost_cost_no_truth() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    folder.put("version", &fixture("version_one"));
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    becomes(&client, "one").await;
    let kept: usize = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events")?.trim().parse()?;
    let process = host.child.id().and_then(|id| Pid::from_raw(id.cast_signed())).context("the host ended")?;
    kill_process(process, Signal::STOP)?;
    // Each is made or opened for writing, and closed: two events at least.
    for n in 0..kept {
        File::create(folder.path().join(format!("{}.wasm.part", n % 5000)))?;
    }
    folder.put("version", &fixture("version_two"));
    folder.put("late", &fixture("keeps"));
    folder.remove("echo.wasm");
    kill_process(process, Signal::CONT)?;
    becomes(&client, "two").await;
    client.names_become(&["keeps", "version"]).await;
    client.end().await
}
