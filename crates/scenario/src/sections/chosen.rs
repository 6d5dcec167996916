//! Tables that name their algorithm: the common part, the algorithm's own keys, nothing else.

use perhop_core::params::{Node, Place, Problems, Reader, Spanned, Table, Tree, Value, suggest};

/// Keys and values to be written.
pub type Entries<'a> = Vec<(&'a str, Tree)>;

/// A node that has to be a table.
pub fn table<'a>(node: &'a Node, problems: &mut Problems) -> Option<&'a Table> {
    match &node.tree {
        Tree::Table(table) => Some(table),
        other => {
            let message = format!("expected a table, found {}", other.noun());
            problems
                .error("E003", node.place, message)
                .help("write a heading in brackets and key = value below it")
                .none()
        }
    }
}

/// Reads a table that names its algorithm by `key`: the common part, the algorithm's own, nothing else.
/// Unknown keys are reported only once the algorithm is known.
pub fn chosen<T>(
    node: &Node,
    problems: &mut Problems,
    read: impl FnOnce(&mut Reader<'_>) -> (bool, Option<T>),
) -> Option<T> {
    let table = table(node, problems)?;
    let mut reader = Reader::new(table, node.place, problems);
    let (known, out) = read(&mut reader);
    if known {
        reader.finish();
    }
    out
}

/// The name of the algorithm: the value at `key`, or `default`; `None`, with the reason reported, if there is none. Any
/// text is a name here, that of no algorithm included: the algorithms' reader reports those.
pub fn name_of(
    reader: &mut Reader<'_>,
    key: &'static str,
    default: Option<&str>,
    names: &[&str],
) -> Option<Spanned<String>> {
    let place = reader.place_of(key);
    match (reader.take(key), default) {
        (Some(node), _) => String::read(node, reader.problems).map(|name| Spanned::new(place, name)),
        (None, Some(default)) => Some(Spanned::new(place, default.to_owned())),
        (None, None) => {
            let (section, entries) = (reader.problems.section(), reader.entries());
            let mut say = |code, place, message: String, help: &str| {
                reader.problems.error(code, place, message).help(help);
            };
            let help = format!("one of {}", names.join(", "));
            match misspelt(entries, key) {
                Some((name, at)) => {
                    say("E004", at, format!("unknown key `{name}` in {section}"), &suggest(name, &[key]))
                }
                None => say("E005", place, format!("missing key `{key}` in {section}"), &help),
            }
            None
        }
    }
}

/// The key that was probably intended as `key`, which is missing.
fn misspelt<'a>(entries: &'a [(String, Place, Node)], key: &str) -> Option<(&'a str, Place)> {
    let meant = entries.iter().find(|e| suggest(&e.0, &[key]).starts_with("did you mean"));
    meant.map(|e| (e.0.as_str(), e.1))
}

/// A value that is written as text.
pub fn text<T: Value>(node: &Node, problems: &mut Problems) -> Option<String> {
    match &node.tree {
        Tree::Text(text) => Some(text.clone()),
        _ => problems.wrong_type(node, &T::KIND),
    }
}
