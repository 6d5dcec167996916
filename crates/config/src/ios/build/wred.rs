//! WRED as profiles.

use super::Build;
use super::numbers::length;
use crate::finding::Finding;
use crate::import_options::Platform;
use crate::ios::defaults;
use crate::ios::plan::{Basis, Of, Profile, WithPlace, Wred};
use crate::ios::read::words::dscps_of;
use crate::model::Kind;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::units::{Bytes, Length, Packets, Span};

impl Build<'_> {
    /// Puts WRED into a queue: its kind, and its keys.
    pub(super) fn wred(&mut self, wred: &Wred, packets: &[Match], settings: &mut Settings) -> Option<Kind> {
        let Some(at) = wred.at else {
            for put in &wred.profiles {
                let why = "thresholds of `random-detect` have no effect: no line enables it in this class";
                self.account.not_modelled(put.at.line, why);
            }
            return None;
        };
        let wred = &self.in_one_unit(wred);
        match wred.weight {
            Some(weight) => settings.set("weight", WithOrigin::at(weight.at.place, Value::Count(weight.is))),
            None => settings.assume("weight", defaults::WRED_WEIGHT.1, Value::Count(defaults::WRED_WEIGHT.0)),
        }
        if let Some(at) = wred.ecn {
            settings.set("ecn", WithOrigin::at(at.place, Value::Flag(true)));
        }
        let mut list: Vec<Value> = Vec::new();
        let mut said: Vec<Dscp> = Vec::new();
        let limit = settings.get("limit").map(|limit| in_unit_of(wred, &limit.is));
        for put in self.counting(wred) {
            list.extend(self.profile(put, (wred, limit.as_ref()), &mut said));
        }
        let others: Vec<_> = self.code_points(packets).into_iter().filter(|dscp| !said.contains(dscp)).collect();
        list.extend(self.others(wred, limit.as_ref(), &others));
        if others.is_empty() && said.len() == 64 {
            as_rest(list.last_mut());
        }
        let place = wred.profiles.first().map_or(at, |put| put.at).place;
        settings.set("profiles", WithOrigin::at(place, Value::List(list)));
        Some(Kind::Aqm("wred"))
    }

    /// Without profiles whose thresholds are in another unit than those of the first.
    fn in_one_unit(&mut self, wred: &Wred) -> Wred {
        let thresholds = |put: &WithPlace<Profile>| put.is.thresholds.map(|[min, _]| min);
        let Some((unit, first)) = wred.profiles.iter().find_map(|put| Some((name(thresholds(put)?)?, put.at.line)))
        else {
            return wred.clone();
        };
        let fits = |put: &&WithPlace<Profile>| thresholds(put).and_then(name).is_none_or(|it| it == unit);
        for put in wred.profiles.iter().filter(|put| !fits(put)) {
            let why = format!("IOS takes thresholds of a class in one unit, and line {first} has {unit}");
            self.account.not_modelled(put.at.line, why);
        }
        Wred { profiles: wred.profiles.iter().filter(fits).cloned().collect(), ..wred.clone() }
    }

    /// The profiles that count: one that is said again replaces what was said before.
    fn counting<'p>(&mut self, wred: &'p Wred) -> Vec<&'p WithPlace<Profile>> {
        let mut counting = Vec::new();
        for (i, put) in wred.profiles.iter().enumerate() {
            match wred.profiles[i + 1..].iter().find(|later| !wred.whole && later.is.of.replaces(&put.is.of)) {
                Some(later) => self.said_again(put, later),
                None => counting.push(put),
            }
        }
        counting
    }

    fn said_again(&mut self, put: &WithPlace<Profile>, later: &WithPlace<Profile>) {
        self.account.approximated(put.at.line, format!("line {} says it again, which counts", later.at.line));
        if self.is_new(put.at.place.start) {
            let message =
                format!("line {} says this profile again: its thresholds count, and these do not", later.at.line);
            let instead = "take one of the two lines out, or name another code point in it".to_owned();
            self.findings.push(Finding { code: "W413", place: put.at.place, message, instead, instead_of: &[] });
        }
    }

    /// One profile that the text says.
    fn profile(
        &mut self,
        put: &WithPlace<Profile>,
        (wred, limit): (&Wred, Option<&Value>),
        said: &mut Vec<Dscp>,
    ) -> Option<Value> {
        let place = put.at.place;
        let mut table = Settings::default();
        let dscps: Vec<Dscp> = match &put.is.of {
            Of::Dscp(list) => list.clone(),
            Of::Precedence(precedence) => dscps_of(*precedence).filter(|dscp| !said.contains(dscp)).collect(),
            Of::DiscardClass(class @ 0..=2) => {
                let colour = ["green", "yellow", "red"][usize::from(*class)];
                table.set("for", WithOrigin::at(place, Value::Word(colour.into())));
                Vec::new()
            }
            Of::All => Vec::new(),
            Of::DiscardClass(_) => {
                self.account
                    .approximated(put.at.line, "discard classes above 2 are red: the thresholds of class 2 count");
                return None;
            }
            Of::Other => {
                self.account.not_modelled(put.at.line, "no packet here has this field: the profile has no packets");
                return None;
            }
        };
        if !dscps.is_empty() {
            table.set("for", WithOrigin::at(place, names(&dscps)));
            said.extend(dscps);
        }
        match put.is.thresholds {
            Some([min, max]) => {
                table.set("min", WithOrigin::at(place, length(min)));
                table.set("max", WithOrigin::at(place, length(max)));
            }
            None => {
                let one = said.last().copied().filter(|_| !matches!(put.is.of, Of::DiscardClass(_)));
                let class = if let Of::DiscardClass(class) = put.is.of { class } else { 0 };
                let dscp = one.or_else(|| Dscp::new(class * 8)).unwrap_or(Dscp::BE);
                let ([min, max], source) = self.thresholds(dscp, wred, limit);
                table.assume("min", source, min);
                table.assume("max", source, max);
            }
        }
        let denominator = put.is.denominator;
        table.set("max-p", WithOrigin::at(place, Value::Number(1.0 / denominator as f64)));
        Some(Value::Table(table))
    }

    /// Code points that packets of a class have in its queue.
    fn code_points(&self, packets: &[Match]) -> Vec<Dscp> {
        let mut list: Vec<Dscp> = packets.iter().flat_map(|one| one.dscp.iter().copied()).collect();
        // Marked before the queue, or told by other fields: any.
        if self.port.passage || packets.is_empty() || packets.iter().any(|one| one.dscp.is_empty()) {
            return (0..64).filter_map(Dscp::new).collect();
        }
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Profiles of code points that the text does not say, by the device's table; the last takes all others.
    fn others(&self, wred: &Wred, limit: Option<&Value>, others: &[Dscp]) -> Vec<Value> {
        if wred.profiles.iter().any(|put| put.is.of == Of::All) {
            return Vec::new();
        }
        let mut groups: Vec<([Value; 2], &'static str, Vec<Dscp>)> = Vec::new();
        let colours = wred.basis == Some(Basis::DiscardClass);
        for dscp in others.iter().filter(|_| !colours) {
            let (thresholds, source) = self.thresholds(*dscp, wred, limit);
            match groups.iter_mut().find(|(known, ..)| *known == thresholds) {
                Some((.., list)) => list.push(*dscp),
                None => groups.push((thresholds, source, vec![*dscp])),
            }
        }
        let covered = wred.profiles.iter().map(|put| put.is.of.code_points()).sum::<usize>();
        if groups.is_empty() && (colours || covered < 64) {
            let (thresholds, source) = self.thresholds(Dscp::BE, wred, limit);
            groups.push((thresholds, source, Vec::new()));
        }
        let last = groups.len().saturating_sub(1);
        groups.into_iter().enumerate().map(|(i, group)| assumed(group, i == last)).collect()
    }
}

/// The unit of a threshold; a percentage is of the limit, whatever its unit.
const fn name(length: Length) -> Option<&'static str> {
    match length {
        Length::Packets(_) => Some("packets"),
        Length::Bytes(_) => Some("bytes"),
        Length::Time(_) => Some("a time"),
        _ => None,
    }
}

