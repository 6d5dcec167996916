#!/bin/sh
# Edits of the kernel's source, run inside it. The timer ticks at 1000 Hz, as in distributions. The clock counts single nanoseconds
# rather than units of 256, and a timer may be set to the next nanosecond: so the clock adds nothing to what the queues do.
# Registers are handed to the host as long as it has them: with the tiles of AMX, 11008 B, of which this kernel keeps none.
set -eu
sed -i '/^config HZ/,/default/ s/default 100$/default 1000/' arch/um/Kconfig
sed -i 's/^#define TIMER_MULTIPLIER .*/#define TIMER_MULTIPLIER 1/; s/^#define TIMER_MIN_DELTA .*/#define TIMER_MIN_DELTA 1/' \
    arch/um/include/linux/time-internal.h
sed -i '/^int restore_fp_registers/,/^}/ {
    s/^\tstruct iovec iov;/&\n\tstatic char whole[16384];\n/
    s/iov.iov_base = fp_regs;/memcpy(whole, fp_regs, FP_SIZE * sizeof(unsigned long));\n\t\tiov.iov_base = whole;/
    s/iov.iov_len = .*/iov.iov_len = sizeof(whole);/
}
s/^#include <stdlib.h>/&\n#include <string.h>/' arch/x86/um/os-Linux/registers.c
