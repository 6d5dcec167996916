//! Templates of classes: against classes written by hand, with more addresses than slots, and what is refused.

use perhop_core::classify::FlowHeaders;
use perhop_core::conditioner::Passage;
use perhop_core::packet::{FlowId, Packet};
use perhop_core::port::{Buffers, Port};
use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use perhop_scenario::{Options, Scenario};
use perhop_sim::{EngineOptions, Outcome, Simulation};
use proptest::prelude::*;

/// Three customers of the first plan, two of the second.
const CUSTOMERS: [&str; 5] = ["10.1.1.1", "10.1.1.2", "10.1.1.3", "10.2.0.1", "10.2.0.2"];

/// A net of the customers at these addresses behind a port with this scheduler; each has a TCP flow and datagrams.
fn net(addresses: &[&str], scheduler: &str) -> String {
    let mut text = "[scenario]\nname = \"t\"\nduration = \"1s\"\nwarmup = \"0s\"\n\n[nodes]\n".to_owned();
    let each = |line: &dyn Fn(usize, &str) -> String| {
        addresses.iter().enumerate().map(|(i, address)| line(i, address)).collect::<String>()
    };
    text += &each(&|i, address| format!("c{i} = {{ address = \"{address}\" }}\n"));
    text += "[links]\n\"a - r\" = { rate = \"10Mbit/s\", delay = \"1ms\" }\n\"a -> r\" = { queue = \"customers\" }\n";
    text += &each(&|i, _| format!("\"r - c{i}\" = {{ rate = \"100Mbit/s\", delay = \"2ms\" }}\n"));
    text += &format!("[queue.customers]\n{scheduler}\n");
    text += &each(&|i, _| {
        format!(
            "[traffic.t{i}]\nmodel = \"ftp\"\nfrom = \"a\"\nto = \"c{i}\"\n\
             [traffic.u{i}]\nmodel = \"cbr\"\nrate = \"{}kbit/s\"\nsize = \"700B\"\nfrom = \"a\"\nto = \"c{i}\"\n",
            500 + 400 * i
        )
    });
    text
}

/// The keys of the two plans' classes for a scheduler, and what is above them in HTB.
const KINDS: [(&str, &str, [&str; 2], &str); 6] = [
    (
        "htb",
        "",
        ["rate = \"2Mbit/s\"", "rate = \"1Mbit/s\", ceil = \"8Mbit/s\""],
        "{ name = \"all\", rate = \"10Mbit/s\" },",
    ),
    ("htb", "arithmetic = \"linux\"\n", ["rate = \"3Mbit/s\"", "rate = \"1Mbit/s\", prio = 1"], ""),
    ("drr", "", ["quantum = \"3000B\"", "quantum = \"1500B\""], ""),
    ("drr", "arithmetic = \"linux\"\n", ["quantum = \"3000B\"", "quantum = \"1500B\""], ""),
    ("wrr", "", ["weight = 2", "weight = 1"], ""),
    ("strict-priority", "", ["rate = \"4Mbit/s\"", "queue = { scheduler = \"fq-codel\", flows = 4 }"], ""),
];

fn written((kind, more, plans, above): (&str, &str, [&str; 2], &str), classes: &str) -> String {
    let _ = plans;
    format!("scheduler = \"{kind}\"\n{more}classes = [ {above} {classes} ]")
}

fn by_template(kind: (&str, &str, [&str; 2], &str), slots: usize) -> String {
    let parent = if kind.3.is_empty() { "" } else { "parent = \"all\", " };
    let [first, second] = kind.2;
    written(
        kind,
        &format!(
            "{{ {parent}per = \"destination\", slots = {slots}, plans = [ {{ match = {{ destination = \"10.1.0.0/16\" }}, {first} }}, \
             {{ {second} }} ] }},"
        ),
    )
}

/// A class for each address, in the order of plans, and a last one that takes nothing.
fn by_hand(kind: (&str, &str, [&str; 2], &str), addresses: &[&str]) -> String {
    let parent = if kind.3.is_empty() { "" } else { "parent = \"all\", " };
    let mut sorted = addresses.to_vec();
    sorted.sort_by_key(|address| !address.starts_with("10.1."));
    let plan = |address: &str| kind.2[usize::from(!address.starts_with("10.1."))];
    let class =
        |address: &&str| format!("{{ {parent}match = {{ destination = \"{address}\" }}, {} }},\n", plan(address));
    let classes: String = sorted.iter().map(class).collect();
    written(kind, &format!("{classes} {{ {parent}{} }},", kind.2[1]))
}

