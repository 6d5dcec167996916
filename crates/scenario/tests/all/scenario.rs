//! Whole files through the parser: what is built, what comes back as text, what a sweep makes.

use perhop_core::port::Limit;
use perhop_core::units::{Bytes, Span};
use perhop_scenario::{Options, Policy, Scenario, Sweep};

const EXPLICIT: &str = include_str!("../good/explicit.toml");

fn good(text: &str) -> Scenario {
    match Scenario::parse(text, &Options::new("dir/file.toml")) {
        Ok((scenario, _)) => scenario,
        Err(diagnostics) => panic!("{diagnostics}"),
    }
}

fn swept(text: &str, options: &Options) -> Sweep {
    Sweep::parse(text, options).unwrap_or_else(|d| panic!("{d}")).0
}

#[test]
fn the_plan_says_what_the_file_says() {
    let scenario = good(EXPLICIT);
    let plan = scenario.plan(7, 3);
    assert_eq!((plan.seed, plan.replication), (7, 3));
    assert_eq!((plan.duration, plan.warmup), (Span::from_s(105), Span::from_s(5)));
    let names: Vec<_> = plan.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["s1", "E1", "s2", "C", "E2", "d1", "d2"]);
    assert_eq!(plan.nodes[2].address.to_string(), "10.0.3.1");
    assert_eq!(plan.links.len(), 12);
    let link = |name: &str| plan.links.iter().find(|l| l.name == name).unwrap();
    assert_eq!(link("C -> E2").queues[0].limit, Limit::Packets(50));
    assert_eq!(link("E2 -> C").queues[0].limit, Limit::Packets(1000));
    assert_eq!(link("C -> E2").rate.bit_s(), 5_000_000);
    let marker = &link("E1 -> C").edge[0];
    assert_eq!((marker.name.as_str(), marker.scope.largest_packet), ("marker", Bytes::new(1040)));
    assert_eq!(plan.links.iter().map(|l| l.edge.len()).sum::<usize>(), 1);
    assert_eq!(plan.traffic[0].flows, 10);
    assert_eq!(plan.traffic[0].tcp.recovery, perhop_sim::transport::Recovery::Reno);
    assert_eq!(plan.nodes[plan.traffic[1].to].name, "d2");
}

#[test]
fn text_and_scenario_are_inverse() {
    let sweep = swept(EXPLICIT, &Options::new("dir/file.toml"));
    assert_eq!(swept(&sweep.to_toml(), &Options::new("dir/file.toml")), sweep, "{}", sweep.to_toml());
    assert_eq!(good(&sweep.base.to_toml()), sweep.base);
    assert_eq!(good(&sweep.base.effective()).effective(), sweep.base.effective());
}

#[test]
fn a_sweep_is_a_grid_with_names_and_hashes() {
    let points = swept(EXPLICIT, &Options::new("x.toml")).points();
    let labels: Vec<_> = points.iter().map(|p| p.labels.iter().map(|l| l.1.as_str()).collect::<Vec<_>>()).collect();
    assert_eq!(labels.len(), 4);
    assert_eq!(labels[0][0], "5");
    assert!(labels[3][1].contains("12500B"), "{labels:?}");
    let hashes: std::collections::BTreeSet<_> = points.iter().map(|p| &p.hash).collect();
    assert_eq!(hashes.len(), 4);
    let marker = points[3].scenario.plan(1, 0).links[4].edge[0].clone();
    assert_eq!(marker.matches.traffic, ["bulk", "rogue"], "a swept table keeps its match");
    assert_eq!(points[3].scenario.plan(1, 0).traffic[0].flows, 10);
}

#[test]
fn replications_do_not_change_a_hash_but_seeds_and_versions_of_the_model_do() {
    let hash = |options: Options| swept(EXPLICIT, &options).points()[0].hash.clone();
    let base = hash(Options::new("x.toml"));
    assert_eq!(hash(Options::new("x.toml").setting("replications", "3")), base);
    assert_ne!(hash(Options::new("x.toml").setting("seed", "3")), base);
}

