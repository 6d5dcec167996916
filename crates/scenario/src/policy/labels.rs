//! Labels in a policy: who writes them before they are read, what its flow labels can carry, and whether ACKs are seen.

use crate::check::labels::{Unwritten, does_without, writer_of};
use crate::sections::settings::PolicySettings;
use perhop_core::conditioner::pps::tags::{LeastTag, Scale};
use perhop_core::conditioner::{AnyConditioner, Conditioner as _, Writes};
use perhop_core::flow_label::Carried;
use perhop_core::needs::Needs;
use perhop_core::params::{Place, Places, Problems, Spanned};

/// A sound conditioner of a policy.
pub(super) struct Labeller<'a> {
    pub(super) name: String,
    /// Where its kind is stated.
    pub(super) kind: Place,
    /// Where its parameters are.
    pub(super) places: &'a Places,
    pub(super) conditioner: AnyConditioner,
}

/// What the checks look at.
#[derive(Clone, Copy)]
pub(super) struct Labels<'a> {
    pub(super) settings: &'a PolicySettings,
    /// Whether these are all of the file's.
    pub(super) complete: bool,
    /// In the file's order.
    pub(super) conditioners: &'a [Labeller<'a>],
}

/// Checks all of it.
pub(super) fn check(policy: Labels<'_>, problems: &mut Problems) {
    direction(policy, problems);
    match policy.settings.flow_label {
        Some(carried) => carries(policy, carried, problems),
        None => written_before(policy, problems),
    }
}

/// A conditioner that looks at the reverse direction needs `inside` to know which that is.
fn direction(policy: Labels<'_>, problems: &mut Problems) {
    let looks = |it: &&Labeller<'_>| it.conditioner.needs().contains(Needs::REVERSE);
    for it in policy.conditioners.iter().filter(|it| policy.settings.inside.is_empty() && looks(it)) {
        let message = "this kind needs return traffic, but without `inside` all packets count as forward";
        let help = "state the senders' side, as in inside = [\"2001:db8::/32\"] in [policy]";
        problems.warn("W314", it.kind, message).help(help);
    }
}

/// Flow labels carry the one kind of label that the conditioners write and read.
fn carries(policy: Labels<'_>, carried: Spanned<Carried>, problems: &mut Problems) {
    let labels = policy.conditioners.iter().flat_map(|it| labels(&it.conditioner).map(move |label| (it.kind, label)));
    let labels: Vec<_> = labels.collect();
    if labels.is_empty() && policy.complete {
        let message = "`flow-label`, but no conditioner writes or reads labels";
        let help = "remove `flow-label`, or add a conditioner that writes or reads labels (kind = \"rate-labeller\" or \"pps-tagger\")";
        problems.error("E239", carried.place, message).help(help);
    }
    if let Some((kind, label)) = labels.into_iter().find(|(_, label)| !carried.holds(*label)) {
        let message = format!("{}, but flow labels carry {}", label.noun(), noun(*carried));
        let help = "flow labels carry one kind of label: change `flow-label` in [policy], or make two policies";
        problems.error("E255", kind, message).help(help);
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

/// If no flow label brings labels, a reader needs a writer before it, unless it can do without; tickets on ACKs come only from
/// outside.
fn written_before(policy: Labels<'_>, problems: &mut Problems) {
    for (i, reader) in policy.conditioners.iter().enumerate() {
        let Some(read) = reader.conditioner.reads() else { continue };
        let before = &policy.conditioners[..i];
        if read != Writes::AckTickets && before.iter().any(|it| it.conditioner.writes() == read) {
            continue;
        }
        let carried = if read == Writes::Rate { Carried::Rate } else { Carried::Tickets }.name();
        let who = if read == Writes::AckTickets {
            "they come only from outside"
        } else {
            "no conditioner before it writes them"
        };
        let message = format!("this kind reads {}, and {who}", read.noun());
        let wire = format!("set `flow-label = \"{carried}\"` in [policy] if they come in IPv6 flow labels");
        let help = if read == Writes::AckTickets { wire } else { format!("{}, or {wire}", writer_of(read)) };
        let does_without = does_without(read, reader.conditioner.rewrites());
        Unwritten { place: Some(reader.kind), does_without, message }.report(&help, problems);
    }
}

/// All tags of a policy have the same code, and a code at all.
fn one_code(policy: Labels<'_>, problems: &mut Problems) {
    let tags: Vec<_> = policy.conditioners.iter().filter_map(|it| Some((it, it.conditioner.tags()?))).collect();
    let Some((first, agreed)) = tags.first() else { return };
    for (it, tags) in &tags {
        if tags.tags == Scale::Real {
            let message = "real tags, but flow labels carry tickets";
            let place = it.places.at("tags");
            problems.error("E255", place, message).help("write tags = \"linear\" or \"log\": real tags have no code");
        } else if tags.least_tag == LeastTag::Zero {
            let message = "tags of 0, but flow labels carry tickets";
            let place = it.places.at("least-tag");
            problems
                .error("E255", place, message)
                .help("write least-tag = \"one\": a flow label of 0 is no label (RFC 6437)");
        } else if (tags.bits, tags.tags) != (agreed.bits, agreed.tags) {
            let field = if tags.bits == agreed.bits { "tags" } else { "bits" };
            let message = format!("tags with a different code from those of `{}`", first.name);
            let label = format!("`{}` has bits = {}, tags = \"{}\"", first.name, agreed.bits, agreed.tags.name());
            let help = "a policy reads and writes one code in flow labels: use the same `bits` and `tags`";
            problems.error("E255", it.places.at(field), message).label(label).help(help);
        }
    }
}
