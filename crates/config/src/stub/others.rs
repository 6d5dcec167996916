//! What becomes of packets of which a port's filters take none.

use super::names::plain;
use crate::model::{Kind, Port, Queue};
use crate::value::Value;

/// A sentence on them, if there are such packets.
pub(super) fn sentence(port: &Port) -> Option<String> {
    let others = port.others?;
    let end = match &port.queue {
        Some(queue) if queue.classes.is_empty() => return None,
        Some(queue) => end(queue),
        None => "pass without being metered".to_owned(),
    };
    Some(format!("{others} meet no filter: they {end}."))
}

/// Where they end.
fn end(queue: &Queue) -> String {
    if let Some(class) = queue.classes.iter().rfind(|class| class.rest) {
        return match class.queue.as_ref().filter(|below| !below.classes.is_empty()) {
            Some(below) => end(below),
            None => format!("go to {}", plain(&class.name.is)),
        };
    }
    let is_direct = queue.settings.get("unclassified").is_some_and(|it| it.is == Value::Word("direct".to_owned()));
    match queue.kind {
        _ if is_direct => "pass all classes, unshaped".to_owned(),
        Some(Kind::Scheduler("strict-priority" | "ets")) => "go by their priority".to_owned(),
        _ => "are dropped".to_owned(),
    }
}
