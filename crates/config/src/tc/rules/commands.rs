//! Lines of `tc` to write instead.

use crate::rules::case::At;
pub(super) use crate::tc::numbers::{size, typed_rate as rate};
use crate::value::{Settings, Value};

/// The command that makes a qdisc of HTB with these keys; neither `r2q` nor `default` can be changed later.
pub(super) fn htb(at: At<'_>, default: Option<&str>, r2q: Option<u64>) -> String {
    let place = if at.root { "root" } else { "parent .." };
    let mut line = format!("tc qdisc add dev {} {place} handle {} htb", at.port.interface.is, at.queue.name.is);
    let rest = at.queue.classes.iter().find(|class| class.rest).map(|class| class.name.is.as_str());
    if let Some(class) = default.or(rest) {
        line += &format!(" default {}", class.split_once(':').map_or(class, |(_, minor)| minor));
    }
    if let Some(r2q) = r2q.map(|r2q| r2q.to_string()).or_else(|| word(&at.queue.settings, "r2q")) {
        line += &format!(" r2q {r2q}");
    }
    line + ", which can be set only when the qdisc is made"
}

/// The command that changes a class of HTB: with all that the text says of it, for what a change leaves away falls back
/// to its default. `keys` replace what is said.
pub(super) fn change(at: At<'_>, class: usize, keys: &[(&str, String)]) -> String {
    let it = &at.queue.classes[class];
    let parent = it.parent.and_then(|i| at.queue.classes.get(i)).map_or(&at.queue.name, |above| &above.name);
    let mut line =
        format!("tc class change dev {} parent {} classid {} htb", at.port.interface.is, parent.is, it.name.is);
    for key in ["rate", "ceil", "burst", "cburst", "prio", "quantum"] {
        let other = keys.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone());
        if let Some(value) = other.or_else(|| word(&it.settings, key)) {
            line += &format!(" {key} {value}");
        }
    }
    line
}

/// The value of a key that the text says.
fn word(settings: &Settings, key: &str) -> Option<String> {
    match settings.said(key)?.is {
        Value::Rate(it) => Some(rate(it)),
        // `quantum` is a plain number there.
        Value::Bytes(it) if key == "quantum" => Some(it.get().to_string()),
        Value::Bytes(it) => Some(size(it)),
        Value::Count(it) => Some(it.to_string()),
        _ => None,
    }
}