/// A limit in the unit of the thresholds that the text says: those that it does not say must be in one unit with them.
fn in_unit_of(wred: &Wred, limit: &Value) -> Value {
    let said = wred.profiles.iter().find_map(|put| put.is.thresholds).map(|[min, _]| min);
    match (said, limit) {
        (Some(Length::Bytes(_)), Value::Packets(count)) => {
            Value::Bytes(Bytes::new(u64::from(count.get()) * defaults::PACKET))
        }
        (Some(Length::Packets(_)), Value::Bytes(bytes)) => packets(bytes.get() / defaults::PACKET),
        (Some(Length::Percent(_)), _) => Value::Number(100.0),
        (Some(Length::Time(_)), Value::Packets(_) | Value::Bytes(_)) => Value::Time(defaults::LIMIT_TIME),
        (Some(Length::Packets(_)), Value::Time(_)) => packets(64),
        (Some(Length::Bytes(_)), Value::Time(_)) => Value::Bytes(Bytes::new(64 * defaults::PACKET)),
        _ => limit.clone(),
    }
}

/// A profile that takes all other packets.
fn as_rest(profile: Option<&mut Value>) {
    if let Some(Value::Table(table)) = profile {
        table.remove("for");
    }
}

impl Build<'_> {
    /// The device's own thresholds of a code point.
    fn thresholds(&self, dscp: Dscp, wred: &Wred, limit: Option<&Value>) -> ([Value; 2], &'static str) {
        let precedence = u64::from(dscp.get() >> 3);
        match (self.given.platform == Platform::Ios, wred.basis) {
            (true, Some(Basis::Dscp)) => counted(defaults::wred_by_dscp(dscp.get()), limit),
            (true, _) => counted(defaults::wred_by_precedence(precedence), limit),
            (false, Some(Basis::Dscp)) => {
                let (thresholds, _) = of_limit(precedence, limit);
                (thresholds, "IOS XE: as for the precedence of the code point")
            }
            (false, _) => of_limit(precedence, limit),
        }
    }
}

