//! What holds for every conditioner of the list, whatever its parameters and whatever arrives.

use super::scope;
use crate::common::dialogue::{Event, Host, Step, call, dialogues};
use crate::common::generate::{any_conditioner, any_tree, read_conditioner};
use crate::common::load::{Offered, arrivals, run};
use perhop_core::Rng;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::conditioner::meter::Tokens;
use perhop_core::conditioner::{AnyConditioner, Conditioner, ConditionerParams, LIST, Writes};
use perhop_core::needs::Needs;
use perhop_core::packet::{Colour, Packet, flags};
use perhop_core::params::{Field, Tree};
use perhop_core::registry::Entry;
use perhop_core::units::{Burst, MeterRate, Time};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

fn for_all<T: std::fmt::Debug>(
    names: &[&str],
    input: impl Fn(&'static Entry) -> BoxedStrategy<T>,
    check: impl Fn(T) -> TestCaseResult,
) {
    for entry in LIST.iter().filter(|e| names.is_empty() || names.contains(&e.name)) {
        let mut runner = TestRunner::new(Config { cases: 64, ..Config::default() });
        runner.run(&input(entry), &check).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
    }
}

fn marked(params: &ConditionerParams, load: &[Offered], seed: u64) -> Vec<Packet> {
    run(&mut params.build(&scope()).unwrap(), load, &mut Rng::stream(seed, 0, "marker"))
}

/// Every packet after each of its events.
fn played(conditioner: AnyConditioner, steps: &[Step], seed: u64) -> Vec<Option<Packet>> {
    let (mut host, mut rng) = (Host::new(conditioner), Rng::stream(seed, 0, "marker"));
    steps.iter().map(|step| host.step(step, |it, now, packet| call(it, step.event, (now, packet), &mut rng))).collect()
}

/// What a conditioner counts, and whether as Linux does.
struct Counts {
    tokens: Tokens,
    linux: bool,
}

impl Counts {
    fn of(params: &ConditionerParams) -> Self {
        let linux =
            matches!(params, ConditionerParams::TokenBucketMarker(p) if p.arithmetic == Some(Arithmetic::Linux));
        Self { tokens: params.build(&scope()).unwrap().tokens(), linux }
    }

    /// Nanobits that a packet takes; Linux charges up to 1 ns less than its time, and what its 32 bits lose.
    fn cost(&self, rate: MeterRate, packet: &Packet) -> u128 {
        let exact = nanobits(self.tokens.of(packet.size).into());
        let rate = u128::from(rate.tokens().bit_s());
        let free = if self.linux { rate * (2 + ((exact / rate) >> 31)) } else { 0 };
        exact.saturating_sub(free)
    }
}

/// Nanobits that the bucket of a burst holds.
fn burst(params: &ConditionerParams, name: &str, rate: MeterRate) -> u128 {
    nanobits(shown::<Burst>(params, name).tokens(rate).unwrap().get())
}

/// The value of a shown parameter.
fn shown<T: std::str::FromStr>(params: &ConditionerParams, name: &str) -> T {
    shown_if(params, name).unwrap_or_else(|| panic!("no `{name}`"))
}

fn shown_if<T: std::str::FromStr>(params: &ConditionerParams, name: &str) -> Option<T> {
    let mut all = Vec::new();
    params.show(&mut all);
    let (_, Tree::Text(text)) = all.iter().find(|(n, _)| *n == name)? else { return None };
    text.parse().ok()
}

/// Nanobits that a rate earns between two times.
fn earned(rate: MeterRate, from: Time, to: Time) -> u128 {
    u128::from(rate.tokens().bit_s()) * u128::from((to - from).ns())
}

fn nanobits(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000
}

/// A promise: in no interval [s, t] do packets of these colours exceed rate x (t - s) + burst. Exact.
fn bounded(
    counts: &Counts,
    (load, marked): (&[Offered], &[Packet]),
    colours: &[Colour],
    (rate, burst): (MeterRate, u128),
) -> TestCaseResult {
    for (i, first) in load.iter().enumerate() {
        let mut total = 0;
        for (j, last) in load.iter().enumerate().skip(i) {
            total += if colours.contains(&marked[j].colour) { counts.cost(rate, &marked[j]) } else { 0 };
            prop_assert!(total <= earned(rate, first.at, last.at) + burst, "packets {i} to {j}");
        }
    }
    Ok(())
}

/// What a conditioner may give is what it says, and each of these colours is given to some packet. (Not by those that
/// measure round trips: nothing is answered here.)
#[test]
fn colours_are_those_that_it_may_give() {
    for entry in LIST {
        let seen = std::cell::RefCell::new((Vec::new(), Vec::new()));
        let check = |(params, load, seed): (ConditionerParams, Vec<Offered>, u64)| {
            let conditioner = params.build(&scope()).unwrap();
            if conditioner.writes() != Writes::Colour {
                return Ok(());
            }
            let mut seen = seen.borrow_mut();
            for (arriving, leaving) in load.iter().zip(marked(&params, &load, seed)) {
                let may = conditioner.gives(arriving.packet.colour);
                prop_assert!(may.contains(&leaving.colour), "{:?} -> {:?}", arriving.packet.colour, leaving.colour);
                seen.0.push(leaving.colour);
                seen.1.extend(may.iter().filter(|_| conditioner.needs() == Needs::NOTHING));
            }
            Ok(())
        };
        let mut runner = TestRunner::new(Config { cases: 64, ..Config::default() });
        let input = (any_conditioner(entry, scope()), arrivals(120), any::<u64>());
        runner.run(&input, check).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        let (given, declared) = seen.into_inner();
        assert_eq!(declared.iter().find(|colour| !given.contains(colour)), None, "{} never gives it", entry.name);
    }
}

/// Invariant 1 of PAM and F-SAM, RFC 2697, 2698, 4115: green bytes in [s, t] <= CIR (t - s) + CBS.
#[test]
fn green_never_exceeds_the_contract() {
    let names = ["token-bucket", "srtcm", "trtcm", "trtcm-4115", "pam", "pi-pam", "f-sam", "redp"];
    let input = |entry| (any_conditioner(entry, scope()), arrivals(120), any::<u64>()).boxed();
    for_all(&names, input, |(params, load, seed)| {
        let (out, cir) = (marked(&params, &load, seed), shown(&params, "cir"));
        bounded(&Counts::of(&params), (&load, &out), &[Colour::Green], (cir, burst(&params, "cbs", cir)))
    });
}

/// What is not held to the committed rate takes none of its tokens; REDP alone makes some of it green, from what is left.
#[test]
fn what_is_not_metered_takes_nothing() {
    let input = |entry| (any_conditioner(entry, scope()), arrivals(120), any::<u64>()).boxed();
    for_all(&["srtcm", "trtcm", "trtcm-4115", "redp"], input, |(params, load, seed)| {
        let (mut marker, mut rng) = (params.build(&scope()).unwrap(), Rng::stream(seed, 0, "marker"));
        for offered in &load {
            let before = gauges(&marker, offered.at)[0];
            let left = run(&mut marker, std::slice::from_ref(offered), &mut rng)[0];
            if marker.meters(offered.packet.colour) {
                continue;
            }
            let promoted = left.colour == Colour::Green;
            prop_assert!(!promoted || params.name() == "redp");
            prop_assert!(promoted || before == gauges(&marker, offered.at)[0]);
        }
        Ok(())
    });
}

/// As of green, of what may be yellow.
#[test]
fn yellow_never_exceeds_the_contract() {
    let input = |entry| (any_conditioner(entry, scope()), arrivals(120)).boxed();
    let both = [Colour::Green, Colour::Yellow];
    for_all(&["srtcm"], input, |(params, load)| {
        let cir = shown(&params, "cir");
        let burst = burst(&params, "cbs", cir) + burst(&params, "ebs", cir);
        bounded(&Counts::of(&params), (&load, &marked(&params, &load, 0)), &both, (cir, burst))
    });
    for (name, rate, size, colours) in [("trtcm", "pir", "pbs", &both[..]), ("trtcm-4115", "eir", "ebs", &both[1..])] {
        for_all(&[name], input, |(params, load)| {
            let rate = shown(&params, rate);
            let contract = (rate, burst(&params, size, rate));
            bounded(&Counts::of(&params), (&load, &marked(&params, &load, 0)), colours, contract)
        });
    }
}

/// What no packet above `mtu` is, and what the peak bucket bounds.
#[test]
fn a_peak_and_an_mtu_bound_what_is_green() {
    let input = |entry| (any_conditioner(entry, scope()), arrivals(120)).boxed();
    let seen = std::cell::Cell::new((0, 0));
    let enough = || seen.get().0 > 10 && seen.get().1 > 5;
    let check = |(params, load): (ConditionerParams, Vec<_>)| {
        let ConditionerParams::TokenBucketMarker(of) = &params else { unreachable!() };
        let (out, counts) = (marked(&params, &load, 0), Counts::of(&params));
        if let Some(mtu) = of.mtu {
            seen.set((seen.get().0 + 1, seen.get().1));
            prop_assert!(out.iter().all(|p| p.colour == Colour::Red || u64::from(p.size) <= mtu.get()));
        }
        let Some((pir, mtu)) = of.pir.zip(of.mtu) else { return Ok(()) };
        seen.set((seen.get().0, seen.get().1 + 1));
        let depth = nanobits(counts.tokens.of(mtu.get() as u32).into());
        // Linux's peak bucket starts with what an MTU costs, rounded down.
        bounded(&counts, (&load, &out), &[Colour::Green], (pir.into(), depth))
    };
    // Both are drawn now and then: as often as it takes to have seen them.
    for _ in 0..20 {
        for_all(&["token-bucket"], input, check);
        if enough() {
            break;
        }
    }
    let (mtus, peaks) = seen.get();
    assert!(enough(), "{mtus} and {peaks}");
}

/// A retune at any moment keeps the promise piecewise: an interval that begins under the old contract holds at most the
/// old burst and what each rate earned in its part (a bucket never gains by a retune); one that begins under the new
/// contract obeys it alone.
#[test]
fn a_retune_keeps_the_contract_piecewise() {
    let names = ["token-bucket", "srtcm", "trtcm", "trtcm-4115", "pam", "pi-pam", "f-sam", "redp"];
    let input = |entry| {
        let params = (any_conditioner(entry, scope()), any_conditioner(entry, scope()));
        (params, arrivals(120), any::<prop::sample::Index>(), any::<u64>()).boxed()
    };
    for_all(&names, input, |((old, new), load, index, seed)| {
        let Some(new) = counting_as(&new, &old) else { return Ok(()) };
        let (middle, counts) = (index.index(load.len()), Counts::of(&old));
        let when = load[middle].at;
        let mut marker = old.build(&scope()).unwrap();
        let mut rng = Rng::stream(seed, 0, "marker");
        let mut out = run(&mut marker, &load[..middle], &mut rng);
        marker.retune(when, &new, &scope()).unwrap();
        out.extend(run(&mut marker, &load[middle..], &mut rng));
        let cir = [shown::<MeterRate>(&old, "cir"), shown(&new, "cir")];
        let cbs = [burst(&old, "cbs", cir[0]), burst(&new, "cbs", cir[1])];
        for (i, first) in load.iter().enumerate() {
            let mut total = 0;
            for (j, last) in load.iter().enumerate().skip(i) {
                let green = out[j].colour == Colour::Green;
                total += if green { counts.cost(cir[usize::from(j >= middle)], &out[j]) } else { 0 };
                let change = when.clamp(first.at, last.at);
                let allowed = earned(cir[0], first.at, change) + earned(cir[1], change, last.at);
                prop_assert!(total <= allowed + cbs[usize::from(i >= middle)], "packets {i} to {j}");
            }
        }
        Ok(())
    });
}

/// `new` with the keys that say what a meter counts as in `old`; `None` if they do not fit its rates, or if one is in bits
/// and the other in packets, which a running meter refuses.
fn counting_as(new: &ConditionerParams, old: &ConditionerParams) -> Option<ConditionerParams> {
    let (mut entries, mut theirs) = (Vec::new(), Vec::new());
    new.show(&mut entries);
    old.show(&mut theirs);
    take_over(&mut entries, &theirs, &["overhead", "mpu", "link-layer", "arithmetic"]);
    let unit = |params| shown::<MeterRate>(params, "cir").in_packets();
    let same = unit(new) == unit(old);
    read_conditioner(new.name(), &Tree::table(entries)).ok().filter(|p| same && p.build(&scope()).is_ok())
}

/// Replaces these keys of `entries` by those of `theirs`, whether they are there or not.
fn take_over(entries: &mut Vec<(&'static str, Tree)>, theirs: &[(&'static str, Tree)], keys: &[&str]) {
    entries.retain(|entry| !keys.contains(&entry.0));
    entries.extend(theirs.iter().filter(|entry| keys.contains(&entry.0)).cloned());
}

