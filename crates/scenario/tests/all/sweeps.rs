//! Axes: every key by its name, linked keys, labels, and what is wrong with them.

use perhop_core::params::{Node, Problems, Tree};
use perhop_scenario::text::{axis, items, toml, tree, write};
use perhop_scenario::{Diagnostics, Options, Point, Scenario, Sweep};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const NET: &str = r#"
[scenario]
duration = "12s"

[links]
"a - R" = { rate = "100Mbit/s", delay = "1ms" }
"R - b" = { rate = "10Mbit/s", delay = "10ms" }
"R -> b" = { queue = "af" }

[queue.af]
aqm = "wred"
limit = "100p"
profiles = [
  { for = "AF31", min = "30p", max = "60p", max-p = 0.02 },
  { for = ["AF32", "AF33"], min = "10p", max = "30p", max-p = 0.1 },
]

[conditioner.gold]
at = "a -> R"
kind = "token-bucket"
cir = "5Mbit/s"
cbs = "50kB"
green = "mark AF31"
red = "mark AF32"

[traffic.bulk]
model = "ftp"
flows = 2
from = "a"
to = "b"
tcp = "host"

[tcp.host]
window = 30
"#;

fn options(vary: &[&str]) -> Options {
    vary.iter().fold(Options::new("net.toml"), |options, text| options.vary(text))
}

fn read(text: &str, options: &Options) -> Result<Sweep, Diagnostics> {
    Sweep::parse(text, options).map(|found| found.0)
}

fn points(vary: &[&str]) -> Vec<Point> {
    read(NET, &options(vary)).unwrap_or_else(|found| panic!("{vary:?}:\n{found}")).points()
}

/// NET with these lines as its `[sweep]`.
fn points_of(sweep: &str) -> Result<Vec<Point>, Diagnostics> {
    read(&format!("{NET}\n[sweep]\n{sweep}\n"), &options(&[])).map(|sweep| sweep.points())
}

fn labels(points: &[Point]) -> Vec<Vec<(&str, &str)>> {
    let of = |point: &Point| point.labels.iter().map(|(k, v)| (k.clone(), v.clone())).collect::<Vec<_>>();
    let owned: Vec<_> = points.iter().map(of).collect();
    owned.leak().iter().map(|row| row.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()).collect()
}

#[test]
fn items_of_a_list_have_names() {
    let min = "queue.af.profiles.AF31.min";
    let swept = points(&[&format!("{min}=10p,20p")]);
    assert_eq!(labels(&swept), [[(min, "10p")], [(min, "20p")]]);
    let by_hand = NET.replace("min = \"30p\", max = \"60p\"", "min = \"20p\", max = \"60p\"");
    assert!(swept[1].scenario == Scenario::parse(&by_hand, &options(&[])).unwrap().0);
    for (one, other) in [
        ("queue.af.profiles.AF32.max=40p", "queue.af.profiles.2.max=40p"),
        ("queue.af.profiles.AF33.max=40p", "queue.af.profiles.AF32.max=40p"),
        (
            "queue.af.profiles.AF31={ min = \"5p\", max = \"9p\" }",
            "queue.af.profiles.1={ for = \"AF31\", min = \"5p\", max = \"9p\" }",
        ),
    ] {
        let set = |text| Scenario::parse(NET, &options(&[]).set(text)).unwrap_or_else(|e| panic!("{text}\n{e}")).0;
        assert!(set(one) == set(other), "{one}");
        assert!(set(one) != Scenario::parse(NET, &options(&[])).unwrap().0, "{one}");
    }
}

#[test]
fn tables_are_swept_on_the_command_line_too() {
    let table = "{ aqm = \"red\", limit = \"50p\", min = \"5p\", max = \"15p\" },{ aqm = \"codel\", limit = \"50p\" }";
    let [red, codel] = &points(&[&format!("queue.af={table}")])[..] else { panic!("two points") };
    assert_eq!((&*red.labels[0].1, &*codel.labels[0].1), ("red", "codel"));
    let file = points_of(&format!("\"queue.af\" = [{table}]")).unwrap();
    assert!(file == [red.clone(), codel.clone()]);
}

