//! Labels in a policy: who writes them before they are read, what its flow labels can carry, and whether ACKs are seen.

use crate::check::labels::writer_of;
use crate::sections::settings::PolicySettings;
use crate::text::tree;
use perhop_core::conditioner::pps::tags::Scale;
use perhop_core::conditioner::{AnyConditioner, Conditioner as _, Writes};
use perhop_core::flow_label::Carried;
use perhop_core::needs::Needs;
use perhop_core::params::{Node, Place, Problems};

/// A policy: the tree it was read from, `[policy]`, and by name those conditioners that are sound.
type Policy<'a> = (&'a Node, &'a PolicySettings, &'a [(String, AnyConditioner)]);

/// Checks all of it.
pub fn check(policy: Policy<'_>, problems: &mut Problems) {
    direction(policy, problems);
    match policy.1.flow_label {
        Some(carried) => carries(policy, carried, problems),
        None => written_before(policy, problems),
    }
}

fn place((root, ..): Policy<'_>, name: &str, field: &str) -> Place {
    tree::place(root, &["conditioner", name, field])
}

/// What looks at the reverse direction needs to be told which that is.
fn direction(policy: Policy<'_>, problems: &mut Problems) {
    let (_, settings, conditioners) = policy;
    let looks = |it: &AnyConditioner| it.needs().contains(Needs::REVERSE);
    for (name, _) in conditioners.iter().filter(|(_, it)| settings.inside.is_empty() && looks(it)) {
        let message = "this kind looks at what comes back, and nothing does: without `inside` all packets go forward";
        let help = "state the senders' side, as in inside = [\"2001:db8::/32\"] in [policy]";
        problems.warn("W314", place(policy, name, "kind"), [message, "", help]);
    }
}

/// Flow labels carry the one kind of label that the conditioners write and read.
fn carries(policy: Policy<'_>, carried: Carried, problems: &mut Problems) {
    let (root, _, conditioners) = policy;
    let labels = conditioners.iter().flat_map(|(name, it)| labels(it).map(move |label| (name, label)));
    let labels: Vec<_> = labels.collect();
    if labels.is_empty() && conditioners.len() == tree::names(root, "conditioner").len() {
        let message = "`flow-label` where no conditioner writes or reads labels";
        let help = "leave it out, or add a conditioner that does (kind = \"rate-labeller\" or \"pps-tagger\")";
        problems.error::<()>("E239", tree::place(root, &["policy", "flow-label"]), [message, "", help]);
    }
    if let Some((name, label)) = labels.into_iter().find(|(_, label)| !carried.holds(*label)) {
        let message = format!("{} where flow labels carry {}", label.noun(), noun(carried));
        let help = "flow labels carry one kind of label: change `flow-label` in [policy], or make two policies";
        problems.error::<()>("E255", place(policy, name, "kind"), [&message, "", help]);
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

/// Where no flow label brings labels a reader needs a writer before it; tickets on ACKs come from outside alone.
fn written_before(policy: Policy<'_>, problems: &mut Problems) {
    let (.., conditioners) = policy;
    for (i, (name, reader)) in conditioners.iter().enumerate() {
        let Some(read) = reader.reads() else { continue };
        let before = &conditioners[..i];
        if read != Writes::AckTickets && before.iter().any(|(_, it)| it.writes() == read) {
            continue;
        }
        let carried = if read == Writes::Rate { Carried::Rate } else { Carried::Tickets }.name();
        let who = if read == Writes::AckTickets {
            "they come from outside alone"
        } else {
            "no conditioner before it writes them"
        };
        let message = format!("this kind reads {}, and {who}", read.noun());
        let wire = format!("`flow-label = \"{carried}\"` in [policy] if they come in IPv6 flow labels");
        let help = if read == Writes::AckTickets { wire } else { format!("{}, or {wire}", writer_of(read)) };
        problems.error::<()>("E236", place(policy, name, "kind"), [&message, "", &help]);
    }
}

/// All tags of a policy have the same code, and a code at all.
fn one_code(policy: Policy<'_>, problems: &mut Problems) {
    let (.., conditioners) = policy;
    let tags: Vec<_> = conditioners.iter().filter_map(|(name, it)| Some((name, it.tags()?))).collect();
    let Some((first, agreed)) = tags.first() else { return };
    for (name, tags) in &tags {
        if tags.tags == Scale::Real {
            let message = "tags in real numbers where flow labels carry tickets";
            let place = place(policy, name, "tags");
            problems.error::<()>("E255", place, [message, "", "they have no code: tags = \"linear\" or \"log\""]);
        } else if (tags.bits, tags.tags) != (agreed.bits, agreed.tags) {
            let field = if tags.bits == agreed.bits { "tags" } else { "bits" };
            let message = format!("tags of another code than those of `{first}`");
            let label = format!("`{first}` has bits = {}, tags = \"{}\"", agreed.bits, agreed.tags.name());
            let help = "a policy reads and writes one code in flow labels: state the same `bits` and `tags`";
            problems.error::<()>("E255", place(policy, name, field), [&message, &label, help]);
        }
    }
}
