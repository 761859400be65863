//! How a component is packed into an artifact: which layer it is, and which manifest names it. Pure.
//!
//! Two layouts are common. Artifacts for Wasm, as wassette, wkg and act pull and push them, have a configuration of the media type
//! `application/vnd.wasm.config.v0+json` and the component as the layer `application/wasm`. Applications of Spin have a configuration
//! that names their components, and one layer for each.

use bytes::Bytes;
use oci_client::manifest::{OciDescriptor, OciImageManifest};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    component_names::ComponentNames,
    digest::{digest_of, is_digest},
};

/// Media type of manifests.
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const WASM_CONFIG: &str = "application/vnd.wasm.config.v0+json";
const WASM_LAYER: &str = "application/wasm";
const SPIN_CONFIG: &str = "application/vnd.fermyon.spin.application.v1+config";
const SPIN_LAYER: &str = "application/vnd.wasm.content.layer.v1+wasm";
/// Media types of layers that are components.
const COMPONENT_LAYERS: [&str; 3] =
    [WASM_LAYER, SPIN_LAYER, "application/vnd.bytecodealliance.wasm.component.layer.v0+wasm"];
/// Time in configurations: artifacts of the same component have the same digest.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// Why an artifact is no plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// It is another kind of document.
    #[error("the manifest is invalid: {0}")]
    Manifest(String),
    /// It lists artifacts.
    #[error("it is an index of artifacts; name one of them by its digest")]
    Index,
    /// No layer is a component.
    #[error("it has no component: no layer has the media type {WASM_LAYER} or {SPIN_LAYER}")]
    NoComponent,
    /// More than one layer is.
    #[error("it has more than one component; name one with --component: {0}")]
    Components(String),
    /// Its application has no such component.
    #[error("it has no component `{0}`; it has: {1}")]
    NoSuch(String, String),
    /// What is to be pushed is no component.
    #[error("the file is no WebAssembly component")]
    NotWasm,
    /// What is to be pushed is damaged.
    #[error("the component is damaged: {0}")]
    Damaged(String),
}

/// Layout of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactLayout {
    /// An artifact for Wasm.
    Wasm,
    /// An application of Spin, with one component.
    Spin,
}

/// The layer that is the component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentLayer {
    /// Its digest.
    pub digest: String,
    /// Its size in bytes, as the manifest has it.
    pub size: u64,
}

/// A blob that a manifest names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedBlob {
    pub digest: String,
    pub size: u64,
}

/// An artifact to push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedArtifact {
    /// The manifest.
    pub manifest: Bytes,
    /// Blobs that it names: configuration, component.
    pub blobs: [Bytes; 2],
}

impl PackedArtifact {
    /// Packs a component. The same component, name and version have the same digest.
    ///
    /// # Errors
    ///
    /// If the bytes are no component.
    pub fn pack(
        layout: ArtifactLayout,
        component: Bytes,
        name: &str,
        version: &str,
    ) -> Result<Self, LayoutError> {
        let names = ComponentNames::read(&component)
            .map_err(|error| LayoutError::Damaged(error.to_string()))?
            .ok_or(LayoutError::NotWasm)?;
        let digest = digest_of(&component);
        let (media_type, layer, config) = match layout {
            ArtifactLayout::Wasm => (WASM_CONFIG, WASM_LAYER, wasm_config(&names, &digest)),
            ArtifactLayout::Spin => (SPIN_CONFIG, SPIN_LAYER, spin_config(name, version, &digest)),
        };
        let config = Bytes::from(config.to_string());
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": media_type, "digest": digest_of(&config), "size": config.len()},
            "layers": [{
                "mediaType": layer,
                "digest": digest,
                "size": component.len(),
                "annotations": {"org.opencontainers.image.title": format!("{name}.wasm")},
            }],
            "annotations": {"org.opencontainers.image.title": name, "org.opencontainers.image.version": version},
        });
        Ok(Self { manifest: Bytes::from(manifest.to_string()), blobs: [config, component] })
    }

    /// Digest of the manifest: that of the artifact.
    pub fn digest(&self) -> String {
        digest_of(&self.manifest)
    }
}