#[test]
fn overrides_and_axes_of_the_command_line() {
    let options = Options::new("x.toml").set("traffic.rogue.rate=2Mbit/s").setting("duration", "50s");
    let sweep = swept(EXPLICIT, &options.vary("traffic.bulk.flows=1,2,3"));
    assert_eq!(sweep.base.settings().duration, Span::from_s(50));
    assert!(sweep.base.effective().contains("rate = \"2Mbit/s\""));
    let points = sweep.points();
    assert_eq!(points.len(), 6);
    assert_eq!(points[0].labels[0], ("traffic.bulk.flows".into(), "1".into()));
}

#[test]
fn a_dumbbell_is_five_lines() {
    let text = "[dumbbell]\nflows = 4\nbottleneck = \"5Mbit/s\"\nrtt = \"40ms\"\nqueue = { limit = \"50p\" }\n\
                marker = { kind = \"token-bucket\", cir = \"1Mbit/s\", cbs = \"62500B\" }";
    let scenario = good(text);
    let plan = scenario.plan(1, 0);
    assert_eq!(scenario.name(), "file");
    let there: u64 = plan.links.iter().map(|l| l.delay.ns()).sum();
    assert_eq!(Span::from_ns(there), Span::from_ms(40));
    let core = plan.links.iter().find(|l| l.name == "E1 -> E2").unwrap();
    assert_eq!((core.queues[0].limit, core.rate.bit_s(), core.edge.len()), (Limit::Packets(50), 5_000_000, 1));
    assert_eq!(plan.traffic[0].flows, 4);
    assert_eq!(good(&scenario.effective()).effective(), scenario.effective());
    assert_eq!(good(&scenario.to_toml()), scenario);
}

#[test]
fn a_policy_is_conditioners_without_ports() {
    let text = "[policy]\nname = \"p\"\naccounting = \"l2\"\ninside = [\"10.0.0.0/8\"]\n[conditioner.z]\n\
                match = { dscp = \"EF\" }\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"3000B\"\nred = \"drop\"\n\
                [conditioner.a]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"3000B\"\ngreen = \"mark AF11\"";
    let (policy, warnings) = Policy::parse(text, &Options::new("p.toml")).unwrap();
    assert_eq!(warnings.list, []);
    assert_eq!((policy.name(), policy.accounting().overhead(), policy.inside().len()), ("p", 14, 1));
    let stages = policy.stages();
    assert_eq!(stages.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["z", "a"], "the file's order");
    assert_eq!(stages[0].actions[2], perhop_core::port::edge::Action::Drop);
    let again = Policy::parse(&policy.effective(), &Options::new("p.toml")).unwrap().0;
    assert_eq!(again, policy);
}

const LINE: &str =
    "[links]\n\"A - B\" = { rate = \"10Mbit/s\", delay = \"5ms\" }\n\"B - C\" = { rate = \"5Mbit/s\" }\n";
const WEB: &str = "[traffic.web]\nmodel = \"ftp\"\nfrom = \"A\"\nto = \"C\"\n";
const BUCKET: &str = "kind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"62500B\"\n";

fn error_codes(text: &str) -> Vec<&'static str> {
    let refused = Scenario::parse(text, &Options::new("x.toml")).map(|_| ()).unwrap_err();
    refused.list.iter().map(|d| d.code).filter(|code| code.starts_with('E')).collect()
}

#[test]
fn accounting_counts_beyond_the_ip_length() {
    for (name, overhead) in [("l3", 0), ("l2", 14), ("l2+fcs", 18), ("l1", 38)] {
        let text =
            format!("[scenario]\naccounting = \"{name}\"\n{LINE}[conditioner.m]\nat = \"A -> B\"\n{BUCKET}{WEB}");
        let plan = good(&text).plan(1, 0);
        assert_eq!(plan.accounting.overhead(), overhead);
        assert_eq!(plan.links[0].edge[0].scope.largest_packet, Bytes::new(1040 + u64::from(overhead)));
        assert_eq!(plan.links[0].queues[0].scope.largest_packet, Bytes::new(1040 + u64::from(overhead)));
        assert_eq!(
            plan.links[1].queues[0].scope.largest_packet,
            Bytes::new(40 + u64::from(overhead)),
            "only ACKs come back"
        );
    }
}

