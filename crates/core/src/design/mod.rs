//! Rules of design: from a link and its load to parameters.

pub mod lemma31;
