//! The detectors of the documents Holdpoint grew from: short lists of phrases with their own
//! severities, without their known mistakes. They read the same views as Holdpoint's own.

pub(crate) mod obra;
mod phrase;
pub(crate) mod rrclaw;
