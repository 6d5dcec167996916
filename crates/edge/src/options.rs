//! TCP options (RFC 9293 section 3.1): only timestamps are looked for.

use perhop_core::estimate::Timestamps;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const TIMESTAMPS: u8 = 8;

/// The timestamps option (RFC 7323 section 3.2) among `options`: the bytes between TCP's fixed header and its payload,
/// as many as were captured. An option that is cut off, or after one of impossible length, counts as absent.
pub(crate) fn timestamps(mut options: &[u8]) -> Option<Timestamps> {
    loop {
        options = match options {
            [] | [END, ..] | [_] => return None,
            [NO_OPERATION, rest @ ..] => rest,
            [TIMESTAMPS, 10, rest @ ..] => return rest.first_chunk().map(read),
            [_, 0 | 1, ..] => return None,
            [_, length, ..] => options.get(usize::from(*length)..)?,
        };
    }
}

fn read(it: &[u8; 8]) -> Timestamps {
    let [a, b, c, d, e, f, g, h] = *it;
    Timestamps { value: u32::from_be_bytes([a, b, c, d]), echo: u32::from_be_bytes([e, f, g, h]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Options by kind and content; 0 and 1 have no length.
    fn option() -> impl Strategy<Value = (u8, Vec<u8>)> {
        let content = |length: usize| prop::collection::vec(any::<u8>(), length);
        prop_oneof![
            4 => Just((NO_OPERATION, Vec::new())),
            1 => Just((END, Vec::new())),
            4 => content(8).prop_map(|it| (TIMESTAMPS, it)),
            1 => (0usize..12).prop_filter("not that of timestamps", |n| *n != 8).prop_flat_map(content).prop_map(|it| (TIMESTAMPS, it)),
            6 => (any::<u8>(), 0usize..20).prop_flat_map(move |(kind, n)| content(n).prop_map(move |it| (kind.max(9), it))),
        ]
    }

    fn bytes((kind, content): &(u8, Vec<u8>)) -> Vec<u8> {
        match *kind {
            END | NO_OPERATION => vec![*kind],
            _ => [&[*kind, content.len() as u8 + 2][..], content].concat(),
        }
    }

    proptest! {
        /// The first whole one before an end of options and before the cut, whatever surrounds it.
        #[test]
        fn finds_the_first_whole_one(options in prop::collection::vec(option(), 0..8), cut in 0usize..80) {
            let all: Vec<u8> = options.iter().flat_map(bytes).collect();
            let captured = &all[..cut.min(all.len())];
            let mut at = 0;
            let mut wanted = None;
            for option in &options {
                at += bytes(option).len();
                if option.0 == END || at > captured.len() || wanted.is_some() {
                    break;
                }
                if option.0 == TIMESTAMPS && option.1.len() == 8 {
                    wanted = Some(read(option.1.first_chunk().unwrap()));
                }
            }
            prop_assert_eq!(timestamps(captured), wanted);
        }

        #[test]
        fn reads_whatever_comes(bytes in prop::collection::vec(prop_oneof![0u8..12, any::<u8>()], 0..60)) {
            timestamps(&bytes);
        }
    }

    #[test]
    fn by_hand() {
        let found = |it: &[u8]| timestamps(it).map(|it| (it.value, it.echo));
        assert_eq!(found(&[1, 1, 8, 10, 0, 0, 1, 0, 255, 255, 255, 254]), Some((256, 0xffff_fffe)));
        assert_eq!(
            found(&[2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7]),
            Some((1, 2)),
            "a SYN of Linux"
        );
        assert_eq!(found(&[0, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]), None, "behind the end");
        assert_eq!(found(&[8, 10, 0, 0, 0, 1, 0, 0, 0]), None, "cut off");
        for length in [0, 1, 255] {
            assert_eq!(found(&[5, length, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]), None, "impossible length {length}");
        }
        assert_eq!(found(&[8]), None);
    }
}