#[test]
fn the_largest_packet_is_that_of_matching_traffic() {
    let voice = "[traffic.voice]\nmodel = \"cbr\"\nrate = \"1Mbit/s\"\nsize = \"200B\"\nfrom = \"A\"\nto = \"B\"\ndscp = \"EF\"\n";
    let largest = |matches: &str, at: &str| {
        let text = format!("{LINE}[conditioner.m]\nat = \"{at}\"\nmatch = {{ {matches} }}\n{BUCKET}{WEB}{voice}");
        let plan = good(&text).plan(1, 0);
        let scope = plan.links.iter().flat_map(|l| &l.edge).next().unwrap().scope.clone();
        (scope.largest_packet.get(), scope.largest_of)
    };
    assert_eq!(largest("", "A -> B"), (1040, "traffic `web`".into()));
    for matches in ["traffic = \"voice\"", "dscp = \"EF\"", "protocol = \"udp\"", "destination = \"10.0.2.1\""] {
        assert_eq!(largest(matches, "A -> B"), (200, "traffic `voice`".into()), "{matches}");
    }
    assert_eq!(largest("", "B -> C").0, 1040);
    assert_eq!(largest("", "B -> A").0, 40, "ACKs");
}

#[test]
fn every_port_of_a_conditioner_has_a_stream_of_its_own() {
    let at = "[conditioner.m]\nat = [\"A -> B\", \"B->C\"]\n";
    let plan = good(&format!("{LINE}{at}{BUCKET}{WEB}")).plan(1, 0);
    let names: Vec<_> = plan.links.iter().flat_map(|l| &l.edge).map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["m", "m at B -> C"]);
}

#[test]
fn one_direction_overrides_what_it_states() {
    let text = format!("{LINE}\"B -> A\" = {{ rate = \"1Mbit/s\", queue = {{ limit = \"8ms\" }} }}\n{WEB}");
    let plan = good(&text).plan(1, 0);
    assert_eq!((plan.links[0].rate.bit_s(), plan.links[1].rate.bit_s()), (10_000_000, 1_000_000));
    assert_eq!(plan.links[1].delay, Span::from_ms(5), "what it leaves out is that of the link");
    assert_eq!(plan.links[1].queues[0].limit, Limit::Bytes(1000), "time at its own rate");
}

/// A traffic's `ecn` goes before that of its `tcp`, but for ECN asked for against a table that turns it off.
#[test]
fn ecn_of_a_traffic_goes_before_that_of_its_tcp() {
    let text = |traffic: &str, tcp: &str| format!("{LINE}{WEB}tcp = {tcp}\n{traffic}\n");
    let ecn = |traffic: &str, tcp: &str| good(&text(traffic, tcp)).plan(1, 0).traffic[0].tcp.ecn;
    let [on, off] = ["{ ecn = true }", "{ ecn = false }"];
    assert!(
        ecn("", on) && !ecn("", off) && ecn("ecn = true", on) && !ecn("ecn = false", on) && !ecn("ecn = false", off)
    );
    assert!(ecn("ecn = true", "\"newreno\"") && ecn("ecn = true", "{ window = 9 }") && !ecn("", "{ window = 9 }"));
    assert_eq!(error_codes(&text("ecn = true", off)), ["E246"]);
}

#[test]
fn stated_addresses_are_kept_and_not_given_twice() {
    let plan = good(&format!("[nodes.C]\naddress = \"10.0.1.1\"\n{LINE}{WEB}")).plan(1, 0);
    let all: Vec<_> = plan.nodes.iter().map(|n| format!("{} {}", n.name, n.address)).collect();
    assert_eq!(all, ["C 10.0.1.1", "A 10.0.2.1", "B 10.0.3.1"]);
}

#[test]
fn labels_have_one_writer_before_their_reader() {
    let label = |name: &str, at: &str| {
        format!("[conditioner.{name}]\nat = \"{at}\"\nper = \"flow\"\nkind = \"rate-labeller\"\n")
    };
    let fsam = "[conditioner.f]\nat = \"B -> C\"\nkind = \"f-sam\"\ncir = \"1Mbit/s\"\ncbs = \"62500B\"\n";
    good(&format!("{LINE}{}{fsam}{WEB}", label("l", "A -> B")));
    good(&format!("{LINE}{}{fsam}{WEB}", label("l", "B -> C")));
    assert_eq!(error_codes(&format!("{LINE}{fsam}{}{WEB}", label("l", "B -> C"))), ["E236"], "the file's order counts");
    assert_eq!(error_codes(&format!("{LINE}{}{fsam}{WEB}", label("l", "C -> B"))), ["E236"]);
    let (one, two) = (label("l", "A -> B"), label("m", "B -> C"));
    assert_eq!(error_codes(&format!("{LINE}{one}{two}{fsam}{WEB}")), ["E237"]);
    good(&format!("{LINE}{one}{}{fsam}{WEB}", label("m", "A -> B")));
}

