//! Rows of results: the numbers of a run's tables, whatever way they are shown.

use perhop_results::Replication;
use perhop_results::filter::{Known, Where};
use perhop_results::rows::{Row, Rows, csv, rows};
use perhop_results::stats::{Estimate, of_column};
use perhop_results::tables::column;
use perhop_results::{choice, listing, summary};
use perhop_runs::disk::Identity;
use perhop_runs::run::{Probes, RunOptions, Unwatched, run};
use perhop_scenario::{Options, Point, Sweep};

/// Two classes, of one colour and of three; losses on the way there, and of ACKs on the way back.
const NET: &str = r#"
[scenario]
name = "net"
duration = "6s"
warmup = "2s"
replications = 3

[links]
"a - R" = { rate = "20Mbit/s", delay = "1ms" }
"R - b" = { rate = "2Mbit/s", delay = "10ms" }
"R -> b" = { queue = { aqm = "drop-tail", limit = "12p" } }
"b -> R" = { rate = "48kbit/s", queue = { limit = "2p" } }

[conditioner.gold]
at = "a -> R"
match = { traffic = ["bulk", "short"] }
kind = "trtcm"
cir = "500kbit/s"
cbs = "9kB"
pir = "1Mbit/s"
pbs = "9kB"

[traffic.bulk]
model = "ftp"
flows = 2
from = "a"
to = "b"
class = "data"

[traffic.short]
model = "transfers"
size = "10kB"
gap = "200ms"
flows = 2
from = "a"
to = "b"
class = "data"

[traffic.beacon]
model = "cbr"
rate = "100kbit/s"
size = "500B"
from = "a"
to = "b"
"#;

fn done(vary: &[&str]) -> (Vec<Point>, Vec<Replication>) {
    let options = vary.iter().fold(Options::new("net.toml"), |options, text| options.vary(text));
    let (sweep, _) = Sweep::parse(NET, &options).unwrap_or_else(|e| panic!("{e}"));
    of(&sweep)
}

/// Three replications of each point.
fn of(sweep: &Sweep) -> (Vec<Point>, Vec<Replication>) {
    let points = sweep.points();
    let options = RunOptions {
        replications: 0..3,
        jobs: 0,
        out: None,
        resume: false,
        identity: Identity::default(),
        taps: Vec::new(),
        probes: Probes::default(),
    };
    let replications = run(&points, &options, &Unwatched).unwrap();
    (points, replications)
}

fn row<'a>(rows: &'a Rows, names: [&str; 2]) -> &'a Row {
    let same = |row: &&Row| row.names.iter().map(|n| n.as_deref().unwrap_or("")).eq(names);
    rows.rows.iter().find(same).unwrap_or_else(|| panic!("{names:?}: {rows:?}"))
}

fn shows(e: Option<Estimate>, scale: f64) -> String {
    e.unwrap().scaled(scale).text()
}

fn measures(rows: &Rows) -> Vec<&str> {
    rows.measures.iter().map(|measure| measure.name.as_str()).collect()
}

/// What `run` prints of a class and a colour stands in the rows.
#[test]
fn one_point_has_the_numbers_of_its_run() {
    let (points, replications) = done(&[]);
    let all: Vec<_> = replications.iter().collect();
    let text = summary::text(&points[0], &all, &Where::default()).unwrap();
    let [rows] = &rows(&points, &replications, &[])[..] else { panic!("one kind of rows") };
    assert_eq!(rows.rows.len(), 5, "a class of three colours, a class of one: {rows:?}");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<_> = text.lines().map(words).collect();
    for names in [["data", "green"], ["data", "yellow"], ["data", "red"], ["beacon", "unmarked"]] {
        let v = &row(rows, names).values;
        let [rate, lost, p50, p99] = [shows(v[0], 1e-6), shows(v[2], 1.0), shows(v[3], 1.0), shows(v[4], 1.0)];
        let line = format!("{} {} {rate} {lost} {p50} {p99} ", names[0], names[1]);
        assert!(lines.iter().any(|l| l.starts_with(&line)), "{line}\n{text}");
    }
    let beacon = shows(row(rows, ["beacon", "unmarked"]).values[1], 1e-6);
    assert!(lines.iter().any(|l| l.starts_with(&format!("beacon {beacon} "))), "{beacon}\n{text}");
}

