//! `cake`.

use super::early::largest;
use super::limits::HEADER;
use super::log::Log;
use super::options::{Discipline, Does, Fixed, Opt, Options, Row, Takes, assumed, row};
use crate::model::Kind;
use crate::value::{Settings, Value};
use perhop_core::units::{Bytes, SignedBytes};

const CAKE_C: &str = "sch_cake.c";
/// Bytes of an IP header, which an overhead may take away.
const LEAST: i64 = -20;

const fn says(word: &'static str, key: &'static str, value: &'static str) -> Row {
    row(word, Takes::Nothing, Does::Says(key, Fixed::Word(value)))
}

const fn rtt(word: &'static str, us: u64) -> Row {
    row(word, Takes::Nothing, Does::Says("rtt", Fixed::Us(us)))
}

const fn framing(word: &'static str) -> Row {
    row(word, Takes::Nothing, Does::Makes("`overhead`, `mpu` and `link-layer`"))
}

const fn same(word: &'static str, why: &'static str) -> Row {
    row(word, Takes::Nothing, Does::Same(why))
}

const fn lost(word: &'static str, why: &'static str) -> Row {
    row(word, Takes::Nothing, Does::Lost(why))
}

/// Shaper, tins, hosts, flows.
pub const CAKE: Discipline = Discipline {
    kind: Some(Kind::Scheduler("cake")),
    rows: &[
        row("bandwidth", Takes::Word, Does::Makes("`rate`")),
        row("unlimited", Takes::Nothing, Does::Clears("rate")),
        lost("autorate-ingress", "perhop's `cake` does not estimate the rate of the link"),
        row("rtt", Takes::Time, Does::Sets("rtt")),
        rtt("datacentre", 100),
        rtt("lan", 1_000),
        rtt("metro", 10_000),
        rtt("regional", 30_000),
        rtt("internet", 100_000),
        rtt("oceanic", 300_000),
        rtt("satellite", 1_000_000),
        rtt("interplanetary", 1_000_000_000),
        says("besteffort", "tins", "besteffort"),
        says("precedence", "tins", "precedence"),
        says("diffserv3", "tins", "diffserv3"),
        says("diffserv4", "tins", "diffserv4"),
        says("diffserv8", "tins", "diffserv8"),
        says("flowblind", "isolation", "flowblind"),
        says("srchost", "isolation", "srchost"),
        says("dsthost", "isolation", "dsthost"),
        says("hosts", "isolation", "hosts"),
        says("flows", "isolation", "flows"),
        says("dual-srchost", "isolation", "dual-srchost"),
        says("dual-dsthost", "isolation", "dual-dsthost"),
        says("triple-isolate", "isolation", "triple-isolate"),
        row("nat", Takes::Nothing, Does::Nearly("addresses are those of the packets: perhop translates none")),
        same("nonat", "perhop translates no addresses"),
        row("wash", Takes::Nothing, Does::Nearly("code points stay: a later port that asks for them finds them")),
        same("nowash", "so does perhop's"),
        row("ingress", Takes::Nothing, Does::Nearly("packets that it drops do not count against the rate")),
        same("egress", "so does perhop's"),
        says("no-ack-filter", "ack-filter", "off"),
        says("ack-filter", "ack-filter", "on"),
        says("ack-filter-aggressive", "ack-filter", "aggressive"),
        row("split-gso", Takes::Nothing, Does::Says("split-gso", Fixed::Flag(true))),
        row("no-split-gso", Takes::Nothing, Does::Says("split-gso", Fixed::Flag(false))),
        row("memlimit", Takes::Size, Does::Sets("memory")),
        row("fwmark", Takes::Word, Does::Makes("nothing: tins by the marks of a firewall")),
        row("overhead", Takes::Signed, Does::Makes("`overhead`, from the IP packet")),
        row("mpu", Takes::Count, Does::Makes("`mpu`")),
        framing("atm"),
        framing("ptm"),
        framing("noatm"),
        framing("raw"),
        framing("conservative"),
        framing("pppoa-vcmux"),
        framing("pppoa-llc"),
        framing("pppoe-vcmux"),
        framing("pppoe-llcsnap"),
        framing("bridged-vcmux"),
        framing("bridged-llcsnap"),
        framing("ipoa-vcmux"),
        framing("ipoa-llcsnap"),
        framing("pppoe-ptm"),
        framing("bridged-ptm"),
        framing("ethernet"),
        framing("ether-vlan"),
        framing("docsis"),
        framing("total_overhead"),
        framing("hard_header"),
    ],
    typed: "bandwidth unlimited besteffort precedence diffserv3 diffserv4 diffserv8 flowblind srchost dsthost hosts flows \
            dual-srchost dual-dsthost triple-isolate rtt raw overhead mpu noatm atm split-gso no-split-gso memlimit ack-filter \
            ack-filter-aggressive",
    assumed: &[
        assumed("tins", Fixed::Word("diffserv3"), CAKE_C),
        assumed("isolation", Fixed::Word("triple-isolate"), CAKE_C),
        assumed("rtt", Fixed::Us(100_000), CAKE_C),
        assumed("flows", Fixed::Count(1024), CAKE_C),
        assumed("ack-filter", Fixed::Word("off"), CAKE_C),
        assumed("split-gso", Fixed::Flag(true), CAKE_C),
        largest("mtu"),
    ],
    keeps: [true, false],
    ..Discipline::plain("cake")
};

