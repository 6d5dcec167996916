/* Decisions of DPDK's rte_meter and rte_red on the packets of `make bench`.
 *
 *     dpdk INPUTS
 *
 * INPUTS holds sizes and queue lengths (uint16), gaps in ns (uint32), colours (uint8) of 65,536 packets and 2^20 instance
 * numbers (uint32). Each line on standard input, "NAME\tPACKETS\tINSTANCES", is answered with the CPU time of a decision in
 * ns, or with "none". Meters grant 100 MB/s, RED has the weight 2^-9 and thresholds of 200 and 400 packets, as perhop's.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_meter.h>
#include <rte_red.h>

#define PACKETS 65536
#define NAMED (1 << 20)
#define BURST 32
#define LINE 64

static uint16_t sizes[PACKETS], queues[PACKETS];
static uint32_t gaps[PACKETS], named[NAMED];
static uint8_t colours[PACKETS];
static uint64_t counts[4];

static struct rte_meter_srtcm_profile srtcm;
static struct rte_meter_trtcm_profile trtcm;
static struct rte_meter_trtcm_rfc4115_profile rfc4115;
static struct rte_red_config red;
static void *state;
static uint64_t now;

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static double cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e9 * t.tv_sec + t.tv_nsec;
}

static inline uint64_t place(uint64_t i, uint64_t instances)
{
	return named[i % NAMED] * instances >> 32;
}

/* A loop with one instance and one with many, each in bursts whose instances are prefetched. */
#define DECISION(NAME, TYPE, DECIDE)                                                                                   \
	static __attribute__((noinline)) void NAME##_one(uint64_t packets, uint64_t instances)                         \
	{                                                                                                              \
		(void)instances;                                                                                       \
		TYPE *it = state;                                                                                      \
		uint64_t t = now;                                                                                      \
		for (uint64_t n = 0; n < packets; n++) {                                                               \
			uint32_t i = n % PACKETS;                                                                      \
			t += gaps[i];                                                                                  \
			counts[DECIDE]++;                                                                              \
		}                                                                                                      \
		now = t;                                                                                               \
	}                                                                                                              \
	static __attribute__((noinline)) void NAME##_many(uint64_t packets, uint64_t instances)                        \
	{                                                                                                              \
		TYPE *all = state;                                                                                     \
		uint64_t t = now, places[BURST];                                                                       \
		for (uint64_t first = 0; first + BURST <= packets; first += BURST) {                                   \
			for (int n = 0; n < BURST; n++)                                                                \
				__builtin_prefetch(&all[places[n] = place(first + n, instances)], 1);                  \
			for (int n = 0; n < BURST; n++) {                                                              \
				uint32_t i = (first + n) % PACKETS;                                                    \
				TYPE *it = &all[places[n]];                                                            \
				t += gaps[i];                                                                          \
				counts[DECIDE]++;                                                                      \
			}                                                                                              \
		}                                                                                                      \
		now = t;                                                                                               \
	}

DECISION(srtcm_blind, struct rte_meter_srtcm, rte_meter_srtcm_color_blind_check(it, &srtcm, t, sizes[i]))
DECISION(srtcm_aware, struct rte_meter_srtcm, rte_meter_srtcm_color_aware_check(it, &srtcm, t, sizes[i], colours[i]))
DECISION(trtcm_blind, struct rte_meter_trtcm, rte_meter_trtcm_color_blind_check(it, &trtcm, t, sizes[i]))
DECISION(trtcm_aware, struct rte_meter_trtcm, rte_meter_trtcm_color_aware_check(it, &trtcm, t, sizes[i], colours[i]))
DECISION(rfc4115_blind, struct rte_meter_trtcm_rfc4115,
	 rte_meter_trtcm_rfc4115_color_blind_check(it, &rfc4115, t, sizes[i]))
DECISION(rfc4115_aware, struct rte_meter_trtcm_rfc4115,
	 rte_meter_trtcm_rfc4115_color_aware_check(it, &rfc4115, t, sizes[i], colours[i]))
DECISION(red, struct rte_red, rte_red_enqueue(&red, it, queues[i], t))
DECISION(empty, char, ((void)it, (sizes[i] ^ t) & 3))

static void start_srtcm(uint64_t n)
{
	rte_meter_srtcm_config((struct rte_meter_srtcm *)state + n, &srtcm);
}

static void start_trtcm(uint64_t n)
{
	rte_meter_trtcm_config((struct rte_meter_trtcm *)state + n, &trtcm);
}

static void start_rfc4115(uint64_t n)
{
	rte_meter_trtcm_rfc4115_config((struct rte_meter_trtcm_rfc4115 *)state + n, &rfc4115);
}

static void start_red(uint64_t n)
{
	rte_red_rt_data_init((struct rte_red *)state + n);
}

