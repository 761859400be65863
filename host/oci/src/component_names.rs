//! What a component imports and exports: the configuration of an artifact lists it.

use wasmparser::{BinaryReaderError, Parser, Payload};

/// Interfaces of a component.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComponentNames {
    /// What it imports, in its order.
    pub imports: Vec<String>,
    /// What it exports, in its order.
    pub exports: Vec<String>,
}

impl ComponentNames {
    /// Reads the names of a component; `None` if the bytes are none.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, BinaryReaderError> {
        if !Parser::is_component(bytes) {
            return Ok(None);
        }
        let (mut names, mut depth) = (Self::default(), 0_usize);
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 0 => {
                    for import in section {
                        names.imports.push(import?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 0 => {
                    for export in section {
                        names.exports.push(export?.name.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(Some(names))
    }
}