fn wasm_config(names: &ComponentNames, digest: &str) -> Value {
    json!({
        "created": CREATED,
        "architecture": "wasm",
        "os": "wasip2",
        "layerDigests": [digest],
        "component": {"exports": names.exports, "imports": names.imports},
    })
}

fn spin_config(name: &str, version: &str, digest: &str) -> Value {
    json!({
        "spin_lock_version": 1,
        "metadata": {"name": name, "version": version},
        "triggers": [],
        "components": [{"id": name, "source": {"content_type": WASM_LAYER, "digest": digest}}],
    })
}

/// The configuration of a Spin application, as far as it names components.
#[derive(Debug, Deserialize)]
struct SpinApplication {
    components: Vec<SpinComponent>,
}

#[derive(Debug, Deserialize)]
struct SpinComponent {
    id: String,
    source: SpinSource,
}

#[derive(Debug, Deserialize)]
struct SpinSource {
    #[serde(default)]
    digest: String,
}

/// Parses a manifest.
///
/// # Errors
///
/// If it is an index, or damaged.
pub(crate) fn parse_manifest(bytes: &[u8]) -> Result<OciImageManifest, LayoutError> {
    let invalid = |error: serde_json::Error| LayoutError::Manifest(error.to_string());
    let document: Value = serde_json::from_slice(bytes).map_err(invalid)?;
    if document.get("manifests").is_some() {
        return Err(LayoutError::Index);
    }
    let manifest: OciImageManifest = serde_json::from_value(document).map_err(invalid)?;
    let is_valid = |blob: &OciDescriptor| is_digest(&blob.digest) && blob.size >= 0;
    if !is_valid(&manifest.config) || !manifest.layers.iter().all(is_valid) {
        return Err(LayoutError::Manifest("a part has no SHA-256 digest, or no size".to_owned()));
    }
    Ok(manifest)
}

/// Configuration of a Spin application, if the artifact is one.
pub(crate) fn spin_application(manifest: &OciImageManifest) -> Option<NamedBlob> {
    (manifest.config.media_type == SPIN_CONFIG).then(|| NamedBlob {
        digest: manifest.config.digest.clone(),
        size: manifest.config.size.unsigned_abs(),
    })
}

/// Finds the layer that is the component: the only one, or that of the named component of an application.
///
/// # Errors
///
/// If there is none, or more than one and none is named.
pub(crate) fn find_component(
    manifest: &OciImageManifest,
    application: Option<&[u8]>,
    component: Option<&str>,
) -> Result<ComponentLayer, LayoutError> {
    let layers = manifest.layers.iter().filter(|layer| COMPONENT_LAYERS.contains(&&*layer.media_type));
    let layers: Vec<_> = layers
        .map(|layer| ComponentLayer { digest: layer.digest.clone(), size: layer.size.unsigned_abs() })
        .collect();
    let named = match application {
        None => layers.iter().map(|layer| (layer.digest.clone(), layer)).collect(),
        Some(text) => name_layers(text, &layers)?,
    };
    let ids = || named.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>().join(", ");
    match (component, &named[..]) {
        (_, []) => Err(LayoutError::NoComponent),
        (None, [(_, layer)]) => Ok((*layer).clone()),
        (None, _) => Err(LayoutError::Components(ids())),
        (Some(wanted), named) => named
            .iter()
            .find(|(id, _)| id == wanted)
            .map(|(_, layer)| (*layer).clone())
            .ok_or_else(|| LayoutError::NoSuch(wanted.to_owned(), ids())),
    }
}

