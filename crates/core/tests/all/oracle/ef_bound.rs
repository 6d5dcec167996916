//! RFC 3246 section 2.2 over whole lists, in fractions: eq_1 to eq_4 as they are printed.

/// A packet that was served: times in ns, length in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Served {
    pub arrival: u64,
    pub departure: u64,
    pub length: u64,
}

/// Numerators over R of f_1, f_2, ... in ns, where a, d and l are in the order of the equation.
fn targets(rows: &[(u64, u64, u64)], rate: u64) -> Vec<i128> {
    let over_r = |time: u64| i128::from(time) * i128::from(rate);
    let (mut f, mut d) = (vec![0], vec![0]);
    for (j, &(a_j, d_j, l_j)) in rows.iter().enumerate() {
        let earlier = std::cmp::min(d[j], f[j]);
        f.push(std::cmp::max(over_r(a_j), earlier) + i128::from(l_j) * 1_000_000_000);
        d.push(over_r(d_j));
    }
    f.split_off(1)
}

/// The smallest E with d_j <= f_j + E for all j, in ns, rounded up.
fn error(rows: &[(u64, u64, u64)], rate: u64) -> Option<i128> {
    let late = rows.iter().zip(targets(rows, rate)).map(|(row, f)| i128::from(row.1) * i128::from(rate) - f);
    late.max().map(|numerator| numerator.div_euclid(i128::from(rate)) + i128::from(numerator % i128::from(rate) != 0))
}

/// E_a and E_p of packets in the order of their arrivals, of which `order` lists the places in the order of departures.
pub fn errors(served: &[Served], order: &[usize], rate: u64) -> [Option<i128>; 2] {
    let nth = |(j, &i): (usize, &usize)| (served[j].arrival, served[i].departure, served[i].length);
    let aggregate: Vec<_> = order.iter().enumerate().map(nth).collect();
    let own: Vec<_> = served.iter().map(|it| (it.arrival, it.departure, it.length)).collect();
    [error(&aggregate, rate), error(&own, rate)]
}
