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
    let found = "backlog of all queues of the port when the packet arrived, without that packet";
    let flow = "number of the flow as in `flows`. Transfers have the number of their connection, which later \
                connections use again";
    let columns = vec![
        number(
            "packet",
            "number of the packet in the run, from 0, in the order of arrival at the first port; the same at every \
             port of the path",
        ),
        text("hop", "the port, `C -> E2`"),
        text("class", "class of the traffic"),
        text("traffic", "name of the `[traffic]` table"),
        number("flow", flow),
        text("direction", "`out`: away from the source; `back`: the return direction of the flow (ACKs)"),
        bytes("size_bytes", "size as meters and queues count it (`accounting`)").accounted(),
        bytes("wire_bytes", "IP length; the link sends these bytes, with what its `framing` adds"),
        at("in_ns", "time of arrival at the port"),
        at("out_ns", "start of transmission; null if there was none. `out_ns` - `in_ns` is the wait"),
        at(
            "dropped_ns",
            "time of the drop: at arrival, later at the head of a queue, or at the end of transmission if the wire \
             lost it; null if it was not dropped",
        ),
        text(
            "fate",
            "`sent`: reached the other end of the link; `marked`: the same, and this port set CE; `dropped`; at the \
             end of the run `waiting` in a queue (`out_ns` is null) or `in-flight` on the link",
        ),
        text(
            "reason",
            "reason of a drop, as in `summary`: `policer`, `early`, `forced`, `overflow` or `wire`; null if it was \
             not dropped. A packet that the wire lost has an `out_ns`",
        ),
        text("colour_in", "colour on arrival"),
        text("colour", "colour after the port's conditioners, when the packet left or was dropped"),
        number("dscp", "number of the code point, when the packet left or was dropped"),
        text("ecn", "ECN field, when the packet left or was dropped: `not-ect`, `ect0`, `ect1`, `ce`"),
        total("queue_packets", Unit::Packets, found).of(Kind::Integer),
        bytes("queue_bytes", found).accounted(),
    ];
    Declared { name: NAME, by: &[], columns }
}
