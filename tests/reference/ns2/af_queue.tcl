# The AF queue of the RTT-RTO paper: two aggregates, a TSW3CM for each, one dsRED core queue of three precedences.
#
#   n1 - 10 Mb/s - e1 == TSW3CM, 10 Mb/s, 0.25 ms ==> c1 == dsRED, bw, 0.5 ms ==> c2 - 10 Mb/s, 0.25 ms - e3 - 0.25 ms - n3
#   n2 -         - e2 ==                           =>                                                   - e4 -         - n4
#
# Round trips rtt1 and rtt2 (propagation).  kind tcp: n NewReno flows an aggregate; udp: one Poisson source of `rate`.
# Statistics from `warm` on; lists have one element an aggregate.  prec0, prec1, prec2: the core's code points 10, 11, 12.
source [file join [file dirname [info script]] lib.tcl]
getargs {seed 1 kind tcp n 10 rtt1 0.02 rtt2 0.1 rate 7e6 cir 2e6 pir 3e6 winlen 1.0 T 100 warm 20 win 64 size 1024
         bw 10e6 limit 100 mode RIO-C wq 0.002 era 0
         min0 40 max0 55 p0 0.02 min1 25 max1 40 p1 0.05 min2 10 max2 25 p2 0.1}
tcp_setup $opt(era) $opt(win) $opt(size)
set ns [new Simulator]
foreach x {c1 c2} { set $x [$ns node] }
$ns simplex-link $c1 $c2 $opt(bw) 0.5ms dsRED/core
$ns simplex-link $c2 $c1 10Mb 0.5ms DropTail
$ns queue-limit $c1 $c2 $opt(limit)
$ns queue-limit $c2 $c1 5000
set core [[$ns link $c1 $c2] queue]
proc af {q} {
    global opt
    $q meanPktSize $opt(size); $q set numQueues_ 1; $q setNumPrec 3
    foreach {cp p} {10 0 11 1 12 2} { $q addPHBEntry $cp 0 $p }
}
af $core
$core setMREDMode $opt(mode)
foreach p {0 1 2} { $core configQ 0 $p $opt(min$p) $opt(max$p) $opt(p$p) $opt(wq) }
foreach i {1 2} {
    foreach x {n e f d} { set $x [$ns node] }
    $ns duplex-link $n $e 10Mb [expr {$opt(rtt$i) / 2 - 0.00125}] DropTail
    $ns simplex-link $e $c1 10Mb 0.25ms dsRED/edge
    $ns simplex-link $c1 $e 10Mb 0.25ms DropTail
    $ns duplex-link $c2 $f 10Mb 0.25ms DropTail
    $ns duplex-link $f $d 10Mb 0.25ms DropTail
    foreach {a b} [list $n $e $e $n $e $c1 $c1 $e $c2 $f $f $c2 $f $d $d $f] { $ns queue-limit $a $b 5000 }
    set edge($i) [[$ns link $e $c1] queue]
    af $edge($i)
    foreach p {0 1 2} { $edge($i) configQ 0 $p 4000 8000 0.01 }
    $edge($i) addPolicyEntry [$n id] [$d id] TSW3CM 10 $opt(cir) $opt(pir) $opt(winlen)
    $edge($i) addPolicerEntry TSW3CM 10 11 12
    set sinks($i) {}
    if {$opt(kind) eq "tcp"} {
        for {set j 0} {$j < $opt(n)} {incr j} {
            lappend sinks($i) [lindex [mkflow $ns Agent/TCP/Newreno $n $d $i] 1]
        }
    } else {
        lappend sinks($i) [lindex [mkudp $ns poisson $n $d $i $opt(rate) $opt(size)] 1]
    }
}
set m [qm $ns $c1 $c2]
proc snap {} {
    global ns m sinks core edge
    set got {}; set marked {}
    foreach i {1 2} {
        set b 0.0
        foreach x $sinks($i) { set b [expr {$b + [$x set bytes_]}] }
        lappend got $b
        foreach cp {10 11 12} { lappend marked [lindex [cpstat $edge($i) $cp] 0] }
    }
    set by {}
    foreach cp {10 11 12} { lappend by [cpstat $core $cp] }
    list [qsnap $ns $m] $got $by $marked
}
$ns at $opt(warm) { set A [snap] }
$ns at $opt(T) finish
proc finish {} {
    global ns opt A
    set B [snap]
    set dt [expr {$opt(T) - $opt(warm)}]
    set mbps {}
    foreach x [lindex $A 1] y [lindex $B 1] { lappend mbps [expr {($y - $x) * 8e-6 / $dt}] }
    L aggregate_mbps $mbps
    set marked {}
    foreach x [lindex $A 3] y [lindex $B 3] { lappend marked [expr {$y - $x}] }
    foreach {i from} {1 0 2 3} {
        set mine [lrange $marked $from [expr {$from + 2}]]
        set share {}
        foreach x $mine { lappend share [expr {double($x) / [lsum $mine]}] }
        L marked_share_$i $share
    }
    foreach p {0 1 2} x [lindex $A 2] y [lindex $B 2] {
        foreach {p0 l0 e0} $x break
        foreach {p1 l1 e1} $y break
        R prec${p}_pkts [expr {$p1 - $p0}]
        R prec${p}_early [expr {$e1 - $e0}]
        R prec${p}_late [expr {$l1 - $l0}]
        R prec${p}_drop_ratio [expr {double($l1 + $e1 - $l0 - $e0) / ($p1 - $p0 + 1e-9)}]
    }
    qreport "" [lindex $A 0] [lindex $B 0] $opt(bw)
    events $ns
    exit 0
}
$ns run