/// Retuned to its own parameters before each packet a conditioner continues as if nothing had happened, and its gauges
/// are unchanged: retune keeps all state.
#[test]
fn a_retune_to_the_same_changes_nothing() {
    let input = |entry| (any_conditioner(entry, scope()), dialogues(200), any::<u64>()).boxed();
    for_all(&[], input, |(params, steps, seed)| {
        let (mut host, mut rng) = (Host::new(params.build(&scope()).unwrap()), Rng::stream(seed, 0, "marker"));
        let mut out = Vec::new();
        for step in &steps {
            let now = step.offered.at;
            let before = gauges(&host.conditioner, now);
            host.conditioner.retune(now, &params, &scope()).unwrap();
            prop_assert_eq!(before, gauges(&host.conditioner, now));
            out.push(host.step(step, |it, now, packet| call(it, step.event, (now, packet), &mut rng)));
        }
        let untouched = played(params.build(&scope()).unwrap(), &steps, seed);
        prop_assert_eq!(format!("{:?}", out), format!("{:?}", untouched));
        Ok(())
    });
}

fn gauges(marker: &AnyConditioner, now: Time) -> Vec<(&'static str, f64)> {
    let mut all = Vec::new();
    marker.gauges(now, &mut |name, value| all.push((name, value)));
    all
}

