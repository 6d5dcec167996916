//! How results are looked for and opened: each directory once, and regular files of a bounded size alone.

use perhop_runs::disk::regular::read;
use perhop_runs::disk::walk::walk;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Links up, to each other, to themselves, to nothing, and to directories that are there anyway.
#[test]
fn a_directory_comes_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("runs/z/rep-000")).unwrap();
    fs::create_dir_all(at("other/deep")).unwrap();
    for (to, name) in [("..", "z/up"), (".", "here"), ("z", "a"), ("/nowhere", "x.parquet"), ("loop", "loop")] {
        symlink(to, at("runs").join(name)).unwrap();
    }
    symlink("../other", at("runs/there")).unwrap();
    fs::write(at("runs/file"), "").unwrap();
    let names = |enters: fn(&Path) -> bool| {
        let found = walk(&at("runs"), enters);
        found.iter().map(|dir| dir.strip_prefix(folder.path()).unwrap().to_owned()).collect::<Vec<_>>()
    };
    // `z/up` leads to `runs`, which is known
    assert_eq!(
        names(|_| true),
        ["runs", "runs/there", "runs/there/deep", "runs/z", "runs/z/rep-000"].map(PathBuf::from)
    );
    assert_eq!(
        names(|dir| !dir.ends_with("z")),
        ["runs", "runs/there", "runs/there/deep", "runs/z"].map(PathBuf::from)
    );
    assert!(walk(&at("runs/loop"), |_| true).is_empty());
}

/// Forty of them, each with two links to the next: 2^40 ways and forty directories.
#[test]
fn ways_that_meet_again_are_gone_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |n: usize| folder.path().join(n.to_string());
    (0..40).for_each(|n| fs::create_dir(at(n)).unwrap());
    for n in 1..40 {
        ["a", "b"].iter().for_each(|name| symlink(at(n), at(n - 1).join(name)).unwrap());
    }
    assert_eq!(walk(&at(0), |_| true).len(), 40);
}

#[test]
fn what_is_no_regular_file_of_that_size_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _listens = UnixListener::bind(at("socket")).unwrap();
    fs::write(at("file"), "12345").unwrap();
    File::create(at("sparse")).unwrap().set_len(1 << 42).unwrap();
    symlink("/dev/zero", at("zeros")).unwrap();
    symlink("loop", at("loop")).unwrap();
    for name in ["fifo", "socket", "sparse", "zeros", "loop", ".", "gone"] {
        assert!(read(&at(name), 5).is_err(), "{name}");
    }
    assert_eq!(read(&at("file"), 5).unwrap(), b"12345");
    assert_eq!(read(&at("file"), 4).unwrap_err().to_string(), "it has 5 bytes, and 4 are the most");
    assert_eq!(read(&at("fifo"), 4).unwrap_err().to_string(), "it is not a regular file");
}
