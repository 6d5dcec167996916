# PI, REM and AVQ (ns-2: Vq) under Reno flows, that mark or that drop.
#
#   s -- 100 Mb/s, 10 ms -- c == bw, 10 ms, the AQM ==> d,  RTT 40 ms
#
# Statistics from `warm` on.
source [file join [file dirname [info script]] lib.tcl]
getargs {seed 1 aqm PI mark 1 flows 25 T 200 warm 50 win 100 era 0 size 1000 kind Agent/TCP/Reno bw 10e6 limit 200
         a 0.0005 b 0.00049 w 160 qref 50 gamma 0.001 phi 1.001 updtime 0.002 bo 20 util 0.95}
tcp_setup $opt(era) $opt(win) $opt(size)
Agent/TCP set ecn_ $opt(mark)
set mark [expr {$opt(mark) ? "true" : "false"}]
Queue/PI set bytes_ false
Queue/PI set queue_in_bytes_ false
Queue/PI set a_ $opt(a)
Queue/PI set b_ $opt(b)
Queue/PI set w_ $opt(w)
Queue/PI set qref_ $opt(qref)
Queue/PI set mean_pktsize_ $opt(size)
Queue/PI set setbit_ $mark
Queue/REM set gamma_ $opt(gamma)
Queue/REM set phi_ $opt(phi)
Queue/REM set pupdtime_ $opt(updtime)
Queue/REM set pbo_ $opt(bo)
Queue/REM set mean_pktsize_ $opt(size)
Queue/REM set markpkts_ $mark
Queue/Vq set gamma_ $opt(util)
Queue/Vq set mean_pktsize_ $opt(size)
Queue/Vq set markpkts_ $mark
set ns [new Simulator]
foreach x {s c d} { set $x [$ns node] }
$ns duplex-link $s $c 100Mb 10ms DropTail
$ns simplex-link $c $d $opt(bw) 10ms $opt(aqm)
$ns simplex-link $d $c 100Mb 10ms DropTail
foreach {x y} [list $s $c $c $s $d $c] { $ns queue-limit $x $y 5000 }
$ns queue-limit $c $d $opt(limit)
for {set i 0} {$i < $opt(flows)} {incr i} { mkflow $ns $opt(kind) $s $d $i }
set m [qm $ns $c $d]
$ns at $opt(warm) { set A [qsnap $ns $m] }
$ns at $opt(T) finish
proc finish {} {
    global ns opt m A
    qreport "" $A [qsnap $ns $m] $opt(bw)
    events $ns
    exit 0
}
$ns run
