//! Formulas: built-in AQMs written as formulas are those AQMs; what is wrong is said where it is.

use super::support::{self, Load, RATE};
use crate::common::port::Port;
use perhop_core::Rng;
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::aqm::early::{Beyond, Common, Spacing};
use perhop_core::aqm::pie::{DelayFrom, Drops};
use perhop_core::aqm::{Aqm as _, AqmParams, Arrival, Backlog, pie};
use perhop_core::fault;
use perhop_core::packet::{Colour, Ecn, Packet};
use perhop_core::params::{Place, Problem, Problems, Reader, Table, Tree};
use perhop_core::port::{Gate, Limit, Turn};
use perhop_core::units::{Bytes, Probability, Span, Time};
use perhop_core::verdict::{Fate, Reason, Verdict};
use proptest::prelude::*;

fn text(text: impl Into<String>) -> Tree {
    Tree::Text(text.into())
}

/// A formula's parameters from its keys.
fn read(entries: Vec<(&str, Tree)>) -> Result<AqmParams, Vec<Problem>> {
    let Tree::Table(table) = Tree::table(entries) else { unreachable!() };
    read_table(&table)
}

fn read_table(table: &Table) -> Result<AqmParams, Vec<Problem>> {
    let mut problems = Problems::default();
    let mut reader = Reader::new(table, Place::default(), &mut problems);
    let params = AqmParams::read("formula", Place::default(), &mut reader);
    reader.finish();
    params.filter(|_| !problems.has_errors()).ok_or(problems.list)
}