#[test]
fn linked_keys_change_together() {
    let keys = "[traffic.bulk.flows, conditioner.gold.cir]";
    let expected = [
        [("traffic.bulk.flows", "1"), ("conditioner.gold.cir", "2Mbit/s")],
        [("traffic.bulk.flows", "3"), ("conditioner.gold.cir", "4Mbit/s")],
    ];
    let rows = "[1, \"2Mbit/s\"], [3, \"4Mbit/s\"]";
    for text in [format!("{keys}=[{rows}]"), format!("{keys}={rows}")] {
        let swept = points(&[&text]);
        assert_eq!(labels(&swept), expected, "{text}");
        assert!(swept[1].scenario.effective().contains("flows = 3"));
        assert!(swept[1].scenario.effective().contains("cir = \"4Mbit/s\""));
    }
    assert_eq!(labels(&points_of(&format!("\"{keys}\" = [{rows}]")).unwrap()), expected);
    // with another axis: all combinations; `--vary` replaces the file's axis of the same keys
    let file = format!("{NET}\n[sweep]\n\"{keys}\" = [{rows}]\n");
    let options = options(&["[traffic.bulk.flows,conditioner.'gold'.cir]=[[5, 5Mbit/s]]", "scenario.seed=1,2"]);
    assert!(read(&file, &options).is_err(), "a rate without quotes within a list is no TOML");
    let options = self::options(&["[traffic.bulk.flows,conditioner.'gold'.cir]=[[5, \"5Mbit/s\"]]", "seed=1,2"]);
    let found = read(&file, &options).unwrap().points();
    let row = |seed| [("traffic.bulk.flows", "5"), ("conditioner.gold.cir", "5Mbit/s"), ("scenario.seed", seed)];
    assert_eq!(labels(&found), [row("1"), row("2")]);
}

#[test]
fn axes_and_values_can_have_names() {
    let named = "{ values = [\"9kB\", \"90kB\"], labels = [\"small\", \"large\"], as = \"burst\" }";
    let expected = [[("burst", "small")], [("burst", "large")]];
    assert_eq!(labels(&points_of(&format!("\"conditioner.gold.cbs\" = {named}")).unwrap()), expected);
    assert_eq!(labels(&points(&[&format!("conditioner.gold.cbs={named}")])), expected);
    let only_labels = "conditioner.gold.cbs={ values = [\"9kB\", \"90kB\"], labels = [\"small\", \"large\"] }";
    assert_eq!(labels(&points(&[only_labels]))[0], [("conditioner.gold.cbs", "small")]);
    let linked = "[traffic.bulk.flows, scenario.seed]={ values = [[1, 2], [3, 4]], as = \"load\" }";
    assert_eq!(labels(&points(&[linked])), [[("load", "1 2")], [("load", "3 4")]]);
}

/// One seed a point, whichever name it is given by.
#[test]
fn a_key_of_the_scenario_needs_no_section() {
    let swept = points(&["seed=1,2"]);
    assert_eq!(labels(&swept), [[("scenario.seed", "1")], [("scenario.seed", "2")]]);
    assert!(swept == points(&["scenario.seed=1,2"]));
    assert_eq!(swept[1].scenario.settings().seed, 2);
    assert_ne!(swept[0].hash, swept[1].hash);
    let set = |text| Scenario::parse(NET, &options(&[]).set(text)).unwrap().0;
    assert!(set("duration=20s") == set("scenario.duration=20s"));
}

/// What is wrong, where, and a suggested fix.
#[test]
fn faults_of_axes() {
    let cases: &[(&str, &str, &str, &[&str])] = &[
        ("queue.af.profiles.AF34.min=1p,2p", "E006", "no item `AF34` in `queue.af.profiles`", &["AF3", "1 to 2"]),
        ("queue.af.profiles.3.min=1p", "E006", "no item `3`", &["1 to 2"]),
        ("queue.af.profiles.min=1p", "E006", "no item `min`", &["AF31", "1 to 2"]),
        ("traffic.bulk.tcp.window=9", "E010", "leads into a value", &["set tcp.host.window"]),
        ("traffic.bulk.flows=1,,2", "E240", "value 2 of axis", &["\"\""]),
        ("traffic.bulk.flows=", "E240", "value 1 of axis", &["key=a,b,c"]),
        ("traffic.bulk.flows=2,2", "E240", "values 1 and 2 of axis `traffic.bulk.flows` are both 2", &["remove"]),
        ("replications=2,3", "E240", "cannot be swept", &["`scenario.replications`"]),
        ("scenario.name=a,b", "E240", "cannot be swept", &["another section"]),
        ("[traffic.bulk.flows, seed]=[1, 2], [3]", "E240", "row 2 of axis", &["1 value for 2 keys"]),
        ("[traffic.bulk.flows, seed]=1,2", "E240", "row 1 of axis", &["an integer for 2 keys"]),
        ("[traffic.bulk.flows, ]=[1, 2]", "E240", "`` is not a key", &["[a, b]"]),
        ("[seed, scenario.seed]=[[1, 2]]", "E240", "`scenario.seed`", &["remove one"]),
        ("seed={ values = [1, 2], labels = [\"a\"] }", "E240", "`labels` of axis", &["1 for 2 values"]),
        ("seed={ values = [1, 2], labels = [\"a\", \"a\"] }", "E240", "label \"a\" is twice", &["a label of its own"]),
        ("seed={ values = [1, 2], labels = [\"a\", 3] }", "E240", "expected a label, found an integer", &["in quotes"]),
        ("seed={ values = [1, 2], as = \"\" }", "E240", "\"\" is not a label", &["not empty"]),
        ("seed={ values = [1, 2], label = [\"a\", \"b\"] }", "E004", "unknown key `label` of an axis", &["`labels`"]),
        (
            "[traffic.bulk.flows, seed]={ values = [[1, 2]], labels = [\"a\"] }",
            "E240",
            "labels of linked keys, but no name",
            &["as ="],
        ),
    ];
    for (vary, code, message, words) in cases {
        let found = read(NET, &options(&[vary])).expect_err(vary);
        let first = &found.list[0];
        let said = format!("{first}");
        assert_eq!(first.code, *code, "{vary}: {found}");
        assert!(said.contains(message), "{vary}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{vary}: {said}");
        assert_eq!(first.spot.as_ref().map(|spot| spot.name.as_str()), Some("--vary"), "{vary}: {said}");
        assert!(!first.help.is_empty(), "{vary}");
    }
}

