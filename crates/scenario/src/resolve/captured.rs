//! Captures that traffic replays (`model = "capture"`): read by the host, checked, and given to the simulator as lists.

use crate::sections::named::Named;
use crate::sections::traffic::{TrafficCommon, TrafficSection};
use crate::text::options::Captures;
use perhop_core::classify::Passed;
use perhop_core::dscp::Dscp;
use perhop_core::params::{Place, Problems};
use perhop_core::units::{Span, counted};
use perhop_sim::traffic::TrafficModel as _;
use perhop_sim::traffic::capture::{CodePoints, Params, Replayed};

/// Has `captures` read those of all traffic, for a run of `duration`; faults are reported.
pub fn load(traffic: &mut Named<TrafficSection>, captures: Captures, duration: Span, problems: &mut Problems) {
    for (name, _, section) in traffic.sound_mut() {
        let place = |field: &str| section.model.places.at(field);
        let places = ["file", "hash"].map(place);
        let Some(params) = section.model.value.replayed() else { continue };
        no_effect(params, &section.common, problems);
        nothing_passed(params, problems);
        let matches = params.matches.as_ref().map(|it| it.value.clone()).unwrap_or_default();
        let read = match captures.read(&params.file.file, &matches) {
            Ok(read) => read,
            Err([what, help]) => {
                problems.error("E264", places[0], format!("`{}`: {what}", params.file.file)).help(help);
                continue;
            }
        };
        if let Some(stated) = params.hash.as_ref().filter(|stated| **stated != read.hash) {
            let message = format!("`hash` is \"{stated}\", that of `{}` is \"{}\"", params.file.file, read.hash);
            let help = "the file or `match` has changed: restore it, or leave `hash` out";
            problems.error("E264", places[1], message).help(help);
        }
        cut(
            name,
            &read.packets,
            Span::from_ns(duration.ns().saturating_sub(section.common.start.ns())),
            places[0],
            problems,
        );
        params.file.packets = read.packets;
        params.hash.get_or_insert(read.hash);
    }
}

/// E281: a packet that starts has passed no conditioner.
fn nothing_passed(params: &Params, problems: &mut Problems) {
    let Some(matches) = params.matches.as_deref() else { return };
    if let Err(error) = Passed::named("match", matches, &[]) {
        problems.param(&error, matches.place("conditioner"));
    }
}

/// E239: keys of other models.
fn no_effect(params: &Params, common: &TrafficCommon, problems: &mut Problems) {
    if let Some(spread) = common.spread.filter(|spread| **spread > Span::ZERO) {
        let help = "remove `spread`: packets have the capture's times, the first one at `start`";
        problems.error("E239", spread.place, "`spread` has no effect on model \"capture\"").help(help);
    }
    if params.code_points == CodePoints::Traffic {
        return;
    }
    let ecn = common.ecn.filter(|ecn| **ecn).map(|ecn| ("ecn", ecn.place));
    let dscp = (*common.dscp != Dscp::BE).then_some(("dscp", common.dscp.place));
    for (key, place) in dscp.into_iter().chain(ecn) {
        let message = format!("`{key}` has no effect: packets keep the code points of the capture");
        problems.error("E239", place, message).help("remove the key, or add code-points = \"traffic\"");
    }
}

/// W330: packets after the end of the run.
fn cut(name: &str, packets: &[Replayed], left: Span, place: Place, problems: &mut Problems) {
    let beyond = packets.iter().rev().take_while(|packet| packet.at >= left).count();
    let Some(last) = packets.last().filter(|_| beyond > 0) else { return };
    let message = format!(
        "the capture of traffic `{name}` lasts {:.3} s, but the run ends {:.3} s after its start",
        last.at.seconds(),
        left.seconds()
    );
    let label = format!("{} of {} not sent", counted(beyond as u64, ["packet is", "packets are"]), packets.len());
    problems.warn("W330", place, message).label(label).help("raise `duration`, or shorten the capture (editcap)");
}
