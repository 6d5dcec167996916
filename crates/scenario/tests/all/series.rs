//! Series of names: they expand to the hand-written long form.

use perhop_core::params::{Problems, Tree};
use perhop_scenario::expand::expression::evaluate;
use perhop_scenario::expand::series;
use perhop_scenario::text::toml;
use perhop_scenario::{Diagnostics, Options, Scenario, Sweep};
use proptest::prelude::*;

fn parse(text: &str) -> Result<Scenario, Diagnostics> {
    Scenario::parse(text, &Options::new("file.toml")).map(|s| s.0)
}

fn good(text: &str) -> Scenario {
    parse(text).unwrap_or_else(|d| panic!("{d}\n{text}"))
}

/// What a tree expands to, and the messages about it.
fn expanded(text: &str) -> (String, Vec<String>) {
    let mut problems = Problems::default();
    let root = toml::parse(text, 0, &mut problems).unwrap();
    let tree = series::expand(&root, &mut problems).tree;
    (tree.to_string(), problems.list.into_iter().map(|p| p.message).collect())
}

#[test]
fn each_short_form_is_its_long_form() {
    for (short, long) in [
        ("[links]\n\"S{1..2} - P\" = {}", "{ links = { \"S1 - P\" = {  }, \"S2 - P\" = {  } } }"),
        ("[links]\n\"R{1..2} -> R{i+1}\" = {}", "{ links = { \"R1 -> R2\" = {  }, \"R2 -> R3\" = {  } } }"),
        ("[links]\n\"R{i+1} -> R{9..10}\" = {}", "{ links = { \"R10 -> R9\" = {  }, \"R11 -> R10\" = {  } } }"),
        ("[nodes.\"{0..1}\"]\nx = \"a{i}b{10-i}\"", "{ nodes = { 0 = { x = \"a0b10\" }, 1 = { x = \"a1b9\" } } }"),
        ("[queue.\"q{5..5}\"]\nx = \"{i}\"", "{ queue = { q5 = { x = 5 } } }"),
        ("[queue.\"q{ 5 .. 5 }\"]\nx = \"{0.1*i}\"", "{ queue = { q5 = { x = 0.5 } } }"),
        ("[queue.\"q{3..3}\"]\nx = \"{0.1*i}\"", "{ queue = { q3 = { x = 0.3 } } }"),
        (
            "[tcp.\"t{1..1}\"]\nrto = { a = \"{i}s\", \"b{i}\" = [\"{i}\", true] }",
            "{ tcp = { t1 = { rto = { a = \"1s\", b1 = [1, true] } } } }",
        ),
        (
            "[conditioner.m.at]\n\"A{1..2} -> B\" = { x = \"{i}\" }",
            "{ conditioner = { m = { at = { \"A1 -> B\" = { x = 1 }, \"A2 -> B\" = { x = 2 } } } } }",
        ),
        (
            "[conditioner.m]\nat = [\"A\", \"B{1..2}\", \"C\"]",
            "{ conditioner = { m = { at = [\"A\", \"B1\", \"B2\", \"C\"] } } }",
        ),
        ("[conditioner.m]\nat = \"B{1..2}\"", "{ conditioner = { m = { at = [\"B1\", \"B2\"] } } }"),
        (
            "[conditioner.m]\nmatch.traffic = \"f{1..2}\"",
            "{ conditioner = { m = { match = { traffic = [\"f1\", \"f2\"] } } } }",
        ),
        (
            "[dumbbell.marker]\nmatch.traffic = [\"f{1..2}\"]",
            "{ dumbbell = { marker = { match = { traffic = [\"f1\", \"f2\"] } } } }",
        ),
    ] {
        assert_eq!(expanded(short), (long.to_owned(), Vec::new()), "{short}");
    }
}

#[test]
fn a_text_that_is_one_expression_is_a_number_but_where_a_name_is_wanted() {
    let (tree, _) = expanded(
        "[traffic.\"{7..7}\"]\nfrom = \"{i}\"\nto = \"{i+1}\"\nclass = \"{i}\"\ntcp = \"{i}\"\nflows = \"{i}\"\ndscp = \"{i}\"\n\
         [links.\"{7..7} - {i+1}\"]\nqueue = \"{i}\"\nloss = \"{0.1*i}\"\n\
         [conditioner.\"{7..7}\"]\nmatch = { traffic = [\"{i}\"], source-port = [\"{i}\"] }\n",
    );
    let names = ["from = \"7\"", "to = \"8\"", "class = \"7\"", "tcp = \"7\"", "queue = \"7\"", "traffic = [\"7\"]"];
    let numbers = ["flows = 7", "dscp = 7", "loss = 0.7", "source-port = [7]"];
    names.iter().chain(&numbers).for_each(|part| assert!(tree.contains(part), "{part}: {tree}"));
}

