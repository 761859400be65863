//! Tokens saved by one tool for many actions: seeds 000 and 004.
//!
//! In bytes of the list, as clients hand it to a model; o200k_base makes a token of about four of them.

use anyhow::Result;

use super::stage::Stage;

/// The share that a form saves of one tool for each action, in percent of the list's bytes.
async fn saved(names: &[&str], form: &str) -> Result<usize> {
    let mut bytes = Vec::new();
    for form in ["granular", form] {
        let stage = Stage::with(names);
        for name in names {
            stage.policy(name, "", &format!("[expose]\nschema = \"{form}\""));
        }
        bytes.push(serde_json::to_string(&stage.tools().await?)?.len());
    }
    Ok(100 - 100 * bytes[1] / bytes[0])
}

#[tokio::test]
async fn one_tool_costs_half_of_separate_tools() -> Result<()> {
    let flat = saved(&["projects"], "flat").await?;
    assert!((40..=70).contains(&flat), "{flat} percent");
    Ok(())
}

#[tokio::test]
async fn all_domains_cost_a_fraction_of_their_verbs() -> Result<()> {
    let domains = ["projects", "pipelines", "bank", "handoff", "memories_lite"];
    for (form, least) in [("flat", 40), ("signatures", 60), ("names", 60)] {
        let saved = saved(&domains, form).await?;
        assert!(saved >= least, "{form}: {saved} percent");
    }
    Ok(())
}
