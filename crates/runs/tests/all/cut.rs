//! A request cut into tasks.

use perhop_runs::cut::Cut;

/// Every replication is in one task, however they are cut; the first one tells what the others cost.
#[test]
fn work_is_cut_by_what_it_costs() {
    let several = (0..7).map(|point| (point, vec![0, 1, 2, 5]));
    let lacking: Vec<(usize, Vec<u32>)> = several.chain([(7, (0..100).collect())]).collect();
    let (mut cut, mut sizes, mut seen) = (Cut::new(lacking.clone()), Vec::new(), Vec::new());
    assert_eq!(cut.left(), 7 * 4 + 100);
    while cut.left() > 0 {
        let (points, numbers) = cut.next(1.0, 2).unwrap();
        sizes.push(points.len() * numbers.len());
        cut.learn(0.1 * sizes[sizes.len() - 1] as f64, sizes[sizes.len() - 1]);
        seen.extend(points.iter().flat_map(|&point| numbers.clone().map(move |n| (point, n))));
    }
    assert_eq!(cut.next(1.0, 2), None);
    let mut all: Vec<_> = lacking.iter().flat_map(|(point, numbers)| numbers.iter().map(|&n| (*point, n))).collect();
    seen.sort_unstable();
    all.sort_unstable();
    assert_eq!(seen, all);
    assert_eq!(sizes[0], 1);
    assert!(sizes.iter().all(|&size| size <= 10), "a chunk of 1 s has ten of 100 ms: {sizes:?}");
    assert!(sizes[1..6].iter().any(|&size| size > 5), "{sizes:?}");
    assert!(sizes[sizes.len() - 1] <= 2, "at the end workers share what is left: {sizes:?}");
}
