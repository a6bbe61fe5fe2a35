/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "event/event_names.h"
#include "made_ctx.h"
#include "root.h"
#include "test.h"

#define SPECS CLEANUP(event_specs_deinit) struct event_specs

static void parse(struct event_specs *specs, const char *text)
{
	ok_or_fail(event_specs_parse(specs, made_ctx(), text));
}

static void one_is(const char *text, uint32_t type, uint64_t config)
{
	SPECS specs = {0};
	parse(&specs, text);
	ck_assert_uint_eq(specs.count, 1);
	ck_assert_msg(specs.items->attr.type == type && specs.items->attr.config == config,
		      "%s is %u/0x%llx", text, specs.items->attr.type, specs.items->attr.config);
	ck_assert_str_eq(specs.items->name, text);
}

TEST(event_names_are_known)
{
	one_is("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	one_is("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	one_is("cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	one_is("branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	one_is("L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000);
	one_is("LLC", PERF_TYPE_HW_CACHE, 2);
	one_is("branch-loads", PERF_TYPE_HW_CACHE, 5);
	one_is("branch", PERF_TYPE_HW_CACHE, 5);
	one_is("branch-miss", PERF_TYPE_HW_CACHE, 0x10005);
	one_is("branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES);
	one_is("l1-d-misses-store", PERF_TYPE_HW_CACHE, 0x10100);
	one_is("node-speculative-read-access", PERF_TYPE_HW_CACHE, 0x206);
	one_is("r1a8", PERF_TYPE_RAW, 0x1a8);
	one_is("r0x1A8", PERF_TYPE_RAW, 0x1a8);
	one_is("rffffffffffffffff", PERF_TYPE_RAW, UINT64_MAX);
}

TEST(event_lists_keep_their_order)
{
	SPECS specs = {0};
	parse(&specs, "cycles:u,cs , r1:pp");
	parse(&specs, "faults");
	ck_assert_uint_eq(specs.count, 4);
	ck_assert_str_eq(specs.items[0].name, "cycles:u");
	ck_assert_str_eq(specs.items[1].name, "cs");
	ck_assert_str_eq(specs.items[2].name, "r1:pp");
	ck_assert_str_eq(specs.items[3].name, "faults");
	ck_assert_uint_eq(specs.items[2].attr.precise_ip, 2);
}

TEST(event_default_is_cycles)
{
	SPECS specs = {0};
	ok_or_fail(event_specs_add_default(&specs, made_ctx()));
	ck_assert_uint_eq(specs.count, 1);
	ck_assert_str_eq(specs.items->name, "cycles");
	ck_assert(specs.items->precise_max);
	ck_assert_uint_eq(specs.items->attr.precise_ip, 3);
	ck_assert(!specs.items->modes_given && !specs.items->attr.exclude_kernel);
}

/* The modes that remain, in the order u k h G H I. */
static const char *modes(const char *text)
{
	static char seen[8];
	SPECS specs = {0};
	parse(&specs, text);
	const struct perf_event_attr *attr = &specs.items->attr;
	snprintf(seen, sizeof(seen), "%s%s%s%s%s%s", attr->exclude_user ? "" : "u",
		 attr->exclude_kernel ? "" : "k", attr->exclude_hv ? "" : "h",
		 attr->exclude_host ? "" : "H", attr->exclude_guest ? "" : "G",
		 attr->exclude_idle ? "I" : "");
	return seen;
}

TEST(event_modifiers_choose_modes)
{
	ck_assert_str_eq(modes("cycles"), "ukhHG");
	ck_assert_str_eq(modes("cycles:u"), "uHG");
	ck_assert_str_eq(modes("cycles:k"), "kHG");
	ck_assert_str_eq(modes("cycles:ku"), "ukHG");
	ck_assert_str_eq(modes("cycles:h"), "hHG");
	ck_assert_str_eq(modes("cycles:G"), "ukhG");
	ck_assert_str_eq(modes("cycles:H"), "ukhH");
	ck_assert_str_eq(modes("cycles:uHGI"), "uHGI");
}

/* The message must hold `says`, the remedy `advice`; nothing may be added. */
static void refused(const char *text, enum sp_error_code code, const char *says, const char *advice)
{
	SPECS specs = {0};
	parse(&specs, "cs");
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = event_specs_parse(&specs, made_ctx(), text);
	ck_assert_msg(error != NULL, "\"%s\" was taken", text);
	ck_assert_int_eq(sp_error_code(error), code);
	ck_assert_msg(strstr(sp_error_message(error), says) != NULL, "\"%s\": %s", text,
		      sp_error_message(error));
	ck_assert_msg(strstr(sp_error_remedy(error), advice) != NULL, "\"%s\": %s", text,
		      sp_error_remedy(error));
	ck_assert_uint_eq(specs.count, 1);
}

TEST(event_errors_point_at_the_character)
{
	refused("", SP_ERROR_INVALID, "no event at character 1", "cycles");
	refused("cycles,", SP_ERROR_INVALID, "no event at character 8", "cycles");
	refused(",cycles", SP_ERROR_INVALID, "no event at character 1", "cycles");
	refused("cycles,,cs", SP_ERROR_INVALID, "no event at character 8", "cycles");
	refused("cycles:", SP_ERROR_INVALID, "no modifier at character 8", "':'");
	refused("cycles:x", SP_ERROR_INVALID, "unknown modifier 'x' at character 8", "u k h");
	refused("cycles:uku", SP_ERROR_INVALID, "too many of modifier 'u' at character 10",
		"u k h");
	refused("cycles:pppp", SP_ERROR_INVALID, "'p' at character 11", "p pp ppp");
	refused("cs,cycles u", SP_ERROR_INVALID, "'u' at character 11", "commas");
	refused("cycles:u:k", SP_ERROR_INVALID, "':' at character 9", "one ':'");
	refused("cs,\tcycels", SP_ERROR_INVALID, "'cycels' at character 5", "cycles?");
	refused("$", SP_ERROR_INVALID, "'$' at character 1", "sprof list");
	refused("rfffffffffffffffff", SP_ERROR_INVALID, "unknown event", "");
	refused("rx", SP_ERROR_INVALID, "unknown event", "");
	/* Caches do not have all operations. */
	refused("iTLB-stores", SP_ERROR_INVALID, "unknown event", "dTLB-stores");
}

TEST(event_errors_suggest_near_names)
{
	refused("cpu-clok", SP_ERROR_INVALID, "unknown", "mean cpu-clock?");
	refused("CPU_CLOCK:u", SP_ERROR_INVALID, "unknown", "mean cpu-clock?");
	refused("instrcutions", SP_ERROR_INVALID, "unknown", "mean instructions?");
	refused("l1-dcache-loads-missess", SP_ERROR_INVALID, "unknown",
		"mean L1-dcache-load-misses?");
	refused("something-else-entirely", SP_ERROR_INVALID, "unknown", "sprof list");
}

TEST(event_groups_have_leaders)
{
	SPECS specs = {0};
	parse(&specs, "cs,{cycles:u,faults,cpu-clock}:k,main{dummy,cs}:SD,cs");
	ck_assert_uint_eq(specs.count, 7);
	const size_t leaders[7] = {0, 1, 1, 1, 4, 4, 6};
	for (size_t i = 0; i < 7; i++) {
		ck_assert_uint_eq(specs.items[i].leader, leaders[i]);
		ck_assert_int_eq(specs.items[i].group_read, i == 4 || i == 5);
		ck_assert_uint_eq(specs.items[i].attr.pinned, i == 4);
	}
	ck_assert_str_eq(specs.items[1].name, "cycles:u");
	ck_assert_str_eq(specs.items[2].name, "faults");
	ck_assert_str_eq(specs.items[4].group_name, "main");
	/* A group's modifiers are added to its members'. */
	ck_assert(!specs.items[1].attr.exclude_user && !specs.items[1].attr.exclude_kernel);
	ck_assert(specs.items[2].attr.exclude_user && !specs.items[2].attr.exclude_kernel);
}

TEST(event_groups_are_refused_where_they_are_wrong)
{
	refused("{cycles,cs", SP_ERROR_INVALID, "unclosed group at character 1", "put }");
	refused("{}", SP_ERROR_INVALID, "no event at character 2", "name");
	refused("{cs,{cs}}", SP_ERROR_INVALID, "nested group at character 5", "close");
	refused("{cs}x", SP_ERROR_INVALID, "'x' at character 5", "commas");
	refused("{cs,cs:D}", SP_ERROR_INVALID, "D and e apply to a whole group", "'}'");
	refused("cs:W", SP_ERROR_INVALID, "'W' is a modifier of groups at character 4", "{a,b}:W");
	refused("cs}", SP_ERROR_INVALID, "'}' at character 3", "commas");
}

TEST(event_terms_are_of_one_event)
{
	SPECS specs = {0};
	parse(&specs, "cycles/period=0x100,name=some,call-graph=dwarf,stack-size=1021/uk,"
		      "cpu-clock/freq=99,no-inherit,max-stack=7,time=0/,"
		      "r1a8/config1=3,config3=4,branch_type=any+U,name='a/b,c'/");
	ck_assert_uint_eq(specs.count, 3);
	const struct event_spec *some = &specs.items[0], *clock = &specs.items[1];
	ck_assert_str_eq(some->name, "some");
	ck_assert_uint_eq(some->terms.given, EVENT_TERM_PERIOD | EVENT_TERM_NAME |
			  EVENT_TERM_CALL_GRAPH | EVENT_TERM_STACK_SIZE);
	ck_assert_uint_eq(some->terms.period, 0x100);
	ck_assert_uint_eq(some->terms.call_graph, EVENT_TERMS_CALL_GRAPH_DWARF);
	ck_assert_uint_eq(some->terms.stack_bytes, 1016);
	ck_assert(some->modes_given && !some->attr.exclude_user && some->attr.exclude_hv);
	ck_assert_str_eq(clock->name, "cpu-clock/freq=99,no-inherit,max-stack=7,time=0/");
	ck_assert_uint_eq(clock->terms.freq_hz, 99);
	ck_assert(clock->terms.given & EVENT_TERM_INHERIT && !clock->terms.inherit);
	ck_assert(clock->terms.given & EVENT_TERM_TIME && !clock->terms.time);
	ck_assert_uint_eq(clock->terms.max_stack, 7);
	ck_assert_uint_eq(specs.items[2].attr.config1, 3);
	ck_assert_uint_eq(specs.items[2].tail.config3, 4);
	ck_assert_uint_eq(specs.items[2].terms.branch_type,
			  PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
	ck_assert_str_eq(specs.items[2].name, "a/b,c");
}

TEST(event_terms_are_refused_where_they_are_wrong)
{
	refused("cs/bogus/", SP_ERROR_INVALID, "unknown term 'bogus' at character 4", "period");
	refused("cs/period=x/", SP_ERROR_INVALID, "'x' is no value of period at character 11",
		"number");
	refused("cs/period=0/", SP_ERROR_INVALID, "'0' is no value", "1 or more");
	refused("cs/call-graph=x/", SP_ERROR_INVALID, "at character 15", "fp, dwarf, lbr or no");
	refused("cs/time=2/", SP_ERROR_INVALID, "at character 9", "0 or 1");
	refused("cs/period=1", SP_ERROR_INVALID, "unclosed terms at character 4", "put /");
	refused("cs/period=/", SP_ERROR_INVALID, "no value at character 11", "'='");
	refused("cs/,/", SP_ERROR_INVALID, "no term at character 4", "NAME=VALUE");
	refused("cs/max-stack=65536/", SP_ERROR_INVALID, "at character 14", "65535");
	refused("cs/name='a/", SP_ERROR_INVALID, "unclosed quote at character 9", "'");
}

static struct event_spec breakpoint(const char *text)
{
	SPECS specs = {0};
	parse(&specs, text);
	ck_assert_uint_eq(specs.count, 1);
	ck_assert_uint_eq(specs.items->attr.type, PERF_TYPE_BREAKPOINT);
	ck_assert_str_eq(specs.items->name, text);
	return *specs.items;
}

TEST(event_breakpoints_have_addresses)
{
	struct event_spec plain = breakpoint("mem:0x1000");
	ck_assert_uint_eq(plain.attr.bp_addr, 0x1000);
	ck_assert_uint_eq(plain.attr.bp_len, 4);
	ck_assert_uint_eq(plain.attr.bp_type, 3);
	struct event_spec both = breakpoint("mem:0x1000/8:rw:u");
	ck_assert_uint_eq(both.attr.bp_len, 8);
	ck_assert(both.modes_given && both.attr.exclude_kernel);
	ck_assert_uint_eq(breakpoint("mem:4096:u").attr.bp_type, 3);
	ck_assert_uint_eq(breakpoint("mem:4096:u").attr.exclude_kernel, 1);
	struct event_spec code = breakpoint("mem:0x1000:x");
	ck_assert_uint_eq(code.attr.bp_type, 4);
	ck_assert_uint_eq(code.attr.bp_len, sizeof(long));
	ck_assert_uint_eq(breakpoint("mem:0x10/2/period=3/").terms.period, 3);
	ck_assert_uint_eq(breakpoint("mem:0x10/period=3/u").terms.period, 3);
	refused("mem:", SP_ERROR_INVALID, "no address at character 5", "mem:ADDRESS");
	refused("mem:0x10/9", SP_ERROR_INVALID, "invalid length '9' at character 10", "8 bytes");
	refused("mem:0x10:rq", SP_ERROR_INVALID, "invalid access type 'q' at character 11", "r, w");
	refused("mem:/proc/nonexistent:x", SP_ERROR_NOT_FOUND, "/proc/nonexistent", "");
}

/* A program's variable, and its begin; the linker defines the latter. */
volatile int event_test_watched;
extern const char __executable_start[];

TEST(event_breakpoints_of_a_process_are_at_its_first_mapping)
{
	ROOT root;
	SPECS specs = {.pid = 7};
	struct stat program;
	char maps[4096];
	root_init(&root);
	ck_assert_int_eq(stat("/proc/self/exe", &program), 0);
	int used = snprintf(maps, sizeof(maps), "100000000-100001000 r--p 0 00:01 %lu /bin/a\n",
			    program.st_ino);
	/* Later mappings at any offset: two segments may share a page of the file. */
	for (int i = 1; i < 32; i++)
		used += snprintf(maps + used, sizeof(maps) - used,
				 "2000%02d000-2000%02d800 rw-p %x 00:01 %lu /bin/a\n", i, i,
				 i << 12, program.st_ino);
	root_put(&root, "/proc/7/maps", maps);
	ok_or_fail(event_specs_parse(&specs, root.ctx, "mem:/proc/self/exe:event_test_watched"));
	ck_assert_uint_eq(specs.items->attr.bp_addr, 0x100000000 + (uintptr_t)&event_test_watched -
						     (uintptr_t)__executable_start);
}

TEST(event_specs_survive_a_refused_text)
{
	SPECS specs = {0};
	parse(&specs, "cycles");
	fails_with(SP_ERROR_INVALID, event_specs_parse(&specs, made_ctx(), "cs,cs,nonsense"));
	ck_assert_uint_eq(specs.count, 1);
	parse(&specs, "cs");
	ck_assert_uint_eq(specs.count, 2);
}

TEST(event_cache_names_round_trip)
{
	size_t named = 0;
	for (uint64_t config = 0; config < 0x30000; config++) {
		char name[64];
		struct event_code code;
		if (!event_cache_name(config, name, sizeof(name)))
			continue;
		named++;
		ck_assert_msg(event_name_find(name, strlen(name), &code), "%s", name);
		/* Two are hardware events' names too: those win, as with perf. */
		if (code.type == PERF_TYPE_HW_CACHE)
			ck_assert_uint_eq(code.config, config);
	}
	/* L1D, LLC, dTLB and node do 3 operations, L1I 2, iTLB and branch 1; 2 results. */
	ck_assert_uint_eq(named, (4 * 3 + 2 + 1 + 1) * 2);
}

/* perf's attribute for an event: the lines that differ from 0. */
struct oracle {
	uint64_t type, config, values[8];
};

static const char *const oracle_fields[8] = {
	"exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle",
	"precise_ip",	"pinned",	  "exclusive",	"exclude_host",
};

static void oracle_line(struct oracle *oracle, const char *line)
{
	char field[64], value[64];
	if (sscanf(line, " %63s %63s", field, value) != 2)
		return;
	uint64_t number = strtoull(value, NULL, 0);
	if (strcmp(field, "type") == 0)
		oracle->type = number;
	if (strcmp(field, "config") == 0)
		oracle->config = number;
	for (size_t i = 0; i < 8; i++)
		if (strcmp(field, oracle_fields[i]) == 0)
			oracle->values[i] = number;
}

/* Asks perf; how many attributes it showed. */
static size_t ask_perf(const char *events, struct oracle *oracles, size_t limit)
{
	CLEANUP_FREE char *command = NULL;
	ck_assert_int_gt(asprintf(&command, "perf stat -vv -e '%s' true 2>&1", events), 0);
	FILE *perf = popen(command, "r");
	char line[512];
	size_t count = 0;
	bool inside = false;
	while (perf && fgets(line, sizeof(line), perf)) {
		if (strncmp(line, "perf_event_attr:", 16) == 0 && count < limit) {
			oracles[count++] = (struct oracle){0};
			inside = true;
		} else if (strncmp(line, "-----", 5) == 0) {
			inside = false;
		} else if (inside) {
			oracle_line(&oracles[count - 1], line);
		}
	}
	if (perf)
		pclose(perf);
	return count;
}

/* False where perf does not say what it makes of it. */
static bool compare_with_perf(const char *event)
{
	struct oracle oracle;
	/* perf shows more than one when it tries again with less, none when it is absent. */
	if (ask_perf(event, &oracle, 1) != 1 || oracle.config >> 32)
		return false;
	SPECS specs = {0};
	parse(&specs, event);
	const struct perf_event_attr *attr = &specs.items->attr;
	const uint64_t ours[8] = {
		attr->exclude_user, attr->exclude_kernel, attr->exclude_hv, attr->exclude_idle,
		attr->precise_ip,   attr->pinned,	  attr->exclusive,  attr->exclude_host,
	};
	ck_assert_msg(attr->type == oracle.type, "%s: type %u, perf %" PRIu64, event, attr->type,
		      oracle.type);
	ck_assert_msg(attr->config == oracle.config, "%s: config 0x%llx, perf 0x%" PRIx64, event,
		      attr->config, oracle.config);
	for (size_t i = 0; i < 8; i++)
		ck_assert_msg(ours[i] == oracle.values[i], "%s: %s %" PRIu64 ", perf %" PRIu64,
			      event, oracle_fields[i], ours[i], oracle.values[i]);
	return true;
}

TEST(event_parse_agrees_with_perf)
{
	static const char *const events[] = {
		"cycles",
		"cpu-cycles",
		"instructions",
		"cache-references",
		"cache-misses",
		"branches",
		"branch-instructions",
		"branch-misses",
		"bus-cycles",
		"ref-cycles",
		"stalled-cycles-frontend",
		"idle-cycles-frontend",
		"stalled-cycles-backend",
		"idle-cycles-backend",
		"cpu-clock",
		"task-clock",
		"page-faults",
		"faults",
		"minor-faults",
		"major-faults",
		"context-switches",
		"cs",
		"cpu-migrations",
		"migrations",
		"alignment-faults",
		"emulation-faults",
		"dummy",
		"bpf-output",
		"cgroup-switches",
		"L1-dcache-loads",
		"L1-dcache-load-misses",
		"l1d-stores",
		"L1-dcache-store-misses",
		"L1-dcache-prefetches",
		"L1-icache-load-misses",
		"L1-icache-prefetch-misses",
		"LLC-loads",
		"LLC-load-misses",
		"LLC-stores",
		"LLC-prefetch-misses",
		"L2-loads",
		"dTLB-loads",
		"dTLB-store-misses",
		"d-tlb-load-miss",
		"iTLB-loads",
		"iTLB-load-misses",
		"branch-loads",
		"branch-load-misses",
		"bpc-loads",
		"btb-read-miss",
		"node-loads",
		"node-store-misses",
		"node-prefetches",
		"node",
		"LLC-misses",
		"r1a8",
		"rffff",
		"cpu-clock:u",
		"cpu-clock:k",
		"cpu-clock:uk",
		"cpu-clock:h",
		"cpu-clock:I",
		"cpu-clock:H",
		"cpu-clock:G",
		"cpu-clock:p",
		"cpu-clock:pp",
		"cpu-clock:D",
		"cpu-clock:uI",
		"cpu-clock:e",
		"task-clock:ukhHG",
	};
	struct oracle probe;
	if (ask_perf("dummy", &probe, 1) != 1)
		skip_test("needs perf");
	size_t compared = 0;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		compared += compare_with_perf(events[i]);
	ck_assert_uint_gt(compared, 15);
}
