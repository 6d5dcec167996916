//! Queueing disciplines of Linux that perhop does not model, and what a prediction lacks without them.

/// Their names and what each does, from the sources of Linux 6.12 in `net/sched`.
const FOREIGN: &[(&str, &str)] = &[
    ("qfq", "its classes share by weight"),
    ("mqprio", "it maps priorities to queues of the hardware, which may have rates of their own"),
    ("taprio", "it opens and closes the queues of priorities by the clock (802.1Qbv)"),
    ("cbs", "it holds a stream to its reserved rate (802.1Qav)"),
    ("etf", "it sends each packet at the time that its sender asks for"),
    ("multiq", "it has a band for each queue of the hardware, in turn"),
    ("cbq", "its classes share by rate and borrow from each other"),
    ("gred", "it has RED with parameters for each of up to 16 queues"),
    ("sfb", "it marks by stochastic fair BLUE"),
    ("hhf", "it puts heavy hitters behind other flows"),
    ("skbprio", "it drops the lowest priority when it is full"),
    ("dsmark", "it writes code points by class"),
    ("teql", "it spreads packets over interfaces"),
    ("plug", "it holds packets until it is told to send them"),
];

/// What one of a name does.
pub(super) fn does(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|it| it.0 == name).map(|it| it.1)
}
