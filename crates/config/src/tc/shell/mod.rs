//! The syntax of a shell in texts with commands of tc.
//!
//! ```text
//! line ─> lexer: pieces ─> variables: words of commands ─> the reader
//!                     loops, parts: which lines are read, and how often
//! ```

/// What a script may make of its text.
pub(super) mod bounds;
/// Pieces of a line.
mod lexer;
/// `for`, `while` and `until`.
pub(super) mod loops;
/// Functions, and branches of `if` and `case`.
pub(super) mod parts;
mod sums;
/// Values and words.
pub(super) mod variables;
