//! The columns of `events.parquet`, a row for each packet at each port.

use super::column::{Kind, Unit, measure, name, total};
use super::columns::Declared;

/// The name of the table.
pub const NAME: &str = "events";

/// Its columns, in the order in which they are written.
pub fn declared() -> Declared {
    let text = |of: &'static str, doc| name(of, doc);
    let number = |of: &'static str, doc| name(of, doc).of(Kind::Integer);
    let at = |of: &'static str, doc| measure(of, Unit::Ns, doc).of(Kind::Integer);
    let bytes = |of: &'static str, doc| total(of, Unit::Bytes, doc).of(Kind::Integer);
    let found = "what waited at the port when it came, in all its queues, without it";
    let flow = "number within it as in `flows`; of transfers, the place of a connection, which later ones use again";
    let columns = vec![
        number(
            "packet",
            "number of the packet in the run, from 0, in the order in which packets came to their first port; \
                          the same at every port of its way",
        ),
        text("hop", "the port, `C -> E2`"),
        text("class", "class of the traffic"),
        text("traffic", "name of the `[traffic]` table"),
        number("flow", flow),
        text("direction", "`out`: from the source; `back`: the return direction of its flow (ACKs)"),
        bytes("size_bytes", "as meters and queues count it (`accounting`)").accounted(),
        bytes("wire_bytes", "IP length, which the link sends"),
        at("in_ns", "when it came to the port"),
        at("out_ns", "the start of its transmission, null if there was none. The difference is the wait"),
        at(
            "dropped_ns",
            "when it was dropped: on its way in, later at the head of a queue, or, lost on the wire, at the end \
                          of its transmission; else null",
        ),
        text(
            "fate",
            "`sent`: it reached the other end of the link; `marked`: so did it, and this port had set CE; `dropped`; \
                      at the end of the run, `waiting` in a queue, without an `out_ns`; or `in-flight`: since its `out_ns` \
                      it is on the link",
        ),
        text(
            "reason",
            "of a drop: `policer`, `early`, `forced`, `overflow`, `wire` as in `summary`; else null. What is lost \
                        on the wire has an `out_ns`",
        ),
        text("colour_in", "colour on arrival"),
        text("colour", "colour after the port's conditioners, as it left or was dropped"),
        number("dscp", "number of the code point, as it left or was dropped"),
        text("ecn", "as it left or was dropped: `not-ect`, `ect0`, `ect1`, `ce`"),
        total("queue_packets", Unit::Packets, found).of(Kind::Integer),
        bytes("queue_bytes", found).accounted(),
    ];
    Declared { name: NAME, by: &[], columns }
}