/// Pairs the components of a Spin application with their layers.
fn name_layers<'a>(
    application: &[u8],
    layers: &'a [ComponentLayer],
) -> Result<Vec<(String, &'a ComponentLayer)>, LayoutError> {
    let application: SpinApplication = serde_json::from_slice(application)
        .map_err(|error| LayoutError::Manifest(format!("the configuration of the application: {error}")))?;
    let named = application.components.into_iter().filter_map(|component| {
        let layer = layers.iter().find(|layer| layer.digest == component.source.digest)?;
        Some((component.id, layer))
    });
    Ok(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest component: the header alone.
    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    fn manifest(config: &str, layers: &[(&str, &str)]) -> OciImageManifest {
        let layers = layers.iter().map(|(media, content)| {
            json!({"mediaType": media, "digest": digest_of(content.as_bytes()), "size": content.len()})
        });
        let document = json!({
            "schemaVersion": 2,
            "config": {"mediaType": config, "digest": digest_of(b"{}"), "size": 2},
            "layers": layers.collect::<Vec<_>>(),
        });
        parse_manifest(document.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn what_is_packed_is_found_again() {
        for layout in [ArtifactLayout::Wasm, ArtifactLayout::Spin] {
            let packed = PackedArtifact::pack(layout, COMPONENT.into(), "notes", "1.2.0").unwrap();
            let again = PackedArtifact::pack(layout, COMPONENT.into(), "notes", "1.2.0").unwrap();
            assert_eq!(packed.digest(), again.digest());
            let manifest = parse_manifest(&packed.manifest).unwrap();
            let application = spin_application(&manifest).map(|config| {
                assert_eq!(config.digest, digest_of(&packed.blobs[0]));
                &packed.blobs[0][..]
            });
            assert_eq!(application.is_some(), layout == ArtifactLayout::Spin);
            let layer = find_component(&manifest, application, None).unwrap();
            assert_eq!((layer.digest, layer.size), (digest_of(COMPONENT), 8));
        }
        for (bytes, expected) in
            [(&b"no wasm"[..], LayoutError::NotWasm), (b"\0asm\x01\0\0\0", LayoutError::NotWasm)]
        {
            let error = PackedArtifact::pack(ArtifactLayout::Wasm, bytes.into(), "a", "1").unwrap_err();
            assert_eq!(error, expected);
        }
        let damaged = [COMPONENT, b"\x0a\x7f"].concat();
        let error = PackedArtifact::pack(ArtifactLayout::Wasm, damaged.into(), "a", "1").unwrap_err();
        assert!(matches!(error, LayoutError::Damaged(_)), "{error}");
    }

    #[test]
    fn one_layer_is_the_component() {
        let policy = ("application/vnd.wassette.policy+yaml", "p");
        let (one, two) = ((WASM_LAYER, "1"), (SPIN_LAYER, "2"));
        let wasm = manifest(WASM_CONFIG, &[policy, one]);
        assert_eq!(find_component(&wasm, None, None).unwrap().digest, digest_of(b"1"));
        let none = manifest(WASM_CONFIG, &[policy]);
        assert_eq!(find_component(&none, None, None), Err(LayoutError::NoComponent));
        let both = manifest(WASM_CONFIG, &[one, two]);
        assert!(matches!(find_component(&both, None, None), Err(LayoutError::Components(_))));
        let named = find_component(&both, None, Some(&digest_of(b"2"))).unwrap();
        assert_eq!(named.digest, digest_of(b"2"));
    }

    #[test]
    fn components_of_applications_have_names() {
        let data = ("application/vnd.wasm.content.layer.v1+data", "d");
        let app = manifest(SPIN_CONFIG, &[(SPIN_LAYER, "1"), (SPIN_LAYER, "2"), data]);
        let component = |id: &str, content: &str| json!({"id": id, "source": {"content_type": WASM_LAYER, "digest": digest_of(content.as_bytes())}});
        let config =
            json!({"components": [component("web", "1"), component("notes", "2"), component("gone", "3")]});
        let config = config.to_string();
        let find = |name| find_component(&app, Some(config.as_bytes()), name);
        assert_eq!(find(Some("notes")).unwrap().digest, digest_of(b"2"));
        assert_eq!(find(None), Err(LayoutError::Components("web, notes".to_owned())));
        assert_eq!(find(Some("gone")), Err(LayoutError::NoSuch("gone".to_owned(), "web, notes".to_owned())));
        assert!(find_component(&app, Some(b"{}"), None).is_err());
    }

    #[test]
    fn other_documents_are_refused() {
        for (text, expected) in [
            ("", "invalid"),
            ("[]", "invalid"),
            ("{}", "invalid"),
            (r#"{"manifests": []}"#, "an index"),
            (
                r#"{"schemaVersion":2,"config":{"mediaType":"a","digest":"sha256:../../x","size":1},"layers":[]}"#,
                "no SHA-256 digest",
            ),
            (
                r#"{"schemaVersion":2,"config":{"mediaType":"a","digest":"md5:0","size":1},"layers":[]}"#,
                "no SHA-256 digest",
            ),
        ] {
            let error = parse_manifest(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
