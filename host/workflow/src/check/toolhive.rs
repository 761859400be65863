//! What never worked in ToolHive, and works here.

use crate::{
    Workflow,
    definition::{place::Reading, uses::Use},
};

pub(super) fn notes(_: &Workflow, _: &[Use], _: &mut Reading) {}
