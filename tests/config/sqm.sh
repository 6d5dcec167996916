#!/bin/bash
# What sqm-scripts types: bash tests/config/sqm.sh REPOSITORY FOLDER
#
# Each script of a bare repository of tohojo/sqm-scripts runs with stand-ins for tc, ip and iptables; the commands for tc are left
# in FOLDER, one file a run: python3 tests/config/corpus.py --texts FOLDER/*.txt
set -eu
repository=$1 folder=$(mkdir -p "$2" && realpath "$2")
library=$folder/library
mkdir -p "$library" "$folder/state"
for name in functions.sh defaults.sh simple.qos simplest.qos simplest_tbf.qos piece_of_cake.qos layer_cake.qos; do
    git --git-dir="$repository" show "HEAD:src/$name" >"$library/$name"
done
printf '%s\n' '#!/bin/sh' 'case " $* " in *" show "*) exit 0 ;; esac' 'echo "tc $*" >>"$OUT"' >"$folder/tc"
chmod +x "$folder/tc"

# run SCRIPT NAME VARIABLE=VALUE...
run() (
    set +eu
    script=$1 name=$2
    shift 2
    export "$@"
    export IFACE=eth0 DEV=ifb4eth0 SQM_LIB_DIR=$library SQM_STATE_DIR=$folder/state SQM_SYSLOG=0 SQM_VERBOSITY_MAX=0
    export SCRIPT=$script TC_BINARY=$folder/tc IP_BINARY=true IPTABLES_BINARY=true IP6TABLES_BINARY=true INSMOD=true
    export OUT=$folder/${script%.qos}-$name.txt
    : >"$OUT"
    . "$library/functions.sh"
    . "$library/defaults.sh"
    get_mtu() { echo 1500; }
    verify_qdisc() { return 0; }
    verify_iptables() { return 0; }
    do_modules() { :; }
    . "$library/$script"
    if fn_exists sqm_start; then sqm_start; else sqm_start_default; fi
) >/dev/null

for script in simple.qos simplest.qos simplest_tbf.qos piece_of_cake.qos layer_cake.qos; do
    run $script plain UPLINK=10000 DOWNLINK=50000
    run $script adsl UPLINK=2000 DOWNLINK=16000 LLAM=tc_stab LINKLAYER=atm OVERHEAD=44 STAB_MPU=64
    run $script vdsl UPLINK=35000 DOWNLINK=90000 LLAM=tc_stab LINKLAYER=ethernet OVERHEAD=38 STAB_MPU=84 \
        ETARGET=10ms EECN=NOECN ZERO_DSCP_INGRESS=0 IGNORE_DSCP_INGRESS=0
done
run simple.qos sfq UPLINK=10000 DOWNLINK=50000 QDISC=sfq
run simple.qos cake UPLINK=10000 DOWNLINK=50000 QDISC=cake
run simplest.qos pie UPLINK=10000 DOWNLINK=0 QDISC=pie