#[test]
fn braces_outside_a_series_stay() {
    let text = "[scenario]\nname = \"{1..3} {i} {\"\n[links]\n\"A{i} - B{\" = { queue = \"{x\" }\n[nodes.\"}{\"]\n\
                [conditioner.m]\nat = [\"A{i} -> B{\"]\nmatch.traffic = [\"{i\"]\n";
    let plain = toml::parse(text, 0, &mut Problems::default()).unwrap().tree.to_string();
    assert_eq!(expanded(text), (plain, Vec::new()));
}

#[test]
fn bounds() {
    let count = |text: &str| expanded(text).0.matches(" = {  }").count();
    assert_eq!(count("[nodes.\"n{1..10000}\"]"), 10_000);
    assert_eq!(count("[nodes.\"n{18446744073709551615..18446744073709551615}\"]"), 1);
    for (series, message) in [
        ("{1..10001}", "series `{1..10001}` is too long"),
        ("{0..18446744073709551615}", "series `{0..18446744073709551615}` is too long"),
        ("{2..1}", "series `{2..1}` runs backwards"),
        ("{-1..1}", "`{-1..1}` is not a series"),
        ("{+1..2}", "`{+1..2}` is not a series"),
        ("{1..2.5}", "`{1..2.5}` is not a series"),
        ("{1...3}", "`{1...3}` is not a series"),
        ("{..}", "`{..}` is not a series"),
        ("{1..99999999999999999999}", "`{1..99999999999999999999}` is not a series"),
    ] {
        assert_eq!(expanded(&format!("[nodes.\"n{series}\"]")).1, [message]);
    }
}

const NET: &str = "[links]\n\"S{1..3} - P\" = { rate = \"1Mbit/s\" }\n[traffic.\"f{1..3}\"]\nmodel = \"ftp\"\n\
                   from = \"S{i}\"\nto = \"P\"\nflows = \"{i}\"\n";

#[test]
fn overrides_and_axes_act_on_the_file_as_stated() {
    let options = Options::new("x.toml").set("traffic.\"f{1..3}\".flows={ 10*i }");
    let refused = Scenario::parse(NET, &options).unwrap_err().to_string();
    assert!(refused.contains("E001"), "braces begin a table: {refused}");
    let options = Options::new("x.toml").set("traffic.'f{1..3}'.flows=\"{10*i}\"");
    let flows = |s: &Scenario| s.plan(1, 0).traffic.iter().map(|t| t.flows).collect::<Vec<_>>();
    assert_eq!(flows(&Scenario::parse(NET, &options).unwrap().0), [10, 20, 30]);
    let options = Options::new("x.toml").vary("traffic.'f{1..3}'.flows=7,\"{i+1}\"");
    let points = Sweep::parse(NET, &options).unwrap().0.points();
    assert_eq!(points.iter().map(|p| flows(&p.scenario)).collect::<Vec<_>>(), [[7, 7, 7], [2, 3, 4]]);
    let sweep = |text: &str| Sweep::parse(text, &Options::new("file.toml")).unwrap().0;
    let swept = sweep(&format!("{NET}[sweep]\n\"traffic.'f{{1..3}}'.flows\" = [1, 2]\n"));
    assert_eq!(swept.points().iter().map(|p| flows(&p.scenario)).collect::<Vec<_>>(), [[1, 1, 1], [2, 2, 2]]);
    assert_eq!(sweep(&swept.to_toml()), swept, "what is stated is the series");
}

#[test]
fn a_fault_of_all_copies_is_said_once_at_its_place() {
    let text = NET.replace("flows = \"{i}\"", "flows = \"{i-4}\"\ntcp = \"t{i}\"").replace("\"P\"\n", "\"Q\"\n");
    let refused = parse(&text).unwrap_err();
    let said: Vec<_> = refused.list.iter().map(|d| (d.code, d.message.as_str(), d.label.as_str())).collect();
    let first = "the first of 3 like this";
    let all =
        [("E232", "unknown node `Q`", ""), ("E201", "-3 is out of range", first), ("E006", "unknown tcp `t1`", first)];
    assert_eq!(said, all, "{refused}");
    let text = text.replace("{i-4}", "{i}");
    let refused = parse(&text).unwrap_err();
    let said: Vec<_> = refused.list.iter().map(|d| (d.code, d.spot.as_ref().unwrap().line, d.label.as_str())).collect();
    assert_eq!(said, [("E232", 6, ""), ("E006", 8, "the first of 3 like this")], "{refused}");
}

/// `n / 4` as a person writes it.
fn quarters(n: u64) -> String {
    let part = ["", ".25", ".5", ".75"][(n % 4) as usize];
    format!("{}{part}", n / 4)
}

