//! What the words of the dialects are in perhop: rows of docs/reference/dialects.md, from the tables by which texts are read.

/// A word of a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Whose word: a queueing discipline, `class of a policy map`.
    pub of: String,
    /// As it is typed.
    pub word: String,
    /// What follows it, with its unit.
    pub value: String,
    /// Its key in perhop, or what becomes of it.
    pub means: String,
}

/// What a dialect says for keys of perhop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equivalent {
    /// The algorithms or sections that have the keys, with `|` between them.
    pub of: &'static str,
    /// The keys, likewise.
    pub key: &'static str,
    /// The line or its part, values in capitals.
    pub line: &'static str,
    /// Units, and what differs.
    pub note: &'static str,
}

impl Equivalent {
    /// Whether it is for a key of an algorithm or section.
    pub fn is_for(&self, of: &str, key: &str) -> bool {
        self.of.split('|').any(|it| it == of) && self.key.split('|').any(|it| it == key)
    }
}
