//! Alibaba's Qwen Code.

pub(crate) mod payload;
pub(crate) mod settings;