/// An axis whose values a later axis would undo is none.
#[test]
fn no_axis_undoes_another() {
    let table = "conditioner.gold={ kind = \"token-bucket\", cir = \"1Mbit/s\", cbs = \"9kB\" }";
    let found = read(NET, &options(&["conditioner.gold.cir=1Mbit/s,2Mbit/s", table])).unwrap_err();
    assert!(found.to_string().contains("would undo it"), "{found}");
    let swept = points(&[table, "conditioner.gold.cir=1Mbit/s,2Mbit/s"]);
    assert!(swept[1].scenario.effective().contains("cir = \"2Mbit/s\""));
    let again = read(NET, &options(&["[conditioner.gold.cir, seed]=[[\"1Mbit/s\", 2]]", "seed=3"])).unwrap_err();
    assert!(again.to_string().contains("two axes are called `scenario.seed`"), "{again}");
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    files
}

/// A value that is not a table: its path with items of lists by name, and by position.
struct Named {
    path: Vec<String>,
    at: Vec<String>,
    value: Tree,
}

fn values(node: &Node, so_far: &Named, out: &mut Vec<Named>) {
    let below = |name: String, at: String| Named {
        path: [&so_far.path[..], &[name]].concat(),
        at: [&so_far.at[..], &[at]].concat(),
        value: Tree::Bool(true),
    };
    match &node.tree {
        Tree::Table(table) => {
            table.entries.iter().for_each(|(name, _, node)| values(node, &below(name.clone(), name.clone()), out));
        }
        Tree::List(list) if list.iter().any(|item| matches!(item.tree, Tree::Table(_))) => {
            for (i, item) in list.iter().enumerate() {
                let key = items::NAMING.into_iter().find_map(|key| tree::get(item, &[key]));
                let name = match key.map(|node| &node.tree) {
                    Some(Tree::Text(name)) => name.clone(),
                    Some(Tree::List(names)) => names[0].tree.to_string().trim_matches('"').to_owned(),
                    _ => (i + 1).to_string(),
                };
                values(item, &below(name, i.to_string()), out);
            }
        }
        value => out.push(Named { path: so_far.path.clone(), at: so_far.at.clone(), value: value.clone() }),
    }
}

fn look(root: &Node, at: &[String]) -> Option<Tree> {
    let found = at.iter().try_fold(root, |node, name| match &node.tree {
        Tree::Table(table) => table.get(name),
        Tree::List(list) => list.get(name.parse::<usize>().ok()?),
        _ => None,
    });
    found.map(|node| node.tree.clone())
}

/// Every value of every example, as written and in its effective form, can be named in `-s` and in `--vary`; what is set
/// is what is read, and setting what is there changes nothing.
#[test]
fn every_value_of_every_example_has_a_name() {
    let mut seen = 0;
    for file in examples() {
        let text = std::fs::read_to_string(&file).unwrap();
        let options = Options::new(&file.to_string_lossy());
        let Ok((scenario, _)) = Scenario::parse(&text, &options) else { continue };
        for text in [text, scenario.effective()] {
            seen += one_by_one(&text, &options);
        }
    }
    assert!(seen > 1500, "{seen} values");
}