/// After a retune at time 0, before any packet, a conditioner marks as one built so: no parameter of the old contract
/// survives. (Levels and averages do: both start with the same burst and rate here.)
#[test]
fn a_retune_takes_every_parameter() {
    let input = |entry: &'static Entry| {
        (any_conditioner(entry, scope()), any_conditioner(entry, scope()), dialogues(200), any::<u64>()).boxed()
    };
    for_all(&[], input, |(old, new, steps, seed)| {
        let Some(old) = with_state_of(&old, &new) else { return Ok(()) };
        let mut marker = old.build(&scope()).unwrap();
        marker.retune(Time::ZERO, &new, &scope()).unwrap();
        let [got, want] = [marker, new.build(&scope()).unwrap()].map(|it| played(it, &steps, seed));
        prop_assert_eq!(format!("{:?}", got), format!("{:?}", want));
        Ok(())
    });
}

/// `old` with what sets the initial state taken from `new`: the bursts, the TSW's rate, F-SAM's credits; and what it
/// refuses to change.
fn with_state_of(old: &ConditionerParams, new: &ConditionerParams) -> Option<ConditionerParams> {
    let (mut entries, mut theirs) = (Vec::new(), Vec::new());
    old.show(&mut entries);
    new.show(&mut theirs);
    let timed = ["tsw", "rtt"].iter().any(|family| old.name().starts_with(family));
    let initial: &[&str] = match old.name() {
        "formula" => &["rates", "buckets", "state"],
        _ if timed => &["cir"],
        _ => &["cbs", "ebs", "pbs", "kdec", "relabel"],
    };
    take_over(&mut entries, &theirs, initial);
    if let ConditionerParams::TokenBucketMarker(new) = new {
        take_over(&mut entries, &theirs, &["mtu", "arithmetic"]);
        // The peak bucket's depth is the MTU as the rates count it.
        let framing: &[&str] = if new.pir.is_some() { &["overhead", "mpu", "link-layer"] } else { &[] };
        take_over(&mut entries, &theirs, framing);
    }
    if ["token-bucket", "srtcm", "trtcm", "trtcm-4115"].contains(&old.name()) {
        // A time is another burst at another rate, and Linux keeps all bursts as times.
        let time = |entry: &(&str, Tree)| entry.1.to_string().ends_with("s\"") && initial.contains(&entry.0);
        let linux = theirs.iter().any(|entry| entry.0 == "arithmetic" && entry.1.to_string().contains("linux"));
        let rates: &[&str] = if linux || theirs.iter().any(time) { &["cir", "pir", "eir"] } else { &[] };
        take_over(&mut entries, &theirs, rates);
    }
    let unit = |params: &ConditionerParams| shown_if::<MeterRate>(params, "cir").map(MeterRate::in_packets);
    let built = read_conditioner(old.name(), &Tree::table(entries)).ok().filter(|p| p.build(&scope()).is_ok());
    built.filter(|built| unit(built) == unit(new))
}

