//! What exceeds a contract, and the smallest burst size with which all packets would conform.

use perhop_capture::mark::{ExcessBucketReport, PeakReport};
use perhop_core::Scope;
use perhop_core::params::Tree;
use perhop_core::port::edge::{Per, StageSpec};
use perhop_core::units::Bytes;

use crate::common::made::{bucket, dscps, made, packet};
use crate::common::marking::{by_name, file, marked, marking, packets, stage};

const CIR: u64 = 1_000_000;
const CBS: u64 = 15_000;

/// A boundary asks its tokens of green alone, and so does a meter that trusts colours: nothing else exceeds the contract.
#[test]
fn excess_is_of_what_is_metered() {
    let load: Vec<_> = (0..6).map(|i| packet(i, 1, (1000, None))).collect();
    let largest = |spec| StageSpec { scope: Scope { largest_packet: Bytes::new(1000), ..Scope::default() }, ..spec };
    let (before, _) = marked(&made(&load), marking(vec![largest(stage("tb", bucket(1, 2000)))])).unwrap();
    assert_eq!(dscps(&before), [10, 10, 14, 14, 14, 14]);
    let seen = |kind, cbs: &str, aware: Option<bool>, per| {
        let size = |name, text: &str| (name, Tree::Text(text.into()));
        let mut entries = vec![size("cir", "1bit/s"), size("cbs", cbs)];
        entries.extend(aware.into_iter().flat_map(|aware| [size("ebs", "1000B"), ("colour-aware", Tree::Bool(aware))]));
        let spec = StageSpec { per, ..largest(stage("m", by_name(kind, entries))) };
        let report = marked(&before, marking(vec![spec])).unwrap().1;
        let [row] = &report.load.contracts.iter().collect::<Vec<_>>()[..] else { panic!("one instance") };
        let flow = report.flows.iter().next().unwrap();
        assert_eq!((row.offered.packets, flow.excess), (6, row.excess));
        (row.excess.volume.packets, report.conditioners[0].conforming_cbs_bytes)
    };
    for per in [Per::Aggregate, Per::Flow] {
        assert_eq!(seen("redp", "2000B", None, per), (0, Some(2000)), "nothing is demoted");
        assert_eq!(seen("redp", "1000B", None, per), (1, Some(2000)));
        assert_eq!(seen("srtcm", "2000B", Some(true), per), (0, Some(2000)));
        assert_eq!(seen("srtcm", "2000B", Some(false), per), (4, Some(6000)));
    }
}

/// The report's CBS is one: with it all real packets are green, with a byte less they are not.
#[test]
fn the_smallest_cbs_that_conforms() {
    let input = std::fs::read(file("tcp.pcap")).unwrap();
    let reds = |cbs: u64| {
        let report = marked(&input, marking(vec![stage("tb", bucket(CIR, cbs))])).unwrap().1;
        let red =
            report.conditioners[0].colours.iter().filter(|row| row.after == "red").map(|row| row.volume.packets).sum();
        (report.conditioners[0].conforming_cbs_bytes.unwrap(), red)
    };
    let (least, red) = reds(CBS);
    assert!(red > 0);
    assert_eq!(reds(least), (least, 0));
    let (again, red) = reds(least - 1);
    assert!(again == least && red > 0);
}

