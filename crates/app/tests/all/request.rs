//! A request travels as JSON, and says the same there.

use perhop_app::request::Sweep;
use perhop_app::request::run::{Filter, Output, Request, Source, Terms, Trace, Traced, View};
use perhop_runs::run::RunError;
use perhop_scenario::Options;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const TEXT: &str =
    "[dumbbell]\nflows = 2\nbottleneck = \"2Mbit/s\"\nrtt = \"20ms\"\n[scenario]\nduration = \"3s\"\nwarmup = \"1s\"\n";

fn full() -> Request {
    let options = Options::new("small.toml").set("dumbbell.flows=3").vary("dumbbell.rtt=10ms,20ms");
    let output = Output { out: Some("runs".into()), name: Some("first".into()), jobs: 2, json: true };
    let traced = Traced { trace: vec![Trace::Events], ef: vec!["E1 -> E2,rate=1Mbit/s".into()], tc_stats: false };
    Request {
        source: Source { text: TEXT.into(), options },
        asked: Terms { output, traced, replications: Some(2..5), points: Some(vec![1]), fresh: true },
        shown: View {
            show: vec!["traffic.jain".into()],
            csv: Some("rows.csv".into()),
            filter: Filter { texts: vec!["class=voice".into()] },
        },
    }
}

#[test]
fn it_says_the_same_in_another_process() {
    let json = serde_json::to_string(&full()).unwrap();
    let again: Request = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), json);
    let points = |request: &Request| {
        let sweep = request.asked.named(request.source.read().unwrap().0).unwrap();
        let points = request.asked.chosen(&sweep.points()).unwrap();
        points.iter().map(|point| (point.directory(), point.hash.clone())).collect::<Vec<_>>()
    };
    assert_eq!(points(&again), points(&full()));
    assert!(points(&again)[0].0.starts_with("first,rtt_20ms-"), "{:?}", points(&again));
}

/// A key that is not read would be an option that is not carried out.
#[test]
fn a_key_that_it_has_not_is_an_error() {
    for json in
        [r#"{"ask": {}}"#, r#"{"asked": {"output": {"outs": "x"}}}"#, r#"{"source": {"options": {"very": []}}}"#]
    {
        let error = serde_json::from_str::<Request>(json).unwrap_err().to_string();
        assert!(error.contains("unknown field"), "{json}: {error}");
    }
    let none = Request { asked: Terms { points: Some(vec![7]), ..full().asked }, ..full() };
    let (sweep, _) = none.source.read().unwrap();
    assert_eq!(none.asked.chosen(&sweep.points()).unwrap_err().to_string(), "no point 7: there are 2, counted from 0");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let odd = PathBuf::from(std::ffi::OsString::from_vec(b"odd-\xff".to_vec()));
    let output = Output { out: Some(odd), ..Output::default() };
    let error = serde_json::to_string(&output).unwrap_err().to_string();
    assert!(error.starts_with("error[E022] the path `odd-"), "{error}");
}

#[test]
fn a_breach_of_conservation_is_an_error() {
    let breaches = vec!["flow 3 of `bulk`: 10 in, 8 out, 1 dropped, 0 queued".to_owned()];
    let said = RunError::Conservation { point: "base".into(), breaches }.to_string();
    assert!(
        said.starts_with("error[E900] packets do not add up in base") && said.contains("flow 3 of `bulk`"),
        "{said}"
    );
}

/// A null would say that nothing was asked.
#[test]
fn what_is_missing_is_asked_with_and_without_a_number() {
    for (stated, json) in [(None, "false"), (Some(None), "true"), (Some(NonZeroUsize::new(3)), "3")] {
        let sweep = Sweep { missing: stated, ..Sweep::default() };
        let text = serde_json::to_string(&sweep).unwrap();
        assert!(text.contains(&format!("\"missing\":{json}")), "{text}");
        assert_eq!(serde_json::from_str::<Sweep>(&text).unwrap().missing, stated);
    }
}
