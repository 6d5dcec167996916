//! Cisco's modular QoS command line (MQC): IOS, IOS XE, and the defaults of NCS.
//!
//! What is typed, what `show running-config` prints, and what `show policy-map` and `show class-map` print, several
//! pasted together.
//!
//! ```text
//! text -> rows (tree) -> Plan (read: one table of words for each kind of line) -> Device (build)
//! ```

mod acl;
mod build;
pub mod defaults;
/// Lines for keys.
pub mod equivalents;
mod fields;
/// Types of interfaces.
pub(crate) mod interfaces;
mod letters;
pub(crate) mod plan;
pub mod read;
mod rules;
mod tree;

use crate::dialect::{Dialect, Read};
use crate::finding::Fault;
use crate::foreign::{Recognition, unquoted};
use crate::import_options::ImportOptions;
use crate::text::Text;
use letters::Small;
use read::Reader;

/// Cisco IOS.
pub const DIALECT: Dialect = Dialect { name: "ios", title: "Cisco IOS", looks, read, recognition };

/// Starts of lines that no other dialect has.
const LOOKS: &[&str] = &[
    "policy-map",
    "class-map",
    "service-policy",
    "Policy Map",
    "Class-map:",
    "Class Map",
    "Service-policy",
    "priority level",
    "priority percent",
    "bandwidth percent",
    "bandwidth remaining",
    "shape average",
    "police cir",
    "random-detect",
    "queue-limit",
    "conform-action",
    "exceed-action",
    "match access-group",
    "match ip dscp",
    "match ip precedence",
    "match dscp",
    "rate-limit input",
    "rate-limit output",
    "traffic-shape rate",
    "traffic-shape group",
];

/// Lines that only this dialect has.
fn looks(text: &Text) -> usize {
    let is_known = |row: &tree::Row<'_>| {
        LOOKS.iter().any(|start| start.split(' ').enumerate().all(|(i, word)| row.word(i) == word))
    };
    let looks = |row: &tree::Row<'_>| is_known(row) || Small::of(row).is_some_and(|small| is_known(&small.row(row)));
    tree::rows(text).filter(looks).count()
}

fn read(text: &Text, given: &ImportOptions) -> Result<Read, Fault> {
    let text = &without_backticks(text);
    let Reader { plan, mut account, evidence, foreign, mut recognition, .. } = reader(text);
    if plan.policies.is_empty() && plan.attached.is_empty() {
        return Err(empty(foreign));
    }
    let mut findings = Vec::new();
    let device = build::device(&plan, (text, given), &mut account, &mut findings)?;
    plan.names(&mut |name| recognition.name(name));
    Ok(Read { device, account, evidence, findings, recognition, judge: Box::new(rules::Rules(plan)) })
}

/// What is said in a text that [`read`] refuses.
fn recognition(text: &Text) -> Recognition {
    let Reader { plan, mut recognition, .. } = reader(&without_backticks(text));
    plan.names(&mut |name| recognition.name(name));
    recognition
}

fn without_backticks(text: &Text) -> Text {
    Text::of(unquoted(&text.text).into_owned())
}

fn reader(text: &Text) -> Reader {
    let mut reader = Reader::default();
    tree::rows(text).for_each(|row| reader.row(&row));
    reader.finish();
    reader
}

/// A text without policy maps, or with those of firewalls and subscribers alone.
fn empty(foreign: bool) -> Fault {
    let message = match foreign {
        true => "the policy maps of the text are not of QoS but of firewalls, subscribers or routing",
        false => "no policy map is in the text",
    };
    let help = "paste `show running-config`, `show policy-map` or `show policy-map interface`";
    Fault { code: "E305", place: None, message: message.into(), help: help.into() }
}