fn one_by_one(text: &str, options: &Options) -> usize {
    let read = toml::parse(text, 0, &mut Problems::default()).unwrap();
    let root = tree::without(&read, "sweep");
    let root = tree::without(&root, "change").into_owned();
    let mut found = Vec::new();
    values(&root, &Named { path: Vec::new(), at: Vec::new(), value: Tree::Bool(true) }, &mut found);
    for Named { path, at, value } in &found {
        let parts: Vec<_> = path.iter().map(String::as_str).collect();
        let (key, value) = (write::dotted(&parts), write::inline(value));
        let mut problems = Problems::default();
        let (read, axis) = axis::parse(&format!("{key}=[{value}, \"another\"]"), 0, &mut problems).unwrap();
        let path_read = tree::parse_key(&read, 0, &mut problems).unwrap();
        let Tree::List(steps) = &axis.tree else { panic!("{key}") };
        for step in steps {
            let mut changed = root.clone();
            tree::set(&mut changed, &path_read, step.clone(), &mut problems);
            assert!(problems.list.is_empty(), "{}: {key}: {problems:?}", options.file_name);
            assert_eq!(look(&changed, at).as_ref(), Some(&step.tree), "{}: {key}", options.file_name);
        }
        let mut same = root.clone();
        tree::set(&mut same, &path_read, steps[0].clone(), &mut problems);
        assert_eq!(same.tree.to_string(), root.tree.to_string(), "{}: {key}", options.file_name);
    }
    found.len()
}

/// Keys of NET with values that are sound together.
const KEYS: [(&str, [&str; 4]); 6] = [
    ("traffic.bulk.flows", ["1", "2", "3", "4"]),
    ("queue.af.profiles.AF31.max-p", ["0.02", "0.1", "0.5", "1.0"]),
    ("queue.af.profiles.AF33.min", ["\"1p\"", "\"2p\"", "\"3p\"", "\"4p\""]),
    ("conditioner.gold.cbs", ["\"9kB\"", "\"90kB\"", "\"900kB\"", "\"2MB\""]),
    ("tcp.host.window", ["10", "20", "30", "40"]),
    ("seed", ["1", "2", "3", "4"]),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// As many points as combinations, the first axis slowest, values in the order stated, no two points alike, linked
    /// keys in step; whatever is linked, each point is what `-s` makes of the same values.
    #[test]
    fn points_are_the_grid(order in Just((0..KEYS.len()).collect::<Vec<_>>()).prop_shuffle(),
                           counts in prop::collection::vec(1usize..4, 2), linked in any::<bool>()) {
        let (first, second, with) = (KEYS[order[0]], KEYS[order[1]], KEYS[order[2]]);
        let values = |(_, values): (&str, [&str; 4]), n: usize| values[..n].join(",");
        let one = match linked {
            true => {
                let rows: Vec<_> = (0..counts[0]).map(|i| format!("[{}, {}]", first.1[i], with.1[i])).collect();
                format!("[{}, {}]={}", first.0, with.0, rows.join(","))
            }
            false => format!("{}={}", first.0, values(first, counts[0])),
        };
        // a row alone would be the list of rows
        let one = if linked && counts[0] == 1 { one.replacen("=[", "=[[", 1) + "]" } else { one };
        let found = points(&[&one, &format!("{}={}", second.0, values(second, counts[1]))]);
        prop_assert_eq!(found.len(), counts[0] * counts[1]);
        for (n, point) in found.iter().enumerate() {
            let (i, j) = (n / counts[1], n % counts[1]);
            let mut sets = vec![format!("{}={}", first.0, first.1[i]), format!("{}={}", second.0, second.1[j])];
            sets.extend(linked.then(|| format!("{}={}", with.0, with.1[i])));
            let options = sets.iter().fold(options(&[]), |options, text| options.set(text));
            prop_assert!(point.scenario == Scenario::parse(NET, &options).unwrap().0, "{:?}", sets);
            prop_assert_eq!(point.labels.len(), if linked { 3 } else { 2 });
            prop_assert!(!found[..n].iter().any(|other| other.labels == point.labels));
        }
    }
}

/// A table that one point uses is used, whatever the file without its sweep names; one that none uses is not.
#[test]
fn what_one_point_uses_is_used() {
    let net = "[links]\n\"a - b\" = { rate = \"1Mbit/s\", queue = \"first\" }\n[queue.first]\nlimit = \"5p\"\n\
        [queue.second]\nlimit = \"6p\"\n[queue.third]\nlimit = \"7p\"\n\
        [sweep]\n'links.\"a - b\".queue' = [\"first\", \"second\"]\n\
        [traffic.t]\nmodel = \"cbr\"\nrate = \"100kbit/s\"\nsize = \"100B\"\nfrom = \"a\"\nto = \"b\"\n";
    let (_, found) = Sweep::parse(net, &Options::new("net.toml")).unwrap_or_else(|found| panic!("{found}"));
    let unused: Vec<_> = found.list.iter().filter(|it| it.code == "W307").map(|it| it.message.as_str()).collect();
    assert_eq!(unused, ["[queue.third] is not used"]);
}
