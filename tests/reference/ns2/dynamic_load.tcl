# The load of Fig. 2 of the paper on MSVB and SIO: `step` FTP flows at 0, as many more every 50 s until 250 s, as many less
# every 50 s from 300 s to 500 s (the last to come goes first); RED with ECN at the bottleneck.  No edge.
#
#   s_i -- 100 Mb/s, 25 ms -- e1 -- 100 Mb/s, 5 ms -- c == bw, 5 ms, RED ==> e2 -- 25 ms -- d_i,  ten pairs in turn
#
# Lists have one element a window of 50 s.
source [file join [file dirname [info script]] lib.tcl]
getargs {seed 1 step 50 ecn 1 wait 0 T 600 win 100 era 0 size 1000 kind Agent/TCP/Reno bw 10e6 limit 100
         wq 0.002 red_min 20 red_max 80 red_p 0.1}
tcp_setup $opt(era) $opt(win) $opt(size)
Agent/TCP set ecn_ $opt(ecn)
red_setup $opt(red_min) $opt(red_max) $opt(red_p) 0 $opt(size) $opt(wq) $opt(ecn)
Queue/RED set wait_ [expr {$opt(wait) ? "true" : "false"}]
set ns [new Simulator]
foreach x {e1 c e2} { set $x [$ns node] }
$ns duplex-link $e1 $c 100Mb 5ms DropTail
$ns simplex-link $c $e2 $opt(bw) 5ms RED
$ns simplex-link $e2 $c 100Mb 5ms DropTail
foreach {a b} [list $e1 $c $c $e1 $e2 $c] { $ns queue-limit $a $b 5000 }
$ns queue-limit $c $e2 $opt(limit)
for {set k 0} {$k < 10} {incr k} {
    set s($k) [$ns node]; set d($k) [$ns node]
    $ns duplex-link $s($k) $e1 100Mb 25ms DropTail
    $ns duplex-link $e2 $d($k) 100Mb 25ms DropTail
    foreach {a b} [list $s($k) $e1 $e1 $s($k) $e2 $d($k) $d($k) $e2] { $ns queue-limit $a $b 5000 }
}
for {set g 0} {$g < 6} {incr g} {
    for {set j 0} {$j < $opt(step)} {incr j} {
        set k [expr {$j % 10}]
        set f [mkflow $ns $opt(kind) $s($k) $d($k) $k [expr {50 * $g + [U01]}]]
        if {$g > 0} { $ns at [expr {550 - 50 * $g}] "[lindex $f 2] stop" }
    }
}
set m [qm $ns $c $e2]
for {set w 0} {$w <= 12} {incr w} { $ns at [expr {50 * $w}] "set Q($w) \[qsnap $ns $m]" }
$ns at $opt(T) finish
proc finish {} {
    global ns opt Q m
    set Q(12) [qsnap $ns $m]
    foreach n {queue loss util} { set $n {} }
    for {set w 0} {$w < 12} {incr w} {
        foreach {t0 s0 a0 p0 x0 b0} $Q($w) break
        foreach {t1 s1 a1 p1 x1 b1} $Q([expr {$w + 1}]) break
        lappend queue [expr {($s1 - $s0) / ($t1 - $t0)}]
        lappend loss [expr {double($x1 - $x0) / ($a1 - $a0)}]
        lappend util [expr {8.0 * ($b1 - $b0) / ($t1 - $t0) / $opt(bw)}]
    }
    L step_queue_pkts $queue
    L step_loss_ratio $loss
    L step_utilization $util
    qreport "" $Q(0) $Q(12) $opt(bw)
    events $ns
    exit 0
}
$ns run