#[test]
fn explain_shows_every_queue_times_and_presets() {
    let text = perhop_scenario::explain(&good(include_str!("../good/dumbbell.toml")));
    for line in [
        "bulk: 20 x ftp over TCP, packets of at most 1040B, base RTT 40ms, ",
        "  there E1 -> E2: [marker: token-bucket] red 50p (83.2 ms of 1040B), then 5Mbit/s and 10ms\n",
        "  back  d -> E2: drop-tail 1000p (6.40 ms of 40B), then 50Mbit/s and 5ms\n",
        "  cbs 62500B = 60 largest packets, full in 500 ms at cir 1Mbit/s\n",
        "  cir x longest base RTT (40ms) = 5000B, within cbs\n",
        "  rto: granularity 10ms, minimum 200ms, maximum 60s, initial 3s\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

const USERS: &str = r#"
[scenario]
duration = "100s"
warmup = "0s"
[links]
"u - E" = { rate = "10Mbit/s", delay = "2ms" }
"E - C" = { rate = "2Mbit/s", delay = "5ms" }
"C - near" = { rate = "10Mbit/s", delay = "2ms" }
"C - far" = { rate = "10Mbit/s", delay = "40ms" }
[conditioner.edge]
at = "far -> C"
kind = "token-bucket"
cir = "100kbit/s"
cbs = "5kB"
[traffic.web]
model = "web"
pages = 3
page-gap = { law = "exponential", mean = "5s" }
objects = 2
object-gap = "10ms"
size = "5kB"
flows = 10
from = ["near", "far"]
to = "u"
[traffic.typists]
model = "telnet"
packets = { law = "uniform", min = 8, max = 35 }
flows = 6
from = "near"
to = "u"
"#;

/// Each way of a traffic with several senders is shown and checked; requests are the largest packets that come back.
#[test]
fn every_sender_has_a_way() {
    let scenario = good(USERS);
    let text = perhop_scenario::explain(&scenario);
    for line in [
        "web from near: 10 x web over TCP, packets of at most 1040B, base RTT 18ms, ",
        "web from far: 10 x web over TCP, packets of at most 1040B, base RTT 94ms, ",
        // 10 users x 2 objects x 40 kbit each 5 s; 6 typists x 8 kbit each second.
        "; all users together request about 160 kbit/s\n",
        "; all users together request about 48.0 kbit/s\n",
        "  there far -> C: [edge: token-bucket] drop-tail",
        "edge at far -> C: token-bucket takes web; largest packet 1040B\n",
        "  back  C -> far: drop-tail 1000p (832 ms of 1040B), ",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(scenario.plan(1, 0).traffic.iter().map(|t| t.from.len()).collect::<Vec<_>>(), [2, 1]);
}

/// What users felt, row by row, gives the means of their traffic.
#[test]
fn users_times_are_in_the_tables() {
    let plan = good(USERS).plan(1, 0);
    let outcome = perhop_sim::Simulation::new(plan.clone(), Default::default()).unwrap().run(|_| true).unwrap();
    let tables = perhop_results::tables::tables(&plan, &outcome);
    let table = |name: &str| tables.iter().find(|t| t.name == name).unwrap();
    let reals = |name: &str, column: &str| table(name).reals(column).iter().flatten().copied().collect::<Vec<f64>>();
    let integers =
        |name: &str, column: &str| table(name).integers(column).iter().flatten().copied().collect::<Vec<_>>();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;

    let (first, last) = (reals("transfers", "first_byte_ms"), reals("transfers", "last_byte_ms"));
    assert_eq!((first.len(), last.len()), (10 * 3 * 2, 10 * 3 * 2));
    assert!(first.iter().zip(&last).all(|(first, last)| 18.0 < *first && first < last));
    let (opened, complete) = (reals("transfers", "opened_s"), reals("transfers", "complete_s"));
    let spans = opened.iter().zip(&complete).map(|(from, to)| 1e3 * (to - from));
    assert!(spans.zip(&last).all(|(span, last)| (span - last).abs() < 1e-6));
    assert!(close(reals("traffic", "first_byte_mean_ms")[0], mean(&first)));
    assert!(close(reals("traffic", "last_byte_mean_ms")[0], mean(&last)));
    let far = table("transfers").texts("sender").iter().filter(|s| s.as_deref() == Some("far")).count();
    assert!((2..58).contains(&far) && far.is_multiple_of(2), "{far}");

    // A page lasts from its first request to the last data of any of its two objects.
    let (source, page) = (integers("transfers", "source"), integers("transfers", "page"));
    let mut pages = std::collections::BTreeMap::new();
    for (i, key) in source.iter().zip(&page).enumerate() {
        let [from, to] = pages.entry(key).or_insert([f64::MAX, 0.0]);
        (*from, *to) = (from.min(opened[i]), to.max(complete[i]));
    }
    assert_eq!(pages.len(), 30);
    let lasted: Vec<f64> = pages.values().map(|[from, to]| to - from).collect();
    assert!((reals("traffic", "page_mean_s")[0] - mean(&lasted)).abs() < 1e-9);

    let (delays, packets) = (reals("sessions", "delay_mean_ms"), integers("sessions", "delivered_packets"));
    assert_eq!((packets.len(), integers("traffic", "sessions_complete")), (6, vec![0, 6]));
    assert_eq!(packets, integers("sessions", "written_packets"));
    let sum: f64 = delays.iter().zip(&packets).map(|(delay, n)| delay * *n as f64).sum();
    assert!(close(reals("traffic", "session_delay_mean_ms")[0], sum / packets.iter().sum::<i64>() as f64));
    assert!(close(reals("traffic", "session_mean_s")[0], mean(&reals("sessions", "duration_s"))));
}

/// A scheduler's queues in the tables: a row each, series and sums; the hop's rows are of all of them.
#[test]
fn each_queue_of_a_scheduler_is_in_the_tables() {
    let scenario = good(include_str!("../good/scheduler.toml"));
    let plan = scenario.plan(1, 0);
    let outcome = perhop_sim::Simulation::new(plan.clone(), Default::default()).unwrap().run(|_| true).unwrap();
    let tables = perhop_results::tables::tables(&plan, &outcome);
    let table = |name: &str| tables.iter().find(|t| t.name == name).unwrap();
    let here = |name: &str, row: usize| table(name).texts("hop")[row].as_deref() == Some("C -> d");
    let rows = |name: &str| (0..table(name).rows()).filter(|&row| here(name, row)).collect::<Vec<_>>();
    let sum = |name: &str, column: &str| -> i64 {
        rows(name).into_iter().map(|row| table(name).integers(column)[row].unwrap()).sum()
    };
    let numbers: Vec<_> = rows("queues").into_iter().map(|row| table("queues").integers("queue")[row]).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3)]);
    for column in ["arrived_packets", "queued_bytes", "dropped_packets", "dropped_early_packets"] {
        assert_eq!(sum("queues", column), sum("summary", column), "{column}");
    }
    assert!(sum("queues", "dropped_early_packets") > 0 && sum("queues", "sent_packets") > 10_000);
    let series = table("series");
    let values = |quantity: &str| -> Vec<f64> {
        let of = rows("series").into_iter().filter(|&row| series.texts("quantity")[row].as_deref() == Some(quantity));
        of.map(|row| series.reals("value")[row].unwrap()).collect()
    };
    let [all, one, two, three] = ["queue_packets", "queue_1.packets", "queue_2.packets", "queue_3.packets"].map(values);
    assert_eq!((all.len(), values("queue_2.avg_queue_packets").len()), (21, 21));
    assert!(values("queue_3.avg_queue_packets").is_empty() && values("avg_queue_packets").is_empty());
    assert!(all.iter().enumerate().all(|(i, sum)| *sum == one[i] + two[i] + three[i]) && all.iter().any(|n| *n > 2.0));
    // Of all packets, those without a wait included: the deviation of a class that never waits is 0.
    let sd = rows("summary").into_iter().map(|row| table("summary").reals("wait_sd_ms")[row].unwrap());
    assert!(sd.clone().all(|sd| (0.0..50.0).contains(&sd)) && sd.into_iter().any(|sd| sd > 0.1));
}

