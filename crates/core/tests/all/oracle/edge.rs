//! What an edge measures of TCP, from the specification's sections 1.4, 1.5 and 1.7: sequence numbers that never wrap, and
//! a history that is searched again for every question.

/// What passed the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A segment on its way to the receiver, by the numbers of its first byte and behind its last.
    Segment { start: u64, end: u64 },
    /// A returning ACK, with data or without.
    Ack { number: u64, bare: bool },
}

/// What passed, and when (ns).
pub type History = [(u64, Seen)];

fn highest(history: &History) -> Option<u64> {
    let ends = history.iter().filter_map(|(_, it)| match it {
        Seen::Segment { end, .. } => Some(*end),
        Seen::Ack { .. } => None,
    });
    ends.max()
}

/// The samples of a flow: when opened and when closed. At most one is open; it is void when something that begins before
/// its end comes again.
pub fn samples(history: &History) -> Vec<(u64, u64)> {
    let (mut open, mut samples) = (None, Vec::new());
    for (i, &(now, it)) in history.iter().enumerate() {
        match it {
            Seen::Segment { start, end } if highest(&history[..i]).is_none_or(|highest| start >= highest) => {
                open = open.or(Some((end, now)));
            }
            Seen::Segment { start, .. } => open = open.filter(|(end, _)| start >= *end),
            Seen::Ack { number, .. } => {
                if let Some((_, sent)) = open.filter(|(end, _)| number >= *end) {
                    samples.push((sent, now));
                    open = None;
                }
            }
        }
    }
    samples
}

/// The highest ACK; before the first, the first segment's start.
fn acked(history: &History) -> u64 {
    let Some((_, Seen::Segment { start: first, .. })) = history.first() else { panic!("a flow begins with a segment") };
    let numbers = history.iter().map(|(_, it)| match it {
        Seen::Ack { number, .. } => *number,
        Seen::Segment { .. } => *first,
    });
    numbers.max().unwrap()
}

/// Why the lowest segment that is not acknowledged came again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    /// It was not asked for.
    Timeout,
    /// Three duplicate ACKs did, or it is one more hole of the recovery that they began (RFC 6582), until this is acknowledged.
    Fast { until: u64, start: u64 },
}

/// For each of `history`, whether it is such a segment.
fn repairs(history: &History) -> Vec<Option<Repair>> {
    let mut repairs = Vec::new();
    for (i, &(_, it)) in history.iter().enumerate() {
        repairs.push(match it {
            Seen::Segment { start, end } if again(&history[..i], start..end) => {
                Some(why(&history[..i], &repairs, start))
            }
            _ => None,
        });
    }
    repairs
}

fn again(before: &History, segment: std::ops::Range<u64>) -> bool {
    highest(before).is_some_and(|highest| segment.end <= highest) && segment.contains(&acked(before))
}

fn why(before: &History, repairs: &[Option<Repair>], start: u64) -> Repair {
    let last = repairs.iter().flatten().last();
    match last {
        Some(Repair::Fast { until, start: hole }) if acked(before) < *until => match start == *hole {
            true => Repair::Timeout,
            false => Repair::Fast { until: *until, start },
        },
        _ if duplicates(before, repairs) >= 3 => Repair::Fast { until: highest(before).unwrap(), start },
        _ => Repair::Timeout,
    }
}

fn last_timeout(repairs: &[Option<Repair>]) -> Option<usize> {
    repairs.iter().rposition(|it| *it == Some(Repair::Timeout))
}

/// Duplicate ACKs of the highest ACK since it came or a time-out did: bare ones, as long as anything is in flight.
fn duplicates(history: &History, repairs: &[Option<Repair>]) -> usize {
    let acked = acked(history);
    let came = (0..history.len()).find(|&i| self::acked(&history[..=i]) == acked).unwrap();
    let since = came.max(last_timeout(repairs).unwrap_or(0)) + 1;
    let counts = |i: &usize| {
        let under_way = front(&history[..*i], &repairs[..*i]) > acked;
        under_way && matches!(history[*i].1, Seen::Ack { number, bare: true } if number == acked)
    };
    (since..history.len()).filter(counts).count()
}

/// The highest number sent since the last time-out, at least what is acknowledged.
fn front(history: &History, repairs: &[Option<Repair>]) -> u64 {
    highest(&history[last_timeout(repairs).unwrap_or(0)..]).unwrap_or(0).max(acked(history))
}

/// cwnd_est after the last of `history`: segments of the largest payload so far that are not acknowledged, at least one.
pub fn window(history: &History) -> u64 {
    let largest = history.iter().map(|(_, it)| match it {
        Seen::Segment { start, end } => end - start,
        Seen::Ack { .. } => 0,
    });
    (front(history, &repairs(history)) - acked(history)).div_ceil(largest.max().unwrap()).max(1)
}

/// Time-outs seen.
pub fn timeouts(history: &History) -> usize {
    repairs(history).iter().flatten().filter(|it| **it == Repair::Timeout).count()
}

/// SRTT and RTTVAR after `samples` (s); RFC 6298 says that the variation takes the old mean.
pub fn smoothed(samples: &[f64], gain: f64) -> Option<(f64, f64)> {
    let (first, later) = samples.split_first()?;
    Some(later.iter().fold((*first, first / 2.0), |(srtt, rttvar), s| {
        ((1.0 - gain) * srtt + gain * s, 0.75 * rttvar + 0.25 * (srtt - s).abs())
    }))
}

/// RTO_a = max(minRTO, SRTT + 4 RTTVAR).
pub fn rto(samples: &[f64], gain: f64, least: f64) -> Option<f64> {
    smoothed(samples, gain).map(|(srtt, rttvar)| least.max(srtt + 4.0 * rttvar))
}
