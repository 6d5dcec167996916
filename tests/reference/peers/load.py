"""RED, a token bucket or a Reno sender of ns.py on one link: prints packet-hops and seconds of CPU time."""

import random
import sys
import time

import simpy
from ns.flow.cc import TCPReno
from ns.flow.flow import Flow
from ns.packet.dist_generator import DistPacketGenerator
from ns.packet.sink import PacketSink
from ns.packet.tcp_generator import TCPPacketGenerator
from ns.packet.tcp_sink import TCPSink
from ns.port.port import Port
from ns.port.red_port import REDPort
from ns.port.wire import Wire
from ns.shaper.token_bucket import TokenBucketShaper

RATE, OFFERED, SIZE, DELAY_S = 10e6, 12e6, 1000, 0.02


def constant(env, at):
    """Packets of one size at a constant rate; each makes one hop."""
    sink = PacketSink(env, rec_arrivals=False, rec_waits=False)
    source = DistPacketGenerator(env, "source", lambda: SIZE * 8 / OFFERED, lambda: SIZE)
    source.out, at.out = at, sink
    return lambda: source.packets_sent


def red(env):
    """RED of 20, 60 and 100 packets."""
    return constant(env, REDPort(env, RATE, 60, 20, 0.5, weight_factor=9, qlimit=100))


def bucket(env):
    """A bucket of 20 kB that 10 Mbit/s fill; what does not fit waits."""
    return constant(env, TokenBucketShaper(env, RATE, 20_000))


def aimd(env):
    """One Reno sender, a buffer of 50 packets; a segment and its ACK make a hop each."""
    flow = Flow(fid=0, src="source", dst="sink", finish_time=float("inf"), size=1 << 60, typ=None)
    flow.arrival_dist, flow.size_dist = (lambda: SIZE * 8 / 1e9), (lambda: SIZE)
    source = TCPPacketGenerator(env, flow=flow, cc=TCPReno(mss=SIZE, cwnd=SIZE), element_id="source")
    source.mss = SIZE
    port, there = Port(env, RATE, qlimit=50), Wire(env, lambda: DELAY_S)
    sink, back = TCPSink(env, rec_arrivals=False, rec_waits=False), Wire(env, lambda: DELAY_S)
    source.out, port.out, there.out, sink.out, back.out = port, there, sink, back, source
    return lambda: there.packets_rec + back.packets_rec


random.seed(1)
env = simpy.Environment()
hops = {"red": red, "bucket": bucket, "aimd": aimd}[sys.argv[1]](env)
began = time.process_time()
env.run(until=float(sys.argv[2]))
print(hops(), time.process_time() - began)
