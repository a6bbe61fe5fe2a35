/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cache event's name is CACHE[-OPERATION][-RESULT], each with several spellings. Defaults are load
 * and access. Names and spellings are perf's, and are case-sensitive.
 */
#include "event/event_names.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/vec.h"
#include "event/kind.h"

#define SPELLINGS 6
/* Longer than any cache event's name. */
#define CACHE_NAME_LIMIT 64

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} plain_names[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	{"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
	{"bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT},
	{"cgroup-switches", PERF_TYPE_SOFTWARE, 11}, /* Linux 5.13 */
};
#define PLAIN_COUNT (count_of(plain_names))

#define READ (1u << PERF_COUNT_HW_CACHE_OP_READ)
#define WRITE (1u << PERF_COUNT_HW_CACHE_OP_WRITE)
#define PREFETCH (1u << PERF_COUNT_HW_CACHE_OP_PREFETCH)

/* Index: the kernel's number. The first spelling is the one that is printed. */
static const struct {
	const char *spellings[SPELLINGS];
	unsigned int operations; /* bits of the operations that the cache has */
} caches[PERF_COUNT_HW_CACHE_MAX] = {
	[PERF_COUNT_HW_CACHE_L1D] = {{"L1-dcache", "l1-d", "l1d", "L1-data"},
				     READ | WRITE | PREFETCH},
	[PERF_COUNT_HW_CACHE_L1I] = {{"L1-icache", "l1-i", "l1i", "L1-instruction"},
				     READ | PREFETCH},
	[PERF_COUNT_HW_CACHE_LL] = {{"LLC", "L2"}, READ | WRITE | PREFETCH},
	[PERF_COUNT_HW_CACHE_DTLB] = {{"dTLB", "d-tlb", "Data-TLB"}, READ | WRITE | PREFETCH},
	[PERF_COUNT_HW_CACHE_ITLB] = {{"iTLB", "i-tlb", "Instruction-TLB"}, READ},
	[PERF_COUNT_HW_CACHE_BPU] = {{"branch", "branches", "bpu", "btb", "bpc"}, READ},
	[PERF_COUNT_HW_CACHE_NODE] = {{"node"}, READ | WRITE | PREFETCH},
};

static const char *const operations[PERF_COUNT_HW_CACHE_OP_MAX][SPELLINGS] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = {"load", "loads", "read"},
	[PERF_COUNT_HW_CACHE_OP_WRITE] = {"store", "stores", "write"},
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = {"prefetch", "prefetches", "speculative-read",
					     "speculative-load"},
};

static const char *const results[PERF_COUNT_HW_CACHE_RESULT_MAX][SPELLINGS] = {
	[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = {"refs", "Reference", "ops", "access"},
	[PERF_COUNT_HW_CACHE_RESULT_MISS] = {"misses", "miss"},
};

static bool find_plain(const char *name, size_t size, struct event_code *ret)
{
	for (size_t i = 0; i < PLAIN_COUNT; i++) {
		if (strlen(plain_names[i].name) != size ||
		    memcmp(plain_names[i].name, name, size) != 0)
			continue;
		*ret = (struct event_code){plain_names[i].type, plain_names[i].config};
		return true;
	}
	return false;
}

/*
 * Returns the length of the longest spelling that `name` begins with, up to its end or a '-'; 0: none.
 */
static size_t spelling_size(const char *const spellings[SPELLINGS], const char *name, size_t size)
{
	size_t longest = 0;
	for (size_t i = 0; i < SPELLINGS && spellings[i]; i++) {
		size_t length = strlen(spellings[i]);
		if (length <= size && length > longest && memcmp(spellings[i], name, length) == 0 &&
		    (length == size || name[length] == '-'))
			longest = length;
	}
	return longest;
}

/* Removes "-SPELLING" of one of the rows from the front of *name; false if there is none. */
static bool take_part(const char *const rows[][SPELLINGS], size_t row_count, const char **name,
		      size_t *size, uint32_t *ret)
{
	for (size_t row = 0; row < row_count && *size && **name == '-'; row++) {
		size_t taken = spelling_size(rows[row], *name + 1, *size - 1);
		if (!taken)
			continue;
		*name += taken + 1;
		*size -= taken + 1;
		*ret = row;
		return true;
	}
	return false;
}

/* Parses the rest of a cache event's name, after the cache: operation and result in any order. */
static bool parse_cache_rest(uint32_t cache, const char *name, size_t size, struct event_code *ret)
{
	uint32_t operation = PERF_COUNT_HW_CACHE_OP_READ;
	uint32_t result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	bool first = take_part(operations, PERF_COUNT_HW_CACHE_OP_MAX, &name, &size, &operation);
	take_part(results, PERF_COUNT_HW_CACHE_RESULT_MAX, &name, &size, &result);
	if (!first)
		take_part(operations, PERF_COUNT_HW_CACHE_OP_MAX, &name, &size, &operation);
	if (size || !(caches[cache].operations & (1u << operation)))
		return false;
	*ret = (struct event_code){PERF_TYPE_HW_CACHE, cache | operation << 8 | result << 16};
	return true;
}

static bool find_cache(const char *name, size_t size, struct event_code *ret)
{
	for (uint32_t cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++) {
		size_t taken = spelling_size(caches[cache].spellings, name, size);
		if (taken && parse_cache_rest(cache, name + taken, size - taken, ret))
			return true;
	}
	return false;
}

bool event_name_find(const char *name, size_t size, struct event_code *ret)
{
	return find_plain(name, size, ret) || find_cache(name, size, ret);
}

size_t event_plain_count(void)
{
	return PLAIN_COUNT;
}

struct event_plain_name event_plain_name(size_t index)
{
	return (struct event_plain_name){plain_names[index].name,
					 {plain_names[index].type, plain_names[index].config}};
}

bool event_cache_name(uint64_t config, char *buffer, size_t size)
{
	uint64_t cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16;
	if (cache >= PERF_COUNT_HW_CACHE_MAX || operation >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX ||
	    !(caches[cache].operations & (1u << operation)))
		return false;
	if (result == PERF_COUNT_HW_CACHE_RESULT_ACCESS)
		snprintf(buffer, size, "%s-%s", caches[cache].spellings[0],
			 operations[operation][1]);
	else
		snprintf(buffer, size, "%s-%s-%s", caches[cache].spellings[0],
			 operations[operation][0], results[result][0]);
	return true;
}

static unsigned char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c == '_' ? '-' : c;
}

/*
 * Returns the number of edits (insert, delete, replace, swap two) between the names, ignoring case; at
 * most `limit`.
 */
static unsigned int edit_distance(const char *a, size_t a_size, const char *b, size_t b_size,
				  unsigned int limit)
{
	unsigned int rows[3][NEAR_LIMIT + 1];
	for (size_t j = 0; j <= b_size; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3];
		unsigned int *two_above = rows[(i + 1) % 3];
		unsigned int least = row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			bool same = lower(a[i - 1]) == lower(b[j - 1]);
			unsigned int best = above[j - 1] + !same;
			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]) && two_above[j - 2] + 1 < best)
				best = two_above[j - 2] + 1;
			row[j] = best;
			least = best < least ? best : least;
		}
		/* No later row can have fewer edits. */
		if (least >= limit)
			return limit;
	}
	return rows[a_size % 3][b_size];
}

