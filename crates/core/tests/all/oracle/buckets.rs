//! The four bucket markers in exact arithmetic: tokens are fractions of a byte with the denominator 8 x 10^9, or of a
//! packet.

use super::{Oracle, seen};
use perhop_core::conditioner::{srtcm, token_bucket, trtcm, trtcm4115};
use perhop_core::framing::{Framing, LinkLayer};
use perhop_core::packet::{Colour, Packet};
use perhop_core::units::{BitRate, Burst, Bytes, MeterRate};

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

/// A bucket's content of a rate in packets is packets: eight times the rate would be its bits.
fn bucket(rate: MeterRate, burst: Burst) -> Bucket {
    let rate = match rate {
        MeterRate::Bits(rate) => rate.bit_s(),
        MeterRate::Packets(rate) => rate.packets_s() * 8,
    };
    let depth = match burst {
        Burst::Bytes(bytes) => bytes.get(),
        Burst::Packets(packets) => packets.get().into(),
        Burst::Time(time) => (u128::from(rate) * u128::from(time.ns()) / BYTE) as u64,
    };
    Bucket::new(BitRate::bps(rate), Bytes::new(depth))
}

/// tc-stab(8): what a rate counts of a packet.
fn cost(rate: MeterRate, framing: Framing, packet: &Packet) -> u32 {
    if matches!(rate, MeterRate::Packets(_)) {
        return 1;
    }
    let with = i64::from(packet.size) + framing.overhead.map_or(0, |overhead| i64::from(overhead.get()));
    let with = with.max(framing.mpu.map_or(0, |mpu| mpu.get() as i64)) as u32;
    let mut cells = 0;
    while cells * 48 < with {
        cells += 1;
    }
    if framing.link_layer == Some(LinkLayer::Atm) { cells * 53 } else { with }
}

/// Section 1.0 of the specification.
pub struct TwoColour {
    p: token_bucket::Params,
    c: Bucket,
    peak: Option<Bucket>,
}

impl TwoColour {
    pub fn new(p: &token_bucket::Params) -> Self {
        let depth = |mtu: u64| cost(p.cir, p.framing, &Packet { size: mtu as u32, ..Packet::default() });
        let peak = p.pir.map(|pir| Bucket::new(pir, Bytes::new(depth(p.mtu.unwrap().get()).into())));
        Self { p: p.clone(), c: bucket(p.cir, p.cbs), peak }
    }
}

impl Oracle for TwoColour {
    fn mark(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        let size = cost(self.p.cir, self.p.framing, packet);
        self.c.refill(now);
        let mut fits = self.c.tokens >= bytes(size);
        if let Some(peak) = &mut self.peak {
            peak.refill(now);
            fits &= peak.tokens >= bytes(size);
        }
        fits &= self.p.mtu.is_none_or(|mtu| u64::from(packet.size) <= mtu.get());
        if fits {
            self.c.take(size);
            self.peak.iter_mut().for_each(|peak| assert!(peak.take(size)));
        }
        packet.colour = if fits { Colour::Green } else { Colour::Red };
    }
}

/// act_police, step by step: `toks`, `ptoks`, `t_c` in nanoseconds.
pub struct ActPolice {
    p: token_bucket::Params,
    burst: i64,
    mtu_ptoks: i64,
    toks: i64,
    ptoks: i64,
    t_c: i64,
}

/// Time of so many units at `rate` a second as Linux computes it: a product of 32 bits and a shift.
fn l2t_ns(rate: u64, units: u64) -> i64 {
    let (mut shift, mut factor) = (0, 1_000_000_000u64);
    while factor / rate < 1 << 31 && factor < 1 << 63 {
        factor *= 2;
        shift += 1;
    }
    ((u128::from(units) * u128::from(factor / rate)) >> shift) as i64
}

