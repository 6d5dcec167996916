//! Whole files through the parser: what is built, what comes back as text, what a sweep makes.

use perhop_core::queue::Limit;
use perhop_core::units::{Bytes, Span};
use perhop_scenario::{Options, Policy, Scenario};

const EXPLICIT: &str = include_str!("good/explicit.toml");

fn good(text: &str) -> Scenario {
    match Scenario::parse(text, &Options::new("dir/file.toml")) {
        Ok((scenario, _)) => scenario,
        Err(diagnostics) => panic!("{diagnostics}"),
    }
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
    assert_eq!(link("C -> E2").limit, Limit::Packets(50));
    assert_eq!(link("E2 -> C").limit, Limit::Packets(1000));
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
    let scenario = good(EXPLICIT);
    assert_eq!(good(&scenario.to_toml()), scenario, "{}", scenario.to_toml());
    assert_eq!(good(&scenario.effective()).effective(), scenario.effective());
}

#[test]
fn a_sweep_is_a_grid_with_names_and_hashes() {
    let points = good(EXPLICIT).points();
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
    let hash = |options: Options| Scenario::parse(EXPLICIT, &options).unwrap().0.points()[0].hash.clone();
    let base = hash(Options::new("x.toml"));
    assert_eq!(hash(Options::new("x.toml").setting("replications", "3")), base);
    assert_ne!(hash(Options::new("x.toml").setting("seed", "3")), base);
}

#[test]
fn overrides_and_axes_of_the_command_line() {
    let options = Options::new("x.toml").set("traffic.rogue.rate=2Mbit/s").setting("duration", "50s");
    let (scenario, _) = Scenario::parse(EXPLICIT, &options.vary("traffic.bulk.flows=1,2,3")).unwrap();
    assert_eq!(scenario.settings().duration, Span::from_s(50));
    assert!(scenario.effective().contains("rate = \"2Mbit/s\""));
    let points = scenario.points();
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
    assert_eq!((core.limit, core.rate.bit_s(), core.edge.len()), (Limit::Packets(50), 5_000_000, 1));
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
    assert_eq!((policy.name(), policy.overhead(), policy.inside().len()), ("p", 14, 1));
    let stages = policy.stages();
    assert_eq!(stages.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["z", "a"], "the file's order");
    assert_eq!(stages[0].actions[2], perhop_core::edge::Action::Drop);
    let again = Policy::parse(&policy.effective(), &Options::new("p.toml")).unwrap().0;
    assert_eq!(again, policy);
}
