//! The four bucket markers in exact arithmetic: tokens are fractions of a byte with the denominator 8 x 10^9.

use super::{Oracle, seen};
use perhop_core::conditioner::{srtcm, token_bucket, trtcm, trtcm4115};
use perhop_core::packet::{Colour, Packet};
use perhop_core::units::{BitRate, Bytes};

const BYTE: u128 = 8_000_000_000;

fn bytes(b: impl Into<u128>) -> u128 {
    b.into() * BYTE
}

/// A bucket that refills by itself.
pub struct Bucket {
    rate: u128,
    depth: u128,
    pub tokens: u128,
    at: u64,
}

impl Bucket {
    pub fn new(rate: BitRate, depth: Bytes) -> Self {
        let depth = bytes(depth.get());
        Self { rate: rate.bit_s().into(), depth, tokens: depth, at: 0 }
    }

    pub fn refill(&mut self, now: u64) {
        self.tokens = (self.tokens + self.rate * u128::from(now - self.at)).min(self.depth);
        self.at = now;
    }

    /// Tokens in bytes, for slow versions that compute in doubles.
    pub fn level(&self) -> f64 {
        self.tokens as f64 / BYTE as f64
    }

    pub fn take(&mut self, size: u32) -> bool {
        let enough = self.tokens >= bytes(size);
        if enough {
            self.tokens -= bytes(size);
        }
        enough
    }
}

/// Section 1.0 of the specification.
pub struct TwoColour(Bucket);

impl TwoColour {
    pub fn new(p: &token_bucket::Params) -> Self {
        Self(Bucket::new(p.cir, p.cbs))
    }
}

impl Oracle for TwoColour {
    fn mark(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        self.0.refill(now);
        packet.colour = if self.0.take(packet.size) { Colour::Green } else { Colour::Red };
    }
}

/// RFC 2697 section 3.
pub struct Rfc2697 {
    cir: u128,
    cbs: u128,
    ebs: u128,
    tc: u128,
    te: u128,
    at: u64,
    aware: bool,
}

impl Rfc2697 {
    pub fn new(p: &srtcm::Params) -> Self {
        let (cbs, ebs) = (bytes(p.cbs.get()), bytes(p.ebs.get()));
        Self { cir: p.cir.bit_s().into(), cbs, ebs, tc: cbs, te: ebs, at: 0, aware: p.colour_aware }
    }

    /// "If Tc is less than CBS, Tc is incremented, else if Te is less than EBS, Te is, else neither."
    fn fill(&mut self, now: u64) {
        let earned = self.cir * u128::from(now - self.at);
        let total = self.tc + earned;
        self.tc = total.min(self.cbs);
        self.te = (self.te + (total - self.tc)).min(self.ebs);
        self.at = now;
    }
}

impl Oracle for Rfc2697 {
    fn mark(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        self.fill(now);
        let (before, b) = (seen(packet, self.aware), bytes(packet.size));
        if before == Colour::Green && self.tc >= b {
            self.tc -= b;
            packet.colour = Colour::Green;
        } else if (before == Colour::Green || before == Colour::Yellow) && self.te >= b {
            self.te -= b;
            packet.colour = Colour::Yellow;
        } else {
            packet.colour = Colour::Red;
        }
    }
}

/// RFC 2698 section 3.
pub struct Rfc2698 {
    c: Bucket,
    p: Bucket,
    aware: bool,
}

impl Rfc2698 {
    pub fn new(p: &trtcm::Params) -> Self {
        Self { c: Bucket::new(p.cir, p.cbs), p: Bucket::new(p.pir, p.pbs), aware: p.colour_aware }
    }
}

impl Oracle for Rfc2698 {
    fn mark(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        self.c.refill(now);
        self.p.refill(now);
        let (before, b) = (seen(packet, self.aware), bytes(packet.size));
        packet.colour = if before == Colour::Red || self.p.tokens < b {
            Colour::Red
        } else if before == Colour::Yellow || self.c.tokens < b {
            self.p.tokens -= b;
            Colour::Yellow
        } else {
            self.p.tokens -= b;
            self.c.tokens -= b;
            Colour::Green
        };
    }
}

/// RFC 4115 section 3: more tokens than bytes.
pub struct Rfc4115 {
    c: Bucket,
    e: Bucket,
    aware: bool,
}

impl Rfc4115 {
    pub fn new(p: &trtcm4115::Params) -> Self {
        Self { c: Bucket::new(p.cir, p.cbs), e: Bucket::new(p.eir, p.ebs), aware: p.colour_aware }
    }
}

impl Oracle for Rfc4115 {
    fn mark(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        self.c.refill(now);
        self.e.refill(now);
        let b = bytes(packet.size);
        packet.colour = match seen(packet, self.aware) {
            Colour::Green if self.c.tokens > b => {
                self.c.tokens -= b;
                Colour::Green
            }
            Colour::Green | Colour::Yellow if self.e.tokens > b => {
                self.e.tokens -= b;
                Colour::Yellow
            }
            _ => Colour::Red,
        };
    }
}
