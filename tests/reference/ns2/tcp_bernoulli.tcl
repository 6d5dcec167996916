# One TCP flow over an uncongested path that loses each data packet with probability p, independently.
#   s -- (100 Mb/s, 50 ms, queue 100000) -- d
# Goodput is that of the whole run, in segments of `size` bytes each second.
source [file join [file dirname [info script]] lib.tcl]
getargs {seed 1 kind Agent/TCP/Newreno p 0.01 T 2000 win 10000 size 1000 steady 0}
tcp_setup 0 $opt(win) $opt(size)
if {$opt(steady)} { Agent/TCP/Newreno set newreno_changes1_ 0 }
set ns [new Simulator]
foreach x {s d} { set $x [$ns node] }
$ns duplex-link $s $d 100Mb 50ms DropTail
$ns queue-limit $s $d 100000
$ns queue-limit $d $s 100000
set f [mkflow $ns $opt(kind) $s $d 1 0.0]
set em [new ErrorModel]
$em unit pkt
$em set rate_ $opt(p)
$em ranvar [new RandomVariable/Uniform]
$em drop-target [new Agent/Null]
$ns lossmodel $em $s $d
$ns at $opt(T) finish
proc finish {} {
    global opt f
    set tcp [lindex $f 0]
    R segments_per_s [expr {[[lindex $f 1] set bytes_] / double($opt(size)) / $opt(T)}]
    R timeouts [$tcp set nrexmit_]
    R rexmit_pkts [$tcp set nrexmitpack_]
    R data_pkts_sent [$tcp set ndatapack_]
    R window_cuts [$tcp set ncwndcuts_]
    exit 0
}
$ns run
