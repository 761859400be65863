//! From `[upstream.NAME]` to what `loggia-upstream` starts.

use std::collections::BTreeMap;

use loggia_policy::settings::{HiddenText, Upstream};
use loggia_upstream::{
    CallerHeader, HttpSpec, NamePattern, StdioSpec, ToolOverride, TransportSpec, UpstreamLimits, UpstreamSpec,
};

/// Converts the upstreams of the settings.
pub fn to_specs(upstreams: &BTreeMap<String, Upstream>) -> Vec<UpstreamSpec> {
    upstreams.iter().map(|(name, upstream)| to_spec(name, upstream)).collect()
}

fn to_spec(name: &str, upstream: &Upstream) -> UpstreamSpec {
    let transport = match &upstream.url {
        Some(url) => TransportSpec::Http(HttpSpec {
            url: url.clone(),
            headers: texts(&upstream.headers),
            caller_header: upstream
                .caller_header
                .clone()
                .map(|header| CallerHeader { name: header.name, format: header.format }),
        }),
        None => TransportSpec::Stdio(StdioSpec {
            command: upstream.command.clone().unwrap_or_default(),
            args: upstream.args.clone(),
            env: texts(&upstream.env),
            cwd: upstream.cwd.clone(),
        }),
    };
    let patterns = |all: &[String]| all.iter().map(NamePattern::new).collect();
    let overrides = upstream.overrides.iter().map(|(tool, changes)| {
        let changes = ToolOverride { name: changes.name.clone(), description: changes.description.clone() };
        (tool.clone(), changes)
    });
    UpstreamSpec {
        transport,
        include: patterns(&upstream.include),
        exclude: patterns(&upstream.exclude),
        overrides: overrides.collect(),
        summary: upstream.summary.clone(),
        limits: UpstreamLimits {
            connect: upstream.connect_time.0,
            message: upstream.message.bytes(),
            ..UpstreamLimits::default()
        },
        ..UpstreamSpec::new(name, TransportSpec::Stdio(StdioSpec::default()))
    }
}

fn texts(all: &BTreeMap<String, HiddenText>) -> BTreeMap<String, String> {
    all.iter().map(|(name, HiddenText(value))| (name.clone(), value.clone())).collect()
}
