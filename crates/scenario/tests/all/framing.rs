//! `framing`: which bytes of a packet a link's rate counts, in runs, in `explain`, in what is checked and written; and W361, where
//! it is not stated.

use perhop_config::{as_ios, as_tc};
use perhop_core::accounting::Accounting;
use perhop_results::tables::tables;
use perhop_scenario::{Diagnostics, Options, Scenario, Sweep, explain};
use perhop_sim::record::{EventSink, PortEvent};
use std::sync::{Arc, Mutex};

/// 150 Mbit/s of 200 B through a link of 100 Mbit/s.
const FULL: &str = include_str!("../bad/framing.toml");
const ALL: [Accounting; 4] = [Accounting::L3, Accounting::L2, Accounting::L2Fcs, Accounting::L1];
const LINK: &str = "links.'r - b'.framing";

fn read(text: &str, set: &[String]) -> Result<(Scenario, Diagnostics), Diagnostics> {
    Scenario::parse(text, &set.iter().fold(Options::new("x.toml"), |options, set| options.set(set)))
}

fn good(text: &str, set: &[String]) -> Scenario {
    read(text, set).unwrap_or_else(|found| panic!("{found}")).0
}

fn codes(text: &str, set: &[&str]) -> Vec<&'static str> {
    let set: Vec<_> = set.iter().map(|set| (*set).to_owned()).collect();
    read(text, &set).unwrap_or_else(|found| panic!("{found}")).1.list.iter().map(|it| it.code).collect()
}

fn stated(framing: Accounting) -> String {
    format!("{LINK}={}", framing.name())
}

/// What left a port, in order.
fn left(scenario: &Scenario, port: &str) -> Vec<PortEvent> {
    let plan = scenario.plan(1, 0);
    let link = plan.links.iter().position(|link| link.name == port).unwrap() as u32;
    let rows = Arc::new(Mutex::new(Vec::new()));
    let taken = rows.clone();
    let mut simulation = perhop_scenario::simulation::simulation(plan).unwrap();
    simulation.record_events(EventSink::new(move |batch| taken.lock().unwrap().extend_from_slice(batch)));
    simulation.run(|_| true).unwrap();
    let mut rows = std::mem::take(&mut *rows.lock().unwrap());
    rows.retain(|row| row.link == link && row.left.is_some());
    rows.sort_by_key(|row| row.left);
    rows
}

/// Behind a queue that is never empty packets leave every `8 (200 B + framing) / rate`: 100 Mbit/s is 80 ns a byte.
#[test]
fn a_full_link_sends_the_bytes_of_its_framing() {
    for framing in ALL {
        let scenario = good(FULL, &[stated(framing), "scenario.duration=100ms".into(), "scenario.warmup=0s".into()]);
        let rows = left(&scenario, "r -> b");
        let gap = 80 * u64::from(200 + framing.overhead());
        assert!(rows.len() > 4000, "{}", rows.len());
        for pair in rows.windows(2).skip(20) {
            let [a, b] = [&pair[0], &pair[1]].map(|row| row.left.unwrap());
            assert_eq!(b.since(a).ns(), gap, "{}", framing.name());
        }
        assert!(rows.iter().all(|row| row.wire == 200 && row.packet.size == 238), "accounting stays l1");
    }
}

/// 100 Mbit/s are 100 Mbit/s of what the link counts: measured as `accounting` counts it is `(200 + A) / (200 + F)` of that, and
/// the link is busy all the time. A packet of 238 B in three seconds is below 1e-5 of it.
#[test]
fn results_agree_with_the_rate() {
    for framing in ALL {
        for accounting in ALL {
            let set = [stated(framing), format!("scenario.accounting={}", accounting.name())];
            let plan = good(FULL, &set).plan(1, 0);
            let outcome = perhop_scenario::simulation::simulation(plan.clone()).unwrap().run(|_| true).unwrap();
            let tables = tables(&plan, &outcome);
            let table = |name: &str| tables.iter().find(|table| table.name == name).unwrap();
            let at = table("links").texts("hop").iter().position(|hop| hop.as_deref() == Some("r -> b")).unwrap();
            let busy = table("links").reals("utilisation")[at].unwrap();
            assert!((busy - 1.0).abs() < 1e-5, "{set:?}: {busy}");
            let rate = table("arrivals").reals("throughput_bit_s")[0].unwrap();
            let [counted, sent] = [accounting, framing].map(|it| f64::from(200 + it.overhead()));
            assert!((rate / (1e8 * counted / sent) - 1.0).abs() < 1e-5, "{set:?}: {rate}");
        }
    }
}

