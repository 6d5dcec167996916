//! `explain --as ios` on the command line: what it prints, what it says, its exit codes.

use crate::command::Folder;
use serde_json::Value;

const TEMPLATE: &[u8] = include_bytes!("../../../app/templates/cisco.toml");

fn said(args: &[&str]) -> (Option<i32>, String, String) {
    let out = Folder::with(&[("cisco.toml", TEMPLATE)]).perhop(&[&["explain", "cisco.toml"], args].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn what_is_lost_is_at_the_head_and_counted() {
    let (code, out, err) = said(&["--as", "ios"]);
    assert_eq!(code, Some(1), "{err}");
    assert_eq!(out.lines().filter(|line| line.starts_with("! lost: ")).count(), 1, "{out}");
    assert!(err.contains("the lines are not all of the ports: see the 1 line `! lost:` at their head"), "{err}");
    assert!(out.ends_with("interface Ethernet0/0\n service-policy output WAN-OUT\n!\n"), "{out}");
}

#[test]
fn what_is_whole_is_silent() {
    let (code, out, err) = said(&["--as", "ios", "--port", "WAN -> site", "--dev", "Serial0/0"]);
    assert_eq!((code, &*err), (Some(0), ""), "{out}");
    assert!(out.contains("interface Serial0/0\n bandwidth 10000\n service-policy output WAN-OUT\n"), "{out}");
}

/// The shaper that holds a faster interface has the platform's own interval.
#[test]
fn defaults_are_the_platforms() {
    for (platform, line) in [("ios", "average 10000000 40000 0"), ("ios-xe", "average 10000000 40000 0")] {
        let (code, out, err) =
            said(&["--as", "ios", "--port", "WAN -> site", "--dev", "Gi0/0", "--platform", platform]);
        assert_eq!((code, &*err), (Some(0), ""), "{out}");
        assert!(out.contains(line), "{platform}: {out}");
    }
}

#[test]
fn programs_get_json() {
    let (code, out, _) = said(&["--as", "ios", "--json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(1));
    assert_eq!(json["ports"][1]["policy"], "WAN-OUT");
    assert!(json["lost"].as_array().is_some_and(|it| it.len() == 1) && json["lines"].as_array().is_some());
}

#[test]
fn bad_input_has_place_and_fix() {
    for (args, says) in [
        (&["--as", "ios", "--port", "WAN -> sit"][..], "error[E006] no port `WAN -> sit`"),
        (&["--as", "ios", "--port", "WAN -> site", "--dev", "Gi0/0\nno shutdown"], "error[E296] the interface"),
        (&["--as", "ios", "--platform", "ncs"], "error[E296] no lines for --platform ncs: an NCS has IOS-XR"),
        (&["--as", "ios", "--dev", "Gi0/0"], "error[E295] --dev Gi0/0 without a port"),
        (&["--as", "tc", "--platform", "ios"], "error[E295] --platform ios without --as ios"),
    ] {
        let (code, out, err) = said(args);
        assert!(code == Some(2) && out.is_empty() && err.contains(says) && err.contains("help: "), "{args:?}: {err}");
    }
}
