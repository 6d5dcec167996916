//! Sends datagrams of 64 B of IP on an interface as fast as it takes them: `blast INTERFACE SECONDS`. Prints how many.

use perhop_live::{AfPacket, Offer, PacketIo, monotonic_ns};

fn main() {
    let mut words = std::env::args().skip(1);
    let (name, seconds) = (words.next().expect("an interface"), words.next().and_then(|it| it.parse::<u64>().ok()));
    let end = monotonic_ns() + seconds.expect("seconds") * 1_000_000_000;
    let mut io = AfPacket::open(&name, 1500).expect("an interface");
    let mut frame = vec![2; 78];
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[14..34].copy_from_slice(&[0x45, 0, 0, 64, 0, 0, 0, 0, 64, 17, 0x66, 0xaa, 10, 9, 0, 1, 10, 9, 0, 2]);
    frame[34..42].copy_from_slice(&[0, 1, 0, 9, 0, 44, 0, 0]);
    let mut sent = 0;
    while monotonic_ns() < end {
        for n in 0..64 {
            frame[35] = n;
            sent += u64::from(io.offer(&frame) == Offer::Taken);
        }
        io.flush();
    }
    println!("{sent}");
}