/// What a word says of frames: bytes that it adds beyond the IP packet, the least bytes or 0, the cells if it says so.
const FRAMES: [(&str, i64, u64, Option<Cells>); 14] = [
    ("conservative", 48, 0, Some(Cells::Atm)),
    ("pppoa-vcmux", 10, 0, Some(Cells::Atm)),
    ("pppoa-llc", 14, 0, Some(Cells::Atm)),
    ("pppoe-vcmux", 32, 0, Some(Cells::Atm)),
    ("pppoe-llcsnap", 40, 0, Some(Cells::Atm)),
    ("bridged-vcmux", 24, 0, Some(Cells::Atm)),
    ("bridged-llcsnap", 32, 0, Some(Cells::Atm)),
    ("ipoa-vcmux", 8, 0, Some(Cells::Atm)),
    ("ipoa-llcsnap", 16, 0, Some(Cells::Atm)),
    ("pppoe-ptm", 30, 0, Some(Cells::Ptm)),
    ("bridged-ptm", 22, 0, Some(Cells::Ptm)),
    ("ethernet", 38, 84, None),
    ("docsis", 18, 64, Some(Cells::None)),
    ("ether-vlan", 4, 0, None),
];

/// In what frames are carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Cells {
    #[default]
    None,
    Atm,
    Ptm,
}

/// What is said of frames.
#[derive(Clone, Debug, Default)]
struct Frames {
    raw: bool,
    /// The word `raw` is said, behind which tc prints `overhead 0`.
    printed: bool,
    overhead: i64,
    mpu: u64,
    cells: Cells,
    /// The command that said the overhead: the words of another one start from 0.
    command: usize,
}

/// What several words say together.
pub(super) fn keys(options: &Options<'_>, settings: &mut Settings, log: &mut Log) {
    if let Some(it) = options.any(&["bandwidth", "unlimited"]).filter(|it| it.row.word == "bandwidth") {
        match super::units::rate(&it.words[0]) {
            Ok(rate) => settings.set("rate", it.said(Value::Rate(rate))),
            Err(_) => _ = settings.remove("rate"),
        }
    }
    if let Some(it) = options.get("fwmark").filter(|it| !matches!(&*it.words[0].text, "0" | "0x0")) {
        log.lost(&[it.line], "`fwmark`: perhop's tins are chosen by code points");
    }
    frames(options, settings, log);
}

fn frames(options: &Options<'_>, settings: &mut Settings, log: &mut Log) {
    let mut frames = Frames { raw: true, ..Frames::default() };
    let mut last: Option<&Opt<'_>> = None;
    for it in &options.list {
        if frames.takes(it) {
            last = Some(it);
        }
    }
    let Some(last) = last else { return };
    // If no overhead is stated, a packet counts as elsewhere in Linux, with Ethernet's header.
    if !frames.raw {
        if frames.overhead < LEAST {
            log.nearly(&[last.line], "`overhead`: at least -20 bytes, which leave nothing of an IP header");
        }
        let overhead = i32::try_from(frames.overhead.max(LEAST) - i64::from(HEADER)).unwrap_or_default();
        settings.set("overhead", last.said(Value::Signed(SignedBytes::new(overhead))));
    }
    if frames.mpu > 0 {
        settings.set("mpu", last.said(Value::Bytes(Bytes::new(frames.mpu))));
    }
    match frames.cells {
        Cells::Atm => settings.set("link-layer", last.said(Value::Word("atm".into()))),
        Cells::Ptm => log.nearly(&[last.line], "`ptm`: perhop has no 64b/65b coding, which takes another 1.6 %"),
        Cells::None => {}
    }
}

impl Frames {
    /// Whether an option is about frames; within a command they add up in their order.
    fn takes(&mut self, it: &Opt<'_>) -> bool {
        if let Some((_, overhead, mpu, cells)) = FRAMES.iter().find(|frame| frame.0 == it.row.word) {
            let begins = self.raw || it.row.word == "conservative" || self.command != it.command;
            let before = if begins { 0 } else { self.overhead };
            (self.raw, self.overhead, self.command) = (false, before + overhead, it.command);
            self.mpu = if *mpu > 0 { *mpu } else { self.mpu };
            self.cells = cells.unwrap_or(self.cells);
            return true;
        }
        match (it.row.word, &it.value) {
            ("raw", _) => (self.raw, self.printed, self.overhead, self.cells) = (true, true, 0, Cells::None),
            ("overhead", Some(Value::Signed(bytes))) if !self.printed || bytes.get() != 0 => {
                (self.raw, self.overhead, self.command) = (false, bytes.get().into(), it.command);
            }
            ("mpu", _) => self.mpu = it.count().unwrap_or_default(),
            ("atm", _) => self.cells = Cells::Atm,
            ("ptm", _) => self.cells = Cells::Ptm,
            ("noatm", _) => self.cells = Cells::None,
            _ => return false,
        }
        true
    }
}