/// Sums over a class, by hand from the tables.
#[test]
fn a_class_is_the_sum_of_its_parts() {
    let (points, replications) = done(&[]);
    let [rows] = &rows(&points, &replications, &[])[..] else { panic!("one kind of rows") };
    let all = &row(rows, ["data", "all"]).values;
    let over = |name: &str, value: &dyn Fn(&Replication) -> f64| {
        of_column(column("classes", name), &replications.iter().map(value).collect::<Vec<_>>())
    };
    let sum = |r: &Replication, table: &str, column: &str, which: &dyn Fn(&str, &str) -> bool| -> f64 {
        let table = r.tables.iter().find(|t| t.name == table).unwrap();
        let text = |column: &str, row: usize| match table.columns.iter().any(|c| c.0 == column) {
            true => table.texts(column)[row].as_deref().unwrap().to_owned(),
            false => String::new(),
        };
        let rows = (0..table.rows()).filter(|&i| which(&text("class", i), &text("hop", i)));
        let value = |i: usize| match table.columns.iter().find(|c| c.0 == column).unwrap().1 {
            perhop_results::tables::columns::Values::Reals(ref v) => v[i].unwrap(),
            perhop_results::tables::columns::Values::Integers(ref v) => v[i].unwrap() as f64,
            _ => unreachable!(),
        };
        rows.map(value).sum()
    };
    let data = |class: &str, _: &str| class == "data";
    assert_eq!(all[0], over("throughput_bit_s", &|r| sum(r, "arrivals", "delivered_bytes", &data) * 8.0 / 4.0));
    assert_eq!(all[1], over("goodput_bit_s", &|r| sum(r, "traffic", "goodput_bit_s", &data)));
    // of the data alone: ACKs are lost too, on their way back
    let there = |class: &str, hop: &str| class == "data" && ["a -> R", "R -> b"].contains(&hop);
    let back = |class: &str, hop: &str| class == "data" && hop == "b -> R";
    assert!(sum(&replications[0], "summary", "dropped_packets", &back) > 0.0, "ACKs are lost in this scenario");
    let loss = |r: &Replication| {
        let lost = sum(r, "summary", "dropped_packets", &there);
        100.0 * lost / (lost + sum(r, "arrivals", "delivered_packets", &data))
    };
    assert_eq!(all[2], over("loss_percent", &loss));
    assert!(all[2].unwrap().mean > 0.1);
    assert_eq!(all[3..], [None, None], "quantiles of three colours cannot be put together");
}

/// Where data and ACKs of a class share a port, drops are not told apart.
#[test]
fn no_loss_where_it_is_not_known() {
    let text = format!("{NET}\n[traffic.up]\nmodel = \"ftp\"\nfrom = \"b\"\nto = \"a\"\nclass = \"data\"\n");
    let (sweep, _) = Sweep::parse(&text, &Options::new("net.toml")).unwrap();
    let options = RunOptions {
        replications: 0..2,
        jobs: 0,
        out: None,
        resume: false,
        identity: Identity::default(),
        taps: Vec::new(),
        probes: Probes::default(),
    };
    let replications = run(&sweep.points(), &options, &Unwatched).unwrap();
    let all = rows(&sweep.points(), &replications, &[]);
    let of_data = all[0].rows.iter().find(|row| row.names[0].as_deref() == Some("data")).unwrap();
    assert_eq!(of_data.values[2], None);
    assert!(row(&all[0], ["beacon", "unmarked"]).values[2].is_some());
}

#[test]
fn any_columns_can_be_shown() {
    let (points, replications) = done(&["traffic.bulk.flows=1,2"]);
    let text =
        ["traffic.jain,arrivals.delay_p999_ms", "flows.sent_packets", "traffic.goodput_bit_s"].map(str::to_owned);
    let shown = choice::columns(&text).unwrap();
    let all = rows(&points, &replications, &shown);
    let keys: Vec<_> = all.iter().map(|rows| rows.keys.join(" ")).collect();
    assert_eq!(keys, ["class traffic", "class colour", "class traffic flow"]);
    assert_eq!(measures(&all[0]), ["traffic.jain", "traffic.goodput_bit_s"]);
    assert_eq!(all[0].rows.len(), 6, "three traffics at two points");
    assert_eq!(all[2].rows.len(), 2 + 3, "one flow of bulk and the beacon's; two and the beacon's");
    let [usual] = &rows(&points, &replications, &[])[..] else { panic!("one kind of rows") };
    let beacon = |rows: &Rows, point| {
        let of = |row: &&Row| row.point == point && row.names[0].as_deref() == Some("beacon");
        rows.rows.iter().find(of).unwrap().values[1]
    };
    assert_eq!(beacon(&all[0], 1), beacon(usual, 1), "the same goodput");
    let csv = csv(&points, &all);
    let head = "traffic.bulk.flows,class,traffic,colour,flow,traffic.jain,traffic.jain_ci95,traffic.jain_low,";
    assert!(csv.starts_with(head), "{csv}");
    assert_eq!(csv.lines().count(), 1 + all.iter().map(|rows| rows.rows.len()).sum::<usize>());
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() == columns), "{csv}");
}

