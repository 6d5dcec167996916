//! Hashes of results.

use crate::tables::columns::{Table, Values};
use crate::tables::may_lack;

/// Hash of a replication's results: BLAKE3 of all names and values of its tables, 16 hexadecimal digits. How they are
/// written, and with which other replications, does not matter.
pub fn hash(tables: &[Table]) -> String {
    let mut hashed = Hashed(blake3::Hasher::new_derive_key("perhop results v2"), Vec::new());
    tables.iter().filter(|table| has_file(table)).for_each(|table| add(table, &mut hashed));
    hashed.0.update(&hashed.1).finalize().to_hex()[..16].to_owned()
}

/// Bytes that wait to be hashed, at most: tables are never there a second time.
const WAITING: usize = 1 << 16;

/// What is hashed, and what of it waits.
struct Hashed(blake3::Hasher, Vec<u8>);

impl Hashed {
    fn extend(&mut self, bytes: &[u8]) {
        self.1.extend_from_slice(bytes);
        if self.1.len() >= WAITING {
            self.0.update(&self.1);
            self.1.clear();
        }
    }
}

/// Adds a table's names and values: everything is preceded by its length, or has one that is known.
fn add(table: &Table, to: &mut Hashed) {
    add_text(table.name, to);
    add_length(table.columns.len(), to);
    for (name, values) in &table.columns {
        add_text(name, to);
        match values {
            Values::Integers(v) => add_values(b'i', v, to, |n, to| to.extend(&n.to_le_bytes())),
            Values::Reals(v) => add_values(b'r', v, to, |x, to| to.extend(&x.to_bits().to_le_bytes())),
            Values::Texts(v) => add_values(b't', v, to, |text, to| add_text(text, to)),
        }
    }
}

fn add_values<T>(kind: u8, values: &[Option<T>], to: &mut Hashed, add: impl Fn(&T, &mut Hashed)) {
    to.extend(&[kind]);
    add_length(values.len(), to);
    for value in values {
        to.extend(&[u8::from(value.is_some())]);
        value.iter().for_each(|value| add(value, to));
    }
}

fn add_text(text: &str, to: &mut Hashed) {
    add_length(text.len(), to);
    to.extend(text.as_bytes());
}

fn add_length(length: usize, to: &mut Hashed) {
    to.extend(&(length as u64).to_le_bytes());
}

/// Whether a table is written: some have no file when they are empty.
pub fn has_file(table: &Table) -> bool {
    table.rows() > 0 || !may_lack(table.name)
}