impl ActPolice {
    pub fn new(p: &token_bucket::Params) -> Self {
        let rate = Self::rate(p.cir);
        let burst = match p.cbs {
            Burst::Bytes(bytes) => bytes.get(),
            Burst::Packets(packets) => packets.get().into(),
            Burst::Time(time) => {
                let bits = match p.cir {
                    MeterRate::Bits(cir) => cir.bit_s(),
                    MeterRate::Packets(_) => rate * 8,
                };
                (u128::from(bits) * u128::from(time.ns()) / BYTE) as u64
            }
        };
        let microseconds = (1_000_000.0 * (burst as f64 / rate as f64)) as u32;
        let ticks = (f64::from(microseconds) * 15.625) as u32;
        let burst = i64::from(ticks) * 64;
        let mut this = Self { p: p.clone(), burst, mtu_ptoks: 0, toks: burst, ptoks: 0, t_c: 0 };
        if let Some(pir) = p.pir {
            this.mtu_ptoks = this.price(pir.bit_s() / 8, p.mtu.unwrap().get() as u32);
            this.ptoks = this.mtu_ptoks;
        }
        this
    }

    fn rate(cir: MeterRate) -> u64 {
        match cir {
            MeterRate::Bits(rate) => (rate.bit_s() / 8).max(1),
            MeterRate::Packets(rate) => rate.packets_s(),
        }
    }

    fn price(&self, rate: u64, size: u32) -> i64 {
        let units = cost(self.p.cir, self.p.framing, &Packet { size, ..Packet::default() });
        l2t_ns(rate, units.into())
    }

    fn within_mtu(&self, size: u32) -> bool {
        let unlimited = if matches!(self.p.cir, MeterRate::Packets(_)) { u64::MAX } else { 255 << 3 };
        u64::from(size) <= self.p.mtu.map_or(unlimited, Bytes::get)
    }
}

impl Oracle for ActPolice {
    fn mark(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        packet.colour = Colour::Red;
        if !self.within_mtu(packet.size) {
            return;
        }
        let earned = (now as i64 - self.t_c).min(self.burst);
        let mut ptoks = 0;
        if let Some(pir) = self.p.pir {
            ptoks = (earned + self.ptoks).min(self.mtu_ptoks) - self.price(pir.bit_s() / 8, packet.size);
        }
        let toks = (earned + self.toks).min(self.burst) - self.price(Self::rate(self.p.cir), packet.size);
        if toks | ptoks >= 0 {
            (self.t_c, self.toks, self.ptoks) = (now as i64, toks, ptoks);
            packet.colour = Colour::Green;
        }
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
    p: srtcm::Params,
}

impl Rfc2697 {
    pub fn new(p: &srtcm::Params) -> Self {
        let [c, e] = [p.cbs, p.ebs].map(|burst| bucket(p.cir, burst));
        Self { cir: c.rate, cbs: c.depth, ebs: e.depth, tc: c.depth, te: e.depth, at: 0, p: p.clone() }
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
        let before = seen(packet, self.p.colour_aware);
        let b = bytes(cost(self.p.cir, self.p.framing, packet));
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
    params: trtcm::Params,
}

impl Rfc2698 {
    pub fn new(p: &trtcm::Params) -> Self {
        Self { c: bucket(p.cir, p.cbs), p: bucket(p.pir, p.pbs), params: p.clone() }
    }
}

impl Oracle for Rfc2698 {
    fn mark(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        self.c.refill(now);
        self.p.refill(now);
        let before = seen(packet, self.params.colour_aware);
        let b = bytes(cost(self.params.cir, self.params.framing, packet));
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
    params: trtcm4115::Params,
}

impl Rfc4115 {
    pub fn new(p: &trtcm4115::Params) -> Self {
        Self { c: bucket(p.cir, p.cbs), e: bucket(p.eir, p.ebs), params: p.clone() }
    }
}

impl Oracle for Rfc4115 {
    fn mark(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        self.c.refill(now);
        self.e.refill(now);
        let b = bytes(cost(self.params.cir, self.params.framing, packet));
        packet.colour = match seen(packet, self.params.colour_aware) {
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