fn run(text: &str) -> Outcome {
    let (scenario, _) = Scenario::parse(text, &Options::new("t.toml")).unwrap_or_else(|d| panic!("{d}"));
    Simulation::new(scenario.plan(1, 0), EngineOptions::default()).unwrap().run(|_| true).unwrap()
}

/// What every flow got, and how often it lost packets.
fn flows(outcome: &Outcome) -> Vec<String> {
    assert!(outcome.faults.breaches.is_empty(), "{:?}", outcome.faults.breaches);
    outcome.flows.iter().map(|flow| format!("{flow:?}")).collect()
}

/// Packet for packet: a class of a template is one written by hand.
#[test]
fn a_template_is_the_classes_that_it_stands_for() {
    for kind in KINDS {
        let [template, hand] =
            [by_template(kind, 40), by_hand(kind, &CUSTOMERS)].map(|text| run(&net(&CUSTOMERS, &text)));
        assert_eq!(flows(&template), flows(&hand), "{kind:?}");
        let sent = |outcome: &Outcome| -> Vec<_> {
            let used = outcome.ports.queues.iter().filter(|row| row.fates.arrived.packets > 0);
            used.map(|row| (row.fates, row.sent)).collect()
        };
        assert_eq!(sent(&template), sent(&hand), "{kind:?}");
    }
}

#[test]
fn classes_are_named_after_their_addresses() {
    let outcome = run(&net(&CUSTOMERS, &by_template(KINDS[2], 40)));
    let names: Vec<_> = outcome.ports.nodes.iter().map(|row| row.branch.path.as_str()).collect();
    let of = |address: &str| format!("customers/{address}");
    let expected: Vec<_> = ["root".to_owned()].into_iter().chain(CUSTOMERS.map(of)).chain([of("others")]).collect();
    assert_eq!(names, expected);
    assert!(outcome.ports.tallies.is_empty(), "every address has its class: {:?}", outcome.ports.tallies);
}

