//! What the packets of two matches have to do with each other, as far as their fields say.

use super::{Match, Prefix};
use crate::dscp::Dscp;

impl Match {
    /// Whether a packet may agree with both. One may have passed several conditioners, and its round-trip time is not looked at.
    pub fn meets(&self, other: &Self) -> bool {
        let near = |a: &Prefix, b: &Prefix| a.0.contains(&b.0) || b.0.contains(&a.0);
        common(&self.dscp, &other.dscp, PartialEq::eq)
            && common(&self.traffic, &other.traffic, PartialEq::eq)
            && common(&self.protocol, &other.protocol, PartialEq::eq)
            && common(&self.source, &other.source, near)
            && common(&self.destination, &other.destination, near)
            && common(&self.source_port, &other.source_port, PartialEq::eq)
            && common(&self.destination_port, &other.destination_port, PartialEq::eq)
            && common(&self.ecn, &other.ecn, PartialEq::eq)
    }

    /// Whether every packet that agrees with the other one surely agrees with this.
    pub fn covers(&self, inner: &Self) -> bool {
        let net = |a: &Prefix, b: &Prefix| a.0.contains(&b.0);
        holds(&self.dscp, &inner.dscp, PartialEq::eq)
            && holds(&self.traffic, &inner.traffic, PartialEq::eq)
            && holds(&self.protocol, &inner.protocol, PartialEq::eq)
            && holds(&self.source, &inner.source, net)
            && holds(&self.destination, &inner.destination, net)
            && holds(&self.source_port, &inner.source_port, PartialEq::eq)
            && holds(&self.destination_port, &inner.destination_port, PartialEq::eq)
            && holds(&self.ecn, &inner.ecn, PartialEq::eq)
            && holds(&self.conditioner, &inner.conditioner, PartialEq::eq)
            && self.rtt.is_none()
    }

    /// What a match asked before this leaves of its packets, as far as code points tell; `None`: nothing.
    pub fn left_by(mut self, before: &Self) -> Option<Self> {
        if before.covers(&self) {
            return None;
        }
        if *before == (Self { dscp: before.dscp.clone(), ..Self::default() }) {
            if self.dscp.is_empty() {
                self.dscp = (0..64).filter_map(Dscp::new).collect();
            }
            self.dscp.retain(|code| !before.dscp.contains(code));
            return (!self.dscp.is_empty()).then_some(self);
        }
        Some(self)
    }
}

/// Whether a pair agrees; an empty list is all.
fn common<T>(a: &[T], b: &[T], agree: impl Fn(&T, &T) -> bool) -> bool {
    a.is_empty() || b.is_empty() || a.iter().any(|one| b.iter().any(|other| agree(one, other)))
}

/// Whether each of the inner ones agrees with one of the outer; an empty list is all.
fn holds<T>(outer: &[T], inner: &[T], agree: impl Fn(&T, &T) -> bool) -> bool {
    outer.is_empty() || !inner.is_empty() && inner.iter().all(|it| outer.iter().any(|one| agree(one, it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &[&str], dscp: &[u8], ports: &[u16]) -> Match {
        Match {
            source: source.iter().map(|net| Prefix(net.parse().unwrap())).collect(),
            dscp: dscp.iter().filter_map(|code| Dscp::new(*code)).collect(),
            destination_port: ports.to_vec(),
            ..Match::default()
        }
    }

    #[test]
    fn packets_of_two() {
        let all = Match::default();
        for (a, b, meets, covers) in [
            (all.clone(), of(&[], &[46], &[]), true, true),
            (of(&[], &[46], &[]), all.clone(), true, false),
            (of(&["10.0.0.0/8"], &[], &[]), of(&["10.1.0.0/16", "10.2.0.0/16"], &[], &[80]), true, true),
            (of(&["10.1.0.0/16"], &[], &[]), of(&["10.0.0.0/8"], &[], &[]), true, false),
            (of(&["10.1.0.0/16"], &[46], &[]), of(&["10.2.0.0/16"], &[46], &[]), false, false),
            (of(&[], &[10, 12], &[]), of(&[], &[12, 14], &[]), true, false),
            (of(&[], &[], &[80]), of(&[], &[10], &[443]), false, false),
        ] {
            assert_eq!((a.meets(&b), b.meets(&a), a.covers(&b)), (meets, meets, covers), "{a:?} {b:?}");
        }
    }

    #[test]
    fn what_is_left() {
        let of = |dscp: &[u8]| of(&[], dscp, &[]);
        assert_eq!(of(&[10, 12]).left_by(&of(&[12, 14])), Some(of(&[10])));
        assert_eq!(of(&[10, 12]).left_by(&of(&[10])).and_then(|left| left.left_by(&of(&[12]))), None);
        assert_eq!(of(&[]).left_by(&of(&[10])).map(|left| left.dscp.len()), Some(63));
        assert_eq!(of(&[]).left_by(&of(&(0..64).collect::<Vec<_>>())), None);
    }
}
