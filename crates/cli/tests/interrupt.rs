//! Ctrl-C: exit code 130, finished replications kept and whole, and the next sweep continues from there.

#[allow(dead_code)]
mod command;

use command::{Folder, SCENARIO, perhop};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Replications that are on disk.
fn complete(folder: &Folder) -> Vec<PathBuf> {
    let manifests = folder.names().into_iter().filter(|p| p.ends_with("manifest.json"));
    manifests.filter(|p| !p.to_string_lossy().contains(".partial")).map(|p| p.parent().unwrap().to_owned()).collect()
}

const SWEEP: [&str; 8] =
    ["sweep", "long.toml", "--vary", "traffic.bulk.flows=1,2,3,4", "--replications", "5", "-j", "2"];

#[test]
fn finished_replications_are_kept() {
    let folder = Folder::with(&[("long.toml", SCENARIO.replace("\"4s\"", "\"600s\"").as_bytes())]);
    let mut sweep = perhop(&SWEEP, &folder).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while complete(&folder).len() < 2 {
        assert!(sweep.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(10));
    }
    let killed = Command::new("sh").args(["-c", &format!("kill -INT {}", sweep.id())]).status().unwrap();
    assert!(killed.success());
    let out = sweep.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(130), "{said}");
    let kept = complete(&folder);
    assert!(said.contains(&format!("interrupted: {} of 20 replications are complete", kept.len())), "{said}");
    assert!((2..20).contains(&kept.len()), "{} were kept", kept.len());
    assert!(!folder.names().iter().any(|p| p.to_string_lossy().contains(".partial")), "nothing is half-written");

    let before = folder.contents();
    let again = folder.perhop(&SWEEP);
    let text = String::from_utf8_lossy(&again.stdout);
    let reused: usize = text.split('(').skip(1).filter_map(|t| t.split(' ').next()?.parse::<usize>().ok()).sum();
    assert_eq!((again.status.code(), reused, complete(&folder).len()), (Some(0), kept.len(), 20), "{text}");
    let after = folder.contents();
    assert!(before.iter().all(|(path, bytes)| after[path] == *bytes), "what was kept is unchanged");
}
