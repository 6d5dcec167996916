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

/// What a dialect says for a key of perhop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equivalent {
    /// The algorithm or section that has the key.
    pub of: &'static str,
    /// The key.
    pub key: &'static str,
    /// The line or its part, values in capitals.
    pub line: &'static str,
    /// Units, and what differs.
    pub note: &'static str,
}