/// Three slots for five customers: two share the class of all others, which has the parameters of the last plan.
#[test]
fn addresses_beyond_the_slots_share_a_class_and_are_counted() {
    let text = net(&CUSTOMERS, &by_template(KINDS[0], 3));
    let (scenario, said) = Scenario::parse(&text, &Options::new("t.toml")).unwrap();
    assert!(said.to_string().contains("class 2 has 3 `slots`, and the load has 5 addresses"), "{said}");
    let outcome = Simulation::new(scenario.plan(1, 0), EngineOptions::default()).unwrap().run(|_| true).unwrap();
    let tally = &outcome.ports.tallies[..];
    assert!(matches!(tally, [one] if one.quantity == "addresses" && one.value == 2), "{tally:?}");
    let row = |path: &str| outcome.ports.nodes.iter().find(|row| row.branch.path == path).unwrap();
    let [all, others] = ["all", "customers/others"].map(row);
    let customers = outcome.ports.nodes.iter().filter(|row| row.branch.path.starts_with("customers/"));
    let each: Vec<_> = customers.map(|row| (row.fates.arrived.packets, row.sent.bytes)).collect();
    assert_eq!(each.len(), 4, "three and the others");
    assert!(others.fates.arrived.packets > 100, "{others:?}");
    assert_eq!(all.fates.arrived.packets, each.iter().map(|it| it.0).sum::<u64>(), "nothing is lost between them");
    let rate = others.sent.bytes * 8;
    assert!((900_000..=8_200_000).contains(&rate), "the others have the last plan's rate and ceil: {rate}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Customers change places: each gets what the one in its place got before, under its own name.
    #[test]
    fn who_has_which_address_of_a_plan_does_not_matter(which in 0..KINDS.len(), swap in any::<bool>()) {
        let mut others = CUSTOMERS;
        if swap { others.swap(0, 2) } else { others[..3].rotate_left(1) }
        others.swap(3, 4);
        let kind = KINDS[which];
        let [first, second] = [CUSTOMERS, others].map(|addresses| run(&net(&addresses, &by_template(kind, 10))));
        prop_assert_eq!(flows(&first), flows(&second));
        let counts = |outcome: &Outcome| outcome.ports.queues.iter().map(|row| row.fates).collect::<Vec<_>>();
        prop_assert_eq!(counts(&first), counts(&second));
    }
}

/// What was handed to a port, and what became of it: when a packet's transmission began, or why it was dropped.
#[derive(Default)]
struct Host {
    packets: Vec<Packet>,
    fates: Vec<(usize, Time, Option<Reason>)>,
    now: Time,
}

impl Buffers<usize> for Host {
    fn packet(&mut self, handle: usize) -> &mut Packet {
        &mut self.packets[handle]
    }

    fn dropped(&mut self, handle: usize, reason: Reason) {
        self.fates.push((handle, self.now, Some(reason)));
    }
}

/// A port with a template of one slot, before a line of 10 Mbit/s that is free from this time on.
struct Uplink {
    port: Port<usize>,
    host: Host,
    free: Time,
}

impl Uplink {
    fn of(kind: (&str, &str, [&str; 2], &str)) -> Self {
        let text = net(&CUSTOMERS, &by_template(kind, 1));
        let (scenario, _) = Scenario::parse(&text, &Options::new("t.toml")).unwrap_or_else(|d| panic!("{d}"));
        let plan = scenario.plan(1, 0);
        let link = plan.links.iter().position(|link| &*link.name == "a -> r").unwrap();
        Self { port: plan.port(link).build().unwrap(), host: Host::default(), free: Time::ZERO }
    }

    /// A flow to a customer begins.
    fn comes(&mut self, flow: u32, customer: &str) {
        let headers = FlowHeaders {
            protocol: 17,
            source: [10, 9, 0, 1].into(),
            destination: customer.parse().unwrap(),
            source_port: 1024,
            destination_port: 53,
            traffic: "any".into(),
            class: String::new(),
            rtt: None,
        };
        self.port.register(FlowId(flow), &headers);
    }

    /// Packets of a flow arrive, each so many microseconds after the one before it.
    fn sends(&mut self, flow: u32, from: Time, load: &[(u64, u32)]) {
        let mut at = from;
        for &(gap, size) in load {
            at += Span::from_us(gap);
            self.until(at);
            self.host.now = at;
            let (handle, mut packet) =
                (self.host.packets.len(), Packet { flow: FlowId(flow), size, ..Packet::default() });
            if let Fate::Dropped(reason) = self.port.arrive(&Passage::of(at, packet.flow), &mut packet, handle) {
                self.host.fates.push((handle, at, Some(reason)));
            }
            self.host.packets.push(packet);
            self.port.evict(at, &mut self.host);
        }
    }

    /// The line sends what it may until `end`.
    fn until(&mut self, end: Time) {
        let mut now = self.host.now.max(self.free);
        while now <= end {
            self.host.now = now;
            now = match self.port.next(now, &mut self.host) {
                Some(leaving) => {
                    self.host.fates.push((leaving.handle, now, None));
                    self.free = now + Bytes::new(self.host.packets[leaving.handle].size.into()) / BitRate::mbps(10);
                    self.port.busy_until(&leaving, self.free);
                    self.free
                }
                None => self.port.opens_at().unwrap_or(Time::MAX),
            };
            if now == Time::MAX {
                break;
            }
        }
    }

    /// The classes of the template that were held, and how many addresses each has had.
    fn held(&self) -> Vec<(String, u64)> {
        self.port.branches().into_iter().filter_map(|it| Some((it.path.clone(), it.addresses?))).collect()
    }
}

fn class(of: &str, addresses: u64) -> (String, u64) {
    (format!("customers/{of}"), addresses)
}

/// More than any bucket takes to fill, and than CoDel remembers.
const IDLE: Span = Span::from_s(100);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A customer leaves while packets still wait: the next one shares the class of all others. Once nothing waits, the one after
    /// has the slot, under its own name and as if it were new.
    #[test]
    fn an_idle_slot_is_as_new_for_the_next_customer(
        which in 0..KINDS.len(),
        before in prop::collection::vec((0u64..3000, 100u32..1500), 1..60),
        after in prop::collection::vec((0u64..3000, 100u32..1500), 1..60),
    ) {
        let [mut used, mut fresh] = [0, 1].map(|_| Uplink::of(KINDS[which]));
        used.comes(0, CUSTOMERS[0]);
        used.sends(0, Time::ZERO, &before);
        prop_assert_eq!(used.held(), [class(CUSTOMERS[0], 1), class("others", 0)]);
        used.port.forget(FlowId(0));
        used.comes(1, CUSTOMERS[1]);
        prop_assert_eq!(used.held(), [class(CUSTOMERS[0], 1), class("others", 1)]);
        used.until(Time::MAX);
        used.port.forget(FlowId(1));
        let from = used.free + IDLE;
        let fates = [&mut used, &mut fresh].map(|it| {
            let first = it.host.packets.len();
            it.host.fates.clear();
            it.comes(2, CUSTOMERS[2]);
            it.sends(2, from, &after);
            it.until(Time::MAX);
            it.host.fates.iter().map(|(handle, at, reason)| (handle - first, *at, *reason)).collect::<Vec<_>>()
        });
        prop_assert_eq!(&fates[0], &fates[1]);
        prop_assert_eq!(fates[0].len(), after.len());
        prop_assert_eq!(used.held(), [class(CUSTOMERS[2], 2), class("others", 1)]);
        prop_assert_eq!(used.port.breaches(), Vec::<String>::new());
    }
}

