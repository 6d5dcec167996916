//! `docs/reference/dialects.md`: perhop's keys, tc's words and IOS's lines beside each other, from the tables by which configurations
//! are read and the registries of what they are read into.

use perhop_config::equivalents::{Equivalent, Row};
use perhop_config::{ios, tc};
use perhop_core::classify::Match;
use perhop_core::params::{Field, Params};
use perhop_core::port::ShaperParams;
use perhop_core::{aqm, conditioner, sched};
use perhop_scenario::sections::conditioner::Actions;
use perhop_scenario::sections::link::LinkSection;
use perhop_scenario::sections::queue::QueueCommon;

const HEAD: &str = "# Dialects

What a key of perhop is in Linux's `tc` and in Cisco's IOS, and the other way round. `perhop explain FILE --as tc` and `--as ios` write
these words, and configurations are read by the same tables. This page is generated from them (`make renew WHAT=docs`).

Words in capitals stand for values. In tc `RATE` is bit/s with a unit, as in `10mbit` (`10mbps` is bytes/s), `BYTES` may have a `k` of
1024, `N` is a number, `TIME` has a unit or is in microseconds, `NS` likewise in nanoseconds, `SHARE` is a number or per cent. In IOS `BPS`
is bit/s, `KBIT` is kbit/s, `BC` is bits; `MIN`, `MAX` and `BYTES` say what they count.

Keys of tc are those of `arithmetic = \"linux\"`. What neither dialect has is not listed: the writers say what they leave out.
";

/// A section or an algorithm with its keys.
struct Of {
    name: String,
    keys: Vec<String>,
}

/// The page.
pub(super) fn page() -> String {
    let mut out = HEAD.to_owned();
    for of in all() {
        out += &section(&of);
    }
    out += "\n## Words of tc\n\nEach word that is read, by the queueing discipline that has it.\n";
    out += &words(&tc::equivalents::rows());
    out += "\n## Words of IOS\n\nEach word that is read, by where it stands.\n";
    out + &words(&ios::equivalents::rows())
}

/// In the order of the reference.
fn all() -> Vec<Of> {
    let fields = |fields: &'static [Field]| Field::all(fields).into_iter().map(|it| it.name.to_owned()).collect();
    let of = |name: &str, keys| Of { name: name.to_owned(), keys };
    let sections = [
        of("[links]", fields(<LinkSection as Params>::FIELDS)),
        of("[queue]", fields(<QueueCommon as Params>::FIELDS)),
        of("shape", fields(<ShaperParams as Params>::FIELDS)),
    ];
    let lists = [aqm::LIST, sched::LIST, conditioner::LIST];
    let kinds = lists
        .into_iter()
        .flatten()
        .map(|entry| of(entry.name, entry.parameters().into_iter().map(|it| it.0).collect()));
    let last = [of("actions", fields(<Actions as Params>::FIELDS)), of("match", fields(<Match as Params>::FIELDS))];
    sections.into_iter().chain(kinds).chain(last).collect()
}

/// A table of keys; nothing of what no dialect has.
fn section(of: &Of) -> String {
    let rows: Vec<_> = of.keys.iter().filter_map(|key| row(&of.name, key)).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n## `{}`\n\n| key | tc | IOS | |\n|---|---|---|---|\n{}", of.name, rows.concat())
}

fn row(of: &str, key: &str) -> Option<String> {
    let said = |list: &'static [Equivalent]| list.iter().filter(move |it| it.is_for(of, key)).collect::<Vec<_>>();
    let (own, lines, words) =
        (said(tc::equivalents::EQUIVALENTS), said(ios::equivalents::EQUIVALENTS), tc::equivalents::words(of, key));
    if own.is_empty() && lines.is_empty() && words.is_empty() {
        return None;
    }
    let word = |it: &Row| code(format!("{} {} {}", it.of, it.word, it.value).trim_end());
    let of_tc: Vec<_> = words.iter().map(word).chain(own.iter().map(|it| code(it.line))).collect();
    let of_ios: Vec<_> = lines.iter().flat_map(|it| it.line.split(", ")).map(code).collect();
    let made = words.iter().filter(|it| !it.means.starts_with('`') || it.means.contains(", "));
    let mut notes: Vec<String> = made.map(|it| format!("tc's `{}`: {}", it.word, it.means)).collect();
    notes.extend(own.iter().filter(|it| !it.note.is_empty()).map(|it| format!("tc: {}", it.note)));
    notes.extend(lines.iter().filter(|it| !it.note.is_empty()).map(|it| format!("IOS: {}", it.note)));
    Some(format!("| `{key}` | {} | {} | {} |\n", of_tc.join(", "), of_ios.join(", "), cell(&notes.join("; "))))
}

/// Every word, in a table for each that has some.
fn words(rows: &[Row]) -> String {
    let mut out = String::new();
    for own in rows.chunk_by(|a, b| a.of == b.of) {
        out += &format!("\n### `{}`\n\n| word | perhop |\n|---|---|\n", own[0].of);
        for it in own {
            let word = code(format!("{} {}", it.word, it.value).trim_end());
            out += &format!("| {word} | {} |\n", cell(&it.means));
        }
    }
    out
}

fn code(text: &str) -> String {
    format!("`{}`", cell(text))
}

/// A bar ends a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Keys that a table has and no section.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_of_a_key() {
        let all = all();
        for said in tc::equivalents::EQUIVALENTS.iter().chain(ios::equivalents::EQUIVALENTS) {
            for (name, key) in said.of.split('|').flat_map(|of| said.key.split('|').map(move |key| (of, key))) {
                let has = |of: &Of| of.name == name && of.keys.iter().any(|it| it == key);
                assert!(all.iter().any(has), "{said:?}");
            }
        }
    }
}