/// A whole file: with series from `a` to `b`, or all entries written out. Rates are `p` i + `q`.
fn file(a: u64, b: u64, (p, q): (u64, u64), short: bool) -> String {
    let mut text = String::new();
    let mut entries = |entry: &dyn Fn([String; 5]) -> String| {
        if short {
            let filled = ["{i}", &format!("{{{p}*i+{q}}}"), "{0.25*i}", "{i+1}"].map(str::to_owned);
            let [i, rate, quarter, next] = filled;
            text += &entry([format!("{{{a}..{b}}}"), i, rate, quarter, next]);
        } else {
            for i in a..=b {
                let (i, n) = (i.to_string(), i);
                text += &entry([i.clone(), i, (p * n + q).to_string(), quarters(n), (n + 1).to_string()]);
            }
        }
    };
    let number = |text: &str| if short { format!("\"{text}\"") } else { text.to_owned() };
    entries(&|[s, i, rate, quarter, _]| {
        format!("[links.\"S{s} - P\"]\nrate = \"{rate}kbit/s\"\ndelay = \"{quarter}ms\"\nqueue = \"q{i}\"\n")
    });
    entries(&|[s, _, _, _, next]| format!("[links.\"Q{next} - D{s}\"]\nrate = \"1Mbit/s\"\n"));
    entries(&|[s, _, _, _, next]| format!("[links.\"P - Q{s}\"]\nrate = \"{next}Mbit/s\"\n"));
    entries(&|[s, _, _, _, next]| format!("[links.\"D{s} - P\"]\nrate = \"{next}Mbit/s\"\n"));
    entries(&|[s, _, _, _, next]| format!("[queue.\"q{s}\"]\nlimit = \"{next}p\"\n"));
    entries(&|[s, _, rate, _, _]| format!("[conditioner.m.at.\"S{s} -> P\"]\ncir = \"{rate}kbit/s\"\n"));
    entries(&|[s, i, _, _, next]| {
        let next = number(&next);
        format!("[traffic.\"f{s}\"]\nmodel = \"ftp\"\nfrom = \"S{i}\"\nto = \"D{i}\"\nflows = {next}\ntcp = \"t{i}\"\n")
    });
    entries(&|[s, _, _, _, next]| format!("[tcp.\"t{s}\"]\nwindow = {}\n", number(&next)));
    text + "[conditioner.m]\nkind = \"token-bucket\"\ncbs = \"20kB\"\n"
}

#[derive(Clone, Debug)]
enum Factor {
    I,
    Hundredths(i64),
}

impl Factor {
    fn text(&self) -> String {
        match self {
            Self::I => "i".into(),
            Self::Hundredths(n) => format!("{}.{:02}", n / 100, n % 100),
        }
    }

    fn hundredths(&self, i: u64) -> i128 {
        match self {
            Self::I => 100 * i128::from(i),
            Self::Hundredths(n) => i128::from(*n),
        }
    }
}

fn factor() -> impl Strategy<Value = Factor> {
    prop_oneof![Just(Factor::I), (0i64..100_000).prop_map(Factor::Hundredths)]
}

/// Terms of three factors; each has a sign.
fn terms() -> impl Strategy<Value = Vec<(bool, [Factor; 3])>> {
    prop::collection::vec((any::<bool>(), [factor(), factor(), factor()]), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_whole_is_what_its_long_form_is(a in 0u64..300, n in 0u64..8, p in 0u64..1000, q in 1u64..1000) {
        let [short, long] = [true, false].map(|short| good(&file(a, a + n, (p, q), short)));
        prop_assert_eq!(&short, &long);
        prop_assert_eq!(short.effective(), long.effective());
        prop_assert_eq!(good(&short.effective()).effective(), long.effective());
        prop_assert_eq!(&good(&short.to_toml()), &long);
    }

    #[test]
    fn a_series_of_one_is_the_plain_entry(a in 0u64..20_000, p in 0u64..1000, q in 1u64..1000) {
        let [short, long] = [true, false].map(|short| good(&file(a, a, (p, q), short)));
        prop_assert_eq!(short.effective(), long.effective());
    }

    #[test]
    fn sums_of_products_are_exact(i in 0u64..100_000, terms in terms()) {
        let sign = |negative: bool, first: bool| match (negative, first) {
            (true, _) => "-",
            (false, true) => "",
            (false, false) => " + ",
        };
        let product = |factors: &[Factor; 3]| factors.each_ref().map(Factor::text).join("*");
        let text: String =
            terms.iter().enumerate().map(|(k, (negative, f))| format!("{}{}", sign(*negative, k == 0), product(f))).collect();
        let exact: i128 = terms.iter().map(|(negative, f)| {
            let product: i128 = f.iter().map(|factor| factor.hundredths(i)).product();
            if *negative { -product } else { product }
        }).sum();
        let shown = evaluate(&text, i).unwrap().to_string();
        let (whole, part) = shown.split_once('.').unwrap_or((&shown, ""));
        prop_assert!(!part.ends_with('0'), "{}", shown);
        let digits: i128 = format!("{whole}{part:0<6}").parse().unwrap();
        prop_assert_eq!(digits, exact, "{} = {}", text, shown);
        if let Some(Tree::Float(x)) = evaluate(&text, i).unwrap().tree() {
            prop_assert_eq!(x, shown.parse::<f64>().unwrap());
        }
    }
}
