# The load of the paper on MSVB and SIO (Table 1, Fig. 4): ten classes, one source and destination each; 1 to 5 have
# `ftp` Reno flows, 6 to 10 one CBR each.  Token buckets at the edge and RIO-C at the bottleneck, or plain RED.
#
#   s_i -- 100 Mb/s, 25 ms -- e1 == 100 Mb/s, 5 ms, token buckets ==> c == bw, 5 ms, RIO or RED ==> e2 -- 25 ms -- d_i
#
# Statistics from `warm` on.  Lists have one element a class.
source [file join [file dirname [info script]] lib.tcl]
getargs {seed 1 aqm RIO rates plain cir 1.0 cbs 8000 ftp 5 jit 1 T 100 warm 10 win 100 era 0 size 1000
         kind Agent/TCP/Reno bw 10e6 limit 100 mode RIO-C wq 0.002
         in_min 40 in_max 80 in_p 0.02 out_min 20 out_max 40 out_p 0.1
         red_min 20 red_max 80 red_p 0.1 wait 0}
tcp_setup $opt(era) $opt(win) $opt(size)
red_setup $opt(red_min) $opt(red_max) $opt(red_p) 0 $opt(size) $opt(wq)
Queue/RED set wait_ [expr {$opt(wait) ? "true" : "false"}]
array set formula {plain {$i} odd {2 * $i - 1} even {2 * $i}}
set ns [new Simulator]
foreach x {e1 c e2} { set $x [$ns node] }
set rio [expr {$opt(aqm) eq "RIO"}]
$ns simplex-link $e1 $c 100Mb 5ms [expr {$rio ? "dsRED/edge" : "DropTail"}]
$ns simplex-link $c $e1 100Mb 5ms DropTail
$ns simplex-link $c $e2 $opt(bw) 5ms [expr {$rio ? "dsRED/core" : "RED"}]
$ns simplex-link $e2 $c 100Mb 5ms DropTail
foreach {a b} [list $e1 $c $c $e1 $e2 $c] { $ns queue-limit $a $b 5000 }
$ns queue-limit $c $e2 $opt(limit)
set edge [[$ns link $e1 $c] queue]
set core [[$ns link $c $e2] queue]
if {$rio} {
    foreach o [list $edge $core] {
        $o meanPktSize $opt(size); $o set numQueues_ 1; $o setNumPrec 2
        $o addPHBEntry 10 0 0
        $o addPHBEntry 11 0 1
    }
    $edge configQ 0 0 4000 8000 0.01
    $edge configQ 0 1 4000 8000 0.01
    $core setMREDMode $opt(mode)
    $core configQ 0 0 $opt(in_min) $opt(in_max) $opt(in_p) $opt(wq)
    $core configQ 0 1 $opt(out_min) $opt(out_max) $opt(out_p) $opt(wq)
}
for {set k 0} {$k < 10} {incr k} {
    set s [$ns node]; set d [$ns node]
    $ns duplex-link $s $e1 100Mb 25ms DropTail
    $ns duplex-link $e2 $d 100Mb 25ms DropTail
    foreach {a b} [list $s $e1 $e1 $s $e2 $d $d $e2] { $ns queue-limit $a $b 5000 }
    if {$rio} {
        $edge addPolicyEntry [$s id] [$d id] TokenBucket 10 [expr {$opt(cir) * 1e6}] $opt(cbs)
    }
    set sinks($k) {}
    if {$k < 5} {
        for {set j 0} {$j < $opt(ftp)} {incr j} {
            lappend sinks($k) [lindex [mkflow $ns $opt(kind) $s $d $k] 1]
        }
    } else {
        set i [expr {$k - 4}]
        set f [mkcbr $ns $s $d $k [expr 1e6 * ($formula($opt(rates)))] $opt(size)]
        [lindex $f 2] set random_ $opt(jit)
        lappend sinks($k) [lindex $f 1]
    }
}
if {$rio} { $edge addPolicerEntry TokenBucket 10 11 }
set m [qm $ns $c $e2]
proc snap {} {
    global ns m sinks core rio
    set by {}
    for {set k 0} {$k < 10} {incr k} {
        set b 0.0
        foreach x $sinks($k) { set b [expr {$b + [$x set bytes_]}] }
        lappend by $b
    }
    list [qsnap $ns $m] $by [expr {$rio ? [cpstat $core 10] : {0 0 0}}] [expr {$rio ? [cpstat $core 11] : {0 0 0}}]
}
$ns at $opt(warm) { set A [snap] }
$ns at $opt(T) finish
proc finish {} {
    global ns opt A rio
    set B [snap]
    set dt [expr {$opt(T) - $opt(warm)}]
    set share {}
    foreach x [lindex $A 1] y [lindex $B 1] { lappend share [expr {($y - $x) * 8 / $dt / $opt(bw)}] }
    L class_share $share
    R jain [jain $share]
    R tcp_share [lsum [lrange $share 0 4]]
    if {$rio} {
        foreach {n nm} {2 in 3 out} {
            foreach {p0 l0 e0} [lindex $A $n] break
            foreach {p1 l1 e1} [lindex $B $n] break
            set p [expr {$p1 - $p0}]; set dr [expr {$l1 + $e1 - $l0 - $e0}]
            R ${nm}_pkts $p
            R ${nm}_drop_ratio [expr {double($dr) / ($p + 1e-9)}]
            R ${nm}_share [expr {($p - $dr) * 8.0 * $opt(size) / $dt / $opt(bw)}]
        }
    }
    qreport "" [lindex $A 0] [lindex $B 0] $opt(bw)
    events $ns
    exit 0
}
$ns run
