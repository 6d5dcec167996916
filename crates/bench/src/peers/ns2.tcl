# The workloads of `make bench` in ns-2: ns ns2.tcl KEY VALUE ...
#
#   model    datagrams (U) or bulk (P)
#   flows    sources
#   mbps     rate of the bottleneck; the access links of bulk are ten times as fast
#   seconds  simulated time
#   starts   seconds over which bulk flows start, one after the other at equal distances
#   apart    by how many ns the access delay of a bulk flow is more than that of the flow before
#   count    1: print the packets that left the bottleneck and those it dropped; slower
array set w {model bulk flows 10 mbps 100 seconds 1 starts 1 apart 0 count 0}
array set w $argv

# Packets carry only what these agents read.
remove-all-packet-headers
add-packet-header IP TCP Flags RTP

set ns [new Simulator]

proc duplex {from to rate delay {queue DropTail}} {
    global ns
    $ns simplex-link $from $to $rate $delay $queue
    $ns simplex-link $to $from $rate $delay DropTail
}

# Ten sources of 10 Mbit/s that send in turn, over three links of 100 Mbit/s.
proc datagrams {} {
    global ns w bottleneck
    Queue set limit_ 100
    set at {}
    for {set i 0} {$i < 4} {incr i} { lappend at [$ns node] }
    foreach i {0 1 2} { duplex [lindex $at $i] [lindex $at [expr {$i + 1}]] $w(mbps)Mb 10ms }
    set bottleneck [lrange $at 2 3]
    for {set i 0} {$i < $w(flows)} {incr i} {
        set from [new Agent/UDP]
        set to [new Agent/Null]
        $from set packetSize_ 1000
        $ns attach-agent [lindex $at 0] $from
        $ns attach-agent [lindex $at 3] $to
        $ns connect $from $to
        set source [new Application/Traffic/CBR]
        $source set packetSize_ 1000
        $source set rate_ [expr {double($w(mbps)) / $w(flows)}]Mb
        $source set random_ 0
        $source attach-agent $from
        $ns at [expr {$i * 0.00008}] "$source start"
    }
}

# NewReno over one bottleneck with RED; every packet has its ACK and no window is in the way.
proc bulk {} {
    global ns w bottleneck
    $ns rtproto Manual
    # A product of rate and 40 ms, in packets of 1000 B.
    set product [expr {int($w(mbps) * 5)}]
    Queue set limit_ 100000
    foreach {key value} [list thresh_ [expr {$product / 10}] maxthresh_ [expr {3 * $product / 10}] q_weight_ 0.002 \
            linterm_ 10 gentle_ true bytes_ false queue_in_bytes_ false setbit_ false] {
        Queue/RED set $key $value
    }
    foreach {key value} {packetSize_ 1000 window_ 100000 maxcwnd_ 0} { Agent/TCP set $key $value }
    set left [$ns node]
    set right [$ns node]
    set bottleneck [list $left $right]
    duplex $left $right $w(mbps)Mb 18ms RED
    $ns queue-limit $left $right $product
    # ns-2 would look for the ways of all pairs of nodes: here each node is told its own.
    proc way {node args} { eval [list [$node get-module Manual] add-route-to-adj-node] $args }
    way $left -default $right
    way $right -default $left
    for {set i 0} {$i < $w(flows)} {incr i} {
        set sender [$ns node]
        set receiver [$ns node]
        duplex $sender $left [expr {10 * $w(mbps)}]Mb [expr {0.001 + 1e-9 * $w(apart) * $i}]
        duplex $right $receiver [expr {10 * $w(mbps)}]Mb 1ms
        way $sender -default $left
        way $receiver -default $right
        way $left $sender
        way $right $receiver
        set tcp [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink]
        $ns attach-agent $sender $tcp
        $ns attach-agent $receiver $sink
        $ns connect $tcp $sink
        set file [new Application/FTP]
        $file attach-agent $tcp
        $ns at [expr {double($i) * $w(starts) / $w(flows)}] "$file start"
    }
}

$w(model)
if {$w(count)} { set monitor [$ns monitor-queue [lindex $bottleneck 0] [lindex $bottleneck 1] ""] }
proc end {} {
    global w monitor
    if {$w(count)} { puts "bottleneck [$monitor set pdepartures_] dropped [$monitor set pdrops_]" }
    exit 0
}
$ns at $w(seconds) end
$ns run
