//! Rules of design: from a link and its load to parameters.

pub mod fluid;
pub mod lemma31;
pub mod msvb;
pub mod policer;
