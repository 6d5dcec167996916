//! Parameters: declared once, read with places, all faults in one pass.
//!
//! `#[derive(Params)]` on a struct gives its reader, its defaults, its fields for schema and docs, and
//! their conversion back to text. The input is a tree of nodes that know their place in the file; the crate
//! that parses files makes the tree, so this module does no I/O.

pub use perhop_derive::{Choice, Params};

mod class_name;
mod error;
mod kind;
mod problems;
mod read;
mod spanned;
mod steers;
mod tree;
mod values;

pub use class_name::{CLASS, ClassName, Part, sentence};
pub use error::ParamError;
pub use kind::{Field, Gives, Kind, Literal};
pub use problems::{NEAREST, Problem, Problems, Report, Severity, suggest, unit_code};
pub use read::{Params, Reader, Value, read_table, show_table};
pub use spanned::{Located, Places, Spanned};
pub use steers::{escaped, escaped_but, steers};
pub use tree::{Node, Place, Table, Tree, key};