/// Invariants 6 of PAM and 8 of F-SAM: flow ids are not read. Permuting them leaves every other field unchanged.
#[test]
fn flow_ids_are_invisible() {
    // Numbers of flows are dense: a host gives them in order.
    let input = |entry| (any_conditioner(entry, scope()), dialogues(200), 0u32..4096, any::<u64>()).boxed();
    for_all(&[], input, |(params, steps, mix, seed)| {
        let mut permuted = steps.clone();
        permuted.iter_mut().for_each(|step| step.offered.packet.flow.0 ^= mix);
        let [want, mut back] = [&steps, &permuted].map(|s| played(params.build(&scope()).unwrap(), s, seed));
        back.iter_mut().flatten().for_each(|p| p.flow.0 ^= mix);
        prop_assert_eq!(format!("{:?}", want), format!("{:?}", back));
        Ok(())
    });
}

/// Whatever happens, only the sender writes sizes, numbers, code points; a colour changes on the way to the queue only.
#[test]
fn the_rest_of_a_packet_is_left_alone() {
    let input = |entry| (any_conditioner(entry, scope()), dialogues(200), any::<u64>()).boxed();
    for_all(&[], input, |(params, steps, seed)| {
        let out = played(params.build(&scope()).unwrap(), &steps, seed);
        let offered = steps.iter().zip(&out).filter(|(step, _)| matches!(step.event, Event::Forward | Event::Reverse));
        for (step, packet) in offered {
            let (before, Some(after)) = (step.offered.packet, *packet) else { continue }; // dropped
            let colour = if step.event == Event::Forward { after.colour } else { before.colour };
            let labels = Packet { label: after.label, ack_label: after.ack_label, flags: after.flags, ..before };
            prop_assert_eq!(format!("{:?}", after), format!("{:?}", Packet { colour, ..labels }));
            let unlabelled = !(flags::LABELLED | flags::ACK_LABELLED);
            prop_assert_eq!(after.flags & unlabelled, before.flags & unlabelled);
        }
        Ok(())
    });
}

