//! Compares where calls run: Loggia against itself under each thread model.

use std::{fs, time::Duration};

use anyhow::{Context, Result};

use crate::{
    call::Call,
    config::Server,
    figures::Figures,
    flood::{Flood, percentile, us},
    goals::Line,
    measure::{Scale, first_call, open_stdio},
    stage::{FACADE, Stage},
};

/// Name of the looping plugin, as long as the facade's own.
const LOOPS: &str = "loops";
/// Concurrent looping calls: the maximum of one plugin.
const LOOPING: usize = 8;
/// A loop must outlast a block.
const POLICY: &str = "[limits]\ncpu = \"60s\"\nwall = \"5m\"\n";
/// Number of blocks next to the loops; the server is restarted for each.
const BLOCKS: usize = 3;

/// Configures Loggia for each of these models, each with a plugin that will loop next to the measured one.
pub fn servers(stage: &Stage, models: &[String]) -> Result<Vec<Server>> {
    let server = |model: &String| {
        let mut server = stage.loggia(model, &["--threads", model])?;
        let folder =
            server.reload.take().and_then(|r| Some(r.file.parent()?.to_owned())).context("no folder")?;
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("{LOOPS}.wasm")), stage.renamed(LOOPS)?)?;
        fs::write(folder.join(format!("{LOOPS}.toml")), POLICY)?;
        Ok(server)
    };
    models.iter().map(server).collect()
}

/// Small calls of a plugin that behaves, while another plugin's calls loop.
pub fn beside_loops(server: &Server, scale: Scale, f: &mut Figures) -> Result<()> {
    let (mut alone, mut several) = (Flood::default(), Flood::default());
    for _ in 0..BLOCKS {
        let mut live = open_stdio(server)?;
        first_call(server, &mut live)?;
        let looping = Server { facade: Some(LOOPS.into()), ..server.clone() };
        let spin = Call::new(&looping, "spin", None);
        let ids: Vec<u64> =
            (0..LOOPING).map(|_| live.client.send("tools/call", &spin.params)).collect::<Result<_>>()?;
        std::thread::sleep(Duration::from_millis(500));
        let mut small = Call::small(server);
        let budget = Duration::from_secs(3);
        alone.add(live.client.flood(&mut small, scale.calls(500), 1, budget)?);
        several.add(live.client.flood(&mut small, scale.calls(1000), 16, budget)?);
        for id in ids {
            anyhow::ensure!(live.client.wait(id, Duration::ZERO)?.is_none(), "a loop ended by itself");
        }
    }
    f.set("loops.seq100B.p50_us", us(percentile(&mut alone.latencies, 50)));
    f.set("loops.seq100B.p99_us", us(percentile(&mut alone.latencies, 99)));
    f.set("loops.seq100B.most_us", us(percentile(&mut alone.latencies, 100)));
    f.set("loops.x16.p50_us", us(percentile(&mut several.latencies, 50)));
    f.set("loops.x16.p99_us", us(percentile(&mut several.latencies, 99)));
    f.set("loops.rate100B_x16", several.rate());
    f.set("loops.calls_never_answered", (alone.lost + several.lost) as f64);
    Ok(())
}

/// The lines of this comparison.
pub fn lines() -> Vec<Line> {
    let line = |label, key| Line::new(label, key, None);
    vec![
        line("quiet 100 B p50, µs", "stdio.seq100B.p50_us"),
        line("quiet 100 B p99, µs", "stdio.seq100B.p99_us"),
        line("calls/s, 16 in flight", "stdio.rate100B_x16"),
        line("calls/s, 64 in flight", "stdio.rate100B_x64"),
        line("64 KiB p50, µs", "stdio.seq64K.p50_us"),
        line("64 KiB calls/s, 16 in flight", "stdio.rate64K_x16"),
        line("CPU per 100 B call, µs", "stdio.cpu_us_per_100B_call"),
        line("CPU per 100 B call, 64 in flight, µs", "stdio.cpu_us_per_100B_call_x64"),
        line("beside 8 loops: p50, µs", "loops.seq100B.p50_us"),
        line("beside 8 loops: p99, µs", "loops.seq100B.p99_us"),
        line("beside 8 loops: longest, µs", "loops.seq100B.most_us"),
        line("beside 8 loops, 16 in flight: p50, µs", "loops.x16.p50_us"),
        line("beside 8 loops, 16 in flight: p99, µs", "loops.x16.p99_us"),
        line("beside 8 loops: calls/s, 16 in flight", "loops.rate100B_x16"),
        line("beside 8 loops: never answered", "loops.calls_never_answered"),
    ]
}

// One name overwrites the other in the component.
const _: () = assert!(LOOPS.len() == FACADE.len());