/// The same plan, and so the same results, without the key and with the default written out; but another point.
#[test]
fn the_default_is_the_ip_packet() {
    let [silent, stated] = [vec![], vec![stated(Accounting::L3)]].map(|set| good(FULL, &set));
    assert_eq!(format!("{:?}", silent.plan(1, 0)), format!("{:?}", stated.plan(1, 0)));
    assert!(!silent.effective().contains("framing") && stated.effective().contains("framing = \"l3\""));
    let hash = |set: &[String]| {
        let options = set.iter().fold(Options::new("x.toml"), |options, set| options.set(set));
        Sweep::parse(FULL, &options).unwrap().0.base_point().hash
    };
    assert_ne!(hash(&[]), hash(&[format!("{LINK}=l3")]));
}

/// One direction may count otherwise, as it may have another rate.
#[test]
fn a_direction_has_its_own() {
    let set = ["links.'r - b'.framing=l1", "links.'b -> r'.framing=l2"].map(str::to_owned);
    let plan = good(FULL, &set).plan(1, 0);
    let found: Vec<_> = plan.links.iter().map(|link| (link.name.as_str(), link.framing)).collect();
    let expected = [
        ("a -> r", Accounting::L3),
        ("r -> a", Accounting::L3),
        ("r -> b", Accounting::L1),
        ("b -> r", Accounting::L2),
    ];
    assert_eq!(found, expected);
    assert!(plan.links[2].queues[0].scope.framing == Accounting::L1);
}

#[test]
fn a_dumbbell_hands_it_to_its_links() {
    let text = "[dumbbell]\nbottleneck = \"10Mbit/s\"\nrtt = \"40ms\"\nframing = \"l2+fcs\"\ntcp = \"linux\"\n";
    let plan = good(text, &[]).plan(1, 0);
    assert!(plan.links.len() == 6 && plan.links.iter().all(|link| link.framing == Accounting::L2Fcs));
    let wrong = read(&text.replace("l2+fcs", "l4"), &[]).unwrap_err();
    let said = wrong.to_string();
    assert_eq!(wrong.list.len(), 1, "{said}");
    assert!(said.contains("l3") && said.contains("x.toml:4:11"), "{said}");
}

/// An axis of a sweep it can be; during a run it stays.
#[test]
fn it_is_swept_and_does_not_change() {
    let options = Options::new("x.toml").vary(&format!("{LINK}=l3,l1"));
    let sweep = Sweep::parse(FULL, &options).unwrap_or_else(|found| panic!("{found}")).0;
    let framings: Vec<_> = sweep.points().iter().map(|point| point.scenario.plan(1, 0).links[2].framing).collect();
    assert_eq!(framings, [Accounting::L3, Accounting::L1]);
    let change = format!("{FULL}\n[[change]]\nat = \"2s\"\nlinks.\"r - b\".framing = \"l1\"\n");
    let said = read(&change, &[]).unwrap_err().to_string();
    assert!(said.contains("E202") && said.contains("framing"), "{said}");
}

fn line<'a>(text: &'a str, begins: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(begins)).unwrap_or_else(|| panic!("{begins}: {text}"))
}

