//! Set one DSCP on all of a capture: `cargo run --release -p perhop-capture --example remark IN OUT DSCP`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use perhop_capture::{Capture, CaptureError, Existing, Fate, OutputFile, Pump};
use perhop_edge::{FlowTable, locate, set_dscp};

fn remark(input: &str, output: &str, dscp: u8) -> Result<(), CaptureError> {
    let mut capture = Capture::open(input)?;
    let mut file = OutputFile::create(output, Existing::Replaced)?;
    let (mut flows, mut unread) = (FlowTable::new(), BTreeMap::new());
    let tally = Pump::default().run(&mut capture, Some(&mut file), |record| {
        match locate(record.link, record.data, record.original) {
            Ok(headers) => {
                flows.id(&headers);
                set_dscp(record.data, &headers, dscp).expect("main checked the DSCP");
            }
            Err(reason) => *unread.entry(reason).or_insert(0u64) += 1,
        }
        Ok::<_, CaptureError>(Fate::Keep)
    })?;
    file.finish()?;
    println!("{} packets, {} flows", tally.packets, flows.len());
    unread.iter().for_each(|(reason, count)| println!("unchanged: {count} ({reason})"));
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, dscp] = &arguments[..] else {
        eprintln!("usage: remark IN OUT DSCP");
        return ExitCode::from(2);
    };
    let Some(dscp) = dscp.parse().ok().filter(|dscp| *dscp < 64) else {
        eprintln!("DSCP {dscp}: a number from 0 to 63 is needed");
        return ExitCode::from(2);
    };
    match remark(input, output, dscp) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