static void start_nothing(uint64_t n)
{
	(void)n;
}

typedef void (*loop)(uint64_t packets, uint64_t instances);

static const struct decision {
	const char *name;
	loop one, many;
	size_t size;
	void (*start)(uint64_t n);
} decisions[] = {
	{ "empty loop", empty_one, empty_many, 1, start_nothing },
	{ "srtcm blind", srtcm_blind_one, srtcm_blind_many, sizeof(struct rte_meter_srtcm), start_srtcm },
	{ "srtcm aware", srtcm_aware_one, srtcm_aware_many, sizeof(struct rte_meter_srtcm), start_srtcm },
	{ "trtcm blind", trtcm_blind_one, trtcm_blind_many, sizeof(struct rte_meter_trtcm), start_trtcm },
	{ "trtcm aware", trtcm_aware_one, trtcm_aware_many, sizeof(struct rte_meter_trtcm), start_trtcm },
	{ "trtcm-4115 blind", rfc4115_blind_one, rfc4115_blind_many, sizeof(struct rte_meter_trtcm_rfc4115), start_rfc4115 },
	{ "trtcm-4115 aware", rfc4115_aware_one, rfc4115_aware_many, sizeof(struct rte_meter_trtcm_rfc4115), start_rfc4115 },
	{ "red", red_one, red_many, sizeof(struct rte_red), start_red },
};

static const struct decision *find(const char *name)
{
	for (size_t n = 0; n < sizeof decisions / sizeof *decisions; n++)
		if (!strcmp(decisions[n].name, name))
			return &decisions[n];
	return NULL;
}

static void read_all(void *to, size_t bytes, FILE *file)
{
	if (fread(to, 1, bytes, file) != bytes)
		fail("the inputs are too short");
}

static void read_inputs(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		fail("the inputs cannot be opened");
	read_all(sizes, sizeof sizes, file);
	read_all(queues, sizeof queues, file);
	read_all(gaps, sizeof gaps, file);
	read_all(colours, sizeof colours, file);
	read_all(named, sizeof named, file);
	fclose(file);
	double hz = rte_get_tsc_hz();
	for (int i = 0; i < PACKETS; i++)
		gaps[i] = gaps[i] * hz / 1e9;
}

/* Starts DPDK on the first processor that this process may use, and then uses all of them again. */
static void start_dpdk(void)
{
	cpu_set_t may;
	sched_getaffinity(0, sizeof may, &may);
	int first = 0;
	while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &may))
		first++;
	char core[16];
	snprintf(core, sizeof core, "%d", first);
	char *args[] = { "perhop-bench", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "--log-level=1", "-m", "64",
			 "-l", core };
	if (rte_eal_init(sizeof args / sizeof *args, args) < 0)
		fail("rte_eal_init failed");
	sched_setaffinity(0, sizeof may, &may);
}

static void configure(uint64_t instances)
{
	uint64_t burst = instances > 1 ? 3000 : 20000;
	struct rte_meter_srtcm_params single = { .cir = 100000000 / instances, .cbs = burst, .ebs = burst };
	struct rte_meter_trtcm_params two = { .cir = 100000000 / instances, .pir = 130000000 / instances, .cbs = burst, .pbs = burst };
	struct rte_meter_trtcm_rfc4115_params apart = { .cir = 100000000 / instances, .eir = 30000000 / instances, .cbs = burst,
							.ebs = burst };
	if (rte_meter_srtcm_profile_config(&srtcm, &single) || rte_meter_trtcm_profile_config(&trtcm, &two) ||
	    rte_meter_trtcm_rfc4115_profile_config(&rfc4115, &apart) || rte_red_config_init(&red, 9, 200, 400, 10))
		fail("DPDK refuses the parameters");
}

static double measure(const struct decision *it, uint64_t packets, uint64_t instances)
{
	static const struct decision *last;
	static uint64_t had;
	if (it != last || instances != had) {
		configure(instances);
		free(state);
		state = aligned_alloc(LINE, (it->size * instances / LINE + 1) * LINE);
		if (!state)
			fail("not enough memory");
		for (uint64_t n = 0; n < instances; n++)
			it->start(n);
		now = rte_rdtsc();
		last = it;
		had = instances;
	}
	double began = cpu_ns();
	(instances > 1 ? it->many : it->one)(packets, instances);
	return (cpu_ns() - began) / packets;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		fail("usage: dpdk INPUTS");
	start_dpdk();
	read_inputs(argv[1]);
	char line[256], name[64];
	unsigned long long packets, instances;
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "%63[^\t]\t%llu\t%llu", name, &packets, &instances) != 3)
			fail("not a question");
		const struct decision *it = find(name);
		if (it)
			printf("%f\n", measure(it, packets, instances));
		else
			puts("none");
		fflush(stdout);
	}
	return counts[0] == (uint64_t)-1;
}
