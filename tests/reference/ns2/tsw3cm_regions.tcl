# TSW3CM in the steady state: one aggregate of UDP sources, its rate below CIR, at CIR, between, at PIR, above.
#
#   s == 100 Mb/s, TSW3CM ==> d          `sources` sources at s, together `rate` bit/s; packets of `size` bytes
#
# kind poisson: exponential gaps; cbr: gaps uniform in [0.5, 1.5] of the mean.  Packets by code point from `warm` to T.
source [file join [file dirname [info script]] lib.tcl]
getargs {seed 1 rate 2.5e6 cir 2e6 pir 3e6 winlen 1.0 sources 5 size 1024 kind poisson T 110 warm 10}
set ns [new Simulator]
set s [$ns node]; set d [$ns node]
$ns simplex-link $s $d 100Mb 1ms dsRED/edge
$ns simplex-link $d $s 100Mb 1ms DropTail
$ns queue-limit $s $d 10000
set q [[$ns link $s $d] queue]
$q meanPktSize $opt(size); $q set numQueues_ 1; $q setNumPrec 3
foreach {cp p} {10 0 11 1 12 2} { $q addPHBEntry $cp 0 $p; $q configQ 0 $p 4000 8000 0.01 }
$q addPolicyEntry [$s id] [$d id] TSW3CM 10 $opt(cir) $opt(pir) $opt(winlen)
$q addPolicerEntry TSW3CM 10 11 12
for {set i 0} {$i < $opt(sources)} {incr i} {
    mkudp $ns $opt(kind) $s $d 1 [expr {$opt(rate) / $opt(sources)}] $opt(size)
}
proc snap {} {
    global q
    set by {}
    foreach cp {10 11 12} { lappend by [lindex [cpstat $q $cp] 0] }
    return $by
}
$ns at $opt(warm) { set A [snap] }
$ns at $opt(T) finish
proc finish {} {
    global ns A
    foreach a $A b [snap] nm {green yellow red} { R $nm [expr {$b - $a}] }
    events $ns
    exit 0
}
$ns run
