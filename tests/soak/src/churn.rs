//! Continuous changes of the folder.

use std::{sync::Arc, time::Duration};

use anyhow::{Result, bail};
use loggia_tests::PATIENCE;
use serde_json::json;

use crate::{door::Door, host::Entrance, ledger::Ledger, random::Random, site::Site};

/// Two alternating versions, files that are removed and restored, and broken ones.
pub struct Churn {
    random: Random,
    site: Arc<Site>,
    ledger: Arc<Ledger>,
    version: u64,
}

impl Churn {
    pub fn new(random: Random, site: Arc<Site>, ledger: Arc<Ledger>) -> Self {
        Self { random, site, ledger, version: 1 }
    }

    /// One change, and a pause.
    pub async fn step(&mut self) -> Result<()> {
        let done = match self.random.below(10) {
            0..=4 => {
                self.version = 3 - self.version;
                self.site.put_version(self.version);
                "new version"
            }
            5..=6 => {
                self.site.remove("version.wasm");
                tokio::time::sleep(Duration::from_millis(self.random.below(300))).await;
                self.site.put_version(self.version);
                "removed and put back"
            }
            7 => {
                let text = format!("[limits]\nwall = \"{}s\"\n", 10 + self.random.below(20));
                self.site.write("echo.toml", text.as_bytes())?;
                "new policy"
            }
            8 => {
                self.site.write("echo.toml", b"[limits\n")?;
                "broken policy"
            }
            _ => {
                let bytes: Vec<u8> =
                    (0..2000).map(|_| u8::try_from(self.random.below(256)).unwrap_or_default()).collect();
                // At times with the head of a component.
                let head: &[u8] = if self.random.below(2) == 0 { b"\0asm\x0d\0\x01\0" } else { b"" };
                self.site.write("broken.wasm", &[head, &bytes].concat())?;
                "broken file"
            }
        };
        self.ledger.count("folder", done);
        tokio::time::sleep(Duration::from_millis(50 + self.random.below(400))).await;
        Ok(())
    }

    /// Restores the folder for a pause: the second version is served then.
    pub fn tidy(&mut self) -> Result<()> {
        self.site.remove("broken.wasm");
        self.site.remove("echo.toml");
        self.version = 2;
        self.site.put_version(2);
        Ok(())
    }
}

/// Waits until a host serves the state that [`Churn::tidy`] restored.
pub async fn settled(entrance: &Entrance) -> Result<()> {
    let until = tokio::time::Instant::now() + PATIENCE;
    let door = Door::open(entrance, &mut Random::new(0, 0)).await?;
    loop {
        let envelope = door.call("version", &json!({"action": "get"})).await?;
        if envelope["data"] == "two" {
            return door.close().await;
        }
        if tokio::time::Instant::now() > until {
            bail!("the folder's last change never came through: {envelope:.300}");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
