//! Short names of keys: `seed` is `scenario.seed`.

use crate::sections::settings::Settings;
use crate::text::tree::KeyPath;
use perhop_core::params::{Field, Params};

/// A key with its section: one that stands alone is a key of `[scenario]`, if that has it.
pub fn in_full(mut path: KeyPath) -> KeyPath {
    let of_scenario = |name: &str| Field::all(Settings::FIELDS).iter().any(|field| field.name == name);
    if let [(name, place)] = path.as_slice()
        && of_scenario(name)
    {
        let section = ("scenario".to_owned(), *place);
        path.insert(0, section);
    }
    path
}
