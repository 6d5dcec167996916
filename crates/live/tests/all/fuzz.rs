//! The fuzzer's target for frames on edited frames of many kinds, under stable Rust. `PERHOP_CASES` says how many; ten
//! million take minutes in a release build: `PERHOP_CASES=10000000 cargo test --release -p perhop-live --test all fuzz`.

use etherparse::PacketBuilder;
use frames::Between;
use perhop_core::Rng;

#[path = "../../../../fuzz/src/frames.rs"]
mod frames;

/// Cases of an ordinary run.
const CASES: u64 = 100_000;

/// Bytes that begin something in headers: versions, tags, types, protocols, lengths.
const WORDS: [&[u8]; 14] = [
    &[0x45],
    &[0x46],
    &[0x60],
    &[0x81, 0],
    &[0x88, 0xa8],
    &[8, 0],
    &[0x86, 0xdd],
    &[8, 6],
    &[0, 0],
    &[0xff, 0xff],
    &[0x20, 0],
    &[44],
    &[51],
    &[0, 60],
];

/// Whole frames: TCP, UDP, ICMP, with IPv4 and IPv6, options, extension headers, fragments, tags; and no IP.
fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let ethernet = || PacketBuilder::ethernet2([1; 6], [2; 6]);
    let mut add = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut frame = Vec::new();
        write(&mut frame);
        all.push(frame);
    };
    add(&|to| ethernet().ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(1, 2).write(to, &[7; 30]).unwrap());
    add(&|to| ethernet().ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(1, 2, 3, 4).write(to, &[7; 30]).unwrap());
    add(&|to| ethernet().ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).icmpv4_echo_request(1, 2).write(to, &[7; 30]).unwrap());
    add(&|to| ethernet().ipv6([3; 16], [4; 16], 64).udp(1, 2).write(to, &[7; 30]).unwrap());
    add(&|to| ethernet().ipv6([3; 16], [4; 16], 64).tcp(1, 2, 3, 4).syn().write(to, &[]).unwrap());
    add(&|to| ethernet().ipv6([3; 16], [4; 16], 64).icmpv6_echo_request(1, 2).write(to, &[7; 9]).unwrap());
    let tagged: Vec<_> =
        all.iter().map(|frame| [&frame[..12], &[0x88, 0xa8, 0, 6, 0x81, 0, 0, 5], &frame[12..]].concat()).collect();
    let mut fragment = all[0].clone();
    fragment[20..22].copy_from_slice(&[0x20, 1]);
    let mut options = all[1].clone();
    options[14] = 0x46;
    options.splice(34..34, [1, 1, 1, 0]);
    let hops: Vec<_> = [&all[4][..20], &[0], &all[4][21..54], &[6, 0, 1, 4, 0, 0, 0, 0], &all[4][54..]].concat();
    let arp = [&[0xff; 6][..], &[2; 6], &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1], &[0; 36]].concat();
    let llc = [&[1; 12][..], &[0, 46], &[0x42; 46]].concat();
    all.into_iter().chain(tagged).chain([fragment, options, hops, arp, llc]).collect()
}

/// A kind and a seed of which up to five pieces are replaced; sometimes its end is missing, or more is behind it.
fn edited(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut pick = |of: usize| (rng.bits() % of as u64) as usize;
    let mut input = vec![pick(4) as u8];
    input.extend_from_slice(&seeds[pick(seeds.len())]);
    for _ in 0..pick(6) {
        let start = 1 + pick(input.len().min(80));
        let end = (start + pick(5)).min(input.len());
        let piece = if pick(2) == 0 { WORDS[pick(WORDS.len())].to_vec() } else { vec![pick(256) as u8] };
        input.splice(start.min(end)..end, piece);
    }
    match pick(8) {
        0 => input.truncate(1 + pick(input.len())),
        1 => input.extend(std::iter::repeat_n(9, pick(1600))),
        _ => {}
    }
    input
}

#[test]
fn edited_frames() {
    let cases = std::env::var("PERHOP_CASES").map_or(CASES, |it| it.parse().expect("PERHOP_CASES is a number"));
    let (seeds, mut between) = (seeds(), Between::default());
    let mut rng = Rng::stream(1, 0, "frames");
    for _ in 0..cases {
        between.pass(&edited(&mut rng, &seeds));
    }
    let [there, back] = between.counts();
    assert_eq!(there.received + back.received, cases);
    assert!(there.plain > 0 && there.finished > 0 && back.unfinished > 0);
}