/// The text of a checked scenario gives the same scenario.
#[test]
fn the_effective_text_of_a_template_reads_back() {
    for kind in KINDS {
        let text = net(&CUSTOMERS, &by_template(kind, 7));
        let (scenario, _) = Scenario::parse(&text, &Options::new("t.toml")).unwrap_or_else(|d| panic!("{d}"));
        let again = Scenario::parse(&scenario.effective(), &Options::new("t.toml"));
        let (again, _) = again.unwrap_or_else(|d| panic!("{}\n{d}", scenario.effective()));
        assert_eq!(again.effective(), scenario.effective());
    }
}

#[test]
fn what_cannot_be_a_template_is_refused_with_a_place() {
    for (class, code, message) in [
        ("per = \"destination\", rate = \"1Mbit/s\"", "E284", "class 1 has `per`, but no `slots`"),
        ("slots = 5, rate = \"1Mbit/s\"", "E284", "class 1 has `slots`, but no `per`"),
        ("per = \"host\", slots = 5, rate = \"1Mbit/s\"", "E006", "unknown name `host`"),
        ("per = \"source\", slots = 0, rate = \"1Mbit/s\"", "E285", "`slots` is 0"),
        ("per = \"source\", slots = 70000, rate = \"1Mbit/s\"", "E285", "`slots` is 70000"),
        ("per = \"source\", slots = 40000, rate = \"1Mbit/s\", plans = [{}, {}]", "E285", "more than 65535 classes"),
        ("per = \"source\", slots = 5, rate = \"1Mbit/s\", plans = []", "E286", "`plans` is empty"),
        ("per = \"source\", slots = 5, rate = \"1Mbit/s\", for = \"EF\"", "E287", "both `per` and `for`"),
        (
            "per = \"destination\", slots = 5, rate = \"1Mbit/s\", plans = [{ match = { source = \"10.0.0.0/8\" } }, {}]",
            "E287",
            "class 1, plan 1: its match may have `destination` alone",
        ),
        (
            "per = \"destination\", slots = 5, match = { destination = \"10.0.0.0/16\" }, rate = \"1Mbit/s\", \
             plans = [{ match = { destination = \"10.1.0.0/16\" } }, {}]",
            "E286",
            "class 1, plan 1: no address is in its match",
        ),
        (
            "per = \"destination\", slots = 5, rate = \"1Mbit/s\", plans = [{}, { match = { destination = \"10.1.0.0/16\" } }]",
            "E223",
            "class 1, plan 1 has no `match`, and is not the last",
        ),
        (
            "per = \"destination\", slots = 5, rate = \"1Mbit/s\", plans = [{ match = { destination = \"10.0.0.0/8\" } }, \
             { match = { destination = \"10.1.0.0/16\" } }]",
            "E223",
            "no packet can reach class 1, plan 2: class 1, plan 1 before it takes all of them",
        ),
        (
            "per = \"pair\", slots = 5, plans = [{ rate = \"1Mbit/s\", name = \"x\" }]",
            "E287",
            "class 1, plan 1 has `name`",
        ),
        ("per = \"pair\", slots = 5, plans = [{ ceil = \"1Mbit/s\" }]", "E005", "missing key `rate`"),
        ("per = \"pair\", slots = 5, rat = \"1Mbit/s\", plans = [{ rate = \"1Mbit/s\" }]", "E004", "`rat`"),
    ] {
        let text = net(&CUSTOMERS, &format!("scheduler = \"htb\"\nclasses = [ {{ {class} }} ]"));
        let said = Scenario::parse(&text, &Options::new("t.toml")).map(|it| it.1.to_string()).unwrap_err().to_string();
        assert!(said.contains(code) && said.contains(message), "{class}: {said}");
        assert_eq!(said.matches("error[").count(), 1, "{class}: {said}");
    }
    let children = "scheduler = \"htb\"\nclasses = [ { name = \"c\", per = \"source\", slots = 5, rate = \"1Mbit/s\" }, \
                    { parent = \"c\", rate = \"1Mbit/s\" } ]";
    let said = Scenario::parse(&net(&CUSTOMERS, children), &Options::new("t.toml")).unwrap_err().to_string();
    assert!(said.contains("E287") && said.contains("other classes name it as their parent"), "{said}");
}
