//! Words that say nothing of anybody: those of the dialects, numbers with units, addresses, handles.

use std::collections::HashSet;
use std::sync::OnceLock;

/// Signs between words.
pub const SIGNS: [char; 25] = [
    '"', '\'', '(', ')', '{', '}', '[', ']', ',', ';', '|', '&', '<', '>', '=', '#', '!', '*', '?', '^', '~', '\\',
    '`', '$', '…',
];

/// The longest value: an address of IPv6 with its prefix.
const LONGEST_VALUE: usize = 48;

/// The longest first word of a line that is not known.
const LONGEST_FIRST: usize = 24;

/// Words that the readers name, one a line: a test renews them.
const WORDS: &str = include_str!("../words.txt");

/// Words that devices type and print, which no reader names: kinds of queues that are not modelled, units, interfaces.
const MORE: &str = include_str!("../more.txt");

struct Words {
    all: HashSet<&'static str>,
    /// Each without one of its letters.
    less: HashSet<String>,
}

fn words() -> &'static Words {
    static WORDS_OF_ALL: OnceLock<Words> = OnceLock::new();
    WORDS_OF_ALL.get_or_init(|| {
        let all: HashSet<_> = WORDS.split_whitespace().chain(MORE.split_whitespace()).collect();
        let less = all.iter().filter(|word| word.len() > 3).flat_map(|word| shorter(word)).collect();
        Words { all, less }
    })
}

/// A word without each of its letters in turn.
fn shorter(word: &str) -> impl Iterator<Item = String> + '_ {
    word.char_indices().map(|(at, c)| format!("{}{}", &word[..at], &word[at + c.len_utf8()..]))
}

/// Whether a word is of a dialect, a value, or written like a word of a dialect but for one letter.
pub fn is_known(word: &str) -> bool {
    let bare = word.trim_end_matches([':', '.']);
    let plain = |c: char| c.is_ascii_punctuation() || c == '\u{2026}';
    // A device takes `Policy-Map`, too.
    let small = bare.to_ascii_lowercase();
    word.chars().all(plain) || is_word(&small) || is_word(bare) || is_word(word) || is_value(word) || is_near(bare)
}

fn is_word(word: &str) -> bool {
    words().all.contains(word)
}

/// Whether a word is one letter away from a word of a dialect.
fn is_near(word: &str) -> bool {
    let words = words();
    let fit = (4..=20).contains(&word.len()) && word.is_ascii();
    let one_off = |less: String| words.all.contains(&*less) || words.less.contains(&less);
    fit && (words.less.contains(word) || shorter(word).any(one_off))
}

/// A number with its unit, an address, a handle, a mask.
fn is_value(word: &str) -> bool {
    word.len() <= LONGEST_VALUE
        && word.is_ascii()
        && (is_number(word) || is_address(word) || word.split('/').all(is_hex))
}

/// `10mbit`, `-4`, `1.5ms`, `10.0.0.0/8`, `1-7`, `15kb/8`
fn is_number(word: &str) -> bool {
    const MOST_DIGITS: usize = 20;
    let word = word.trim_start_matches(['+', '-', '.']);
    let digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '/' | ':');
    let end = word.find(|c| !digit(c)).unwrap_or(word.len());
    let (number, rest) = word.split_at(end);
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let (unit, of) = rest.split_once('/').unwrap_or((rest, ""));
    let is_unit = |unit: &str| unit.is_empty() || unit == "%" || is_word(unit) || is_near(unit);
    let of = of.bytes().all(|byte| byte.is_ascii_digit()) || is_unit(of);
    (1..=MOST_DIGITS).contains(&digits) && is_unit(unit) && of
}

/// `1:10`, `ffff:`, `2001:db8::/32`, `02:00:5e:00:53:01`
fn is_address(word: &str) -> bool {
    let (groups, length) = word.split_once('/').unwrap_or((word, "0"));
    let group =
        |group: &str| group.len() <= 4 && group.bytes().all(|byte| byte.is_ascii_hexdigit()) || is_number(group);
    groups.contains(':') && groups.split(':').all(group) && length.bytes().all(|byte| byte.is_ascii_digit())
}

/// `0xb8`, `00fc0000`
fn is_hex(word: &str) -> bool {
    let digits = |digits: &str| digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match word.to_ascii_lowercase().strip_prefix("0x") {
        Some(hex) => (1..=16).contains(&hex.len()) && digits(hex),
        None => word.len() == 8 && digits(word),
    }
}

/// Whether the first word of a line that is not known may be shown: it is as short as the name of a command, of letters and
/// hyphens, and has at most two digits. Lines of keys and certificates begin with other words.
pub fn is_first(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    (1..=LONGEST_FIRST).contains(&word.len())
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(plain)
        && digits <= 2
}

#[cfg(test)]
mod tests;
