//! RED and WRED as `random-detect`: a row for each code point, and without code points one for each precedence.

use super::words::dscp;
use super::written::{Counts, Written};
use perhop_core::Scope;
use perhop_core::aqm::early::shape::{Shape, Stated};
use perhop_core::aqm::early::{Beyond, Common, Counted, Level, Profile, Spacing, Unit};
use perhop_core::aqm::members::{Filter, Member};
use perhop_core::aqm::{red, wred};
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::math::log2;
use perhop_core::units::{Bytes, Length, Packets, Span};

/// The exponents of IOS.
const EXPONENTS: std::ops::RangeInclusive<f64> = 1.0..=16.0;
/// The largest denominator.
const MOST: f64 = 65_535.0;
/// Differences of probabilities that are those of their digits.
const DIGITS: f64 = 1e-9;
/// What counts where nothing is stated.
const MEAN_PACKET: Bytes = Bytes::new(500);

/// The class that has the queue.
pub(super) struct Class<'a> {
    /// What its limit counts.
    pub(super) counts: Counts,
    /// Its code points; `None`: any.
    pub(super) takes: Option<&'a [Dscp]>,
}

/// Says WRED.
pub(super) fn wred(params: &wred::Params, scope: &Scope, class: &Class<'_>, out: &mut Written) {
    if params.averages != Counted::Common {
        out.refuse("`averages` of `wred` other than \"common\": IOS has one average a class");
    }
    let rows = rows(params, scope, class, out);
    match by_precedence(&rows) {
        Some(eight) => {
            out.say("random-detect");
            common(&params.common, out);
            eight.iter().enumerate().for_each(|(it, row)| out.say(format!("random-detect precedence {it} {row}")));
        }
        None => {
            out.say("random-detect dscp-based");
            common(&params.common, out);
            rows.iter().for_each(|(code, row)| out.say(format!("random-detect dscp {} {row}", dscp(*code))));
        }
    }
    ecn(&params.common, out);
}

/// The rows of code points that the class can have, in the order of the profiles.
fn rows(params: &wred::Params, scope: &Scope, class: &Class<'_>, out: &mut Written) -> Vec<(Dscp, String)> {
    let (mut rows, mut known) = (Vec::new(), Vec::new());
    for (i, profile) in params.profiles.iter().enumerate() {
        let Some(codes) = codes(&profile.filter, out) else { continue };
        let last = i + 1 == params.profiles.len();
        if last && !codes.is_empty() && class.takes.is_none() {
            out.note("code points that no profile of `wred` names: they have the last one's here, IOS's own there");
        }
        let all: Vec<_> = match (codes.is_empty(), class.takes) {
            (true, _) => others(class, &known),
            (false, Some(_)) if last => codes.iter().copied().chain(others(class, &codes)).collect(),
            (false, _) => codes,
        };
        let own = |code: &Dscp| !known.contains(code) && class.takes.is_none_or(|takes| takes.contains(code));
        let own: Vec<_> = all.into_iter().filter(own).collect();
        if let Some(row) = row(&profile.profile, scope, class, out) {
            rows.extend(own.iter().map(|code| (*code, row.clone())));
        }
        known.extend(own);
    }
    rows
}

/// A row for each precedence, if all code points have one and those of a precedence the same.
fn by_precedence(rows: &[(Dscp, String)]) -> Option<Vec<&str>> {
    let row = |code: u8| rows.iter().find(|it| it.0.get() == code).map(|it| &*it.1);
    (0..8u8)
        .map(|precedence| {
            let first = row(precedence * 8)?;
            (1..8).all(|low| row(precedence * 8 + low) == Some(first)).then_some(first)
        })
        .collect()
}

/// Says RED.
pub(super) fn red(params: &red::Params, scope: &Scope, class: &Class<'_>, out: &mut Written) {
    if params.adaptive {
        out.refuse("`adaptive` of `red`");
    }
    if params.min_waiting > Packets::new(0) {
        out.refuse(format!("`min-waiting` of {}", params.min_waiting));
    }
    if params.arithmetic != perhop_core::arithmetic::Arithmetic::Exact {
        out.note("`arithmetic` of `red`: IOS keeps its average in its own units");
    }
    alike(&params.profile, &params.common, (scope, class), out);
}