/// `explain` says what counts; 50 packets of 1500 B and of 1538 B at 100 Mbit/s take 6.00 and 6.15 ms.
#[test]
fn explain_says_what_a_rate_counts() {
    let large = |set: &str| {
        let text = FULL.replace("200B", "1500B");
        explain(&good(&text, &["links.'r -> b'.queue={limit=\"50p\"}".to_owned(), set.to_owned()]))
    };
    let silent = large("scenario.name=x");
    assert!(silent.contains("\na link counts IP packets (l3) unless it says otherwise\n"), "{silent}");
    assert!(line(&silent, "r -> b: ").ends_with("50p (6.00 ms of 1500B), rate 100Mbit/s"), "{silent}");
    let stated = large("links.'r - b'.framing=l1");
    let end = "50p (6.15 ms of 1500B), rate 100Mbit/s, counts Ethernet frames with preamble and gap (l1)";
    assert!(line(&stated, "r -> b: ").ends_with(end), "{stated}");
}

/// tc's class of the link adds bytes, and netem's time counts them: of a port whose queue counts l2 the link adds 24 B for l1.
#[test]
fn it_is_written_for_linux() {
    let base = FULL.replace("\"l1\"", "\"l2\"");
    let linux = |set: &[&str]| {
        let set: Vec<_> = set.iter().map(|set| (*set).to_owned()).collect();
        let linux = as_tc::as_tc(&good(&base, &set)).unwrap();
        let commands: Vec<_> = linux.commands.iter().map(ToString::to_string).collect();
        (commands, linux.notes)
    };
    let wire = |commands: &[String]| {
        let netem = commands.iter().filter(|it| it.contains("netem") && it.contains("rate 100000000bit"));
        netem.map(|it| it.split("rate ").nth(1).unwrap().split(" limit").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let class = |commands: &[String]| {
        let of_link = commands.iter().find(|it| it.contains("class add dev p2 "));
        of_link.unwrap().split("rate ").nth(1).unwrap().to_owned()
    };
    let stab = |commands: &[String]| commands.iter().find(|it| it.contains("dev p2 root")).unwrap().clone();
    // Nothing but the link counts bytes there.
    for (framing, sized, more) in [("l3", " stab overhead -14 ", -14), ("l2", " ", 0), ("l1", " stab overhead 24 ", 24)]
    {
        let (commands, notes) = linux(&[&format!("{LINK}={framing}")]);
        assert_eq!(wire(&commands), vec![format!("100000000bit {more}"); 2]);
        assert_eq!(class(&commands), "100000000bit burst 1 cburst 1");
        assert!(stab(&commands).contains(&format!("root{sized}")), "{framing}: {}", stab(&commands));
        assert!(notes.iter().all(|note| !note.contains("framing")), "{notes:?}");
    }
    // A queue in bytes counts what `accounting` says.
    let bytes = "links.'r -> b'.queue={limit=\"90kB\"}";
    let (commands, _) = linux(&[&format!("{LINK}=l1"), bytes]);
    assert_eq!(class(&commands), "100000000bit burst 1 cburst 1 overhead 24");
    let (commands, notes) = linux(&[&format!("{LINK}=l2"), bytes, "scenario.accounting=l1"]);
    assert_eq!(class(&commands), "100000000bit burst 1 cburst 1");
    assert!(notes.iter().any(|note| note.contains("`framing` of l2")), "{notes:?}");
}

/// IOS counts the header of layer 2 itself: the check sequence and what is around a frame are said to its shaper.
#[test]
fn it_is_written_for_ios() {
    let shape = |framing: &str| {
        let set = [
            format!("{LINK}={framing}"),
            "links.'r -> b'.queue={aqm=\"wred\",limit=\"50p\",profiles=[{min=\"10p\",max=\"30p\"}]}".into(),
        ];
        let options = set.iter().fold(Options::new("x.toml"), |options, set| options.set(set));
        let asked = as_ios::Target { port: Some("r -> b"), device: Some("Tunnel0"), ..as_ios::Target::default() };
        let ios = as_ios::of_sweep(&Sweep::parse(FULL, &options).unwrap().0, asked).unwrap();
        ios.lines
            .iter()
            .find(|line| line.contains("shape average"))
            .unwrap_or_else(|| panic!("{:?}", ios.lines))
            .clone()
    };
    for (framing, end) in
        [("l3", " 0"), ("l2", " 0"), ("l2+fcs", " 0 account user-defined 4"), ("l1", " 0 account user-defined 24")]
    {
        assert!(shape(framing).ends_with(end), "{framing}: {}", shape(framing));
    }
}

/// W361 where a full link is silent about what it counts, and nowhere else.
#[test]
fn a_silent_link_that_is_full_is_warned_of() {
    assert_eq!(codes(FULL, &[]), ["W361"]);
    let half = "traffic.v.rate=50Mbit/s";
    let with = |more: &str| format!("{FULL}\n{more}");
    let bulk = FULL.split("[traffic.v]").next().unwrap().to_owned()
        + "[traffic.v]\nmodel = \"ftp\"\nfrom = \"a\"\nto = \"b\"\ntcp = \"linux\"\n";
    let shaped = |rate: &str| format!("links.'r -> b'.queue={{shape={{rate=\"{rate}\",burst=\"3000B\"}}}}");
    let policer = "[conditioner.p]\nat = \"r -> b\"\nkind = \"token-bucket\"\ncir = \"50Mbit/s\"\ncbs = \"9000B\"\nred = \"drop\"\n";
    assert_eq!(codes(&bulk, &[]), ["W361"], "a TCP that always has data");
    let tower = "[scenario]\naccounting = \"l2\"\n[links]\n\"a - r\" = { rate = \"1Gbit/s\", delay = \"5ms\" }\n\
        \"r - s\" = { rate = \"100Mbit/s\", framing = \"l2\" }\n\"s - c{1..20}\" = { rate = \"100Mbit/s\" }\n\
        [traffic.\"t{1..20}\"]\nmodel = \"ftp\"\nfrom = \"a\"\nto = \"c{i}\"\ntcp = \"linux\"\n";
    let equal = tower.replace(", framing = \"l2\"", ", framing = \"l3\"");
    assert_eq!(codes(&bulk, &["links.'a - r'.rate=100Mbit/s"]), ["W361"], "of two as narrow the first");
    let quiet: [(&str, &str, &[&str]); 12] = [
        ("as wide as what all comes through", &equal, &[]),
        ("a shaper behind it holds TCP", &bulk, &["links.'a - r'.rate=100Mbit/s", &shaped("10Mbit/s")]),
        ("one link holds all TCP", tower, &[]),
        ("stated", FULL, &["links.'r - b'.framing=l1"]),
        ("stated as IP", FULL, &["links.'r - b'.framing=l3"]),
        ("counts IP packets", FULL, &["scenario.accounting=l3"]),
        ("not full", FULL, &[half]),
        ("a shaper of its own holds it", FULL, &[&shaped("100Mbit/s")]),
        ("a link before it is narrower", FULL, &["links.'a - r'.rate=80Mbit/s", "links.'a - r'.framing=l1"]),
        ("a policer drops", &with(policer), &[]),
        ("its window is too small", &bulk, &["traffic.v.tcp={stack=\"linux\",window=10}"]),
        (
            "a later link holds TCP",
            &bulk
                .replace("to = \"b\"", "to = \"c\"")
                .replace("[traffic", "\"b - c\" = { rate = \"10Mbit/s\", framing = \"l1\" }\n[traffic"),
            &[],
        ),
    ];
    for (why, text, set) in quiet {
        assert!(!codes(text, set).contains(&"W361"), "{why}");
    }
    let two = with("[traffic.w]\nmodel = \"cbr\"\nrate = \"60Mbit/s\"\nsize = \"1500B\"\nfrom = \"a\"\nto = \"b\"\n");
    assert!(codes(&two, &[half]).contains(&"W361"), "110 Mbit/s of two");
    assert!(codes(FULL, &[&shaped("200Mbit/s")]).contains(&"W361"), "a shaper above the rate");
}

/// No example has the fault.
#[test]
fn no_example_is_warned_of() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        let Ok((_, found)) = Scenario::load(&path, &Options::new(&path.to_string_lossy())) else { continue };
        assert!(found.list.iter().all(|it| it.code != "W361"), "{}: {found}", path.display());
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}
