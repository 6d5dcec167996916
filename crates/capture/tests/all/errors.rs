//! Corrupt files: each fault made in a valid file, and the message a user gets.

use perhop_capture::{Capture, CaptureError, Existing, Fate, OutputFile, Pump};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// A little-endian microsecond pcap of Ethernet with two records of four bytes.
fn pcap() -> Vec<u8> {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];
    for second in [9u8, 5] {
        file.extend([second, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 60, 0, 0, 0, 1, 2, 3, 4]);
    }
    file
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Section header (28 bytes), interface description (20), enhanced packet (36).
fn pcapng() -> Vec<u8> {
    let section = words(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28]);
    let interface = words(&[1, 20, 1, 65_535, 20]);
    let packet = words(&[6, 36, 0, 0, 1_000_000, 4, 60, 0x0403_0201, 36]);
    [section, interface, packet].concat()
}

/// Sets the 32-bit word at `place`, reads the file, gives the error's text.
fn fault(mut file: Vec<u8>, place: usize, value: u32) -> String {
    file[place..place + 4].copy_from_slice(&value.to_le_bytes());
    read(&file).expect_err("the file is corrupt").to_string()
}

fn read(file: &[u8]) -> Result<u64, CaptureError> {
    let mut capture = Capture::new(file)?;
    while capture.next_chunk()?.is_some() {}
    Ok(capture.packets())
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(message.contains(part), "{part:?} is not in: {message}"));
}

#[test]
fn sound_files_are_read() {
    assert_eq!(read(&pcap()).unwrap(), 2);
    assert_eq!(read(&pcapng()).unwrap(), 1);
    assert_eq!(read(&pcap()[..24]).unwrap(), 0, "a capture without packets");
}

#[test]
fn corrupt_pcap() {
    says(&fault(pcap(), 4, 7), &["pcap header at byte 0: version 7.0", "editcap"]);
    let long = fault(pcap(), 44 + 8, 300_000);
    says(&long, &["packet record at byte 44: 300000 bytes", "more than the 262144 allowed", "corrupt"]);
    let cut = read(&pcap()[..50]).unwrap_err().to_string();
    says(&cut, &["cut off", "at byte 44 needs 16 bytes, only 6 are present", "1 complete packets", "⟨partial!⟩"]);
    says(&read(&pcap()[..20]).unwrap_err().to_string(), &["at byte 0 needs 24 bytes, only 20 are present"]);
}

#[test]
fn the_longest_record_is_accepted() {
    says(&fault(pcap(), 44 + 8, 262_144), &["cut off", "needs 262160 bytes"]);
}

#[test]
fn a_large_snap_length_raises_the_bound() {
    let mut file = pcap();
    file[16..20].copy_from_slice(&1_000_000u32.to_le_bytes());
    let says_cut = fault(file, 44 + 8, 300_000);
    says(&says_cut, &["cut off", "at byte 44 needs 300016 bytes, only 20 are present"]);
}

#[test]
fn corrupt_pcapng() {
    says(&fault(pcapng(), 8, 0x1234_5678), &["section header at byte 0", "0x12345678", "0x1a2b3c4d"]);
    says(&fault(pcapng(), 12, 2), &["section header at byte 0: version 2.0", "version 1"]);
    says(&fault(pcapng(), 28 + 4, 22), &["block at byte 28 (type 0x00000001): length 22", "not a multiple of 4"]);
    says(&fault(pcapng(), 28 + 4, 16), &["byte 28", "length 16", "less than the 20 bytes"]);
    says(&fault(pcapng(), 28 + 4, 0), &["byte 28", "length 0"]);
    says(&fault(pcapng(), 28 + 4, 0x1000_0004), &["block at byte 28: 268435460 bytes", "16777216 allowed"]);
    says(&fault(pcapng(), 28 + 16, 24), &["block at byte 28: length 20 at its start but 24 at its end"]);
    says(&fault(pcapng(), 48 + 8, 3), &["packet at byte 48: interface 3, but its section describes 1"]);
    says(&fault(pcapng(), 48 + 20, 5), &["packet at byte 48: captured length 5", "room for 4"]);
    says(&fault(pcapng(), 48 + 12, u32::MAX), &["packet at byte 48: timestamp", "10^-6 s", "editcap -t"]);
    says(
        &read(&pcapng()[..80]).unwrap_err().to_string(),
        &["at byte 48 needs 36 bytes, only 32 are present; 0 complete"],
    );
}

