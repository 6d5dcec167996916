//! Labels in a policy: who writes them before they are read, and what its flow labels can carry.

use crate::labels::writer_of;
use crate::tree;
use perhop_core::conditioner::pps::tags::Scale;
use perhop_core::conditioner::{AnyConditioner, Conditioner as _, Writes};
use perhop_core::flow_label::Carried;
use perhop_core::params::{Node, Place, Problems};

/// A policy whose conditioners are all sound.
pub struct Policy<'a> {
    /// The tree it was read from.
    pub root: &'a Node,
    /// `flow-label`.
    pub carried: Option<Carried>,
    /// By name.
    pub conditioners: &'a [(String, AnyConditioner)],
}

/// Checks all of it.
pub fn check(policy: &Policy<'_>, problems: &mut Problems) {
    let Some(carried) = policy.carried else { return written_before(policy, problems) };
    let labels = policy.conditioners.iter().flat_map(|(name, it)| labels(it).map(move |label| (name, label)));
    let labels: Vec<_> = labels.collect();
    if labels.is_empty() {
        let message = "`flow-label` where no conditioner writes or reads labels";
        let help = "leave it out, or add a conditioner that does (kind = \"rate-labeller\" or \"pps-tagger\")";
        problems.error::<()>("E239", tree::place(policy.root, &["policy", "flow-label"]), [message, "", help]);
    }
    if let Some((name, label)) = labels.into_iter().find(|(_, label)| !carried.holds(*label)) {
        let message = format!("{} where flow labels carry {}", label.noun(), noun(carried));
        let help = "flow labels carry one kind of label: change `flow-label` in [policy], or make two policies";
        problems.error::<()>("E255", policy.place(name, "kind"), [&message, "", help]);
    } else {
        one_code(policy, problems);
    }
}

/// What it writes, if not the colour, and what it reads.
fn labels(it: &AnyConditioner) -> impl Iterator<Item = Writes> {
    [Some(it.writes()), it.reads()].into_iter().flatten().filter(|label| *label != Writes::Colour)
}

const fn noun(carried: Carried) -> &'static str {
    match carried {
        Carried::Tickets => Writes::Tickets.noun(),
        Carried::Rate => Writes::Rate.noun(),
    }
}

impl Policy<'_> {
    fn place(&self, name: &str, field: &str) -> Place {
        tree::place(self.root, &["conditioner", name, field])
    }
}

/// Where no flow label brings labels a reader needs a writer before it; tickets on ACKs come from outside alone.
fn written_before(policy: &Policy<'_>, problems: &mut Problems) {
    for (i, (name, reader)) in policy.conditioners.iter().enumerate() {
        let Some(read) = reader.reads() else { continue };
        let before = &policy.conditioners[..i];
        if read != Writes::AckTickets && before.iter().any(|(_, it)| it.writes() == read) {
            continue;
        }
        let carried = if read == Writes::Rate { Carried::Rate } else { Carried::Tickets }.name();
        let message = format!("this kind reads {}, and no conditioner before it writes them", read.noun());
        let wire = format!("`flow-label = \"{carried}\"` in [policy] if they come in IPv6 flow labels");
        let help = if read == Writes::AckTickets { wire } else { format!("{}, or {wire}", writer_of(read)) };
        problems.error::<()>("E236", policy.place(name, "kind"), [&message, "", &help]);
    }
}

/// All tags of a policy have the same code, and a code at all.
fn one_code(policy: &Policy<'_>, problems: &mut Problems) {
    let tags: Vec<_> = policy.conditioners.iter().filter_map(|(name, it)| Some((name, it.tags()?))).collect();
    let Some((first, agreed)) = tags.first() else { return };
    for (name, tags) in &tags {
        if tags.tags == Scale::Real {
            let message = "tags in real numbers where flow labels carry tickets";
            let place = policy.place(name, "tags");
            problems.error::<()>("E255", place, [message, "", "they have no code: tags = \"linear\" or \"log\""]);
        } else if (tags.bits, tags.tags) != (agreed.bits, agreed.tags) {
            let field = if tags.bits == agreed.bits { "tags" } else { "bits" };
            let message = format!("tags of another code than those of `{first}`");
            let label = format!("`{first}` has bits = {}, tags = \"{}\"", agreed.bits, agreed.tags.name());
            let help = "a policy reads and writes one code in flow labels: state the same `bits` and `tags`";
            problems.error::<()>("E255", policy.place(name, field), [&message, &label, help]);
        }
    }
}