/// A profile that the device assumes; the last takes all other packets.
fn assumed(([min, max], source, list): ([Value; 2], &'static str, Vec<Dscp>), last: bool) -> Value {
    let mut table = Settings::default();
    if !last {
        table.assume("for", source, names(&list));
    }
    table.assume("min", source, min);
    table.assume("max", source, max);
    table.assume("max-p", source, Value::Number(0.1));
    Value::Table(table)
}

fn packets(count: u64) -> Value {
    Value::Packets(Packets::new(u32::try_from(count).unwrap_or(u32::MAX)))
}

/// Thresholds that a device counts in packets, in the unit of the limit.
fn counted(((min, max), source): defaults::Assumed<(u64, u64)>, limit: Option<&Value>) -> ([Value; 2], &'static str) {
    let one = |count: u64| match limit {
        Some(Value::Bytes(_)) => Value::Bytes(Bytes::new(count * defaults::PACKET)),
        Some(Value::Time(_)) => {
            let whole = u128::from(defaults::LIMIT_TIME.ns()) * u128::from(count) / u128::from(defaults::LIMIT);
            Value::Time(Span::from_ns(u64::try_from(whole).unwrap_or(u64::MAX)))
        }
        Some(Value::Number(_)) => Value::Word(format!("{}%", count as f64 * 100.0 / defaults::LIMIT as f64)),
        _ => packets(count),
    };
    ([one(min), one(max)], source)
}

/// Thresholds in the unit of the limit.
fn of_limit(precedence: u64, limit: Option<&Value>) -> ([Value; 2], &'static str) {
    let (limit, unit): (u64, fn(u64) -> Value) = match limit {
        Some(Value::Bytes(bytes)) => (bytes.get(), |count| Value::Bytes(Bytes::new(count))),
        Some(Value::Time(span)) => (span.ns(), |count| Value::Time(Span::from_ns(count))),
        Some(Value::Packets(count)) => (count.get().into(), packets),
        // In percent of the limit.
        Some(Value::Number(_)) => (100, |count| Value::Word(format!("{count}%"))),
        _ => (64, packets),
    };
    let ((min, max), source) = defaults::wred(precedence, limit);
    ([unit(min), unit(max)], source)
}

/// Code points by name.
pub(super) fn names(list: &[Dscp]) -> Value {
    match list {
        [one] => Value::Word(one.to_string()),
        list => Value::List(list.iter().map(|dscp| Value::Word(dscp.to_string())).collect()),
    }
}
