//! What a column's name says of its values: which bytes they count, how finely they are known, which bounds they have.

use perhop_sim::record::bucket_width;

/// Endings of the quantiles that come from buckets; a maximum is exact, and so are mean and standard deviation.
const QUANTILES: [&str; 3] = ["_p50_ms", "_p99_ms", "_p999_ms"];
/// Shares and indices, from 0 to 1.
const SHARES: [&str; 4] = ["jain", "utilisation", "used", "held"];

/// Whether a column counts bytes as `accounting` says, or is a rate of such bytes. Payload is not, nor are the rates of links,
/// which send IP packets, and of shapers.
pub fn accounted(column: &str) -> bool {
    let counts = column.ends_with("_bytes") || column.ends_with("_bit_s") || column == "bytes";
    let apart = ["goodput", "payload"].iter().any(|word| column.contains(word));
    counts && !apart && column != "rate_bit_s"
}

/// How far above the exact quantile a value of a column may be: the width of the bucket whose largest value it is. 0 for
/// whatever is exact, as no delay at all is.
pub fn resolution(column: &str, value: f64) -> f64 {
    let bucketed = QUANTILES.iter().any(|ending| column.ends_with(ending));
    if bucketed && value > 0.0 { bucket_width((value * 1e6).round() as u64) as f64 / 1e6 } else { 0.0 }
}

/// The bounds of a share, of an index and of a percentage.
pub fn bounds(column: &str) -> Option<[f64; 2]> {
    match column {
        _ if column.ends_with("_percent") => Some([0.0, 100.0]),
        _ => SHARES.contains(&column).then_some([0.0, 1.0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_bytes_count() {
        let counted = ["delivered_bytes", "arrived_bytes", "throughput_bit_s", "bytes"];
        assert!(counted.into_iter().all(accounted));
        let others = ["goodput_bit_s", "goodput_bytes", "payload_bytes", "rate_bit_s", "sent_packets", "delay_p50_ms"];
        assert!(!others.into_iter().any(accounted));
    }

    /// Buckets have two digits, from 512 ns on.
    #[test]
    fn quantiles_know_their_bucket() {
        assert_eq!(resolution("delay_p99_ms", 0.05), 0.000512);
        let wide = resolution("wait_p50_ms", 8.290303);
        assert!(wide / 8.290303 > 0.0039 && wide / 8.290303 < 0.0079, "{wide}");
        let exact = [("delay_max_ms", 8.0), ("delay_mean_ms", 8.0), ("goodput_bit_s", 8.0), ("delay_p50_ms", 0.0)];
        assert!(exact.into_iter().all(|(column, value)| resolution(column, value) == 0.0));
    }
}