/// A meter writes the colour, a labeller or tagger its label, and nothing else of a packet (F-SAM's `relabel-in` apart); a
/// meter leaves no packet unmarked, and the two-colour ones know no yellow.
#[test]
fn only_what_is_declared_is_written() {
    let input = |entry| (any_conditioner(entry, scope()), arrivals(100), any::<u64>()).boxed();
    for_all(&[], input, |(params, load, seed)| {
        let conditioner = params.build(&scope()).unwrap();
        let writes = conditioner.writes();
        let relabels = matches!(&params, ConditionerParams::FSam(p) if p.relabel_in);
        let two = ["token-bucket", "tsw2cm", "pam", "pi-pam", "f-sam"].contains(&params.name());
        for (offered, out) in load.iter().zip(marked(&params, &load, seed)) {
            let mut expected = Packet { size: out.size, ..offered.packet };
            prop_assert!(out.size == offered.packet.size || out.size == 0);
            if writes == Writes::AckTickets {
                (expected.ack_label, expected.flags) = (out.ack_label, out.flags);
            } else if writes != Writes::Colour || (relabels && out.colour == Colour::Green) {
                (expected.label, expected.flags) = (out.label, out.flags);
            }
            if writes == Writes::Colour {
                let may = conditioner.gives(offered.packet.colour);
                prop_assert!(may.contains(&out.colour) && !(two && out.colour == Colour::Yellow));
                expected.colour = out.colour;
            }
            prop_assert_eq!(format!("{:?}", expected), format!("{:?}", out));
        }
        Ok(())
    });
}

/// Whatever a file says: it builds, or the error names a declared field, a code, what is wrong and a fix.
#[test]
fn a_refusal_is_always_explained() {
    let input = |entry: &'static Entry| (Just(entry), any_tree(entry.fields)).boxed();
    for_all(&[], input, |(entry, tree)| {
        let Ok(params) = read_conditioner(entry.name, &tree) else { return Ok(()) };
        if let Err(error) = params.build(&scope()) {
            prop_assert!(Field::all(entry.fields).iter().any(|f| f.name == error.field), "{}", error.field);
            prop_assert!(error.code.starts_with("E") && !error.message.is_empty() && !error.help.is_empty());
        }
        Ok(())
    });
}

/// Gauges are finite, never negative, and looking changes nothing.
#[test]
fn gauges_are_numbers_and_change_nothing() {
    let input = |entry| (any_conditioner(entry, scope()), dialogues(100), any::<u64>()).boxed();
    for_all(&[], input, |(params, steps, seed)| {
        let (mut host, mut rng) = (Host::new(params.build(&scope()).unwrap()), Rng::stream(seed, 0, "marker"));
        for step in &steps {
            host.step(step, |it, now, packet| call(it, step.event, (now, packet), &mut rng));
            let before = format!("{:?}", host.conditioner);
            let mut fine = true;
            host.conditioner.gauges(step.offered.at, &mut |_, value| fine &= value.is_finite() && value >= 0.0);
            prop_assert!(fine);
            prop_assert_eq!(before, format!("{:?}", host.conditioner));
        }
        Ok(())
    });
}