/// One profile for all packets.
fn alike(shape: &Shape, stated: &Common, (scope, class): (&Scope, &Class<'_>), out: &mut Written) {
    let row = row(shape, scope, class, out);
    out.say("random-detect");
    common(stated, out);
    row.iter().for_each(|row| (0..8).for_each(|it| out.say(format!("random-detect precedence {it} {row}"))));
    ecn(stated, out);
}

/// Code points of a profile, none of what takes the rest; `None`: it takes what no code point tells.
fn codes(filter: &Filter, out: &mut Written) -> Option<Vec<Dscp>> {
    let of_match = filter.matches.clone().unwrap_or_default();
    let code = |member: &Member| match member {
        Member::Dscp(code) => Some(*code),
        Member::Colour(_) => None,
    };
    let members: Option<Vec<_>> = filter.members.iter().map(code).collect();
    match members {
        Some(members) if of_match == (Match { dscp: of_match.dscp.clone(), ..Match::default() }) => {
            Some(members.into_iter().chain(of_match.dscp).collect())
        }
        _ => {
            out.refuse("a profile of `wred` by anything but code points");
            None
        }
    }
}

/// Code points of a class that no profile has named.
fn others(class: &Class<'_>, known: &[Dscp]) -> Vec<Dscp> {
    let all = || (0..64).filter_map(Dscp::new).collect();
    let own = class.takes.map_or_else(all, <[_]>::to_vec);
    own.into_iter().filter(|code| !known.contains(code)).collect()
}

/// `32 40 10`; `None`: IOS does not have it.
fn row(shape: &Shape, scope: &Scope, class: &Class<'_>, out: &mut Written) -> Option<String> {
    if shape.marks.is_some() {
        out.refuse("`ecn-min`, `ecn-max` and `ecn-p`: IOS marks where it would drop");
    }
    let Stated::Ramp(ramp) = &shape.drops else {
        out.refuse("`curve`: IOS has two thresholds and a probability");
        return None;
    };
    let thresholds = [("min", ramp.min), ("max", ramp.max)].map(|it| threshold(it, scope, class.counts, out));
    let denominator = denominator(ramp, out)?;
    let [min, max] = thresholds;
    Some(format!("{} {} {denominator}", min?, max?))
}

/// A threshold in what the limit counts.
fn threshold(
    (key, stated): (&'static str, Length),
    scope: &Scope,
    counts: Counts,
    out: &mut Written,
) -> Option<String> {
    if let Counts::Time(limit) = counts
        && let Some(ms) = milliseconds(stated, limit)
    {
        return Some(format!("{ms} ms"));
    }
    let level = Level::of(key, stated, scope).ok()?;
    let (unit, word) = match level.unit {
        Unit::Packets => (Counts::Packets, ""),
        Unit::Bytes => (Counts::Bytes, " bytes"),
    };
    if unit != counts {
        out.refuse(format!("`{key}` of {stated}: IOS counts thresholds as it counts the `limit` of the queue"));
        return None;
    }
    let whole = level.value.round();
    if (whole - level.value).abs() > DIGITS {
        out.note(format!("`{key}` of {stated}: IOS has {whole} {}", level.unit.noun()));
    }
    Some(format!("{whole}{word}"))
}

/// Whole milliseconds of a time, or of a share of a limit that is one.
fn milliseconds(stated: Length, limit: Span) -> Option<u64> {
    let ms = match stated {
        Length::Time(span) => span.ns() as f64 / 1e6,
        Length::Percent(share) => limit.ns() as f64 / 1e6 * share / 100.0,
        _ => return None,
    };
    (ms >= 1.0 && ms.fract() == 0.0).then_some(ms as u64)
}

/// The nearest fraction 1/n.
fn denominator(ramp: &Profile, out: &mut Written) -> Option<u64> {
    let p = ramp.max_p.get();
    let n = (1.0 / p).round();
    if !(1.0..=MOST).contains(&n) {
        out.refuse(format!("`max-p` of {p}: IOS has 1/1 to 1/{MOST}"));
        return None;
    }
    if (1.0 / n - p).abs() > DIGITS {
        out.note(format!("`max-p` of {p}: IOS has 1/{n}"));
    }
    Some(n as u64)
}

/// The average.
fn common(common: &Common, out: &mut Written) {
    let exponent = -log2(common.weight.0);
    let nearest = exponent.round();
    if EXPONENTS.contains(&nearest) {
        out.say(format!("random-detect exponential-weighting-constant {nearest}"));
        if (nearest - exponent).abs() > DIGITS {
            out.note(format!("`wq` of {}: IOS has 2^-{nearest}", common.weight.0));
        }
    } else {
        out.refuse(format!("`wq` of {}: IOS has 2^-1 to 2^-16", common.weight.0));
    }
    if common.mean_packet != MEAN_PACKET {
        out.note(format!("`mean-packet` of {}: IOS has its own", common.mean_packet));
    }
    if common.spacing != Spacing::Uniformised {
        out.note("`spacing`: IOS has its own");
    }
    if common.beyond == Beyond::Gentle {
        out.refuse("`beyond = \"gentle\"`: IOS drops all above `max`");
    }
}

fn ecn(common: &Common, out: &mut Written) {
    if common.ecn {
        out.say("random-detect ecn");
    }
}
