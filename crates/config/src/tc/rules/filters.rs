//! Filters of tc: packets that their masks miss, and policers in them.

use crate::account::Reason;
use crate::model::{Conditioner, Filter, Queue};
use crate::rules::case::{At, Case, drops, most};
use crate::rules::policers::{DROPS_FIRST, drops_first};
use crate::rules::{Remark, Rule};
use perhop_core::colour::Colour;
use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;
use perhop_core::units::BitRate;
use std::collections::{HashMap, HashSet};

/// Of matches, and of policers in filters.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W407", &[], misses_ecn),
    Rule::new(DROPS_FIRST, &["W301"], |case| case.trees().flat_map(polices_and_shapes).collect()),
    Rule::new("W437", &[], |case| case.conditioners().filter_map(|(_, it)| reclassifies(case, it)).collect()),
];

/// W407: a filter for a code point that also asks for an ECN field of 0.
///
/// RFC 3168 section 5: the last two bits of the TOS octet are the ECN field, and not 0 in ECN-capable packets. Linux
/// `cls_u32.c`, `cls_flower.c`: all bits under the mask are compared.
fn misses_ecn(case: &Case<'_>) -> Vec<Remark> {
    let metered = case.conditioners().flat_map(|(_, it)| of_filters(&it.takes, "pass this one by"));
    metered.chain(case.queues().into_iter().flat_map(|at| of_queue(at.queue))).collect()
}

fn of_queue(queue: &Queue) -> Vec<Remark> {
    let left = queue.classes.iter().find(|class| class.rest).map(|class| class.name.is.as_str());
    let mut all = Vec::new();
    for class in &queue.classes {
        let others = left.filter(|left| *left != class.name.is);
        let fate = others.map_or_else(|| "are not taken by it".to_owned(), |left| format!("go to class {left}"));
        all.extend(of_filters(&class.takes, &fate));
    }
    all
}

fn of_filters<'a>(filters: &'a [Filter], fate: &'a str) -> impl Iterator<Item = Remark> + 'a {
    // Another filter of the same class may take ECN-capable packets of these code points.
    let caught: HashSet<_> = filters.iter().filter(|it| takes_ecn(it)).map(codes).collect();
    let caught = move |filter: &Filter| caught.contains(codes(filter)) || caught.contains(&[][..]);
    let missed = move |filter: &&Filter| !codes(filter).is_empty() && !takes_ecn(filter) && !caught(filter);
    filters.iter().filter(missed).filter_map(move |it| missed_codes(it, fate))
}

fn codes(filter: &Filter) -> &[Dscp] {
    &filter.matches.is.dscp
}

fn takes_ecn(filter: &Filter) -> bool {
    filter.matches.is.ecn != [Ecn::NotEct]
}

fn missed_codes(filter: &Filter, fate: &str) -> Option<Remark> {
    let names: Vec<_> = codes(filter).iter().map(ToString::to_string).collect();
    let octet = codes(filter).first()?.get() << 2;
    let message = format!(
        "the mask compares the ECN field with 0: packets of {} that are ECN-capable (as {:#04x} to {:#04x}) {fate}",
        names.join(", "),
        octet | 1,
        octet | 3
    );
    let instead = format!("the mask 0xfc, as in `match ip dsfield {octet:#04x} 0xfc`");
    Some(Remark { place: filter.matches.origin.place()?, message, instead })
}

/// W427: filters with `police` and the `flowid` of a class that is no faster.
fn polices_and_shapes(at: At<'_>) -> Vec<Remark> {
    let classes = at.queue.classes.iter().enumerate().map(|(i, class)| (class.name.is.as_str(), i));
    let classes: HashMap<&str, usize> = classes.collect();
    // The policer of a class has the name of the class.
    let of_filter = |it: &Conditioner| polices_to_less(it, most(at.queue, *classes.get(it.name.is.as_str())?)?);
    at.port.conditioners.iter().filter_map(of_filter).collect()
}

fn polices_to_less(it: &Conditioner, ceil: BitRate) -> Option<Remark> {
    let (cir, said) = (it.settings.rate("cir")?, it.settings.said("cir")?);
    let (class, burst) = (&it.name.is, it.settings.bytes("cbs"));
    let message =
        format!("the filter polices to {cir} what class {class} shapes to {ceil}: {}", drops_first(burst, "the class"));
    let instead = "the same filter without `police`: the class bounds its packets".to_owned();
    let first = cir <= ceil && drops(it, Colour::Red);
    first.then_some(Remark { place: said.origin.place()?, message, instead })
}

/// W437: a policer without `conform-exceed`: what exceeds is classified again.
///
/// tc-police(8): "reclassify .. is the default for exceeding packets". Linux `cls_api.c`: that starts again at the
/// first filter, at most 16 times (4 before Linux 5.14), then the packet is dropped with a line in the kernel's log.
/// `act_police.c`: each pass counts as one of `overlimits`, none as `dropped`.
fn reclassifies(case: &Case<'_>, it: &Conditioner) -> Option<Remark> {
    // The reader says it of the line with the policer.
    let place = it.settings.get("cir")?.origin.place()?;
    let entry = case.read.account.lines.get(&case.text.line_of(place))?;
    let message = "a packet that exceeds is classified again, up to 16 times, and then dropped: each time costs CPU and counts as one of \
                   `overlimits`, and `dropped` stays 0";
    let instead = "conform-exceed drop, behind the rate and the burst".to_owned();
    entry.reasons.contains(&Reason::Reclassify).then(|| Remark { place, message: message.to_owned(), instead })
}