struct near_search near_begin(const char *typed, size_t size)
{
	return (struct near_search){.typed = typed, .typed_size = size, .distance = size / 3 + 2};
}

void near_consider(struct near_search *search, const char *name)
{
	size_t size = strlen(name), typed = search->typed_size;
	if (size > NEAR_LIMIT || typed > NEAR_LIMIT || !typed)
		return;
	/* The difference in length is a lower bound of the edits. */
	if ((size > typed ? size - typed : typed - size) >= search->distance)
		return;
	unsigned int distance = edit_distance(search->typed, typed, name, size, search->distance);
	if (distance >= search->distance)
		return;
	search->distance = distance;
	memcpy(search->name, name, size + 1);
}

static struct sp_error *near_result(const struct near_search *search, char **ret)
{
	*ret = *search->name ? strdup(search->name) : NULL;
	return *ret || !*search->name ? NULL : error_no_memory();
}

struct sp_error *names_near(const char *typed, const struct name_list *names, char **ret)
{
	struct near_search search = near_begin(typed, strlen(typed));
	vec_each (name, names)
		near_consider(&search, *name);
	return near_result(&search, ret);
}

struct sp_error *event_name_near(const char *name, size_t size, char **ret)
{
	struct near_search search = near_begin(name, size);
	for (size_t i = 0; i < PLAIN_COUNT; i++)
		near_consider(&search, plain_names[i].name);
	/* The config consists of cache, operation and result. */
	for (uint32_t i = 0; i < PERF_COUNT_HW_CACHE_MAX * PERF_COUNT_HW_CACHE_OP_MAX *
					 PERF_COUNT_HW_CACHE_RESULT_MAX;
	     i++) {
		uint32_t cache = i % PERF_COUNT_HW_CACHE_MAX, rest = i / PERF_COUNT_HW_CACHE_MAX;
		uint64_t config = cache | (rest % PERF_COUNT_HW_CACHE_OP_MAX) << 8 |
				  (rest / PERF_COUNT_HW_CACHE_OP_MAX) << 16;
		char cache_name[CACHE_NAME_LIMIT + 1];
		if (event_cache_name(config, cache_name, sizeof(cache_name)))
			near_consider(&search, cache_name);
	}
	return near_result(&search, ret);
}

/* Offset of the modifiers after the last ':' or '/'; the size if there are none. */
static size_t modifiers_at(const char *name, size_t size)
{
	size_t at = size;
	while (at && strchr("ukhGHIpPSDeWb", name[at - 1]))
		at--;
	return at && (name[at - 1] == ':' || name[at - 1] == '/') ? at : size;
}

const char *event_name_with_mode(struct arena *arena, const char *name, char mode)
{
	size_t size = strlen(name), at = modifiers_at(name, size), used = at;
	bool has_place = at && strchr(":/", name[at - 1]);
	char *changed = arena_alloc(arena, size + 3);
	if (!changed)
		return NULL;
	memcpy(changed, name, size + 1);
	if (!has_place && strchr(name, ':'))
		return changed; /* tracepoints and other events without modifiers in the name */
	if (!has_place)
		changed[used++] = ':';
	changed[used++] = mode;
	for (const char *p = name + at; *p; p++)
		if (!strchr("ukh", *p))
			changed[used++] = *p;
	changed[used] = 0;
	return changed;
}