/// Replaces the interface description of a sound file by one with these options.
fn with_options(options: &[u8]) -> Result<u64, CaptureError> {
    let length = 20 + options.len() as u32;
    let interface = [&words(&[1, length, 1, 65_535])[..], options, &words(&[length])].concat();
    let file = pcapng();
    read(&[&file[..28], &interface, &file[48..]].concat())
}

#[test]
fn corrupt_interface_options() {
    let reason = |options: &[u8]| with_options(options).unwrap_err().to_string();
    says(&reason(&[9, 0, 1, 0, 20, 0, 0, 0]), &["interface description at byte 28", "if_tsresol 0x14", "10^-19"]);
    says(&reason(&[9, 0, 2, 0, 6, 0, 0, 0]), &["option 9 has 2 bytes instead of 1"]);
    says(&reason(&[14, 0, 4, 0, 6, 0, 0, 0]), &["option 14 has 4 bytes instead of 8"]);
    says(&reason(&[2, 0, 200, 0, b'e', b't', b'h', b'0']), &["an option runs past the block's 8 bytes"]);
    // what lies behind the end of the options does not count
    assert_eq!(with_options(&[0, 0, 0, 0, 9, 0, 1, 0, 99, 0, 0, 0]).unwrap(), 1);
    assert_eq!(with_options(&[2, 0, 4, 0, b'e', b't', b'h', b'0']).unwrap(), 1, "no end mark");
}

/// Of a Simple Packet Block the captured length is the smaller of snap length and original length.
#[test]
fn simple_packets_are_snapped() {
    for (snaplen, original, captured) in [(4, 60, Some(4)), (60, 5, Some(5)), (0, 8, Some(8)), (9, 60, None)] {
        let interface = words(&[1, 20, 1, snaplen, 20]);
        let packet = words(&[3, 24, original, 0x0403_0201, 0x0807_0605, 24]);
        let file = [&pcapng()[..28], &interface, &packet].concat();
        let mut capture = Capture::new(&file[..]).unwrap();
        for _ in 0..2 {
            capture.next_chunk().unwrap();
        }
        let found = capture.next_chunk().map(|chunk| chunk.unwrap().record().map(|packet| packet.data.len()));
        match captured {
            Some(length) => assert_eq!(found.unwrap(), Some(length)),
            None => says(&found.unwrap_err().to_string(), &["captured length 9", "room for 8"]),
        }
    }
}

#[test]
fn a_new_section_forgets_the_interfaces() {
    let file = pcapng();
    let twice = [&file[..], &file[..28], &file[48..]].concat();
    says(&read(&twice).unwrap_err().to_string(), &["byte 112", "interface 0", "describes 0"]);
}

#[test]
fn times_out_of_order_are_counted() {
    let file = pcap();
    let tally = Pump::default()
        .run(&mut Capture::new(&file[..]).unwrap(), None, |_| Ok::<_, CaptureError>(Fate::Keep))
        .unwrap();
    assert_eq!((tally.packets, tally.original_bytes, tally.untimed), (2, 120, 0));
    assert_eq!((tally.out_of_order, tally.largest_step_back_ns), (1, 4_000_000_000));
    assert_eq!(tally.span_ns, Some((9_000_001_000, 9_000_001_000)), "the second counts at the first's time");
}

/// Stopped after the first packet: an error, and the existing file is unchanged.
#[test]
fn an_interruption_leaves_the_old_file() {
    let target = std::env::temp_dir().join(format!("perhop-interrupted-{}.pcap", std::process::id()));
    std::fs::write(&target, "old").unwrap();
    let flag = AtomicBool::new(false);
    let pump = Pump { interrupted: Some(&flag), ..Pump::default() };
    let mut output = OutputFile::create(&target, Existing::Replaced).unwrap();
    let file = pcap();
    let outcome = pump.run(&mut Capture::new(&file[..]).unwrap(), Some(&mut output), |_| {
        flag.store(true, Ordering::Relaxed);
        Ok::<_, CaptureError>(Fate::Keep)
    });
    assert!(matches!(outcome, Err(CaptureError::Interrupted { packets: 1 })));
    drop(output);
    assert_eq!(std::fs::read(&target).unwrap(), b"old");
    std::fs::remove_file(target).unwrap();
}

/// A disk that is full after some bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let file = pcap();
    let outcome = Pump::default()
        .run(&mut Capture::new(&file[..]).unwrap(), Some(&mut Full(50)), |_| Ok::<_, CaptureError>(Fate::Keep));
    says(&outcome.unwrap_err().to_string(), &["cannot write the output", "no storage space"]);
}

#[test]
fn a_missing_file_is_named() {
    let error = Capture::open("/no/such/file.pcap").err().unwrap().to_string();
    says(&error, &["cannot open /no/such/file.pcap", "No such file"]);
}
