//! What the reader finds wrong on its way.

use crate::ios::hand::read;
use perhop_config::finding::Finding;

/// The only finding, whose line begins so.
#[track_caller]
fn only(text: &str, code: &str, line: &str) -> Finding {
    let found = read(text).findings;
    let lines: Vec<_> =
        found.iter().map(|it| (it.code, text[it.place.start..].lines().next().unwrap_or_default())).collect();
    assert_eq!(lines, [(code, line)], "{text}\n{found:#?}");
    found[0].clone()
}

#[track_caller]
fn none(text: &str) {
    let found = read(text).findings;
    assert!(found.is_empty(), "{text}\n{found:#?}");
}

/// The lines of a class at the output of a port.
fn class(lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "class-map match-any GOLD\n match dscp af31 af32\npolicy-map WAN\n class GOLD\n{lines}interface GigabitEthernet0/0\n service-policy output WAN\n"
    )
}

#[test]
fn a_class_that_earlier_ones_leave_nothing() {
    let policy = |maps: &str, order: [&str; 3]| {
        let classes = order.map(|name| format!(" class {name}\n  bandwidth percent 10\n"));
        let port = "interface GigabitEthernet0/0\n service-policy output WAN\n";
        format!("{maps}policy-map WAN\n{}{port}", classes.concat())
    };
    let maps = "class-map match-any A\n match dscp af21 af31\nclass-map match-any B\n match dscp ef\nclass-map match-any C\n match dscp af31 ef\n";
    let found = only(&policy(maps, ["A", "B", "C"]), "W412", "class C");
    assert_eq!(found.message, "no packet reaches class C: A and B before it take all of its packets");
    none(&policy(maps, ["A", "C", "B"]).replace("match dscp ef\n", "match dscp cs5\n"));
    // By access lists: the web of a network, after all of it.
    let lists = "ip access-list extended NET\n permit ip 10.0.0.0 0.255.255.255 any\n\
                 ip access-list extended WEB\n permit tcp 10.1.0.0 0.0.255.255 any eq 80\n\
                 class-map match-all A\n match access-group name NET\nclass-map match-all B\n match access-group name WEB\n\
                 class-map match-all C\n match dscp cs1\n";
    only(&policy(lists, ["A", "C", "B"]), "W412", "class B");
    none(&policy(lists, ["B", "A", "C"]));
    // What an earlier list denies it leaves.
    none(&policy(&lists.replace(" permit ip 10", " deny tcp any any eq 80\n permit ip 10"), ["A", "C", "B"]));
    // A list that is read nearly may take less.
    none(&policy(&lists.replace("any\nip", "any time-range DAY\nip"), ["A", "C", "B"]));
    // All of several lines have to agree.
    none(&policy(
        &maps.replace("match-any A", "match-all A").replace("af31\nclass", "af31\n match protocol tcp\nclass"),
        ["A", "B", "C"],
    ));
}

#[test]
fn a_profile_that_is_said_twice() {
    let lines =
        "bandwidth percent 50\nrandom-detect dscp-based\nrandom-detect dscp af31 20 40\nrandom-detect dscp af31 10 40";
    let found = only(&class(lines), "W413", "random-detect dscp af31 20 40");
    assert!(found.message.starts_with("line 8 says this profile again"), "{}", found.message);
    none(&class(&lines.replace("af31 10", "af32 10")));
}