fn formula(entries: Vec<(&str, Tree)>) -> AqmParams {
    read(entries).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Built-in AQMs draw on their ramp also where the probability is 0 or 1. This is as likely as `p` to within 2^-53, and makes a
/// formula draw there too.
fn drawn(p: &str) -> String {
    format!("max(1e-300, min(0.9999999999999999, {p}))")
}

/// The formula of RED with Bernoulli spacing; `draw` is what becomes of a probability on the ramp.
fn red((min, max, max_p): (u32, u32, f64), common: &Common, draw: fn(&str) -> String) -> AqmParams {
    let ramp = draw(&format!("{max_p:?} * (avg - {min}p) / ({max}p - {min}p)"));
    let (last, end) = match common.beyond {
        Beyond::Drop => ("0".to_owned(), max),
        Beyond::Gentle => (draw(&format!("{max_p:?} + (1 - {max_p:?}) * (avg - {max}p) / {max}p")), 2 * max),
    };
    let average = vec![
        ("of", text("backlog.packets")),
        ("weight", Tree::Float(common.weight.0)),
        ("mean-packet", text(common.mean_packet.to_string())),
    ];
    formula(vec![
        ("p", text(format!("if(avg < {min}p, 0, avg < {max}p, {ramp}, {last})"))),
        ("drop-if", text(format!("avg >= {end}p"))),
        ("ecn", Tree::Bool(common.ecn)),
        ("averages", Tree::table(vec![("avg", Tree::table(average))])),
    ])
}

fn built_in(numbers: (u32, u32, f64), common: &Common) -> AqmParams {
    let (min, max, max_p) = numbers;
    support::red(support::profile(support::packets(min), support::packets(max), max_p), common.clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// All fates with their reasons, at any setting, with pauses and ECN.
    #[test]
    fn red_as_a_formula_is_red(
        numbers in support::any_numbers(), common in support::any_common(), limit in 16u32..40,
        load in support::load(&Colour::ALL),
    ) {
        let common = Common { spacing: Spacing::Bernoulli, ..common };
        let own = support::run(&red(numbers, &common, drawn), limit, &load);
        prop_assert_eq!(own, support::run(&built_in(numbers, &common), limit, &load));
    }

    /// All fates with their reasons, the probability before each packet, at any setting.
    #[test]
    fn pie_as_a_formula_is_pie(params in any_pie(), load in phases(), seed in any::<u64>()) {
        let both = [AqmParams::Pie(params.clone()), pie_formula(&params)];
        let [mut built_in, mut own] = both.map(|it| Served::new(&it, seed));
        let mut now = Time::ZERO;
        for (n, (gap, packet)) in load.iter().enumerate() {
            now += *gap;
            let [want, got] = [&mut built_in, &mut own].map(|it| it.arrive(now, *packet));
            prop_assert_eq!(got, want, "packet {}", n);
            prop_assert_eq!(own.0.gauge(now, "prob"), built_in.0.gauge(now, "drop_p"), "packet {}", n);
        }
    }
}

/// The plain formula, as a reader would write it, over 300 000 packets of a load that is never at a tie.
#[test]
fn a_plain_red_is_red() {
    let common = Common { beyond: Beyond::Gentle, ..support::common(0.002, Spacing::Bernoulli) };
    let numbers = (10, 30, 0.1);
    let mut rng = Rng::stream(5, 0, "load");
    let packet = Packet { size: 500, ..Packet::default() };
    let load: Load = (0..300_000).map(|_| (Span::from_ns(rng.exponential(380_000.0) as u64), packet)).collect();
    let [own, built_in] = [red(numbers, &common, str::to_owned), built_in(numbers, &common)]
        .map(|params| support::run(&params, 100, &load));
    let early = own.iter().filter(|fate| **fate == Fate::Dropped(Reason::Early)).count();
    assert!(early > 10_000, "{early} early drops");
    assert!(own == built_in);
}

/// A port whose timers are called.
struct Served(Port);

impl Served {
    fn new(params: &AqmParams, seed: u64) -> Self {
        let aqm = params.build(&support::scope(400)).unwrap();
        Self(Port::new(Gate::new(aqm, Limit::Packets(400), Rng::stream(seed, 0, "queue")), RATE))
    }

    fn arrive(&mut self, now: Time, packet: Packet) -> Fate {
        while let Some(at) = self.0.poll_at().filter(|at| *at <= now) {
            self.0.advance(at);
            self.0.on_timer(at);
        }
        self.0.arrive(now, packet)
    }
}

/// Phases of one mean load each, with pauses.
fn phases() -> impl Strategy<Value = Load> {
    let phase = (20u64..3000, 20usize..400, 0u64..400).prop_flat_map(|(mean, n, pause)| {
        let packet = (0..2 * mean, 1u32..=30, any::<bool>()).prop_map(|(gap, size, ecn)| {
            let ecn = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
            (Span::from_us(gap), Packet { size: 50 * size, ecn, ..Packet::default() })
        });
        prop::collection::vec(packet, n).prop_map(move |mut packets| {
            packets[0].0 = Span::from_ns(packets[0].0.ns() + pause * 1_000_000);
            packets
        })
    });
    prop::collection::vec(phase, 1..10).prop_map(|phases| phases.concat())
}

fn any_pie() -> impl Strategy<Value = pie::Params> {
    let times = [1_000u64..40_000, 1_000u64..30_000, 0u64..200_000].prop_map(|it| it.map(Span::from_us));
    let weights = [0u32..=32, 0u32..=32].prop_map(|it| it.map(|n| f64::from(n) / 16.0));
    let flags = (any::<[bool; 4]>(), 1u64..60, 0.0..1.0f64);
    (times, weights, flags).prop_map(
        |([target, interval, max_burst], [alpha, beta], ([derandomise, cap, byte_mode, ecn], mtu, below))| {
            pie::Params {
                target,
                interval,
                max_burst,
                alpha,
                beta,
                delay: DelayFrom::Timestamps,
                drops: Drops { derandomise, cap, byte_mode },
                active_above: None,
                mtu: Bytes::new(50 * mtu),
                ecn,
                ecn_below: Probability::new(below).unwrap(),
                arithmetic: Arithmetic::Rfc,
            }
        },
    )
}

/// RFC 8033, appendices A and B, as rules. The burst allowance counts ns, so that it ends exactly.
fn pie_formula(it: &pie::Params) -> AqmParams {
    let (target, interval) = (format!("{}ns", it.target.ns()), it.interval.ns());
    let pie::Params { alpha, beta, .. } = it;
    let mtu = it.mtu.get();
    let calm = format!("(old < {target} / 2 and prob < 0.2)");
    let rule = |start: Tree, rules: &[(&'static str, String)]| {
        let rules = rules.iter().map(|(occasion, rule)| (*occasion, text(rule.clone())));
        Tree::table([("start", start)].into_iter().chain(rules).collect())
    };
    let step = format!("({alpha:?} * (delay - {target}) + {beta:?} * (delay - old)) / 1s / scale");
    let step = if it.drops.cap { format!("if(prob >= 0.1, min({step}, 0.02), {step})") } else { step };
    let scale =
        "if(prob < 1e-6, 2048, prob < 1e-5, 512, prob < 1e-4, 128, prob < 1e-3, 32, prob < 0.01, 8, prob < 0.1, 2, 1)";
    let burst =
        format!("if(room and prob == 0 and delay < {target} / 2 and old < {target} / 2, {}, burst)", it.max_burst.ns());
    let due = format!("if(room and burst == 0 and not {calm} and backlog.bytes > {}B, 1, 0)", 2 * mtu);
    let c = if it.drops.byte_mode { format!("if(size < {mtu}B, prob * size / {mtu}B, prob)") } else { "prob".into() };
    let zero = || Tree::Integer(0);
    let state = vec![
        (
            "delay",
            rule(
                text("0s"),
                &[("departure", "sojourn".into()), ("interval", "if(backlog.bytes == 0B, 0s, delay)".into())],
            ),
        ),
        ("scale", rule(zero(), &[("interval", scale.into())])),
        ("step", rule(zero(), &[("interval", step)])),
        (
            "next",
            rule(zero(), &[("interval", "if(delay == 0s and old == 0s, (prob + step) * 0.98, prob + step)".into())]),
        ),
        ("prob", rule(zero(), &[("interval", "max(0, min(1, next))".into())])),
        ("old", rule(text("0s"), &[("interval", "delay".into())])),
        ("burst", rule(zero(), &[("arrival", burst), ("interval", format!("max(burst - {interval}, 0)"))])),
        ("due", rule(zero(), &[("arrival", due)])),
        ("c", rule(zero(), &[("arrival", c)])),
        (
            "sum",
            rule(
                zero(),
                &[("arrival", "if(not room, 0, due == 0, sum, c == 0, 0, sum + c)".into()), ("hit", "0".into())],
            ),
        ),
    ];
    let p = match it.drops.derandomise {
        true => format!("if(due == 0 or sum < 0.85, 0, sum >= 8.5, 1, {})", drawn("c")),
        false => format!("if(due == 0, 0, {})", drawn("c")),
    };
    formula(vec![
        ("p", text(p)),
        ("ecn", if it.ecn { text(format!("prob < {:?}", it.ecn_below.get())) } else { Tree::Bool(false) }),
        ("interval", text(it.interval.to_string())),
        ("state", Tree::table(state)),
    ])
}

/// What is wrong with a formula p: code, what stands under the caret, message.
fn wrong(p: &str) -> (&'static str, String, String) {
    let (Tree::Table(mut table), at) = (Tree::table(vec![("p", text(p))]), 100) else { unreachable!() };
    table.entries[0].2.place = Place { start: at, end: at + p.len() + 2 };
    let problems = read_table(&table).expect_err(p);
    let Problem { code, place: Some(place), message, .. } = &problems[0] else { panic!("{problems:?}") };
    let quoted = format!("\"{p}\"");
    (code, quoted[place.start - at..place.end - at].to_owned(), message.clone())
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    for (p, code, caret, message) in [
        ("0.1 +", "E340", "\"", "the formula ends too early"),
        ("max(0, 0.1", "E340", "\"", "a `)` is missing"),
        ("a ? b : c", "E340", "?", "`?` has no meaning in a formula"),
        ("0.1 0.2", "E340", "0.2", "unexpected `0.2`"),
        ("exp(1, 2)", "E340", "exp(1, 2)", "these are not its arguments"),
        ("chance(0.5)", "E340", "chance(0.5)", "`chance` draws, which is not for this formula"),
        ("min(1, sojourn)", "E341", "sojourn", "a time beside a number"),
        ("0.1 * sojourn", "E341", "0.1 * sojourn", "the formula gives a time, not a number"),
        ("exp(backlog.time)", "E341", "backlog.time", "a number is needed here, not a time"),
        ("if(sojourn > 15p, 1, 0)", "E341", "sojourn > 15p", "`>` between a time and packets"),
        ("if(sojourn > 15, 1, 0)", "E341", "sojourn > 15", "`>` between a time and a number"),
        ("if(colour == 2, 1, 0)", "E341", "colour == 2", "`==` between a colour and a number"),
        ("sojourn > 1s", "E341", "sojourn > 1s", "the formula gives a condition, not a number"),
        ("if(0.5, 1, 0)", "E341", "0.5", "a condition is needed here, not a number"),
        ("if(room, 1, 10ms)", "E341", "10ms", "a time where the first value is a number"),
        ("(sojourn / 15ms)^(1s)", "E341", "(1s)", "a number to the power of a time"),
        ("sojourn^0.5 / 1s", "E341", "sojourn", "such a power of a time"),
        ("backlog.packet / 100p", "E006", "backlog.packet", "unknown name `backlog.packet` in the formula"),
        ("maxi(0, 1)", "E006", "maxi(0, 1)", "unknown function `maxi` in the formula"),
        ("sojourn / 15sec", "E105", "15sec", "`15sec`: `sec` is not a unit of formulas"),
        ("rate / 5MB/s", "E105", "5MB/s", "`5MB/s`: `MB/s` is not a unit of formulas"),
        ("min(1, 1e400)", "E108", "1e400", "number `1e400` is out of range"),
        ("sojourn / 1e400ms", "E108", "1e400ms", "number `1e400ms` is out of range"),
        ("rate / 1e308Gbit/s", "E108", "1e308Gbit/s", "number `1e308Gbit/s` is out of range"),
        ("sojourn / 1e400sec", "E105", "1e400sec", "`1e400sec`: `sec` is not a unit of formulas"),
        ("0.1 + 1e-400", "E108", "1e-400", "number `1e-400` is out of range"),
        ("sojourn / 1e-320ns", "E108", "1e-320ns", "number `1e-320ns` is out of range"),
        ("0.1 / (1 - 1)", "E343", "0.1 / (1 - 1)", "a division by zero"),
        ("min(ln(-1), 1)", "E343", "ln(-1)", "`ln(-1)` has no value"),
        ("max((1 - 2)^0.5, 0)", "E343", "(1 - 2)^0.5", "`(1 - 2)^0.5` has no value"),
        ("max(ln(0), 0)", "E343", "ln(0)", "`ln(0)` has no value"),
        ("min(0^-1, 1)", "E343", "0^-1", "`0^-1` has no value"),
        ("min(1, exp(1000))", "E343", "exp(1000)", "`exp(1000)` is out of range"),
        ("1 / (1e308 * 10)", "E343", "(1e308 * 10)", "`(1e308 * 10)` is out of range"),
    ] {
        let found = wrong(p);
        assert_eq!((found.0, &*found.1, &*found.2), (code, caret, message), "{p}");
    }
}

/// However long or deep a text is, it is refused or read.
#[test]
fn no_text_is_too_much() {
    let deep = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(wrong(&deep(100_000)).0, "E340");
    assert_eq!(wrong(&"-".repeat(100_000)).0, "E340");
    assert_eq!(wrong(&["0.1"; 1000].join(" + ")).0, "E340");
    read(vec![("p", text(deep(39)))]).unwrap();
}

proptest! {
    /// Any text at all.
    #[test]
    fn any_text_is_refused_or_read(p in "[-+*/^()<>=!,. a-z0-9éif]{0,40}") {
        _ = read(vec![("p", text(p))]);
    }
}

/// Runs a formula until it stops: when and why.
fn broken(entries: Vec<(&str, Tree)>) -> String {
    let mut served = Served::new(&formula(entries), 1);
    let packet = Packet { size: 1000, ..Packet::default() };
    for ms in 1..=200 {
        served.arrive(Time::from_ns(ms * 250_000), packet);
    }
    let why = fault::take().expect("it stops");
    assert_eq!(served.arrive(Time::from_ns(60_000_000), packet), Fate::Queued, "then all pass");
    assert_eq!(fault::take(), None, "and it is said once");
    why.to_string()
}

#[test]
fn a_formula_without_a_value_stops_with_time_and_values() {
    let p = |p: &str| broken(vec![("p", text(p))]);
    let by_zero = p("0.1 * size / (1500B - backlog.packets * 500B / 1p)");
    let said = "a division by zero: `0.1 * size / (1500B - backlog.packets * 500B / 1p)` is 100 / 0";
    assert!(by_zero.starts_with("`formula` failed at 0.00") && by_zero.contains(said), "{by_zero}");
    assert!(by_zero.contains("(size = 1000 B, backlog.packets = 3 p)"), "{by_zero}");
    let above = p("if(backlog.packets > 4p, 1.2, 0)");
    assert!(above.contains("p is 1.2 (backlog.packets = 5 p)"), "{above}");
    assert!(p("0 - backlog.packets / 10p").contains("p is -0.1 ("));
    for (hidden, said) in [
        ("0 * ln(2.5 - backlog.packets / 1p)", "no logarithm: `ln(2.5 - backlog.packets / 1p)` of -0.5 ("),
        ("min(ln(2.5 - backlog.packets / 1p) * 0, 1)", "no logarithm: `ln(2.5 - backlog.packets / 1p)` of -0.5 ("),
        ("if(ln(2.5 - backlog.packets / 1p) > 9, 1, 0)", "no logarithm: `ln(2.5 - backlog.packets / 1p)` of -0.5 ("),
        ("min((2.5 - backlog.packets / 1p)^0.5 * 0, 1)", "no power: `(2.5 - backlog.packets / 1p)^0.5` is -0.5^0.5 ("),
        ("min(exp(backlog.packets * 900 / 1p) - 1, 1)", "`exp(backlog.packets * 900 / 1p)` is inf ("),
        ("max(0, 0 * ln(backlog.packets / 1p))", "no logarithm: `ln(backlog.packets / 1p)` of 0 ("),
        ("min(1, (backlog.packets / 5p)^-1)", "no power: `(backlog.packets / 5p)^-1` is 0^-1 ("),
        ("min(1, (1e100 + backlog.packets / 1p)^3.5)", "`(1e100 + backlog.packets / 1p)^3.5` is inf ("),
        ("if(backlog.packets / 1p + 1e308 < 1e308 * backlog.packets / 1p, 1, 0)", "`1e308 * backlog.packets` is inf ("),
        ("min(1, backlog.packets / 1e-320p)", "`backlog.packets / 1e-320p` is inf ("),
        ("1e308 * (backlog.packets / 0.2p)", "`p` is inf ("),
    ] {
        assert!(p(hidden).contains(said), "{}", p(hidden));
    }
    let grows = |rule: &str| {
        let state = Tree::table(vec![("x", Tree::table(vec![("start", Tree::Integer(2)), ("arrival", text(rule))]))]);
        broken(vec![("p", Tree::Integer(0)), ("state", state)])
    };
    assert!(grows("x^8").contains("`x^8` is inf (x = 13407807929942597"), "{}", grows("x^8"));
}

/// The other side of a condition is not computed.
#[test]
fn what_does_not_count_is_not_computed() {
    for p in [
        "if(backlog.packets > 0p, min(1, 1p / backlog.packets), 0)",
        "if(backlog.packets > 0p and 1p / backlog.packets < 0.1, 0.5, 0)",
        "if(backlog.packets == 0p or 1p / backlog.packets < 0.1, 0.5, 0)",
    ] {
        let mut served = Served::new(&formula(vec![("p", text(p))]), 1);
        (1..100)
            .for_each(|ms| _ = served.arrive(Time::from_ns(ms * 500_000), Packet { size: 1000, ..Packet::default() }));
        assert_eq!(fault::take(), None, "{p}");
    }
}

#[test]
fn nothing_is_drawn_at_0_and_1() {
    for (p, want, draws) in
        [("0", Verdict::Pass, false), ("1", Verdict::Drop(Reason::Early), false), ("1e-300", Verdict::Pass, true)]
    {
        let mut aqm = formula(vec![("p", text(p))]).build(&support::scope(10)).unwrap();
        let (mut rng, at) = (Rng::stream(1, 0, "queue"), Arrival { now: Time::ZERO, backlog: Backlog::default() });
        let mut untouched = rng.clone();
        assert_eq!(aqm.on_arrival(Turn::testing(&at), &mut Packet::default(), &mut rng), want);
        assert_eq!(rng.bits() != untouched.bits(), draws, "p = {p}");
    }
}

/// Marks and drops by how long packets have waited: at a departure, those that waited more than 5 ms.
#[test]
fn at_departures_it_knows_the_packets_own_wait() {
    let entries = vec![("p", text("if(sojourn > 5ms, 1, 0)")), ("when", text("departure")), ("ecn", Tree::Bool(true))];
    let mut served = Served::new(&formula(entries), 1);
    let packet = |ecn| Packet { size: 1250, ecn, ..Packet::default() };
    // Each takes 1 ms; the ninth waits 8 ms.
    for n in 0..9 {
        served.arrive(Time::ZERO, packet(if n % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct }));
    }
    served.0.advance(Time::from_ns(20_000_000));
    assert_eq!(served.0.dropped().len(), 1, "of the three that waited longer, the one that is not ECN-capable");
    let fates = served.0.gate().fates().values().fold(0, |sum, fates| sum + fates.marked.packets);
    assert_eq!(fates, 2);
}

#[test]
fn a_change_keeps_what_is_remembered() {
    let with = |p: &str, start: Tree| {
        let rules = vec![("start", start), ("arrival", text("n + 1"))];
        vec![("p", text(p)), ("state", Tree::table(vec![("n", Tree::table(rules))]))]
    };
    let mut served = Served::new(&formula(with("0", Tree::Integer(0))), 1);
    let scope = support::scope(400);
    (0..7).for_each(|_| _ = served.arrive(Time::ZERO, Packet::default()));
    served.0.retune(Time::ZERO, &formula(with("if(n >= 9, 1, 0)", Tree::Integer(0))), &scope).unwrap();
    let fates: Vec<_> = (0..3).map(|_| served.arrive(Time::ZERO, Packet::default()).stays()).collect();
    assert_eq!(fates, [true, false, false]);
    let other =
        formula(vec![("p", text("0")), ("state", Tree::table(vec![("n", Tree::table(vec![("start", text("0s"))]))]))]);
    let error = served.0.retune(Time::ZERO, &other, &scope).unwrap_err();
    assert_eq!((error.code, &*error.message), ("E202", "`n` changes from a number to a time while running"));
    let error = served.0.retune(Time::ZERO, &formula(with("0", Tree::Integer(3))), &scope).unwrap_err();
    assert_eq!((error.code, &*error.message), ("E202", "`n` has begun at 0: its `start` is of no use any more"));
}

#[test]
fn keys_without_effect_are_errors() {
    let build = |more: Vec<(&'static str, Tree)>| {
        let entries = [("p", text("0"))].into_iter().chain(more).collect();
        formula(entries).build(&support::scope(10)).err().map(|error| (error.field, error.code))
    };
    let rule =
        |occasion| Tree::table(vec![("x", Tree::table(vec![("start", Tree::Integer(0)), (occasion, text("x"))]))]);
    let average =
        |weight| Tree::table(vec![("x", Tree::table(vec![("of", text("size")), ("weight", Tree::Float(weight))]))]);
    assert_eq!(build(vec![("interval", text("10ms"))]), Some(("interval", "E239")));
    assert_eq!(build(vec![("state", rule("interval"))]), Some(("state", "E005")));
    assert_eq!(build(vec![("interval", text("0s")), ("state", rule("interval"))]), Some(("interval", "E201")));
    assert_eq!(build(vec![("averages", average(0.0))]), Some(("averages", "E201")));
    assert_eq!(build(vec![("averages", average(1.5))]), Some(("averages", "E201")));
    assert_eq!(build(vec![("averages", average(1.0))]), None);
}
