#!/usr/bin/env python3
"""Runs ns-2 over the reference scenarios and writes results/<scenario>.json.gz.

usage: python3 record.py [--jobs N] [--seeds K] [scenario ...]      (default: all)

Needs `ns` (ns-2.35) on PATH.  Standard library only.  All paths are relative to this file.
Statistics: mean and sample standard deviation (n-1) over seeds; vectors element by element.
"""
import argparse, concurrent.futures as cf, csv, gzip, io, json, math, os, shutil, subprocess, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RES = os.path.join(HERE, "results")


def rnd(x):
    return x if not isinstance(x, float) else float("%.6g" % x)


def ns_version():
    try:
        v = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "ns2"],
                           capture_output=True, text=True).stdout.strip()
    except OSError:
        v = ""
    return "ns-2.35" + (f" (Debian ns2 {v})" if v else "")


def one(script, params, seed):
    """One ns run; returns its metrics."""
    cmd = ["ns", script] + [f"{k}={v}" for k, v in params.items()] + [f"seed={seed}"]
    p = subprocess.run(cmd, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    out = p.stdout
    m = {}
    for line in out.splitlines():
        w = line.split()
        if len(w) >= 3 and w[0] == "R":
            m[w[1]] = float(w[2])
        elif len(w) >= 3 and w[0] == "L":
            m[w[1]] = [float(x) for x in w[2:]]
    if p.returncode != 0 or not m:
        raise RuntimeError(" ".join(cmd) + "\n" + out[-800:])
    return m


def stats(vals):
    n = len(vals)
    mu = sum(vals) / n
    sd = math.sqrt(sum((x - mu) ** 2 for x in vals) / (n - 1)) if n > 1 else 0.0
    return rnd(mu), rnd(sd)


def summarise(name, params, seeds, runs):
    per, mean, std = {}, {}, {}
    for k in runs[0]:
        vs = [r[k] for r in runs]
        if isinstance(vs[0], list):
            per[k] = [[rnd(x) for x in v] for v in vs]
            cols = [stats(list(c)) for c in zip(*vs)]
            mean[k] = [c[0] for c in cols]
            std[k] = [c[1] for c in cols]
        else:
            per[k] = [rnd(v) for v in vs]
            mean[k], std[k] = stats(vs)
    return {"case": name, "params": params, "n_seeds": len(seeds), "seeds": seeds,
            "mean": mean, "std": std, "per_seed": per}


def sweep(pool, script, cases, seeds):
    futs = [[pool.submit(one, script, p, s) for s in seeds] for _, p in cases]
    return [summarise(n, p, seeds, [f.result() for f in fs]) for (n, p), fs in zip(cases, futs)]


def defaults(script):
    """The default parameters of a script: its getargs {key value ...} line."""
    text = open(os.path.join(HERE, script)).read()
    body = text.split("getargs {", 1)[1].split("}", 1)[0].split()
    return dict(zip(body[::2], body[1::2]))


def write(name, script, about, cases, paper=None, notes=None, **extra):
    doc = {"scenario": name, "script": script, "ns_version": ns_version(), "about": about,
           "default_params": defaults(script),
           "statistics": "mean and sample std (n-1) over seeds; vectors element by element; "
                         "sched_events = events scheduled (uid counter) by the end of the run",
           "paper": paper or {}, "notes": notes or [], **extra, "cases": cases}
    os.makedirs(RES, exist_ok=True)
    save(name + ".json", json.dumps(doc, indent=1) + "\n")


def save(name, text):
    """Writes results/<name>.gz; the same text gives the same bytes."""
    with open(os.path.join(RES, name + ".gz"), "wb") as f:
        f.write(gzip.compress(text.encode(), 9, mtime=0))


def table(head, rows):
    f = io.StringIO()
    csv.writer(f, lineterminator="\n").writerows([head] + rows)
    return f.getvalue()


COMMON = ["wire size of a TCP data packet = packetSize_ (useHeaders_ false); ACK 40 bytes",
          "RTT = two-way propagation only (no serialisation, no queueing)",
          "start times uniform in [0,1] s unless stated; seed = ns-random"]


def marker_unit(pool, k):
    det = [("TokenBucket", {"marker": "TokenBucket", "args": "1e6,10000"}),
           ("srTCM", {"marker": "srTCM", "args": "1e6,10000,20000"}),
           ("trTCM", {"marker": "trTCM", "args": "1e6,10000,2e6,20000"})]
    rn = [("TSW2CM", {"marker": "TSW2CM", "args": "1e6"}),
          ("TSW2CM_win5", {"marker": "TSW2CM", "args": "1e6,5.0"}),
          ("TSW3CM", {"marker": "TSW3CM", "args": "1e6,2e6"})]
    r = sweep(pool, "marker_unit.tcl", det, [1]) + sweep(pool, "marker_unit.tcl", rn, list(range(1, (k or 20) + 1)))
    write("marker_unit", "marker_unit.tcl",
          "Open-loop marker vectors: 1000-byte packets at 0.5 Mb/s from 0.5 s, 5 Mb/s from 2 s, none from 4 s, "
          "2.3 Mb/s from 6 s, 1 Mb/s from 10 s to 12 s; cumulative counts per colour every 0.1 s from 0 to 12 s.",
          r, notes=["TokenBucket, srTCM, trTCM are deterministic (one run)",
                    "buckets start full at time 0; the TSW average starts at CIR with the last arrival at time 0"])


def red_open(pool, k):
    cases = [(f"{v}/load{l}", {**p, "load": l}) for l in (1.02, 1.05, 1.1, 1.3)
             for v, p in (("RED_wait", {}), ("RED_nowait", {"wait": 0}), ("RED_wait_gentle", {"gentle": 1}),
                          ("RED_nowait_gentle", {"wait": 0, "gentle": 1}), ("dsRED_1prec", {"aqm": "dsRED"}))]
    r = sweep(pool, "red_open.tcl", cases, list(range(1, (k or 5) + 1)))
    write("red_open", "red_open.tcl",
          "Open-loop AQM (no TCP): 20 jittered CBR sources, total load x 10 Mb/s, RED(20,80,0.1) wq 0.002, limit 100, "
          "1000 B; 20..120 s measured.", r,
          notes=["ns RED wait_ true spaces drops to [1/p,2/p] packets, wait_ false and dsRED use p/(1-count p): the "
                 "same p gives about 3 times fewer drops with wait_ true"])


def pps_rtt(pool, k):
    base = {"gentle_off": {}, "gentle_on": {"gentle": 1}, "era_tcp": {"era": 1},
            "wait_off": {"wait": 0}, "size500": {"size": 500}, "size500_era": {"size": 500, "era": 1},
            "size500_wait_off": {"size": 500, "wait": 0}}
    cases = [(f"{m}/{v}", {"mode": m, **p}) for m in ("equal", "varied") for v, p in base.items()]
    r = sweep(pool, "pps_rtt.tcl", cases, list(range(1, (k or 20) + 1)))
    write("pps_rtt", "pps_rtt.tcl",
          "PPS Table III 'Reno': 10 Reno flows, 1.1 Mb/s RED(5,55,0.2) bottleneck, 200 s, whole run. "
          "flow_mbps[i] has RTT 30 ms (equal) or 30(i+1) ms (varied). Throughput at the sink.",
          r, paper={"equal_mbps": [.108, .099, .105, .118, .112, .113, .118, .099, .116, .108],
                    "equal_sigma": 0.007,
                    "varied_mbps_by_rtt_30_to_300": [.233, .159, .127, .115, .114, .079, .086, .071, .055, .060],
                    "varied_sigma": 0.051},
          notes=COMMON + ["paper gives no packet size, buffer or window; here size 1000 (and 500), "
                          "buffer 100 pkts, window_ 20; wq 0.002", "sigma is the population std over flows"])


def pps_table4(pool, k):
    variants = {"base": {}, "size500": {"size": 500}, "era_tcp": {"era": 1},
                "rio_20_40": {"in_min": 40, "in_max": 70, "out_min": 20, "out_max": 40, "out_p": 0.1}}
    cases = [(f"{lab}/{v}", {"cirs": c, **p}) for lab, c in (("under", "0.15,0.10,0.05"), ("over", "1.2,0.8,0.4"))
             for v, p in variants.items()]
    r = sweep(pool, "pps_table4.tcl", cases, list(range(1, (k or 20) + 1)))
    write("pps_table4", "pps_table4.tcl",
          "PPS Table IV 'Measured DiffServ': 3 Reno flows, 1.2 Mb/s, TSW2CM window 5 s, RIO-C, RTT 26 ms, 200 s.",
          r, paper={"under_mbps": [.43, .40, .37], "over_mbps": [.42, .43, .35]},
          notes=COMMON + ["RIO parameters not in the paper: IN(20,55,.02) OUT(5,55,.2) is our choice"])


def mixed_load(pool, k):
    rio = [(f"rio/{rates}/cir{cir}", {"rates": rates, "cir": cir}) for rates in ("plain", "odd")
           for cir in (0.25, 0.5, 1.0, 2.0)]
    rio.append(("rio/plain/cir1.0/periodic", {"cir": 1.0, "jit": 0}))
    red = [(f"red/{rates}/{v}", {"aqm": "RED", "rates": rates, **p}) for rates in ("plain", "odd")
           for v, p in (("wait_off", {}), ("wait_on", {"wait": 1}))]
    r = sweep(pool, "mixed_load.tcl", rio + red, list(range(1, (k or 20) + 1)))
    write("mixed_load", "mixed_load.tcl",
          "MSVB and SIO, Table 1 (RIO) and Fig. 4 (RED): five classes of 5 Reno flows and five CBR classes at i - 5 "
          "(plain) or 2 (i - 5) - 1 (odd) Mb/s, token buckets of 8 packets, 10 Mb/s, RTT 120 ms, 100 s, from 10 s on. "
          "class_share: bytes at the sink by class, over the link's rate.",
          r, paper={"rio_in_share": {"0.25": 0.25, "0.5": 0.49, "1.0": 0.94, "2.0": 1.0},
                    "rio_in_drop_ratio": {"0.25": 0.0005, "0.5": 0.0004, "1.0": 0.0006, "2.0": 0.199},
                    "rio_out_drop_ratio": {"0.25": 0.682, "0.5": 0.752, "1.0": 0.942, "2.0": 0.999},
                    "rio_mean_queue_pkts": {"0.25": 40.0, "0.5": 40.3, "1.0": 41.9, "2.0": 80.0}},
          notes=COMMON + ["the paper's formula for the CBR rates is garbled; RED's parameters are not in the paper",
                          "jit 1: each CBR gap uniform in [0.5, 1.5] of the mean; periodic: none",
                          "in_share, out_share count what was not dropped at the bottleneck's queue"])


def dynamic_load(pool, k):
    cases = [(f"{e}/{v}", {**p, **q}) for e, p in (("ecn", {}), ("drop", {"ecn": 0}))
             for v, q in (("wait_off", {}), ("wait_on", {"wait": 1}))]
    r = sweep(pool, "dynamic_load.tcl", cases, list(range(1, (k or 20) + 1)))
    write("dynamic_load", "dynamic_load.tcl",
          "MSVB and SIO, Fig. 2, RED(20,80,0.1): 50 Reno flows at 0, 50 more every 50 s to 300, 50 less every 50 s from "
          "300 s to 500 s; 10 Mb/s, RTT 120 ms, 600 s. Lists: the twelve windows of 50 s.",
          r, notes=COMMON + ["RED's parameters are not in the paper",
                             "ECN: use_mark_p_ off, so RED marks up to max_th and drops beyond it"])


def controllers(pool, k):
    cases = [(f"{a.lower()}/{v}", {"aqm": a, **p}) for a in ("PI", "REM", "Vq")
             for v, p in (("mark", {}), ("drop", {"mark": 0}), ("mark_60", {"flows": 60}))]
    r = sweep(pool, "controllers.tcl", cases, list(range(1, (k or 20) + 1)))
    write("controllers", "controllers.tcl",
          "PI, REM and AVQ (Vq) under 25 or 60 Reno flows, 10 Mb/s, RTT 40 ms, marking or dropping; 50..200 s.",
          r, notes=COMMON + ["Vq counts bytes (queue_in_bytes_), its alpha is 0.15, its virtual rate starts at 0.8 of the link",
                             "Vq that drops adapts its virtual rate to what it does not drop"])


def tsw3cm_regions(pool, k):
    loads = (("below", 1e6), ("at_cir", 2e6), ("between", 2.5e6), ("at_pir", 3e6), ("above", 6e6))
    cases = [(f"{kind}/{name}", {"kind": kind, "rate": rate}) for kind in ("poisson", "cbr") for name, rate in loads]
    r = sweep(pool, "tsw3cm_regions.tcl", cases, list(range(1, (k or 20) + 1)))
    write("tsw3cm_regions", "tsw3cm_regions.tcl",
          "TSW3CM in the steady state: CIR 2, PIR 3 Mb/s, window 1 s, five UDP sources of 1024-byte packets that together send "
          "1, 2, 2.5, 3 or 6 Mb/s; packets by colour from 10 to 110 s.", r,
          notes=["poisson: Application/Traffic/Exponential with bursts of one packet; cbr: each gap uniform in [0.5, 1.5] of the mean",
                 "the average starts at CIR with the last arrival at time 0"])


def af_queue(pool, k):
    feeds = {"tcp10": {"n": 10}, "tcp100": {"n": 100},
             "udp_red": {"kind": "udp", "rate": 5.25e6, "cir": 3e6, "pir": 4e6},
             "udp_yellow": {"kind": "udp", "rate": 7e6, "cir": 4e6, "pir": 6e6},
             "udp_green": {"kind": "udp", "rate": 7e6, "cir": 5.5e6, "pir": 6.5e6}}
    cases = [(f"{mode}/{feed}", {"mode": mode, **p}) for mode in ("RIO-C", "WRED", "RIO-D") for feed, p in feeds.items()]
    r = sweep(pool, "af_queue.tcl", cases, list(range(1, (k or 20) + 1)))
    write("af_queue", "af_queue.tcl",
          "The RTT-RTO paper's AF queue: dsRED of three precedences {40,55,.02} {25,40,.05} {10,25,.1}, wq .002, limit 100, on "
          "10 Mb/s, behind a TSW3CM for each of two aggregates with round trips of 20 and 100 ms; fed by NewReno (window 64, "
          "1024-byte packets) or by Poisson UDP; 20..100 s. udp_<colour>: the link has room for what comes before that colour.",
          r, notes=COMMON + ["late counts forced drops and those of the queue's limit, early the drops by chance",
                             "marked_share_1, _2: green, yellow, red of what the aggregate's edge marked, SYNs included"])


def tcp_unit(pool, k):
    d = os.path.join(RES, "tcp_unit")
    os.makedirs(d, exist_ok=True)
    kinds = {"reno": "Agent/TCP/Reno", "newreno": "Agent/TCP/Newreno"}
    out = []

    def do(name, p):
        base = os.path.join("tcp_unit", name)
        full = os.path.join(tempfile.mkdtemp(), name)
        m = one("tcp_unit.tcl", {**p, "out": full}, 1)
        # cwnd/ssthresh trace
        cw = ss = None
        rows = []
        for line in open(full + ".raw"):
            w = line.split()
            t, var, val = w[0], w[5], w[6]
            if var == "cwnd_":
                cw = float(val)
            elif var == "ssthresh_":
                ss = float(val)
            else:
                continue
            if rows and rows[-1][0] == t:
                rows[-1] = [t, cw, ss]
            else:
                rows.append([t, cw, ss])
        save(base + ".cwnd.csv", table(["time", "cwnd", "ssthresh"], rows))
        # arrivals at the bottleneck link: number, time, segment, dropped
        pk, byid = [], {}
        for line in open(full + ".evt"):
            w = line.split()
            if w[0] == "+":
                byid[w[11]] = len(pk)
                pk.append([w[1], int(w[10]), 0])
            elif w[0] == "d":
                if w[11] in byid:
                    pk[byid[w[11]]][2] = 1        # queue overflow
                else:
                    pk.append([w[1], int(w[10]), 2])  # listed loss, before the queue
        save(base + ".pkts.csv", table(["number", "time", "segment", "lost"], [[i + 1] + x for i, x in enumerate(pk)]))
        shutil.rmtree(os.path.dirname(full))
        out.append(summarise(name, p, [1], [m]))
        return pk

    for nm, kd in kinds.items():
        do(f"{nm}_droptail10", {"kind": kd, "win": 100})
        do(f"{nm}_droptail10_win20", {"kind": kd, "win": 20})
        pk = do(f"{nm}_loss20", {"kind": kd, "win": 20, "drops": "20"})
        lost = pk[19][1]
        again = [i for i, x in enumerate(pk) if x[1] == lost]
        do(f"{nm}_loss20_and_its_rexmit", {"kind": kd, "win": 20, "drops": f"20,{again[1] + 1}"})
        do(f"{nm}_loss20_21_22", {"kind": kd, "win": 20, "drops": "20,21,22"})
        do(f"{nm}_loss20_22_25_27", {"kind": kd, "win": 20, "drops": "20,22,25,27"})
        do(f"{nm}_loss_tail", {"kind": kd, "win": 4, "drops": "20,21,22,23"})
        do(f"{nm}_loss100_300_500", {"kind": kd, "win": 20, "drops": "100,300,500"})
        do(f"{nm}_loss20_delack", {"kind": kd, "win": 20, "drops": "20", "delack": 1})
        do(f"{nm}_droptail10_era", {"kind": kd, "win": 100, "era": 1})
    write("tcp_unit", "tcp_unit.tcl",
          "One TCP flow over 10 Mb/s 1 ms + 1 Mb/s 48 ms (DropTail 10) + 10 Mb/s 1 ms, start at 0, 20 s. "
          "results/tcp_unit/<case>.cwnd.csv: time,cwnd,ssthresh (packets) after every change; <case>.pkts.csv: "
          "every packet arriving at the bottleneck link, segment number in packets (0 = the SYN unless era=1), "
          "lost: 0 no, 1 queue overflow, 2 listed loss.", out,
          notes=["deterministic: one run a case", "drops numbers packets in arrival order at the bottleneck link, "
                 "1-based, SYN and retransmissions included",
                 "queue-limit 10 of DropTail holds 9 waiting packets and the one being transmitted",
                 "wire size 1000 B (useHeaders_ false), SYN and ACK 40 B"])


def tcp_bernoulli(pool, k):
    kinds = {"reno": {"kind": "Agent/TCP/Reno"}, "newreno": {}, "newreno_steady": {"steady": 1}}
    cases = [(f"{name}/p{p}", {"p": p, **kind}) for name, kind in kinds.items() for p in (0.001, 0.003, 0.01, 0.03)]
    r = sweep(pool, "tcp_bernoulli.tcl", cases, list(range(1, (k or 10) + 1)))
    write("tcp_bernoulli", "tcp_bernoulli.tcl",
          "One flow, 100 Mb/s, RTT 100 ms, no queue, each data packet lost with probability p; 2000 s, whole run.", r,
          notes=["2.35 defaults: 10 ms tick, minimum RTO 0.2 s, limited transmit, no delayed ACK; window 10000",
                 "ACKs are never lost; the SYN may be"])


ALL = {f.__name__: f for f in (pps_rtt, pps_table4, red_open, marker_unit, tcp_unit, tcp_bernoulli, mixed_load,
                              dynamic_load, controllers, tsw3cm_regions, af_queue)}

if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("scenario", nargs="*", choices=[[], *ALL], default=[])
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--seeds", type=int, default=0, help="override the number of seeds")
    a = ap.parse_args()
    with cf.ThreadPoolExecutor(a.jobs) as pool:
        for s in a.scenario or ALL:
            ALL[s](pool, a.seeds)