/// The report's PBS and EBS are such: with them no real packet is red, with a byte less one is. Yellow packets of a meter that trusts
/// colours ask the second bucket alone, and red ones ask neither.
#[test]
fn the_smallest_second_bucket_with_which_none_is_red() {
    let plain = std::fs::read(file("tcp.pcap")).unwrap();
    let coloured = marked(&plain, marking(vec![stage("tb", by_name("srtcm", srtcm()))])).unwrap().0;
    for (kind, [rate, burst]) in [("trtcm", ["pir", "pbs"]), ("trtcm-4115", ["eir", "ebs"])] {
        for (input, aware, per) in
            [(&plain, false, Per::Aggregate), (&coloured, true, Per::Aggregate), (&plain, false, Per::Flow)]
        {
            let seen = |second: u64| {
                let text = |name, value: String| (name, Tree::Text(value));
                let own = [text("cir", "1Mbit/s".into()), text("cbs", "3000B".into())];
                let beyond = [text(rate, "2Mbit/s".into()), text(burst, format!("{second}B"))];
                let entries = own.into_iter().chain(beyond).chain([("colour-aware", Tree::Bool(aware))]).collect();
                let spec = StageSpec { per, ..stage("m", by_name(kind, entries)) };
                let mut report = marked(input, marking(vec![spec])).unwrap().1;
                let it = report.conditioners.remove(0);
                let made = it.colours.iter().filter(|row| row.after == "red" && row.before != "red");
                let red: u64 = made.map(|row| row.volume.packets).sum();
                let (peak, excess) = (it.peak, it.excess);
                let found = match kind {
                    "trtcm" => [peak.pir_bit_s, peak.pbs_bytes, peak.conforming_pbs_bytes],
                    _ => [excess.eir_bit_s, excess.ebs_bytes, excess.conforming_ebs_bytes],
                };
                assert_eq!(found[..2], [Some(2_000_000), Some(second)]);
                assert_eq!(peak == PeakReport::default(), kind != "trtcm");
                assert_eq!(excess == ExcessBucketReport::default(), kind == "trtcm");
                (found[2].unwrap(), red)
            };
            let (least, red) = seen(3000);
            assert!(red > 0 && least > 3000, "{kind} {aware} {per:?}: {least} {red}");
            assert_eq!(seen(least), (least, 0), "{kind} {aware} {per:?}");
            let (again, red) = seen(least - 1);
            assert!(again == least && red > 0, "{kind} {aware} {per:?}: {again} {red}");
        }
    }
}

/// Some of all colours.
fn srtcm() -> Vec<(&'static str, Tree)> {
    [("cir", "1Mbit/s"), ("cbs", "9000B"), ("ebs", "9000B")].map(|(key, value)| (key, Tree::Text(value.into()))).into()
}

/// Each flow has a bucket: the one that needs most counts, and the two do not add up.
#[test]
fn the_smallest_cbs_is_that_of_one_bucket() {
    for hosts in [[1, 2, 2], [2, 2, 1]] {
        let load: Vec<_> = hosts.into_iter().zip(0..).map(|(host, at)| packet(at, host, (700, None))).collect();
        let per_flow = StageSpec { per: Per::Flow, ..stage("tb", bucket(1, 1500)) };
        let report = marked(&made(&load), marking(vec![per_flow])).unwrap().1;
        assert_eq!(report.conditioners[0].conforming_cbs_bytes, Some(1400));
    }
}

#[test]
fn packets_as_large_as_may_be_are_not_warned_of() {
    let lengths = |lengths: &[u32]| {
        let load: Vec<_> = lengths.iter().map(|length| packet(1, 1, (*length, None))).collect();
        marked(&made(&load), marking(vec![stage("tb", bucket(CIR, 1500))])).unwrap().1.warnings
    };
    assert_eq!(lengths(&[1500, 1500]), [""; 0]);
    let warnings = lengths(&[9000, 1501, 100]);
    assert!(
        warnings[0]
            .ends_with("2 packets larger than the bucket (1500 B) can never be green; the largest counts 9000 B")
    );
    assert!(warnings[1].starts_with("2 IP packets are longer than 1500 B (up to 9000 B)"), "{warnings:?}");
}

/// Captured before segmentation: longer than any bucket for single packets.
#[test]
fn packets_larger_than_the_bucket_are_warned_of() {
    let input = std::fs::read(file("tcp-offload.pcap")).unwrap();
    let report = marked(&input, marking(vec![stage("tb", bucket(CIR, 1500))])).unwrap().1;
    let long = packets(&input).iter().filter(|it| it.ip.is_some_and(|ip| ip.lengths.l3 > 1500)).count();
    assert!(long > 10 && report.conditioners[0].packets_larger_than_cbs == long as u64);
    let says =
        |part: &str| assert!(report.warnings.iter().any(|text| text.contains(part)), "{part}: {:?}", report.warnings);
    says(&format!("{long} packets larger than the bucket (1500 B) can never be green"));
    says(&format!("{long} IP packets are longer than 1500 B"));
}