/// A line of 8 Mbit/s in which HTB has classes below a class, and a class a shaper of 1 Mbit/s.
const NODES: &str = r#"
    [scenario]
    duration = "3s"
    warmup = "1s"
    [links]
    "a -> b" = { rate = "8Mbit/s", queue = "port" }
    "b -> a" = { rate = "8Mbit/s" }
    [queue.port]
    scheduler = "htb"
    classes = [
      { name = "data", rate = "6Mbit/s" },
      { parent = "data", for = "AF11", rate = "2Mbit/s", ceil = "6Mbit/s", queue = { limit = "20p", shape = { rate = "1Mbit/s", burst = "1500B" } } },
      { name = "voice", for = "EF", rate = "2Mbit/s", queue = { limit = "20p" } },
      { name = "rest", parent = "data", rate = "4Mbit/s", ceil = "6Mbit/s", queue = { limit = "20p" } },
    ]
    [traffic.business]
    model = "cbr"
    rate = "3Mbit/s"
    size = "1500B"
    from = "a"
    to = "b"
    dscp = "AF11"
    [traffic.rest]
    model = "cbr"
    rate = "7Mbit/s"
    size = "1500B"
    from = "a"
    to = "b"
    [traffic.voice]
    model = "cbr"
    rate = "1Mbit/s"
    size = "200B"
    from = "a"
    to = "b"
    dscp = "EF"
