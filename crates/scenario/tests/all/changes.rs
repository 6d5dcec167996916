//! `[[change]]`: what it makes of the plan, what it leaves alone, what comes back as text.

use perhop_scenario::{Options, Point, Scenario, Sweep};
use perhop_sim::plan::Alteration;
use perhop_sim::plan::Plan;
use perhop_sim::{EngineOptions, Outcome, Simulation};
use proptest::prelude::*;

const ALL: &str = include_str!("../good/changes.toml");

fn parse(text: &str) -> (Scenario, Vec<&'static str>) {
    match Scenario::parse(text, &Options::new("file.toml")) {
        Ok((scenario, said)) => (scenario, said.list.iter().map(|d| d.code).collect()),
        Err(diagnostics) => panic!("{diagnostics}"),
    }
}

fn good(text: &str) -> Scenario {
    let (scenario, said) = parse(text);
    assert_eq!(said, [""; 0]);
    scenario
}

fn run(scenario: &Scenario) -> Outcome {
    let plan = scenario.plan(scenario.settings().seed, 0);
    let simulation = Simulation::new(plan, EngineOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    simulation.run(|_| true).expect("it is not stopped")
}

/// Two senders of 1 Mbit/s, one policed, over a RED queue; `{}`: the keys of `[conditioner.m]` and below.
fn line(cir: &str, rest: &str) -> String {
    format!(
        "[scenario]\nduration = \"10s\"\nwarmup = \"1s\"\nreplications = 1\n\
         [links]\n\"A - B\" = {{ rate = \"10Mbit/s\", delay = \"1ms\" }}\n\"B - C\" = {{ rate = \"1.5Mbit/s\", queue = \"q\" }}\n\
         [queue.q]\naqm = \"red\"\nmin = \"10ms\"\nmax = \"40ms\"\nlimit = \"60kB\"\n\
         [conditioner.m]\nat = \"A -> B\"\nmatch = {{ traffic = \"t\" }}\nkind = \"token-bucket\"\ncir = \"{cir}\"\n\
         cbs = \"10kB\"\nred = \"drop\"\n\
         [traffic.t]\nmodel = \"cbr\"\nrate = \"1Mbit/s\"\nsize = \"1000B\"\nfrom = \"A\"\nto = \"C\"\n\
         [traffic.u]\nmodel = \"ftp\"\nfrom = \"A\"\nto = \"C\"\n{rest}"
    )
}

fn change(at: &str, what: &str) -> String {
    format!("[[change]]\nat = \"{at}\"\n{what}\n")
}

/// Links and traffic of a plan; the rest does not change.
fn changeable(plan: &Plan) -> String {
    format!("{:?}\n{:?}", plan.links, plan.traffic)
}

/// The plan as the first `n` changes make it.
fn after(plan: &Plan, n: usize) -> Plan {
    let mut altered = plan.clone();
    let what = plan.changes[..n].iter().flat_map(|change| &change.what);
    what.for_each(|alteration| altered.alter(alteration).unwrap());
    altered
}

/// From its time the file is read as if it had the keys of a change.
#[test]
fn the_plan_becomes_that_of_the_file_with_those_keys() {
    let plan = good(ALL).plan(1, 0);
    let times: Vec<_> = plan.changes.iter().map(|change| change.at.seconds()).collect();
    assert_eq!(times, [10.0, 20.0], "in order, one for each time");
    let at_10 = [
        ("rate = \"4Mbit/s\", delay = \"10ms\"", "rate = \"6Mbit/s\", delay = \"10ms\""),
        ("max = \"20p\"", "max = \"30p\""),
        ("aqm = \"wred\"", "aqm = \"wred\"\nmean-packet = \"1000B\""),
        ("cir = \"3Mbit/s\"", "cir = \"4Mbit/s\""),
        ("at = [\"A -> B\", \"B -> D\"]", "at.\"A -> B\" = {}\nat.\"B -> D\".window = \"500ms\""),
        ("cir = \"500kbit/s\"", "cir = \"1Mbit/s\""),
        ("rate = \"64kbit/s\"", "rate = \"128kbit/s\""),
        ("size = \"20kB\"\ngap = \"1s\"", "size = \"10kB\"\ngap = \"500ms\""),
    ];
    let at_20 = [
        ("cir = \"{i}Mbit/s\"", "cir = \"{4-i}Mbit/s\""),
        ("\"B -> A\" =", "\"A -> B\" = { rate = \"3Mbit/s\" }\n\"B -> A\" ="),
        ("min = \"60%\"", "min = \"70%\""),
        ("max = \"50ms\"", "max = \"50ms\", max-p = 0.5"),
    ];
    let mut text = ALL.split("[[change]]").next().unwrap().to_owned();
    for (n, replaced) in [(1, &at_10[..]), (2, &at_20)] {
        for (from, to) in replaced {
            assert_eq!(text.matches(from).count(), 1, "{from}");
            text = text.replace(from, to);
        }
        assert_eq!(changeable(&after(&plan, n)), changeable(&good(&text).plan(1, 0)), "{n}");
    }
}

#[test]
fn each_alteration_names_what_it_changes() {
    let what = "links.\"B -> C\".rate = \"2Mbit/s\"\nconditioner.m.cir = \"1Mbit/s\"\ntraffic.t.rate = \"2Mbit/s\"";
    let plan = good(&line("500kbit/s", &change("5s", what))).plan(1, 0);
    let label = |what: &Alteration| match what {
        Alteration::Scheduler { link, params, .. } => format!("{} {}", plan.links[*link].name, params.name()),
        Alteration::Rate { link, rate } => format!("{} {rate}", plan.links[*link].name),
        Alteration::Shaper { link, params, .. } => format!("{} {}", plan.links[*link].name, params.rate),
        Alteration::Aqm { link, scope, .. } => {
            format!(
                "{} {} at {}",
                plan.links[*link].name,
                plan.links[*link].queues[0].aqm.name(),
                scope.link_rate.unwrap()
            )
        }
        Alteration::Conditioner { link, name, .. } => format!("{} {name}", plan.links[*link].name),
        Alteration::Traffic { table, .. } => plan.traffic[*table].name.clone(),
    };
    let all: Vec<_> = plan.changes[0].what.iter().map(label).collect();
    assert_eq!(all, ["A -> B m", "B -> C 2Mbit/s", "B -> C red at 2Mbit/s", "t"], "the AQM learns the rate");
}

/// Of 125 packets a second, those are green for which the bucket has tokens: 10 kB at the start, 62.5 kB/s for 5 s,
/// 100 kB/s for 5 s more. That is 822.5 packets. None of it overflows, since more arrives than is granted, and after
/// the
/// packet at 10 s less than a packet is left.
#[test]
fn a_policer_lets_through_what_both_rates_are_worth() {
    let text = line("500kbit/s", &change("5s", "conditioner.m.cir = \"800kbit/s\""));
    let text = text.replace("warmup = \"1s\"", "warmup = \"0s\"");
    let scenario = good(&text.replace("[traffic.t]", "[traffic.t]\nrandom-phase = false\nspread = \"0s\""));
    let outcome = run(&scenario);
    let green = outcome.ports.conditioners[0].counts.iter().map(|row| row[0].packets).sum::<u64>();
    assert_eq!(green, 822);
}

#[test]
fn what_is_in_force_already_changes_nothing() {
    let plain = parse(&line("500kbit/s", "")).0;
    let restated = change("3s", "conditioner.m = { kind = \"token-bucket\", cir = \"0.5Mbit/s\", cbs = \"10000B\" }")
        + &change("5s", "links.\"B - C\" = { rate = \"1500kbit/s\", queue = \"q\" }\nqueue.q.min = \"10ms\"")
        + &change("7s", "traffic.t = { rate = \"1Mbit/s\", flows = 1 }\ntraffic.u.model = \"ftp\"");
    let (scenario, said) = parse(&line("500kbit/s", &restated));
    assert_eq!(said, ["W311"; 3]);
    assert_eq!(scenario, plain);
    assert_eq!(format!("{:?}", run(&scenario)), format!("{:?}", run(&plain)));
}

#[test]
fn two_changes_at_a_time_are_one_and_the_last_word_counts() {
    let apart = change("5s", "conditioner.m = { cir = \"1Mbit/s\", cbs = \"20kB\" }")
        + &change("2s", "traffic.t.rate = \"2Mbit/s\"");
    let apart = apart + &change("5000ms", "conditioner.m.cir = \"2Mbit/s\"");
    let together = change("2s", "traffic.t.rate = \"2Mbit/s\"")
        + &change("5s", "conditioner.m.cbs = \"20kB\"\nconditioner.m.cir = \"2Mbit/s\"");
    let [apart, together] = [apart, together].map(|changes| good(&line("500kbit/s", &changes)));
    assert_eq!(apart, together);
    assert_eq!(Point::base(&apart).hash, Point::base(&together).hash);
    assert_eq!(apart.plan(1, 0).changes.len(), 2);
}

#[test]
fn a_change_is_part_of_the_hash_and_of_equality() {
    let of = |cir: &str| good(&line("500kbit/s", &change("5s", &format!("conditioner.m.cir = \"{cir}\""))));
    assert_ne!(of("1Mbit/s"), of("2Mbit/s"));
    assert_ne!(Point::base(&of("1Mbit/s")).hash, Point::base(&of("2Mbit/s")).hash);
    assert_eq!(of("1Mbit/s"), of("1000kbit/s"));
}

#[test]
fn changes_come_back_as_text() {
    for text in [ALL, &line("500kbit/s", &change("5s", "links.\"C -> B\".rate = \"1Mbit/s\""))] {
        let scenario = good(text);
        assert_eq!(good(&scenario.to_toml()), scenario, "{}", scenario.to_toml());
        let again = good(&scenario.effective());
        assert_eq!(again.effective(), scenario.effective());
        assert_eq!(changeable(&after(&again.plan(1, 0), 1)), changeable(&after(&scenario.plan(1, 0), 1)));
    }
}

#[test]
fn explain_lists_changes_in_order_of_time() {
    let text = perhop_scenario::explain(&good(ALL));
    let listed = text.split("# Changes").nth(1).unwrap();
    let lines = [
        "\n10s:\n",
        "  links.\"A - B\".rate: \"4Mbit/s\" -> \"6Mbit/s\"\n",
        "  conditioner.core.at.\"B -> D\".cir: \"500kbit/s\" -> \"1Mbit/s\"\n",
        "\n20s:\n",
        "  links.\"A -> B\".rate: (as the link) -> \"3Mbit/s\"\n",
        "  conditioner.gold.at.\"S1 -> A\".cir: \"1Mbit/s\" -> \"3Mbit/s\"\n",
    ];
    let places: Vec<_> = lines.iter().map(|line| listed.find(line)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{listed}");
}

#[test]
fn a_short_form_changes_by_the_names_it_stands_for() {
    let short = include_str!("../good/dumbbell.toml");
    let what =
        "conditioner.marker.cir = \"2Mbit/s\"\nqueue.bottleneck.max = \"20p\"\nlinks.\"E1 - E2\".rate = \"6Mbit/s\"";
    let scenario = good(&format!("{short}\n{}", change("20s", what)));
    let plan = scenario.plan(1, 0);
    assert_eq!(plan.changes[0].what.len(), 5, "two rates, two AQMs, a marker: {:?}", plan.changes);
    assert_eq!(good(&scenario.effective()).effective(), scenario.effective());
}

/// A receiver-based source reads its ACKs; it cannot begin to spread its own tickets half way.
#[test]
fn what_an_algorithm_looks_at_is_settled_at_the_start() {
    let text = include_str!("../../../../examples/pps-ack-tagger.toml");
    let refused = |what: &str| {
        let options = Options::new("x.toml").set(&format!("change=[{{ at = \"5s\", conditioner.{what} }}]"));
        Scenario::parse(text, &options).map(|_| ()).unwrap_err().to_string()
    };
    assert!(
        refused("source.tickets = \"100t/s\"")
            .contains("E202] the change would alter which packets or labels `pps-tagger` looks at")
    );
    let options =
        Options::new("x.toml").set("change=[{ at = \"5s\", conditioner.sink.at.'D1 -> Q'.tickets = \"9t/s\" }]");
    assert_eq!(Scenario::parse(text, &options).unwrap().0.plan(1, 0).changes[0].what.len(), 1);
}

/// Each point of a sweep has the changes; a swept key that a change states later holds until then.
#[test]
fn sweeps_work_with_changes() {
    let text = line("500kbit/s", &change("5s", "conditioner.m.cir = \"900kbit/s\""));
    let options = Options::new("x.toml").vary("conditioner.m.cir=100kbit/s,900kbit/s");
    let (sweep, said) = Sweep::parse(&text, &options).unwrap();
    let points = sweep.points();
    let changes: Vec<_> = points.iter().map(|p| p.scenario.plan(1, 0).changes.len()).collect();
    assert_eq!(changes, [1, 0], "900 kbit/s is in force already");
    assert_eq!(said.list.iter().map(|d| d.code).collect::<Vec<_>>(), ["W311"]);
    let refused = Scenario::parse(&text, &Options::new("x.toml").vary("change.at=1s,2s")).unwrap_err();
    assert!(refused.to_string().contains("`change.at` cannot be swept"), "{refused}");
}

/// A value that a change may state, below its section.
fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u32..3000).prop_map(|k| format!("conditioner.m.cir = \"{k}kbit/s\"")),
        (1000u32..30_000).prop_map(|b| format!("conditioner.m.at.\"A -> B\".cbs = \"{b}B\"")),
        (1u32..20, 21u32..100).prop_map(|(a, b)| format!("queue.q = {{ min = \"{a}ms\", max = \"{b}ms\" }}")),
        (100u32..9000).prop_map(|k| format!("links.\"B -> C\".rate = \"{k}kbit/s\"")),
        (100u32..9000).prop_map(|k| format!("links.\"B - C\".rate = \"{k}kbit/s\"")),
        (1u32..3000, 40u32..1000).prop_map(|(k, b)| format!("traffic.t = {{ rate = \"{k}kbit/s\", size = \"{b}B\" }}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any changes give a plan that the simulator takes, and come back from both texts.
    #[test]
    fn any_changes_run_and_come_back(changes in prop::collection::vec((1u32..9000, statement()), 1..6)) {
        let changes: String = changes.iter().map(|(ms, what)| change(&format!("{ms}ms"), what)).collect();
        let scenario = parse(&line("500kbit/s", &changes)).0;
        Simulation::new(scenario.plan(1, 0), EngineOptions::default()).unwrap();
        prop_assert_eq!(&parse(&scenario.to_toml()).0, &scenario);
        let again = parse(&scenario.effective()).0;
        prop_assert_eq!(again.effective(), scenario.effective());
        let (first, second) = (scenario.plan(1, 0), again.plan(1, 0));
        prop_assert_eq!(first.changes.len(), second.changes.len());
        for n in 0..=first.changes.len() {
            prop_assert_eq!(changeable(&after(&first, n)), changeable(&after(&second, n)));
        }
    }
}
