//! Where in a configuration the bytes of a scenario come from.

use super::page::Piece;
use perhop_core::params::Place;
use std::cmp::Reverse;

/// Stretches of a page, each within another or beside it.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// In the order of the page, an outer one before those in it, with the place of the next one around each.
    pieces: Vec<(Piece, Option<usize>)>,
}

impl Origins {
    /// Of a page; of two that hold the same bytes the one that stands first is the inner one.
    pub(super) fn of(map: &[Piece]) -> Self {
        let mut order: Vec<_> = (0..map.len()).collect();
        order.sort_unstable_by_key(|&i| (map[i].page.start, Reverse(map[i].page.end), Reverse(i)));
        let mut pieces: Vec<(Piece, Option<usize>)> = Vec::with_capacity(map.len());
        let mut around: Vec<usize> = Vec::new();
        for i in order {
            while around.last().is_some_and(|&outer: &usize| pieces[outer].0.page.end <= map[i].page.start) {
                around.pop();
            }
            pieces.push((map[i], around.last().copied()));
            around.push(pieces.len() - 1);
        }
        Self { pieces }
    }

    /// The place of the inner most stretch that holds a byte.
    pub fn origin(&self, at: usize) -> Option<Place> {
        let mut next = self.pieces.partition_point(|it| it.0.page.start <= at).checked_sub(1);
        while let Some(place) = next {
            let (piece, around) = &self.pieces[place];
            if at < piece.page.end {
                return Some(piece.text);
            }
            next = *around;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Nested pieces of the bytes from one on, those within before those around them.
    fn pieces(depth: u32) -> impl Strategy<Value = Vec<(usize, usize)>> {
        let leaf = (0usize..4).prop_map(|length| vec![(0, length)]);
        leaf.prop_recursive(depth, 24, 4, |inner| {
            prop::collection::vec((inner, 0usize..3), 0..4).prop_map(|list| {
                let (mut all, mut end) = (Vec::new(), 0);
                for (inner, gap) in list {
                    let start = end + gap;
                    end = start + inner.iter().map(|it| it.1).max().unwrap_or(0);
                    all.extend(inner.into_iter().map(|it| (it.0 + start, it.1 + start)));
                }
                all.push((0, end + 1));
                all
            })
        })
    }

    proptest! {
        #[test]
        fn as_all_of_them(list in pieces(4)) {
            let piece = |(i, (start, end)): (usize, &(usize, usize))| Piece {
                page: Place { start: *start, end: *end },
                text: Place { start: i, end: i + 1 },
            };
            let map: Vec<_> = list.iter().enumerate().map(piece).collect();
            let origins = Origins::of(&map);
            for at in 0..list.iter().map(|it| it.1).max().unwrap_or(0) + 2 {
                let holds = |piece: &&Piece| piece.page.start <= at && at < piece.page.end;
                let inner = map.iter().filter(holds).min_by_key(|piece| piece.page.end - piece.page.start);
                prop_assert_eq!(origins.origin(at), inner.map(|piece| piece.text));
            }
        }
    }
}