"#;

/// The nodes of a tree are sums of its queues; a shaper has used its rate and held packets back all the time, and no
/// port without such a tree has rows.
#[test]
fn each_node_of_a_tree_is_in_the_tables() {
    let scenario = good(NODES);
    let plan = scenario.plan(1, 0);
    let outcome = perhop_sim::Simulation::new(plan.clone(), Default::default()).unwrap().run(|_| true).unwrap();
    let tables = perhop_results::tables::tables(&plan, &outcome);
    let table = |name: &str| tables.iter().find(|t| t.name == name).unwrap();
    let (nodes, queues) = (table("nodes"), table("queues"));
    let texts = |column: &str| nodes.texts(column).iter().map(|it| it.as_deref().unwrap()).collect::<Vec<_>>();
    assert_eq!(texts("node"), ["root", "data", "1", "rest", "voice"]);
    assert_eq!(texts("kind"), ["htb", "class", "drop-tail", "drop-tail", "drop-tail"]);
    assert_eq!(nodes.integers("queue"), [None, None, Some(1), Some(3), Some(2)]);
    for column in ["arrived_packets", "arrived_bytes", "dropped_packets", "dropped_bytes", "sent_packets", "sent_bytes"]
    {
        let of: Vec<_> = queues.integers(column).iter().map(|it| it.unwrap()).collect();
        let sums = [of.iter().sum(), of[0] + of[2], of[0], of[2], of[1]];
        assert_eq!(nodes.integers(column), sums.map(Some), "{column}");
    }
    assert_eq!(nodes.integers("rate_bit_s"), [None, None, Some(1_000_000), None, None]);
    let only = |column: &str| match nodes.reals(column) {
        [None, None, Some(value), None, None] => *value,
        other => panic!("{column}: {other:?}"),
    };
    assert!(
        (only("used") - 1.0).abs() < 0.01 && (only("held") - 1.0).abs() < 0.01,
        "{} {}",
        only("used"),
        only("held")
    );
    for column in ["wait_p99_ms", "wait_mean_ms"] {
        let of = queues.reals(column);
        assert_eq!(nodes.reals(column)[2..], [of[0], of[2], of[1]], "{column}");
    }
    let max = |table: &perhop_results::tables::columns::Table, row: usize| table.reals("wait_max_ms")[row].unwrap();
    assert_eq!(max(nodes, 0), (0..3).map(|row| max(queues, row)).fold(0.0, f64::max));
    let text = perhop_scenario::explain(&scenario);
    let drawn = "
  htb
    data rate \"6Mbit/s\"
      1 [\"AF11\"], rate \"2Mbit/s\", ceil \"6Mbit/s\": shaped to 1Mbit/s (burst 1500B, 12.0 ms of it; counts the IP length + \
                 0B), drop-tail 20p (240 ms of 1500B), told a rate of 1Mbit/s
      rest all others, rate \"4Mbit/s\", ceil \"6Mbit/s\": drop-tail 20p (40.0 ms of 1500B), told a rate of 6Mbit/s
    voice [\"EF\"], rate \"2Mbit/s\": drop-tail 20p (16.0 ms of 200B), told a rate of 2Mbit/s
";
    assert!(text.contains(drawn), "{text}");
}

#[test]
fn a_limit_shows_its_defaults() {
    let explained = |class: &str| {
        let text = format!(
            r#"
[links]
"a - b" = {{ rate = "2Mbit/s", queue = {{ scheduler = "strict-priority", classes = [{class}, {{}}] }} }}
[traffic.voice]
model = "cbr"
rate = "80kbit/s"
size = "200B"
from = "a"
to = "b"
dscp = "EF"
"#
        );
        perhop_scenario::explain(&good(&text))
    };
    let text = explained(r#"{ for = "EF", rate = "256kbit/s" }"#);
    assert!(text.contains("1 [\"EF\"], rate \"256kbit/s\", burst \"6400B\", police \"always\": "), "{text}");
    let text = explained(r#"{ for = "EF", rate = "256kbit/s", burst = "2kB", police = "congested" }"#);
    assert!(text.contains("1 [\"EF\"], rate \"256kbit/s\", burst \"2000B\", police \"congested\": "), "{text}");
    let text = explained(r#"{ for = "EF" }"#);
    assert!(text.contains("1 [\"EF\"]: "), "{text}");
}

/// A link of 8 Mbit/s with this queue, which CBR traffic of 1500 B passes.
fn told(rate: &str, queue: &str) -> Scenario {
    good(&format!(
        r#"
        [scenario]
        duration = "1s"
        warmup = "0s"
        [links]
        "a -> b" = {{ rate = "{rate}", queue = {queue} }}
        "b -> a" = {{ rate = "8Mbit/s" }}
        [traffic.bulk]
        model = "cbr"
        rate = "1Mbit/s"
        size = "1500B"
        from = "a"
        to = "b"
        "#
    ))
}

/// With `aqm-rate = "share"` the queue of a class is, to the last number, that of a link of the class's rate; by default that
/// of the rate which bounds it: the whole link's, or in HTB what it may have. A share of a share is one, strict classes and flows have that of all together.
#[test]
fn an_aqm_can_be_told_its_share() {
    let avq = r#"{ aqm = "avq", limit = "40ms" }"#;
    let queues = |scenario: &Scenario| {
        let plan = scenario.plan(1, 0);
        plan.links[0].queues.iter().map(|queue| format!("{queue:?}")).collect::<Vec<_>>()
    };
    let cases: [(&str, &[&str]); 5] = [
        (
            r#"scheduler = "drr", classes = [{ for = "EF", quantum = "1500B", queue = Q }, { quantum = "4500B", queue = Q }]"#,
            &["2Mbit/s", "6Mbit/s"],
        ),
        (
            r#"scheduler = "wrr", classes = [{ for = "EF", weight = 3, queue = Q }, { weight = 5, queue = Q }]"#,
            &["3Mbit/s", "5Mbit/s"],
        ),
        (
            r#"scheduler = "strict-priority", classes = [{ for = "EF", queue = Q }, { queue = Q }]"#,
            &["8Mbit/s", "8Mbit/s"],
        ),
        (
            r#"scheduler = "ets", classes = [{ for = "EF", queue = Q }, { for = "AF11", quantum = "1500B", queue = Q }, { quantum = "1500B", queue = Q }]"#,
            &["8Mbit/s", "4Mbit/s", "4Mbit/s"],
        ),
        (
            r#"scheduler = "htb", classes = [{ name = "all", rate = "5Mbit/s" }, { parent = "all", for = "EF", rate = "1Mbit/s", queue = Q },
               { rate = "4Mbit/s", queue = { aqm-rate = "share", scheduler = "wrr", classes = [{ for = "AF11", weight = 1, queue = Q }, { weight = 3, queue = Q }] } }]"#,
            &["1Mbit/s", "1Mbit/s", "3Mbit/s"],
        ),
    ];
    for (scheduler, rates) in cases {
        let scheduler = scheduler.replace('Q', avq).replace('\n', " ");
        let alone = |rate: &&str| queues(&told(rate, avq)).concat();
        let share = told("8Mbit/s", &format!(r#"{{ aqm-rate = "share", {scheduler} }}"#));
        assert_eq!(queues(&share), rates.iter().map(alone).collect::<Vec<_>>(), "{scheduler}");
        let by_default = queues(&told("8Mbit/s", &format!("{{ {scheduler} }}")));
        // Without `ceil` a class of HTB never has more than its rate.
        let bound = if scheduler.contains("htb") { "1Mbit/s" } else { "8Mbit/s" };
        assert_eq!(by_default[0], alone(&bound), "{scheduler}");
        assert_eq!(queues(&told("8Mbit/s", &format!(r#"{{ aqm-rate = "link", {scheduler} }}"#))), by_default);
        assert_eq!(good(&share.effective()).effective(), share.effective());
    }
    let text = perhop_scenario::explain(&told(
        "8Mbit/s",
        &format!(r#"{{ aqm-rate = "share", {} }}"#, cases[0].0.replace('Q', avq)),
    ));
    assert!(text.contains("avq 10000B (40.0 ms), told a rate of 2Mbit/s\n"), "{text}");
}

/// What `explain` writes is read again as the same, every queue of every class in it.
#[test]
fn a_scheduler_is_written_out_and_read_back() {
    let scenario = good(include_str!("../good/scheduler.toml"));
    let again = good(&scenario.effective());
    assert_eq!(again.effective(), scenario.effective());
    assert_eq!(format!("{:?}", again.plan(1, 0)), format!("{:?}", scenario.plan(1, 0)));
    let text = perhop_scenario::explain(&scenario);
    assert!(
        text.contains("wrr over red 10p (8.32 ms of 1040B) + red 10p (8.32 ms of 1040B) + drop-tail 20p"),
        "{text}"
    );
    let altered: Vec<_> = scenario.plan(1, 0).changes[0].what.iter().map(|what| format!("{what:?}")).collect();
    let kinds: Vec<_> = altered.iter().map(|what| what.split([' ', '{']).next().unwrap()).collect();
    assert_eq!(kinds, ["Aqm", "Aqm", "Scheduler"], "both queues that are called `small`, and the weights");
}

/// `window_cuts` are all cuts, as docs/reference/results.md says: without ECN those for losses and time-outs, with it answers too.
#[test]
fn window_cuts_are_all_cuts() {
    let cuts = |ecn: bool| {
        let text = format!(
            "[scenario]\nduration = \"20s\"\n[links]\n\"A - B\" = {{ rate = \"2Mbit/s\", delay = \"10ms\", queue = \"red\" }}\n\
             [queue.red]\naqm = \"red\"\nlimit = \"30p\"\nmin = \"5p\"\nmax = \"15p\"\nmax-p = 0.1\necn = {ecn}\n\
             [tcp.host]\necn = {ecn}\n[traffic.t]\nmodel = \"ftp\"\nflows = 4\ntcp = \"host\"\nfrom = \"A\"\nto = \"B\"\n"
        );
        let plan = good(&text).plan(1, 0);
        let outcome = perhop_sim::Simulation::new(plan.clone(), Default::default()).unwrap().run(|_| true).unwrap();
        let tables = perhop_results::tables::tables(&plan, &outcome);
        let flows = tables.iter().find(|t| t.name == "flows").unwrap();
        ["window_cuts", "timeouts", "fast_retransmits"]
            .map(|column| flows.integers(column).iter().flatten().sum::<i64>())
    };
    let [all, timeouts, repeats] = cuts(false);
    assert!(all > 20 && all == timeouts + repeats, "{all} {timeouts} {repeats}");
    let [all, timeouts, repeats] = cuts(true);
    assert!(all > timeouts + repeats + 20, "{all} {timeouts} {repeats}");
    let said = perhop_results::tables::column("flows", "window_cuts").doc;
    assert!(said.contains("cuts of the congestion window, for a loss, a time-out or an echo of ECN"), "{said}");
}
