//! `explain --as ios`: the template that shows IOS beside each of its parts, and what IOS cannot express.

use perhop_scenario::as_ios::{self, Ios};
use perhop_scenario::{Options, Sweep};

const TEMPLATE: &str = include_str!("../../cli/templates/cisco.toml");

fn written(text: &str, set: &[&str], port: Option<&str>, device: Option<&str>) -> Ios {
    let options = set.iter().fold(Options::new("net.toml"), |options, set| options.set(set));
    let (sweep, _) = Sweep::parse(text, &options).unwrap_or_else(|found| panic!("{found}"));
    as_ios::of_sweep(&sweep, port, device).unwrap_or_else(|error| panic!("{error}"))
}

/// What IOS writes stands in the template beside each part. Its class by traffic has an access list to be filled.
#[test]
fn the_template_is_as_its_comments_say() {
    let ios = written(TEMPLATE, &[], None, None);
    let lines: Vec<_> = ios.lines.iter().map(|line| line.trim()).collect();
    let said = TEMPLATE.lines().filter_map(|line| line.split_once('!')).map(|it| it.1.trim());
    let own = ["interface", "service-policy", "policy-map", "class VOICE", "class-map", "priority"];
    for said in said.filter(|said| !own.iter().any(|own| said.starts_with(own)) && !said.starts_with("`")) {
        let said = said.split(": here").next().unwrap_or(said);
        assert!(lines.iter().any(|line| line.eq_ignore_ascii_case(said)), "{said}\n{lines:#?}");
    }
    assert_eq!(ios.ports.iter().map(|it| &*it.interface).collect::<Vec<_>>(), ["GigabitEthernet0/0", "Ethernet0/0"]);
    assert!(ios.lost.len() == 1 && ios.lost[0].contains("`traffic` of class business"), "{:?}", ios.lost);
    assert!(ios.notes.iter().any(|note| note.ends_with("which has no AQM")), "{:?}", ios.notes);
}

/// An interface that is faster than the link has a shaper above the classes.
#[test]
fn a_shaper_holds_a_faster_interface() {
    let ios = written(TEMPLATE, &[], Some("WAN -> site"), Some("Gi0/1"));
    let end = [
        "policy-map WAN-OUT-SHAPER",
        " class class-default",
        "  shape average 10000000 40000 0",
        "  service-policy WAN-OUT",
        "!",
        "interface Gi0/1",
        " service-policy output WAN-OUT-SHAPER",
        "!",
    ];
    assert_eq!(ios.lines[ios.lines.len() - end.len()..], end);
    assert!(
        ios.lost.is_empty() && ios.notes.iter().any(|note| note.starts_with("a shaper holds Gi0/1")),
        "{:?}",
        ios.notes
    );
}