#[test]
fn columns_that_are_none_are_refused_with_the_nearest() {
    let said = |text: &str| choice::columns(&[text.to_owned()]).unwrap_err().to_string();
    assert!(
        said("arrivals.delay_p95_ms").contains("did you mean `arrivals.delay_p9"),
        "{}",
        said("arrivals.delay_p95_ms")
    );
    assert!(said("arivals.delay_p99_ms").contains("did you mean `arrivals.delay_p99_ms`?"));
    assert!(said("arrivals.class").contains("error[E006]"), "a name of rows");
    assert!(said("series.value").contains("error[E006]"), "not one row for each name");
    assert!(said("goodput").contains("help: "), "{}", said("goodput"));
}

/// Groups by point. Headings are folded until the table fits a page or no column is wider than its values; those stay whole.
#[test]
fn tables_are_no_wider_than_a_page_or_their_values() {
    let (points, replications) = done(&["[traffic.bulk.flows, conditioner.gold.cbs]=[[1, \"9kB\"], [2, \"90kB\"]]"]);
    let text = listing::text(&points, &rows(&points, &replications, &[]));
    let wide = |line: &str| line.chars().count();
    let values = text.lines().filter(|line| line.contains('±')).map(wide).max().unwrap();
    assert!(text.lines().all(|line| wide(line) <= values.max(100)), "{text}");
    assert_eq!(text.matches("unmarked").count(), 2, "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("1 ") || line.starts_with("2 ")).count(), 2, "{text}");
    assert!(text.starts_with("flows  cbs"), "{text}");
}

/// A policer that drops all of a class leaves its row: that nothing arrived is what matters most.
#[test]
fn a_class_of_which_nothing_arrived_has_its_row() {
    let policer = "\n[conditioner.shut]\nat = \"a -> R\"\nmatch = { traffic = \"beacon\" }\nkind = \"marker\"\n\
                   colour = \"red\"\nred = \"drop\"\n";
    let options = Options::new("net.toml").vary("traffic.bulk.flows=1,2");
    let (sweep, _) = Sweep::parse(&format!("{NET}{policer}"), &options).unwrap();
    let (points, replications) = of(&sweep);
    let words = |text: String, class: &str| {
        let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.filter(|line| line.contains(class)).collect::<Vec<_>>()
    };
    let first: Vec<_> = replications.iter().filter(|r| r.point == 0).collect();
    let run = words(summary::text(&points[0], &first, &Where::default()).unwrap(), "beacon");
    assert_eq!(run[0], "beacon red 0 ±0 100.0 ±0 - - - -", "in the first table: {run:?}");
    let usual = rows(&points, &replications, &[]);
    let swept = words(listing::text(&points, &usual), "beacon");
    assert_eq!(swept, ["beacon red 0 ±0 0 ±0 100.0 ±0 - -"; 2]);
    let text = ["arrivals.throughput_bit_s".to_owned(), "arrivals.delay_p99_ms".to_owned()];
    let shown = choice::columns(&text).unwrap();
    let asked = rows(&points, &replications, &shown);
    assert_eq!(words(listing::text(&points, &asked), "beacon"), ["beacon - 0 ±0 -"; 2]);
    let classes: Vec<_> = asked[0].rows.iter().map(|row| (row.point, row.names[0].as_deref().unwrap())).collect();
    assert!(classes.is_sorted_by_key(|(point, _)| point), "by point: {classes:?}");
    let beacon = |rows: &Rows, point| rows.to_json(point).into_iter().filter(|row| row["class"] == "beacon").collect();
    let [red, none]: [Vec<_>; 2] = [beacon(&usual[0], 0), beacon(&asked[0], 1)];
    assert_eq!((red.len(), &red[0]["colour"]), (1, &"red".into()));
    assert_eq!((none.len(), &none[0]["colour"]), (1, &serde_json::Value::Null));
}

/// A policer that drops a colour: the loss is that colour's, not that of the colour which arrived.
#[test]
fn a_colour_that_is_dropped_has_its_loss() {
    let policer = "\n[conditioner.police]\nat = \"a -> R\"\nmatch = { traffic = \"beacon\" }\nkind = \"token-bucket\"\n\
                   cir = \"50kbit/s\"\ncbs = \"1kB\"\nred = \"drop\"\n";
    let (sweep, _) = Sweep::parse(&format!("{NET}{policer}"), &Options::new("net.toml")).unwrap();
    let (points, replications) = of(&sweep);
    let [rows] = &rows(&points, &replications, &[])[..] else { panic!("one kind of rows") };
    let lost = |colour| row(rows, ["beacon", colour]).values[2].unwrap().mean;
    assert_eq!(lost("red"), 100.0);
    assert!(lost("green") < 2.0, "at the bottleneck: {}", lost("green"));
    // cir is half of what is sent
    assert!((lost("all") - 50.0).abs() < 5.0, "{}", lost("all"));
}

fn known() -> Known {
    let key = |name: &str, values: &[&str]| (name.to_owned(), Some(values.iter().map(|it| (*it).to_owned()).collect()));
    Known {
        swept: vec![key("traffic.bulk.flows", &["1", "2"]), key("queue.q", &["[1, 2]", "3"])],
        rows: vec![key("class", &["voice", "data"]), key("hop", &["a -> R"]), ("flow".to_owned(), None)],
    }
}

#[test]
fn where_has_keys_and_their_values() {
    let read = |texts: &[&str]| {
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        let terms = Where::read(&texts, &known()).map_err(|found| found.to_string())?.terms;
        Ok::<_, String>(terms.into_iter().map(|it| format!("{}: {}", it.key, it.values.join("|"))).collect::<Vec<_>>())
    };
    let is = |texts: &[&str], terms: &[&str]| assert_eq!(read(texts).unwrap(), terms, "{texts:?}");
    is(&["class=voice,data", "flows=2"], &["class: voice|data", "traffic.bulk.flows: 2"]);
    is(&["class=voice", "class = data"], &["class: voice|data"]);
    is(&["q=[1, 2]", "port=a -> R"], &["queue.q: [1, 2]", "hop: a -> R"]);
    is(&["flow=7,8"], &["flow: 7|8"]);
    let refused = |text: &str, says: &[&str]| {
        let said = read(&[text]).unwrap_err();
        says.iter().for_each(|says| assert!(said.contains(says), "{text}: no `{says}` in {said}"));
    };
    refused("class", &["error[E010]", "KEY=VALUE"]);
    refused("=voice", &["error[E010]"]);
    refused("clas=voice", &["error[E006]", "have no `clas`", "did you mean `class`?"]);
    refused("traffic=bulk", &["have no `traffic`", "`--show traffic.goodput_bit_s` has rows with it"]);
    refused("class=voice,voise", &["error[E006]", "no class is `voise`", "did you mean `voice`?"]);
    refused("flows=3", &["no traffic.bulk.flows is `3`", "valid names: 1, 2"]);
}

/// Rows that are kept have all keys; a row without one is not kept. The only colour of a class is all of it.
#[test]
fn where_leaves_the_rows_that_have_the_values() {
    let (points, replications) = done(&["traffic.bulk.flows=1,2"]);
    let all = rows(&points, &replications, &[]);
    let classes = ["classes"].map(|table| perhop_results::tables::declaration(table).unwrap());
    let known = Known::of(&points, &classes);
    let filter = |texts: &[&str]| {
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        let [rows] = &Where::read(&texts, &known).unwrap().keep(&points, all.clone())[..] else { panic!("one kind") };
        let name =
            |row: &Row| row.names.iter().map(|name| name.as_deref().unwrap_or("-")).collect::<Vec<_>>().join(" ");
        rows.rows.iter().map(|row| format!("{} {}", row.point, name(row))).collect::<Vec<_>>()
    };
    assert_eq!(filter(&["flows=2", "class=data"]), ["1 data all", "1 data green", "1 data yellow", "1 data red"]);
    assert_eq!(filter(&["flows=1", "colour=all"]), ["0 data all", "0 beacon unmarked"]);
    assert_eq!(filter(&["flows=1", "colour=red,green"]), ["0 data green", "0 data red"]);
    assert!(filter(&["class=beacon", "colour=red"]).is_empty());
    let one = Where::read(&["class=beacon".to_owned()], &known).unwrap();
    let first: Vec<_> = replications.iter().filter(|r| r.point == 0).collect();
    let text = summary::text(&points[0], &first, &one).unwrap();
    assert!(text.contains("\nbeacon  unmarked") && text.contains("\nbeacon ") && !text.contains("data"), "{text}");
    let none = Where::read(&["class=beacon".to_owned(), "colour=red".to_owned()], &known).unwrap();
    assert!(summary::text(&points[0], &first, &none).is_none());
}
