/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From records to tables: each case writes a recording with known truth. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <sprof/sprof.h>
#include <sprof/timeline.h>
#include "files.h"
#include "profile/analysis_options.h"
#include "record/encode.h"
#include "record/note.h"
#include "test.h"
#include "writer/writer.h"

#define BASIC (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define KERNEL_START 0xffffffff81000000u

/* A recording while it is made, and what is made of it. */
struct made {
	struct sp_event events[3];
	uint64_t ids[3];
	size_t event_count;
	uint64_t began_ns; /* by the clock that the events say; 0: it is not known */
	const char *const *cmdline; /* the recorder's */
	struct record_buffer buffer;
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct analysis_options options;
	struct sp_analysis *analysis;
};

static struct sp_event *add_event(struct made *made, const char *name, uint64_t sample_type)
{
	size_t index = made->event_count++;
	made->ids[index] = 100 + index;
	made->events[index] = (struct sp_event){
		.name = name,
		.attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),
			 .config = PERF_COUNT_SW_CPU_CLOCK, .sample_type = sample_type,
			 .sample_id_all = 1},
		.ids = &made->ids[index],
		.id_count = 1,
	};
	return &made->events[index];
}

static void put(struct made *made, size_t event, struct sp_record *record)
{
	struct sp_error *error;
	if (!record->id.id)
		record->id.id = made->ids[event];
	error = record_encode(&made->buffer, record, &made->events[event].attr);
	if (error)
		ck_abort_msg("%s", sp_error_message(error));
}

static void comm(struct made *made, uint64_t time_ns, uint32_t pid, uint32_t tid, const char *name,
		 bool exec)
{
	struct sp_record record = {
		.type = PERF_RECORD_COMM, .misc = exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
		.id = {.time_ns = time_ns}, .comm = {.pid = pid, .tid = tid, .comm = name},
	};
	put(made, 0, &record);
}

static void map(struct made *made, uint64_t time_ns, uint32_t pid, uint64_t start, const char *path)
{
	struct sp_record record = {
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER,
		.id = {.time_ns = time_ns},
		.mmap = {.pid = pid, .tid = pid, .start = start, .size = 0x10000, .filename = path,
			 .prot = PROT_READ | PROT_EXEC},
	};
	put(made, 0, &record);
}

static void map_kernel(struct made *made)
{
	struct sp_record record = {
		.type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_KERNEL,
		.mmap = {.pid = UINT32_MAX, .start = KERNEL_START, .size = 0x100000,
			 .file_offset = KERNEL_START, .filename = "[kernel.kallsyms]_text"},
	};
	put(made, 0, &record);
}

/* A sample as most cases want it: on CPU 0, of weight 10, in user space. */
static struct sp_record sample_at(uint64_t time_ns, uint32_t pid, uint32_t tid, uint64_t ip)
{
	return (struct sp_record){
		.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER,
		.sample = {.time_ns = time_ns, .pid = pid, .tid = tid, .ip = ip, .period = 10},
	};
}

static void put_sample(struct made *made, size_t event, struct sp_record *record)
{
	if (!record->sample.id)
		record->sample.id = made->ids[event];
	put(made, event, record);
}

static void sample(struct made *made, uint64_t time_ns, uint32_t pid, uint32_t tid, uint64_t ip)
{
	struct sp_record record = sample_at(time_ns, pid, tid, ip);
	put_sample(made, 0, &record);
}

/* In the file's own folder; `damage` is written over the bytes at that offset of the data. */
static const char *write_file(struct made *made)
{
	const char *path = files_path("made.data");
	struct writer *writer;
	struct writer_info info = {
		.arch = "x86_64", .clock_id = (uint32_t)made->events[0].attr.clockid,
		.clock_resolution_ns = made->began_ns != 0, .clock_wall_ns = made->began_ns,
		.clock_ns = made->began_ns, .cmdline = made->cmdline,
	};
	struct writer_end end = {0};
	struct iovec span = {made->buffer.items, made->buffer.count};
	remove(path);
	ok_or_fail(writer_open(path, made->events, made->event_count, &info, &writer));
	ok_or_fail(writer_write(writer, &span, 1));
	ok_or_fail(writer_close(writer, &end));
	return path;
}

static void forget_analysis(struct made *made)
{
	sp_analysis_free(made->analysis);
	sp_reader_free(made->reader);
	sp_ctx_free(made->ctx);
	made->analysis = NULL;
}

static void analyse_reader(struct made *made)
{
	const struct analysis_options *groups = &made->options;
	const struct sp_analysis_options options = {
		.size = sizeof(options),
		.rows = &groups->rows,
		.tree = &groups->tree,
		.stacks = groups->stacks.size ? &groups->stacks : NULL,
		.samples = &groups->samples,
		.filter = &groups->filter,
		.files = &groups->files,
		.threads = groups->threads,
		.counts = groups->counts,
	};
	ok_or_fail(sp_analysis_run(made->ctx, made->reader, &options, &made->analysis));
}

static void analyse_events(struct made *made, const char *path, size_t profiles)
{
	ok_or_fail(sp_ctx_new(&made->ctx));
	ok_or_fail(sp_reader_open(made->ctx, path, &made->reader));
	struct analysis_options *groups = &made->options;
	groups->rows.size = sizeof(groups->rows);
	groups->tree.size = sizeof(groups->tree);
	groups->samples.size = sizeof(groups->samples);
	groups->filter.size = sizeof(groups->filter);
	groups->files.size = sizeof(groups->files);
	analyse_reader(made);
	ck_assert_uint_eq(sp_analysis_profile_count(made->analysis), profiles);
}

static void analyse(struct made *made, const char *path)
{
	analyse_events(made, path, made->event_count);
}

static void finish(struct made *made)
{
	analyse(made, write_file(made));
}

static void made_deinit(struct made *made)
{
	forget_analysis(made);
	vec_deinit(&made->buffer);
}

static const struct sp_profile *profile(const struct made *made, size_t event)
{
	return sp_analysis_profile(made->analysis, event);
}

/* "comm dso symbol samples, …", or with totals "…/…", of the keys that were asked for. */
static void rows_are(const struct made *made, size_t event, const char *wanted)
{
	const struct sp_profile *of = profile(made, event);
	char text[2000] = "";
	for (size_t i = 0; i < of->row_count; i++) {
		const struct sp_row *row = sp_profile_row(of, i);
		const char *name = row->symbol ?: row->function;
		size_t used = strlen(text);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s%s%s%s ",
					 i ? ", " : "", row->comm ?: "", row->comm && row->dso ? " " : "",
					 row->dso ?: "", name ? " " : "", name ?: "");
		if (row->pid || row->tid || row->cpu)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "(%d %d %d) ",
						 row->pid, row->tid, row->cpu);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%d",
					 (int)row->self.samples);
		if (made->options.rows.children)
			snprintf(text + used, sizeof(text) - used, "/%d", (int)row->total.samples);
	}
	ck_assert_str_eq(text, wanted);
}

/* The finding of that kind, which must be there. */
static const struct sp_finding *finding(const struct made *made, enum sp_finding_kind kind)
{
	for (size_t i = 0; i < sp_analysis_finding_count(made->analysis); i++) {
		const struct sp_finding *found = sp_analysis_finding(made->analysis, i);
		if (i)
			ck_assert_int_ge((int)found->kind,
					 (int)sp_analysis_finding(made->analysis, i - 1)->kind);
		if (found->kind == kind)
			return found;
	}
	ck_abort_msg("no such finding");
	return NULL;
}

static bool has_finding(const struct made *made, enum sp_finding_kind kind)
{
	for (size_t i = 0; i < sp_analysis_finding_count(made->analysis); i++)
		if (sp_analysis_finding(made->analysis, i)->kind == kind)
			return true;
	return false;
}

static void says(const struct sp_finding *found, const char *text)
{
	ck_assert_msg(strstr(found->what, text) != NULL, "\"%s\" is not in \"%s\"", text,
		      found->what);
}

TEST(samples_are_what_their_process_was_at_the_time)
{
	struct made made = {0};
	add_event(&made, "cpu-clock", BASIC);
	comm(&made, 0, 1, 1, "shell", false);
	map(&made, 0, 1, 0x10000, "/bin/shell");
	struct sp_record fork = {.type = PERF_RECORD_FORK, .id = {.time_ns = 100},
				 .task = {.pid = 2, .tid = 2, .ppid = 1, .ptid = 1, .time_ns = 100}};
	put(&made, 0, &fork);
	comm(&made, 200, 2, 2, "child", true);
	map(&made, 210, 2, 0x10000, "/bin/child");
	/* Not in the order of time, as samples of several CPUs are. */
	sample(&made, 250, 2, 2, 0x10010);
	sample(&made, 150, 2, 2, 0x10010);
	sample(&made, 260, 1, 1, 0x10020);
	sample(&made, 50, 1, 1, 0x10020);
	sample(&made, 215, 2, 2, 0x10010);
	sample(&made, 260, 77, 78, 0x10010);
	finish(&made);
	rows_are(&made, 0, "child child 0x10 2, shell shell 0x20 2, :78 [unknown] 0x10010 1, "
			   "shell shell 0x10 1");
	ck_assert_uint_eq(profile(&made, 0)->samples, 6);
	ck_assert_uint_eq(profile(&made, 0)->weight, 60);
	ck_assert(profile(&made, 0)->weight_is_time && !profile(&made, 0)->has_callchains);
	ck_assert_uint_eq(profile(&made, 0)->stacks[SP_STACK_NONE], 6);
	ck_assert_uint_eq(sp_analysis_first_ns(made.analysis), 50);
	ck_assert_uint_eq(sp_analysis_last_ns(made.analysis), 260);
	const struct sp_finding *unmapped = finding(&made, SP_FINDING_UNMAPPED);
	ck_assert_uint_eq(unmapped->samples, 1);
	ck_assert(fabs(unmapped->share - 1.0 / 6) < 1e-9);
	made_deinit(&made);
}

#define HOUR_NS UINT64_C(3600000000000)
#define DAY_NS (24 * HOUR_NS)

static void sample_on(struct made *made, uint32_t cpu, uint64_t time_ns, uint64_t ip)
{
	struct sp_record record = sample_at(time_ns, 2, 2, ip);
	record.sample.cpu = cpu;
	put_sample(made, 0, &record);
}

/* By the second: what ran before the clock was set back by an hour at 4 s, and what since then. */
static void put_set_back(struct made *made)
{
	const uint64_t s = 1000000000, after = DAY_NS - HOUR_NS;
	made->began_ns = DAY_NS;
	struct sp_event *event = add_event(made, "cpu-clock", BASIC);
	event->attr.use_clockid = 1;
	event->attr.clockid = CLOCK_REALTIME;
	/* In the order of rings, as perf writes them. */
	comm(made, DAY_NS + s, 2, 2, "old", true);
	map(made, DAY_NS + s, 2, 0x10000, "/bin/old");
	sample_on(made, 0, DAY_NS + 2 * s, 0x10010);
	sample_on(made, 0, DAY_NS + 39 * s / 10, 0x10010);
	sample_on(made, 0, after + 42 * s / 10, 0x10010);
	comm(made, after + 6 * s, 2, 2, "new", true);
	map(made, after + 6 * s, 2, 0x10000, "/bin/new");
	sample_on(made, 0, after + 7 * s, 0x10010);
	sample_on(made, 1, DAY_NS + 3 * s, 0x10020);
	sample_on(made, 1, after + 5 * s, 0x10020);
	sample_on(made, 1, after + 8 * s, 0x10020);
}

TEST(records_after_a_clock_step_back_are_later)
{
	struct made made = {0};
	put_set_back(&made);
	finish(&made);
	rows_are(&made, 0, "old old 0x10 3, old old 0x20 2, new new 0x10 1, new new 0x20 1");
	says(finding(&made, SP_FINDING_NOTE), "set back by 3599.700 s or more");
	says(finding(&made, SP_FINDING_NOTE), "6 later records are shifted");
	/* From 2 s to 8 s, less for how long nothing came. */
	uint64_t span_ns = sp_analysis_last_ns(made.analysis) - sp_analysis_first_ns(made.analysis);
	ck_assert_uint_eq(span_ns / 100000000, 57);
	made_deinit(&made);
}

/* The same times of a clock that cannot be set are what they are. */
TEST(times_of_other_clocks_are_left_alone)
{
	struct made made = {0};
	put_set_back(&made);
	made.events[0].attr.clockid = CLOCK_MONOTONIC;
	finish(&made);
	ck_assert(!has_finding(&made, SP_FINDING_NOTE));
	ck_assert_uint_eq(sp_analysis_first_ns(made.analysis), DAY_NS - HOUR_NS + 4200000000);
	made_deinit(&made);
}

TEST(guest_code_is_separate)
{
	struct made made = {0};
	add_event(&made, "cpu-clock", BASIC);
	map(&made, 0, 1, 0x10000, "/usr/bin/qemu");
	sample(&made, 10, 1, 1, 0x10010);
	sample(&made, 20, 1, 1, 0x70010);
	const uint16_t modes[] = {PERF_RECORD_MISC_GUEST_USER, PERF_RECORD_MISC_GUEST_USER,
				  PERF_RECORD_MISC_GUEST_KERNEL};
	for (size_t i = 0; i < 3; i++) {
		/* The hypervisor's mapping there is not the guest's. */
		struct sp_record record = sample_at(30, 1, 1, 0x10010);
		record.misc = modes[i];
		put_sample(&made, 0, &record);
	}
	finish(&made);
	const struct sp_profile *all = profile(&made, 0);
	ck_assert_uint_eq(all->row_count, 4);
	size_t guests = 0;
	for (size_t i = 0; i < all->row_count; i++) {
		const struct sp_row *row = sp_profile_row(all, i);
		bool guest = !strcmp(row->dso, "[guest]");
		ck_assert(guest == (row->level == SP_LEVEL_GUEST_USER ||
				    row->level == SP_LEVEL_GUEST_KERNEL));
		ck_assert(!guest || (!row->symbol_known && !strcmp(row->dso_path, "[guest]")));
		guests += guest ? row->self.samples : 0;
	}
	ck_assert_uint_eq(guests, 3);
	ck_assert_uint_eq(finding(&made, SP_FINDING_UNMAPPED)->samples, 1);
	says(finding(&made, SP_FINDING_GUEST), "60% of samples are in virtual machines");
	made_deinit(&made);
}

TEST(without_times_the_order_in_the_file_is_that_of_time)
{
	struct made made = {0};
	struct sp_event *event = add_event(&made, "cpu-clock", PERF_SAMPLE_IP | PERF_SAMPLE_TID);
	event->attr.sample_id_all = 0;
	event->attr.sample_period = 7;
	map(&made, 0, 1, 0x10000, "/lib/one.so");
	sample(&made, 0, 1, 1, 0x10010);
	map(&made, 0, 1, 0x10000, "/lib/two.so");
	sample(&made, 0, 1, 1, 0x10010);
	sample(&made, 0, 1, 1, 0x10010);
	finish(&made);
	rows_are(&made, 0, ":1 two.so 0x10 2, :1 one.so 0x10 1");
	ck_assert_uint_eq(profile(&made, 0)->weight, 21);
	made_deinit(&made);
}

TEST(rows_are_made_by_the_keys_asked_for)
{
	static const struct {
		enum sp_key keys[3];
		size_t count;
		const char *wanted;
	} cases[] = {
		{{SP_KEY_COMM}, 1, "a 3, b 2"},
		{{SP_KEY_PID, SP_KEY_DSO}, 2, "one.so (1 0 0) 4, one.so (2 0 0) 1"},
		{{SP_KEY_TID}, 1, " (0 1 0) 2,  (0 3 0) 2,  (0 2 0) 1"},
		{{SP_KEY_CPU}, 1, " (0 0 5) 3,  2"},
		{{SP_KEY_SYMBOL}, 1, " 0x10 4,  0x20 1"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made made = {0};
		add_event(&made, "cpu-clock", BASIC);
		made.options.rows.keys = cases[i].keys;
		made.options.rows.key_count = cases[i].count;
		comm(&made, 0, 1, 1, "a", false);
		comm(&made, 0, 1, 3, "b", false);
		comm(&made, 0, 2, 2, "a", false);
		map(&made, 0, 1, 0x10000, "/lib/one.so");
		map(&made, 0, 2, 0x10000, "/lib/one.so");
		for (int j = 0; j < 5; j++) {
			uint32_t pid = j == 4 ? 2 : 1, tid = j == 4 ? 2 : j % 2 ? 3 : 1;
			struct sp_record record = sample_at(10, pid, tid, j ? 0x10010 : 0x10020);
			record.sample.cpu = j > 1 ? 5 : 0;
			put_sample(&made, 0, &record);
		}
		finish(&made);
		rows_are(&made, 0, cases[i].wanted);
		made_deinit(&made);
	}
}

static void put_chain(struct made *made, uint64_t time_ns, uint16_t cpumode, size_t count,
		      const uint64_t *ips)
{
	struct sp_record record = sample_at(time_ns, 1, 1, ips[1]);
	record.misc = cpumode;
	record.sample.ips = ips;
	record.sample.ip_count = count;
	put_sample(made, 0, &record);
}

static void print_weight(const char *name, const struct sp_weight *weight, FILE *out)
{
	fprintf(out, " %s %" PRIu64 " %" PRIu64 " %.12f %.12f %.12f", name, weight->samples,
		weight->weight, weight->share.value, weight->share.low, weight->share.high);
}

static void print_node(const struct sp_tree_node *node, int depth, FILE *out)
{
	fprintf(out, "%*s%s %s", depth, "", node->symbol ?: "-", node->dso ?: "-");
	print_weight("self", &node->self, out);
	print_weight("total", &node->total, out);
	putc('\n', out);
	for (size_t i = 0; i < node->child_count; i++)
		print_node(sp_tree_child(node, i), depth + 1, out);
}

/* Returns all that an analysis has. */
static char *analysis_text(const struct made *made)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const struct sp_profile *of = profile(made, 0);
	const struct sp_time_bins *bins = sp_analysis_time_bins(made->analysis, 0);
	fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu\n", of->samples,
		of->weight, of->shown_samples, of->shown_weight, of->row_count);
	for (size_t i = 0; i < sizeof(of->stacks) / sizeof(*of->stacks); i++)
		fprintf(out, "%" PRIu64 " ", of->stacks[i]);
	for (size_t i = 0; bins && i < bins->count; i++)
		fprintf(out, "%" PRIu64 " ", bins->samples[i]);
	putc('\n', out);
	for (size_t i = 0; i < of->row_count; i++) {
		const struct sp_row *row = sp_profile_row(of, i);
		fprintf(out, "%s %s %s", row->comm ?: "-", row->dso ?: "-", row->function ?: "-");
		print_weight("self", &row->self, out);
		print_weight("total", &row->total, out);
		fprintf(out, " %.12f\n", row->self_between ? row->self_between->high : 0);
	}
	if (of->tree)
		print_node(of->tree, 0, out);
	for (size_t i = 0; i < sp_analysis_finding_count(made->analysis); i++)
		fprintf(out, "%s\n", sp_analysis_finding(made->analysis, i)->what);
	fclose(out);
	return text;
}

static void switch_task(struct made *made, uint64_t time_ns, uint32_t tid, uint16_t misc)
{
	struct sp_record record = {.type = PERF_RECORD_SWITCH, .misc = misc,
				   .id = {.time_ns = time_ns, .pid = 1, .tid = tid}};
	put(made, 0, &record);
}

/* Chains of two threads in two files, with recursion, over 20,000 ns. */
static void put_chains(struct made *made)
{
	uint32_t seed = 1;
	add_event(made, "cpu-clock", BASIC | PERF_SAMPLE_CALLCHAIN);
	comm(made, 0, 1, 1, "one", false);
	comm(made, 0, 1, 2, "two", false);
	map(made, 0, 1, 0x10000, "/lib/one.so");
	map(made, 0, 1, 0x30000, "/lib/two.so");
	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t ips[9] = {PERF_CONTEXT_USER};
		size_t count = 2 + i % 7;
		for (size_t j = 1; j < count; j++) {
			seed = seed * 1664525 + 1013904223;
			ips[j] = (seed >> 30 ? 0x10000 : 0x30000) + 0x10 * (seed >> 27 & 3);
		}
		struct sp_record record = sample_at(10 * i, 1, 1 + i % 3 / 2, ips[1]);
		record.sample.ips = ips;
		record.sample.ip_count = count;
		put_sample(made, 0, &record);
	}
}

TEST(kept_counts_give_what_the_samples_give)
{
	static const struct {
		struct sp_analysis_tree tree;
		struct sp_analysis_stacks stacks;
		bool children, relative, timeline, none;
		enum sp_between_choice between;
		const char *dso, *symbol, *focus;
	} cases[] = {
		{.tree.order = SP_TREE_NONE},
		/* The counts of the first case do not suffice for this one. */
		{.tree.order = SP_TREE_CALLER, .timeline = true},
		{.tree.order = SP_TREE_CALLER, .children = true, .timeline = true,
		 .between = SP_BETWEEN_ALL},
		{.tree.order = SP_TREE_CALLEE},
		{.tree.order = SP_TREE_CALLER, .tree.comms = true, .children = true},
		{.tree.order = SP_TREE_CALLER, .stacks.callees = "0x10"},
		{.tree.order = SP_TREE_CALLEE, .stacks.callers = "0x20", .relative = true},
		{.tree.order = SP_TREE_NONE, .children = true, .relative = true},
		{.tree.order = SP_TREE_CALLER, .timeline = true},
		{.children = true, .between = SP_BETWEEN_ALL},
		{.tree.order = SP_TREE_CALLER, .none = true},
		{.dso = "two.so", .children = true, .between = SP_BETWEEN_SELF},
		{.symbol = "0x10", .tree.order = SP_TREE_CALLER, .timeline = true},
		{.focus = "0x20", .relative = true, .children = true},
		{.tree.order = SP_TREE_CALLEE, .children = true},
	};
	enum { CASES = sizeof(cases) / sizeof(*cases) };
	static const char *const names[] = {"one"};
	/* All; one thread; time without samples, which filters of code leave out. */
	for (unsigned int kind = 0; kind < 3; kind++) {
		char *texts[2][CASES];
		struct sp_counts *counts = NULL;
		struct made made = {.options.threads = 2};
		put_chains(&made);
		if (kind == 2) {
			made.events[0].attr.inherit = made.events[0].attr.context_switch = 1;
			made.events[0].attr.sample_period = 10;
			comm(&made, 0, 1, 3, "three", false);
			for (uint32_t tid = 1; tid <= 3; tid++) {
				switch_task(&made, 20001, tid, PERF_RECORD_MISC_SWITCH_OUT);
				switch_task(&made, 30000, tid, 0);
				switch_task(&made, 35000, tid, PERF_RECORD_MISC_SWITCH_OUT);
			}
		}
		finish(&made);
		sp_analysis_free(made.analysis);
		if (kind == 1)
			made.options.filter.comms = (struct sp_string_list){names, 1};
		made.options.samples.time_bins = true;
		made.options.stacks.size = sizeof(made.options.stacks);
		for (size_t keeps = 0; keeps < 2; keeps++)
			for (size_t i = 0; i < CASES; i++) {
				made.options.counts = keeps ? &counts : NULL;
				made.options.tree.order = cases[i].tree.order;
				made.options.tree.comms = cases[i].tree.comms;
				made.options.stacks.callers = cases[i].stacks.callers;
				made.options.stacks.callees = cases[i].stacks.callees;
				made.options.rows.children = cases[i].children;
				made.options.rows.between = cases[i].between;
				made.options.samples.relative = cases[i].relative;
				made.options.samples.timeline = cases[i].timeline;
				made.options.rows.none = cases[i].none;
				made.options.filter.dsos = (struct sp_string_list){
					&cases[i].dso, cases[i].dso != NULL};
				made.options.filter.symbols = (struct sp_string_list){
					&cases[i].symbol, cases[i].symbol != NULL};
				made.options.filter.focus = (struct sp_string_list){
					&cases[i].focus, cases[i].focus != NULL};
				analyse_reader(&made);
				texts[keeps][i] = analysis_text(&made);
				ck_assert(cases[i].none || profile(&made, 0)->row_count);
				sp_analysis_free(made.analysis);
				/* Then the samples can no longer be read. */
				if (keeps && i == 1)
					ck_assert_int_eq(truncate(files_path("made.data"), 512), 0);
			}
		for (size_t i = 0; i < CASES; i++) {
			ck_assert_msg(!strcmp(texts[0][i], texts[1][i]), "case %zu:\n%s---\n%s", i,
				      texts[0][i], texts[1][i]);
			free(texts[0][i]);
			free(texts[1][i]);
		}
		made.analysis = NULL;
		sp_counts_free(counts);
		made_deinit(&made);
	}
}

#define CHAIN(made, cpumode, ...)                                                                  \
	put_chain((made), 10, (cpumode),                                                           \
		  sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                      \
		  (const uint64_t[]){__VA_ARGS__})

static void chains_init(struct made *made)
{
	static const enum sp_key keys[] = {SP_KEY_SYMBOL};
	const char *kallsyms = "ffffffff81000000 T _text\n"
			       "ffffffff81000100 T caller\n"
			       "ffffffff81000200 T behind\n"
			       "ffffffff81000300 T leaf\n"
			       "ffffffff81000400 T entry\n"
			       "ffffffff81000500 T after\n";
	files_write(files_path("kallsyms"), kallsyms, strlen(kallsyms));
	add_event(made, "cpu-clock", BASIC | PERF_SAMPLE_CALLCHAIN);
	made->options.files.kallsyms = files_path("kallsyms");
	made->options.rows.keys = keys;
	made->options.rows.key_count = 1;
	made->options.rows.children = true;
	map_kernel(made);
	map(made, 0, 1, 0x10000, "/bin/program");
	map(made, 0, 1, 0x30000, "/lib/libc.so.6");
}

/* A stack without frame pointers: a number, then an address on the stack, then the program again. */
#define ASTRAY (uint64_t)PERF_CONTEXT_USER, 0x10010, 0x10020, 0x1, 0x7ffc00001000, 0x30020

static void ends_are(const struct made *made, uint64_t complete, uint64_t truncated,
		     uint64_t invalid_address)
{
	const uint64_t *ends = profile(made, 0)->stacks;
	ck_assert_uint_eq(ends[SP_STACK_COMPLETE], complete);
	ck_assert_uint_eq(ends[SP_STACK_TRUNCATED], truncated);
	ck_assert_uint_eq(ends[SP_STACK_INVALID_ADDRESS], invalid_address);
}

TEST(a_return_address_without_code_ends_the_stack)
{
	for (int only_leaves = 0; only_leaves < 2; only_leaves++) {
		struct made made = {0};
		chains_init(&made); /* mapped at time 0: as /proc had it */
		made.options.rows.children = !only_leaves;
		CHAIN(&made, PERF_RECORD_MISC_USER, ASTRAY);
		/* The call is the last instruction of its mapping; the next, where threads begin. */
		CHAIN(&made, PERF_RECORD_MISC_USER, (uint64_t)PERF_CONTEXT_USER, 0x10010, 0x20000,
		      0x30020, 0x7ffc00001000);
		finish(&made);
		ends_are(&made, 1, 0, 1);
		if (!only_leaves)
			rows_are(&made, 0, " 0x10 2/2,  0x10000 0/1,  0x20 0/1,  0x20 0/1");
		made_deinit(&made);
	}
}

/* In an address space with unknown mappings, only the first page is certainly unmapped. */
TEST(addresses_of_unknown_mappings_stay)
{
	static const enum sp_key keys[] = {SP_KEY_SYMBOL};
	for (int lost = 0; lost < 2; lost++) {
		struct made made = {.options.rows = {.keys = keys, .key_count = 1, .children = true}};
		struct sp_record loss = {.type = PERF_RECORD_LOST, .lost = {.lost = 1}};
		add_event(&made, "cpu-clock", BASIC | PERF_SAMPLE_CALLCHAIN);
		/* Mappings from before the recording began are unknown, or some were lost. */
		map(&made, lost ? 0 : 1, 1, 0x10000, "/bin/program");
		if (lost)
			put(&made, 0, &loss);
		CHAIN(&made, PERF_RECORD_MISC_USER, (uint64_t)PERF_CONTEXT_USER, 0x10010,
		      0x7f0000001000, 0x10020);
		CHAIN(&made, PERF_RECORD_MISC_USER, (uint64_t)PERF_CONTEXT_USER, 0x10010, 0x6, 0x10020);
		finish(&made);
		ends_are(&made, 0, 1, 1);
		rows_are(&made, 0, " 0x10 2/2,  0x20 0/1,  0x7f0000001000 0/1");
		made_deinit(&made);
	}
}

TEST(an_exec_makes_an_address_space_known)
{
	struct made made = {0};
	add_event(&made, "cpu-clock", BASIC | PERF_SAMPLE_CALLCHAIN);
	comm(&made, 1, 1, 1, "program", true);
	map(&made, 2, 1, 0x10000, "/bin/program");
	CHAIN(&made, PERF_RECORD_MISC_USER, ASTRAY);
	/* Code of a JIT, mapped after the first sample, is known as well. */
	map(&made, 20, 1, 0x7ffc00000000, "//anon");
	CHAIN(&made, PERF_RECORD_MISC_USER, (uint64_t)PERF_CONTEXT_USER, 0x10010, 0x7ffc00001000);
	finish(&made);
	ends_are(&made, 0, 1, 1);
	made_deinit(&made);
}

/* Within execve(2): the old program's place, in the kernel of the new name. */
static void put_in_exec(struct made *made, uint64_t time_ns, uint64_t user_ip)
{
	const uint64_t ips[] = {(uint64_t)PERF_CONTEXT_KERNEL, KERNEL_START + 0x310,
				(uint64_t)PERF_CONTEXT_USER, user_ip};
	put_chain(made, time_ns, PERF_RECORD_MISC_KERNEL, 4, ips);
}

TEST(samples_within_execve_keep_the_old_programs_mappings)
{
	static const enum sp_key keys[] = {SP_KEY_DSO};
	struct made made = {.options.rows = {.keys = keys, .key_count = 1, .children = true}};
	add_event(&made, "cpu-clock", BASIC | PERF_SAMPLE_CALLCHAIN);
	map_kernel(&made);
	map(&made, 0, 1, 0x10000, "/bin/old");
	map(&made, 0, 1, 0x30000, "/lib/old.so");
	comm(&made, 100, 1, 1, "new", true);
	map(&made, 110, 1, 0x10000, "/bin/new"); /* both are not position independent */
	map(&made, 120, 1, 0x50000, "[vdso]");
	put_in_exec(&made, 90, 0x10010);  /* before it is done */
	put_in_exec(&made, 105, 0x10010); /* old, although new is mapped there later */
	put_in_exec(&made, 115, 0x10010);
	put_in_exec(&made, 125, 0x30010); /* nothing of new is there */
	put_in_exec(&made, 200, 0x10010); /* a system call of new */
	put_in_exec(&made, 200, 0x70010); /* no process's */
	finish(&made);
	rows_are(&made, 0, "[kernel.kallsyms] 6/6, old 0/3, new 0/1, old.so 0/1");
	/* The causes of old stacks, and of those without a process, stay unknown. */
	ends_are(&made, 4, 2, 0);
	made_deinit(&made);
}

TEST(a_call_at_the_end_of_a_function_is_that_functions)
{
	struct made made = {0};
	chains_init(&made);
	/* The call returns to where the next function begins: it never does. */
	CHAIN(&made, PERF_RECORD_MISC_KERNEL, (uint64_t)PERF_CONTEXT_KERNEL, KERNEL_START + 0x310,
	      KERNEL_START + 0x200, KERNEL_START + 0x408);
	finish(&made);
	rows_are(&made, 0, " leaf 1/1,  caller 0/1,  entry 0/1");
	made_deinit(&made);
}

TEST(the_users_part_of_a_kernel_sample_stands_where_it_was)
{
	struct made made = {0};
	chains_init(&made);
	/* 0x10000 is the first instruction of the mapping, and was interrupted there. */
	CHAIN(&made, PERF_RECORD_MISC_KERNEL, (uint64_t)PERF_CONTEXT_KERNEL, KERNEL_START + 0x310,
	      (uint64_t)PERF_CONTEXT_USER, 0x10000, 0x10020);
	finish(&made);
	rows_are(&made, 0, " leaf 1/1,  0x0 0/1,  0x20 0/1");
	made_deinit(&made);
}

TEST(stacks_are_counted_by_their_ends)
{
	struct made made = {0};
	chains_init(&made);
	uint64_t deep[128] = {(uint64_t)PERF_CONTEXT_USER};
	for (uint64_t i = 1; i < 128; i++)
		deep[i] = 0x10000 + i * 16;
	CHAIN(&made, PERF_RECORD_MISC_USER, (uint64_t)PERF_CONTEXT_USER, 0x10010, 0x30020);
	CHAIN(&made, PERF_RECORD_MISC_USER, (uint64_t)PERF_CONTEXT_USER, 0x10010, 0x10020);
	CHAIN(&made, PERF_RECORD_MISC_USER, (uint64_t)PERF_CONTEXT_USER, 0x30010);
	CHAIN(&made, PERF_RECORD_MISC_KERNEL, (uint64_t)PERF_CONTEXT_KERNEL, KERNEL_START + 0x310);
	put_chain(&made, 10, PERF_RECORD_MISC_USER, 128, deep);
	put_chain(&made, 10, PERF_RECORD_MISC_USER, 127, deep);
	sample(&made, 10, 1, 1, 0x10010);
	for (int only_leaves = 0; only_leaves < 2; only_leaves++) {
		made.options.rows.children = !only_leaves;
		finish(&made);
		const uint64_t *ends = profile(&made, 0)->stacks;
		ck_assert_uint_eq(ends[SP_STACK_COMPLETE], 2);
		ck_assert_uint_eq(ends[SP_STACK_TRUNCATED], 3);
		ck_assert_uint_eq(ends[SP_STACK_DEPTH_LIMIT], 1);
		ck_assert_uint_eq(ends[SP_STACK_NONE], 1);
		ck_assert(profile(&made, 0)->has_callchains);
		/* Nothing is missing where no row shows callers. */
		if (only_leaves)
			ck_assert(!has_finding(&made, SP_FINDING_TRUNCATED_STACKS));
		else
			says(finding(&made, SP_FINDING_TRUNCATED_STACKS), " of stacks ");
		forget_analysis(&made);
	}
	vec_deinit(&made.buffer);
}

static void print_tree(const struct sp_tree_node *node, char *text, size_t size)
{
	for (size_t i = 0; i < node->child_count; i++) {
		const struct sp_tree_node *child = sp_tree_child(node, i);
		snprintf(text + strlen(text), size - strlen(text), "%s%s%s %d", i ? ", " : "",
			 child->truncated ? "!" : "", child->function, (int)child->total.samples);
		if (!child->child_count)
			continue;
		snprintf(text + strlen(text), size - strlen(text), " (");
		print_tree(child, text, size);
		snprintf(text + strlen(text), size - strlen(text), ")");
	}
}

static void tree_is(const struct made *made, const char *wanted)
{
	char text[2000] = "";
	print_tree(profile(made, 0)->tree, text, sizeof(text));
	ck_assert_str_eq(text, wanted);
}

/* A sample that says how its stack ended. */
static void put_ended(struct made *made, unsigned int misc, size_t count, const uint64_t *ips)
{
	put_chain(made, 10, (uint16_t)(PERF_RECORD_MISC_USER | misc), count, ips);
}

#define ENDED(made, misc, ...)                                                                     \
	put_ended((made), (misc), sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),      \
		  (const uint64_t[]){__VA_ARGS__})
#define END(end) ((unsigned int)SP_MISC_END_##end << SP_MISC_END_SHIFT)

TEST(waits_on_go_stacks_are_those_of_its_scheduler)
{
	static const struct {
		const char *event, *says;
	} cases[] = {
		{"cpu-clock", "of stacks begin on a thread's own stack"},
		{"offcpu-time", "of waits are those of Go's scheduler"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made made = {.options.rows.children = true};
		add_event(&made, cases[i].event, BASIC | PERF_SAMPLE_CALLCHAIN);
		ENDED(&made, END(COMPLETE) | SP_MISC_SYSTEM_STACK, (uint64_t)PERF_CONTEXT_USER, 0x10010);
		finish(&made);
		says(finding(&made, SP_FINDING_TRUNCATED_STACKS), cases[i].says);
		made_deinit(&made);
	}
}

TEST(stacks_end_as_the_recording_says)
{
	struct made made = {0};
	chains_init(&made);
	uint64_t user = (uint64_t)PERF_CONTEXT_USER;
	/* A stack that looks whole may be truncated, and the reverse. */
	ENDED(&made, END(COMPLETE), user, 0x10010, 0x10020);
	ENDED(&made, END(COMPLETE) | SP_MISC_REPAIRED, user, 0x10010, 0x10020);
	ENDED(&made, END(TRUNCATED), user, 0x10010, 0x30020);
	ENDED(&made, END(TRUNCATED), user, 0x10010, 0x30020);
	ENDED(&made, END(NO_UNWIND_INFO), user, 0x10010, 0x10020);
	ENDED(&made, END(NO_UNWIND_INFO), user, 0x30010);
	ENDED(&made, END(BAD_MEMORY) | SP_MISC_GUESSED, user, 0x10010, 0x10020);
	ENDED(&made, END(DEPTH_LIMIT), user, 0x10010, 0x10020);
	ENDED(&made, END(SKIPPED), user, 0x10010);
	ENDED(&made, END(SWITCHED), user, 0x10010, 0x10020);
	ENDED(&made, END(COMPLETE) | SP_MISC_SHORTENED, user, 0x10010, user, user, 0x10020);
	static const char *const trees[] = {
		[SP_TREE_CALLER] =
			"0x20 3 (0x10 2, ![frames omitted] 1 (0x10 1)), "
			"![truncated stacks] 2 (0x20 2 (0x10 2)), "
			"![truncated: a signal changed stacks] 1 (0x20 1 (0x10 1)), "
			"![truncated: depth limit] 1 (0x20 1 (0x10 1)), "
			"![truncated: no unwind information for libc.so.6] 1 (0x10 1), "
			"![truncated: no unwind information for program] 1 (0x20 1 (0x10 1)), "
			"![truncated: recorder overloaded] 1 (0x10 1), "
			"![truncated: unreadable memory] 1 (0x20 1 (0x10 1))",
		[SP_TREE_CALLEE] =
			"0x10 10 (0x20 6 (![truncated: a signal changed stacks] 1, "
			"![truncated: depth limit] 1, "
			"![truncated: no unwind information for program] 1, "
			"![truncated: unreadable memory] 1), 0x20 2 (![truncated stacks] 2), "
			"![frames omitted] 1 (0x20 1), ![truncated: recorder overloaded] 1), "
			"0x10 1 (![truncated: no unwind information for libc.so.6] 1)",
	};
	for (int pass = SP_TREE_NONE; pass <= SP_TREE_CALLEE; pass++) {
		made.options.tree.order = (enum sp_tree_order)pass;
		made.options.rows.children = pass != SP_TREE_NONE;
		finish(&made);
		const struct sp_profile *of = profile(&made, 0);
		ck_assert_uint_eq(of->stacks[SP_STACK_COMPLETE], 3);
		ck_assert_uint_eq(of->stacks[SP_STACK_TRUNCATED], 2);
		ck_assert_uint_eq(of->stacks[SP_STACK_NO_UNWIND_INFO], 2);
		ck_assert_uint_eq(of->stacks[SP_STACK_BAD_MEMORY], 1);
		ck_assert_uint_eq(of->stacks[SP_STACK_DEPTH_LIMIT], 1);
		ck_assert_uint_eq(of->stacks[SP_STACK_SKIPPED], 1);
		ck_assert_uint_eq(of->stacks[SP_STACK_SWITCHED], 1);
		ck_assert_uint_eq(of->repaired, 1);
		ck_assert_uint_eq(of->guessed, 1);
		ck_assert_uint_eq(of->shortened, 1);
		if (trees[pass])
			tree_is(&made, trees[pass]);
		forget_analysis(&made);
	}
	vec_deinit(&made.buffer);
}

TEST(the_machines_change_is_seen_in_chains_too)
{
	struct made made = {0};
	chains_init(&made);
	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t ips[] = {(uint64_t)PERF_CONTEXT_USER, 0x10010, 0x50010, 0x10020};
		map(&made, 100 * i, 1, 0x50000, i % 2 ? "/lib/odd.so" : "/lib/even.so");
		for (uint64_t j = 0; j < 3; j++)
			put_chain(&made, 100 * i + 10 + j, PERF_RECORD_MISC_USER, 4, ips);
	}
	static const enum sp_key keys[] = {SP_KEY_DSO};
	made.options.rows.keys = keys;
	finish(&made);
	rows_are(&made, 0, "program 300/300, even.so 0/150, odd.so 0/150");
	made_deinit(&made);
}

TEST(filters_change_rows_but_not_the_whole)
{
	static const int32_t two[] = {2}, five[] = {5};
	static const char *const names[] = {"b"}, *const dsos[] = {"/lib/one.so", "nothing"};
	static const char *const symbols[] = {"0x20"};
	static const struct sp_time_span late = {200, 0}, early[] = {{0, 10}, {100, 200}};
	static const struct analysis_options cases[] = {
		{.filter.pids = {two, 1}}, {.filter.tids = {five, 1}}, {.filter.cpus = {five, 1}},
		{.filter.comms = {names, 1}}, {.filter.dsos = {dsos, 2}},
		{.filter.symbols = {symbols, 1}}, {.filter.times = &late, .filter.time_count = 1},
		{.filter.times = early, .filter.time_count = 2},
	};
	static const int shown[] = {4, 3, 5, 4, 6, 7, 8, 10};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases) * 2; i++) {
		struct made made = {0};
		add_event(&made, "cpu-clock", BASIC);
		made.options = cases[i / 2];
		made.options.samples.relative = i % 2;
		comm(&made, 0, 1, 1, "a", false);
		comm(&made, 0, 2, 2, "b", false);
		map(&made, 0, 1, 0x10000, "/lib/one.so");
		map(&made, 0, 1, 0x30000, "/lib/two.so");
		map(&made, 0, 2, 0x30000, "/lib/two.so");
		for (int j = 0; j < 18; j++) {
			uint32_t pid = j < 4 ? 2 : 1, tid = j < 4 ? 2 : j < 7 ? 5 : 1;
			uint64_t base = j >= 4 && j < 10 ? 0x10000 : 0x30000;
			struct sp_record record = sample_at(j < 10 ? 199 : 200, pid, tid,
							    base + (j > 10 ? 0x20 : 0x10));
			record.sample.cpu = j < 5 ? 5 : 1;
			put_sample(&made, 0, &record);
		}
		finish(&made);
		const struct sp_profile *of = profile(&made, 0);
		uint64_t samples = 0;
		double share = 0;
		for (size_t j = 0; j < of->row_count; j++) {
			samples += sp_profile_row(of, j)->self.samples;
			share += sp_profile_row(of, j)->self.share.value;
		}
		ck_assert_uint_eq(of->samples, 18);
		ck_assert_uint_eq(of->weight, 180);
		ck_assert_int_eq((int)of->shown_samples, shown[i / 2]);
		ck_assert_uint_eq(of->shown_weight, of->shown_samples * 10);
		ck_assert_uint_eq(samples, of->shown_samples);
		ck_assert(fabs(share - (i % 2 ? 1 : shown[i / 2] / 18.0)) < 1e-9);
		made_deinit(&made);
	}
}

TEST(events_have_profiles_of_their_own)
{
	struct made made = {0};
	add_event(&made, "cpu-clock", BASIC);
	struct sp_event *faults = add_event(&made, "page-faults", BASIC);
	faults->attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	map(&made, 0, 1, 0x10000, "/bin/program");
	for (int i = 0; i < 5; i++) {
		struct sp_record record = sample_at(10, 1, 1, 0x10010);
		put_sample(&made, i < 3, &record);
	}
	struct sp_record stranger = sample_at(10, 1, 1, 0x10010);
	stranger.sample.id = 4711;
	put(&made, 0, &stranger);
	finish(&made);
	rows_are(&made, 0, ":1 program 0x10 2");
	rows_are(&made, 1, ":1 program 0x10 3");
	ck_assert_str_eq(profile(&made, 1)->event, "page-faults");
	ck_assert(!profile(&made, 1)->weight_is_time);
	says(finding(&made, SP_FINDING_DAMAGE), "1 sample of an event that the recording does not describe");
	made_deinit(&made);
}

/* With PERF_SAMPLE_READ a sample stands for what each counter of its group counted since. */
TEST(counters_of_a_group_are_weights)
{
	struct made made = {0};
	uint64_t type = BASIC | PERF_SAMPLE_READ;
	for (int i = 0; i < 2; i++) {
		struct sp_event *event = add_event(&made, i ? "member" : "leader", type);
		event->attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	}
	map(&made, 0, 1, 0x10000, "/bin/program");
	for (uint64_t i = 1; i <= 4; i++) {
		const struct sp_counter counters[] = {{.value = i * 100, .id = made.ids[0]},
						      {.value = i / 2 * 7, .id = made.ids[1]}};
		struct sp_record record = sample_at(i, 1, 1, 0x10000 + i * 16);
		record.sample.counters = (struct sp_counters){
			.read_format = made.events[0].attr.read_format, .values = counters,
			.count = 2};
		put_sample(&made, 0, &record);
	}
	finish(&made);
	ck_assert_uint_eq(profile(&made, 0)->samples, 4);
	ck_assert_uint_eq(profile(&made, 0)->weight, 400);
	/* A counter that stood still has no sample. */
	rows_are(&made, 1, ":1 program 0x20 1, :1 program 0x40 1");
	ck_assert_uint_eq(profile(&made, 1)->weight, 14);
	made_deinit(&made);
}

static void lose(struct made *made, uint32_t type, uint64_t time_ns, uint32_t cpu, uint64_t lost)
{
	struct sp_record record = {.type = type, .id = {.time_ns = time_ns, .cpu = cpu},
				   .lost = {.id = made->ids[0], .lost = lost}};
	put(made, 0, &record);
}

TEST(losses_are_reported_with_their_place)
{
	struct made made = {0};
	add_event(&made, "cpu-clock", BASIC);
	for (uint64_t i = 0; i <= 100; i++)
		sample(&made, 1000000000 + i * 100000000, 1, 1, 0x10010);
	lose(&made, PERF_RECORD_LOST, 2000000000, 0, 1);
	lose(&made, PERF_RECORD_LOST, 5000000000, 3, 60);
	lose(&made, PERF_RECORD_LOST, 6000000000, 3, 38);
	finish(&made);
	ck_assert_uint_eq(profile(&made, 0)->lost, 99);
	const struct sp_finding *lost = finding(&made, SP_FINDING_LOST);
	ck_assert_uint_eq(lost->samples, 99);
	ck_assert(fabs(lost->share - 99.0 / 200) < 1e-9);
	says(lost, "99 samples of cpu-clock (50%) lost, 99% of them on CPU 3");
	says(lost, "most at 4.00 s to 5.00 s after the first sample");
	forget_analysis(&made);
	/* The same once more, as perf counts it at the end; and what the hardware lost. */
	lose(&made, PERF_RECORD_LOST_SAMPLES, 0, 0, 97);
	lose(&made, PERF_RECORD_LOST_SAMPLES, 7000000000, 0, 5);
	finish(&made);
	ck_assert_uint_eq(profile(&made, 0)->lost, 102);
	made_deinit(&made);
}

TEST(timelines_list_losses_by_time)
{
	struct made made = {.options = {.tree.order = SP_TREE_CALLER, .samples.timeline = true}};
	add_event(&made, "cpu-clock", BASIC);
	sample(&made, 1000, 1, 1, 0x10010);
	lose(&made, PERF_RECORD_LOST, 5000, 0, 60);
	lose(&made, PERF_RECORD_LOST, 2000, 1, 7);
	lose(&made, PERF_RECORD_LOST_SAMPLES, 0, 0, 70); /* without a time */
	finish(&made);
	const struct sp_timeline *timeline = sp_analysis_timeline(made.analysis, 0);
	ck_assert_uint_eq(timeline->loss_count, 2);
	ck_assert_uint_eq(sp_timeline_loss(timeline, 0)->time_ns, 2000);
	ck_assert_uint_eq(sp_timeline_loss(timeline, 0)->lost, 7);
	ck_assert_uint_eq(sp_timeline_loss(timeline, 1)->time_ns, 5000);
	ck_assert_uint_eq(sp_timeline_loss(timeline, 1)->lost, 60);
	forget_analysis(&made);
	/* Too many of them: neighbours are added up. */
	for (uint64_t i = 1; i <= 25000; i++)
		lose(&made, PERF_RECORD_LOST, 10000 + i, 0, 2);
	finish(&made);
	timeline = sp_analysis_timeline(made.analysis, 0);
	ck_assert_uint_eq(timeline->loss_count, 8334);
	ck_assert_uint_eq(sp_timeline_loss(timeline, 0)->time_ns, 10001);
	ck_assert_uint_eq(sp_timeline_loss(timeline, 0)->lost, 69);
	ck_assert_uint_eq(sp_timeline_loss(timeline, 8333)->time_ns, 35000);
	uint64_t lost = 0;
	for (size_t i = 0; i < timeline->loss_count; i++)
		lost += sp_timeline_loss(timeline, i)->lost;
	ck_assert_uint_eq(lost, 67 + 50000);
	made_deinit(&made);
}

/* Returns the state of a node's outermost caller. */
static enum sp_state state_of(const struct sp_timeline *timeline, uint32_t node)
{
	while (sp_timeline_node(timeline, node)->parent)
		node = sp_timeline_node(timeline, node)->parent;
	return sp_timeline_node(timeline, node)->node->state;
}

/* Returns the time of a thread (0: all) in a state from a time up to another. */
static uint64_t cells_of(const struct sp_timeline *timeline, int32_t tid, enum sp_state state,
			 uint64_t from_ns, uint64_t until_ns)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = sp_timeline_cell(timeline, i);
		if (tid && sp_timeline_thread(timeline, cell->thread)->tid != tid)
			continue;
		if (cell->time_ns >= from_ns && cell->time_ns < until_ns &&
		    state_of(timeline, cell->node) == state)
			sum += cell->weight;
	}
	return sum;
}

/* Checks that each part of a timeline has each thread's states; `running`: also on a CPU. */
static void parts_have_states(struct made *made, bool running)
{
	const struct sp_timeline *timeline = sp_analysis_timeline(made->analysis, 0);
	uint64_t part = timeline->part_ns, begin = timeline->begin_ns / part * part;
	size_t count = (size_t)((timeline->end_ns - begin) / part + 1);
	struct sp_thread_times *times = calloc(count, sizeof(*times));
	ck_assert_ptr_nonnull(times);
	ck_assert_uint_gt(count, 100);
	ck_assert_uint_le(count, 700);
	for (size_t i = 0; i < timeline->thread_count; i++) {
		int32_t tid = sp_timeline_thread(timeline, i)->tid;
		ck_assert(sp_analysis_state_times(made->analysis, i, begin, part, count, times));
		for (size_t j = 0; j < count; j++) {
			uint64_t from = begin + j * part, until = from + part;
			ck_assert_uint_eq(cells_of(timeline, tid, SP_STATE_ON_CPU, from, until),
					  running ? times[j].running_ns : 0);
			ck_assert_uint_eq(cells_of(timeline, tid, SP_STATE_RUNNABLE, from, until),
					  times[j].runnable_ns);
			ck_assert_uint_eq(cells_of(timeline, tid, SP_STATE_BLOCKED, from, until),
					  times[j].blocked_ns);
		}
	}
	free(times);
}

/*
 * Two threads of a process from 1 to 11 us. Thread 1 runs 3 us, waits 5 us, runs 2 us, and is
 * preempted for the last 0.5 us of these; samples have its times wrong. Thread 2 waits, and has no
 * sample.
 */
static void record_waits(struct made *made)
{
	struct sp_record wait = sample_at(4000, 1, 1, 0x10020);
	add_event(made, "cpu-clock", BASIC)->attr.sample_period = 10;
	add_event(made, "offcpu-time", BASIC);
	wait.sample.period = 5000;
	switch_task(made, 1000, 1, 0);
	switch_task(made, 1000, 2, PERF_RECORD_MISC_SWITCH_OUT);
	for (uint64_t i = 0; i < 3; i++)
		sample(made, 2000 + i, 1, 1, 0x10010);
	put_sample(made, 1, &wait);
	switch_task(made, 4000, 1, PERF_RECORD_MISC_SWITCH_OUT);
	switch_task(made, 9000, 1, 0);
	switch_task(made, 10000, 1,
		    PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	switch_task(made, 10500, 1, 0);
	switch_task(made, 11000, 1, PERF_RECORD_MISC_SWITCH_OUT);
}

TEST(timelines_of_wall_time_have_the_times_of_states)
{
	struct made made = {.options = {.tree.order = SP_TREE_CALLER, .samples = {.timeline = true,
								.mode = SP_MODE_WALL}}};
	record_waits(&made);
	made.options.samples.all_threads = true;
	analyse_events(&made, write_file(&made), 1);
	const struct sp_timeline *timeline = sp_analysis_timeline(made.analysis, 0);
	ck_assert_uint_eq(timeline->begin_ns, 1000);
	ck_assert_uint_eq(timeline->end_ns, 11000);
	ck_assert_uint_eq(cells_of(timeline, 1, SP_STATE_ON_CPU, 0, UINT64_MAX), 4500);
	ck_assert_uint_eq(cells_of(timeline, 1, SP_STATE_RUNNABLE, 0, UINT64_MAX), 500);
	ck_assert_uint_eq(cells_of(timeline, 1, SP_STATE_BLOCKED, 0, UINT64_MAX), 5000);
	ck_assert_uint_eq(cells_of(timeline, 2, SP_STATE_BLOCKED, 0, UINT64_MAX), 10000);
	parts_have_states(&made, true);
	struct sp_thread_times times[2];
	ck_assert(sp_analysis_state_times(made.analysis, 0, 1000, 5000, 2, times));
	ck_assert_uint_eq(times[0].running_ns, 3000);
	ck_assert_uint_eq(times[0].blocked_ns, 2000);
	ck_assert_uint_eq(times[1].running_ns, 1500);
	ck_assert_uint_eq(times[1].blocked_ns, 3000);
	forget_analysis(&made);
	made.options.samples.mode = SP_MODE_OFF_CPU;
	analyse_events(&made, write_file(&made), 1);
	parts_have_states(&made, false);
	forget_analysis(&made);
	/* The states belong to modes of time. */
	made.options.samples.mode = SP_MODE_CPU;
	finish(&made);
	ck_assert_uint_eq(sp_analysis_timeline(made.analysis, 0)->part_ns, 0);
	ck_assert(!sp_analysis_state_times(made.analysis, 0, 1000, 5000, 2, times));
	ck_assert_uint_eq(times[0].running_ns, 0);
	made_deinit(&made);
}

TEST(a_wait_that_only_schedstat_splits_ends_with_its_delay)
{
	struct made made = {.options = {.tree.order = SP_TREE_CALLER, .samples = {.timeline = true,
								.mode = SP_MODE_WALL}}};
	record_waits(&made);
	/* It waited 1.5 µs for a CPU. Preemption explains 0.5; the rest is the end of the wait. */
	for (uint64_t i = 0; i < 2; i++) {
		const struct sp_note note = {.kind = NOTE_SCHEDSTAT, .time_ns = 1000 + i * 10000,
					     .values = {1, 1, i * 4500, i * 1500, 0},
					     .value_count = 5};
		ok_or_fail(record_encode_note(&made.buffer, &note));
	}
	analyse_events(&made, write_file(&made), 1);
	const struct sp_timeline *timeline = sp_analysis_timeline(made.analysis, 0);
	uint64_t part = timeline->part_ns;
	ck_assert_uint_eq(cells_of(timeline, 1, SP_STATE_RUNNABLE, 0, UINT64_MAX), 1500);
	ck_assert_uint_eq(cells_of(timeline, 1, SP_STATE_BLOCKED, 0, UINT64_MAX), 4000);
	for (uint64_t at = (4000 / part + 1) * part; at + part <= 9000; at += part) {
		uint64_t runnable = cells_of(timeline, 1, SP_STATE_RUNNABLE, at, at + part);
		uint64_t blocked = cells_of(timeline, 1, SP_STATE_BLOCKED, at, at + part);
		ck_assert_uint_eq(runnable + blocked, part);
		uint64_t from = at < 8000 ? 8000 : at;
		ck_assert_uint_eq(runnable, at + part > from ? at + part - from : 0);
	}
	made_deinit(&made);
}

TEST(filtered_time_is_near_its_samples)
{
	static const int32_t cpus[] = {1};
	struct made made = {.options = {.tree.order = SP_TREE_CALLER, .samples = {.timeline = true,
								.mode = SP_MODE_WALL}}};
	record_waits(&made);
	/* One of four samples, at the end, passes: a quarter of 4.5 µs. */
	struct sp_record last = sample_at(10700, 1, 1, 0x10010);
	last.sample.cpu = 1;
	put_sample(&made, 0, &last);
	made.options.filter.cpus = (struct sp_number_list){cpus, 1};
	analyse_events(&made, write_file(&made), 1);
	const struct sp_timeline *timeline = sp_analysis_timeline(made.analysis, 0);
	ck_assert_uint_eq(cells_of(timeline, 1, SP_STATE_ON_CPU, 0, UINT64_MAX), 1125);
	ck_assert_uint_eq(cells_of(timeline, 1, SP_STATE_ON_CPU, 9000, UINT64_MAX), 1125);
	made_deinit(&made);
}

TEST(waits_without_states_do_not_exceed_the_recording)
{
	struct made made = {.options = {.tree.order = SP_TREE_CALLER, .samples = {.timeline = true,
								.mode = SP_MODE_WALL}}};
	struct sp_record wait = sample_at(10000, 1, 1, 0x10020);
	add_event(&made, "cpu-clock", BASIC)->attr.sample_period = 10;
	add_event(&made, "offcpu-time", BASIC);
	/* One wait of 2 µs, and a sum of waits that perf writes at the end. */
	sample(&made, 1000, 1, 1, 0x10010);
	wait.sample.time_ns = 3000;
	wait.sample.period = 2000;
	put_sample(&made, 1, &wait);
	wait.sample.time_ns = 11000;
	wait.sample.period = 5000;
	put_sample(&made, 1, &wait);
	analyse_events(&made, write_file(&made), 1);
	const struct sp_timeline *timeline = sp_analysis_timeline(made.analysis, 0);
	uint64_t part = timeline->part_ns;
	ck_assert_uint_eq(cells_of(timeline, 1, SP_STATE_BLOCKED, 0, UINT64_MAX), 7000);
	for (uint64_t at = 1000 / part * part; at <= 11000; at += part) {
		uint64_t blocked = cells_of(timeline, 1, SP_STATE_BLOCKED, at, at + part);
		if (at >= 3000 && at + part <= 5000)
			ck_assert_uint_ge(blocked, part + part / 2 - 1);
		else if (at >= 1000 && at + part <= 11000)
			ck_assert_uint_ge(blocked, part / 2 - 1);
		ck_assert_uint_le(blocked, part + part / 2 + 1);
	}
	made_deinit(&made);
}

TEST(timelines_of_latency_have_blocked_time_where_no_thread_could_run)
{
	struct made made = {.options = {.tree.order = SP_TREE_CALLER, .samples = {.timeline = true,
								.mode = SP_MODE_LATENCY}}};
	record_waits(&made);
	/* Thread 3 runs from 6 to 7 µs, and at the same time as thread 1 from 3 to 4 µs. */
	for (uint64_t i = 0; i < 2; i++) {
		switch_task(&made, 3000 + i * 3000, 3, 0);
		sample(&made, 3500 + i * 3000, 1, 3, 0x10010);
		switch_task(&made, 4000 + i * 3000, 3, PERF_RECORD_MISC_SWITCH_OUT);
	}
	analyse_events(&made, write_file(&made), 1);
	const struct sp_timeline *timeline = sp_analysis_timeline(made.analysis, 0);
	ck_assert_uint_eq(cells_of(timeline, 0, SP_STATE_BLOCKED, 0, UINT64_MAX), 4000);
	uint64_t part = timeline->part_ns;
	for (uint64_t at = 1000 / part * part; at <= 11000; at += part) {
		uint64_t begin = at < 1000 ? 1000 : at, sum = 0;
		uint64_t end = at + part < 11000 ? at + part : 11000;
		for (enum sp_state state = SP_STATE_ON_CPU; state <= SP_STATE_UNKNOWN; state++)
			sum += cells_of(timeline, 0, state, at, at + part);
		/* Halves of an odd time are rounded. */
		ck_assert_uint_le(sum, end - begin + 1);
		ck_assert_uint_ge(sum + 1, end - begin);
		uint64_t blocked = cells_of(timeline, 0, SP_STATE_BLOCKED, at, at + part);
		if (at + part <= 4000 || at >= 9000 || (at >= 6000 && at + part <= 7000))
			ck_assert_uint_eq(blocked, 0);
		else if (at >= 4000 && at + part <= 9000 && (at + part <= 6000 || at >= 7000))
			ck_assert_uint_eq(blocked, part);
	}
	made_deinit(&made);
}

TEST(throttling_is_summed_up_by_pairs)
{
	struct made made = {0};
	add_event(&made, "cpu-clock", BASIC);
	static const struct {
		uint32_t type;
		uint64_t time_ns;
		uint32_t cpu;
	} records[] = {
		{PERF_RECORD_THROTTLE, 1000, 0},   {PERF_RECORD_THROTTLE, 2000, 1},
		{PERF_RECORD_UNTHROTTLE, 5000, 0}, {PERF_RECORD_UNTHROTTLE, 5500, 0},
		{PERF_RECORD_UNTHROTTLE, 9000, 1}, {PERF_RECORD_THROTTLE, 9500, 1},
	};
	sample(&made, 500, 1, 1, 0x10010);
	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
		struct sp_record record = {
			.type = records[i].type,
			.id = {.time_ns = records[i].time_ns, .cpu = records[i].cpu},
			.throttle = {.time_ns = records[i].time_ns, .id = made.ids[0]}};
		put(&made, 0, &record);
	}
	finish(&made);
	ck_assert_uint_eq(profile(&made, 0)->throttled_count, 3);
	ck_assert_uint_eq(profile(&made, 0)->throttled_ns, 4000 + 7000);
	says(finding(&made, SP_FINDING_THROTTLED), "throttled 3 times, for 11 us in total");
	made_deinit(&made);
}

/* A count of an event when a thread of process 1 ended. */
static void put_read(struct made *made, uint32_t tid)
{
	struct sp_counter counter = {.value = 50};
	struct sp_record record = {
		.type = PERF_RECORD_READ, .id = {.time_ns = 200},
		.read = {.pid = 1, .tid = tid, .counters = {.values = &counter, .count = 1}}};
	put(made, 0, &record);
}

TEST(tasks_without_a_sample_are_missed)
{
	struct made made = {0};
	struct sp_event *event = add_event(&made, "cpu-clock", BASIC);
	event->attr.inherit_stat = 1;
	for (uint32_t i = 0; i < 30; i++)
		sample(&made, 100, 1, 1, 0x10010);
	for (uint32_t tid = 1; tid <= 3; tid++)
		for (int cpu = 0; cpu < 2; cpu++)
			put_read(&made, tid);
	finish(&made);
	const struct sp_finding *unsampled = finding(&made, SP_FINDING_UNSAMPLED);
	says(unsampled, "2 of 3 threads and processes ended before their first sample of cpu-clock: "
			"40% of the total is missing (:2: 1 of 1");
	ck_assert(fabs(unsampled->share - 200.0 / 500) < 1e-9);
	made_deinit(&made);
}

static void task(struct made *made, uint32_t type, uint64_t time_ns, uint32_t tid, uint16_t misc)
{
	struct sp_record record = {
		.type = type, .misc = misc, .id = {.time_ns = time_ns, .pid = tid, .tid = tid},
		.task = {.pid = tid, .tid = tid, .ppid = 1, .ptid = 1, .time_ns = time_ns},
	};
	put(made, 0, &record);
}

#define MS(COUNT) ((COUNT) * UINT64_C(1000000))

/* A child with that tid and name, from 10 ms on, that runs for `lasts_ns`. */
static void child(struct made *made, uint32_t tid, const char *name, uint64_t lasts_ns)
{
	task(made, PERF_RECORD_FORK, MS(10), tid, 0);
	comm(made, MS(10) + 1, tid, tid, name, true);
	task(made, PERF_RECORD_EXIT, MS(10) + lasts_ns, tid, 0);
}

/* Children of three programs, at a period of 1 ms, on one CPU. */
static void make_children(struct made *made)
{
	struct sp_event *event = add_event(made, "cpu-clock", BASIC);
	event->attr.inherit = 1;
	event->attr.sample_period = MS(1);
	comm(made, 0, 1, 1, "main", true);
	task(made, PERF_RECORD_FORK, 5, 77, 1 << 13); /* was there before */
	child(made, 10, "short", MS(1) / 2);
	child(made, 11, "short", MS(1) / 4);
	child(made, 12, "short", MS(3));
	child(made, 13, "sleepy", MS(50));
	child(made, 14, "seen", MS(4));
	struct sp_record last = sample_at(MS(100), 1, 1, 0x10010);
	last.sample.period = MS(1);
	put_sample(made, 0, &last);
	for (uint32_t tid = 12; tid <= 14; tid += 2) {
		struct sp_record record = sample_at(MS(11), tid, tid, 0x10010);
		record.sample.period = MS(1);
		put_sample(made, 0, &record);
	}
}

static void is_unsampled(const struct sp_unsampled *of, const char *comm, uint64_t tasks,
			 uint64_t unsampled, uint64_t weight, bool exact)
{
	ck_assert_str_eq(of->comm, comm);
	ck_assert_uint_eq(of->tasks, tasks);
	ck_assert_uint_eq(of->unsampled, unsampled);
	ck_assert_uint_eq(of->weight, weight);
	ck_assert_int_eq(of->exact, exact);
}

TEST(short_tasks_without_a_sample_are_reported_by_program)
{
	struct made made = {0};
	make_children(&made);
	finish(&made);
	const struct sp_profile *of = profile(&made, 0);
	ck_assert_uint_eq(of->unsampled_count, 3);
	/* A sleeping task has used no more than a period. */
	is_unsampled(sp_profile_unsampled(of, 0), "sleepy", 1, 1, MS(1), false);
	is_unsampled(sp_profile_unsampled(of, 1), "short", 3, 2, MS(3) / 4, false);
	is_unsampled(sp_profile_unsampled(of, 2), "seen", 1, 0, 0, true);
	ck_assert_uint_eq(sp_profile_unsampled(of, 0)->lasted_ns, MS(50));
	const struct sp_finding *unsampled = finding(&made, SP_FINDING_UNSAMPLED);
	says(unsampled, "3 of 5 threads and processes ended before their first sample of cpu-clock: "
			"up to 37% of the total is missing "
			"(sleepy: 1 of 1 (up to 1 ms), short: 2 of 3 (up to 750 us))");
	made_deinit(&made);
}

TEST(remedies_for_short_tasks_are_accepted_with_the_recordings_options)
{
	static const char others[] = "record context switches (--switch-events)";
	static const struct { bool inherited, waits; const char *remedy; } cases[] = {
		/* If this user may record whole CPUs. */
		{true, false,
		 "record context switches (--switch-events), or all CPUs (--scope cpu)"},
		{true, true, others},
		{false, false, others},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made made = {0};
		struct sp_event *event = add_event(&made, "cpu-clock", BASIC);
		event->attr.inherit_stat = 1;
		event->attr.inherit = cases[i].inherited;
		if (cases[i].waits)
			add_event(&made, "offcpu-time", BASIC);
		sample(&made, 100, 1, 1, 0x10010);
		for (uint32_t tid = 1; tid <= 3; tid++)
			put_read(&made, tid);
		finish(&made);
		const char *remedy = finding(&made, SP_FINDING_UNSAMPLED)->remedy;
		if (strcmp(remedy, others))
			ck_assert_str_eq(remedy, cases[i].remedy);
		made_deinit(&made);
	}
}

/* Only a command is started by the recorder. A runtime's variable is for older processes, too. */
TEST(remedies_that_need_a_command_are_not_for_older_processes)
{
	static const char node[] = "set NODE_OPTIONS='--perf-basic-prof "
				   "--interpreted-frames-native-stack' in the program's "
				   "environment";
	for (int older = 0; older < 2; older++) {
		struct made made = {0};
		add_event(&made, "cpu-clock", BASIC);
		if (older)
			task(&made, PERF_RECORD_FORK, 0, 7, PERF_RECORD_MISC_FORK_EXEC);
		comm(&made, 1, 7, 7, "web", !older);
		map(&made, 2, 7, 0x400000, "/usr/bin/node");
		map(&made, 3, 7, 0x10000, "//anon");
		sample(&made, 100, 7, 7, 0x10010);
		sample(&made, 110, 7, 7, 0x999999);
		finish(&made);
		ck_assert_str_eq(finding(&made, SP_FINDING_NO_SYMBOLS)->remedy, node);
		const char *unmapped = finding(&made, SP_FINDING_UNMAPPED)->remedy;
		ck_assert(older ? !strcmp(unmapped, "record the program from its start: sprof "
						    "record COMMAND")
				: !unmapped);
		made_deinit(&made);
	}
}

TEST(remedies_that_the_command_has_are_not_repeated)
{
	static const struct { const char *file, *remedy, *cmdline[6]; } cases[] = {
		{"/usr/bin/node", NULL, {"sprof", "record", "--runtime-names", "--", "node"}},
		{"/usr/bin/node", NULL, {"sprof", "record", "--", "node", "--perf-basic-prof"}},
		{"/usr/bin/node", "set NODE_OPTIONS=", {"sprof", "record", "--", "node", "a.js"}},
		{"/jvm/libjvm.so", "run jcmd PID ",
		 {"sprof", "record", "--runtime-names", "--", "java"}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made made = {.cmdline = cases[i].cmdline};
		add_event(&made, "cpu-clock", BASIC);
		comm(&made, 1, 7, 7, "web", true);
		map(&made, 2, 7, 0x400000, cases[i].file);
		map(&made, 3, 7, 0x10000, "//anon");
		sample(&made, 100, 7, 7, 0x10010);
		finish(&made);
		const char *remedy = finding(&made, SP_FINDING_NO_SYMBOLS)->remedy;
		ck_assert(cases[i].remedy ? remedy && !strncmp(remedy, cases[i].remedy,
							       strlen(cases[i].remedy))
					  : !remedy);
		made_deinit(&made);
	}
}

static const struct sp_row *row_of_comm(const struct made *made, const char *comm)
{
	const struct sp_profile *of = profile(made, 0);
	for (size_t i = 0; i < of->row_count; i++)
		if (!strcmp(sp_profile_row(of, i)->comm, comm))
			return sp_profile_row(of, i);
	ck_abort_msg("no row of %s", comm);
	return NULL;
}

TEST(weight_without_samples_widens_the_rows_it_may_belong_to)
{
	static const struct { const char *comm; uint64_t lacks, unplaced; } rows[] = {
		/*
		 * A period after the last sample of "seen" and of one "short"; all began as main,
		 * which lacks half a period more for two forks. No sample shows where the period
		 * before the first one was spent.
		 */
		{"seen", MS(1), MS(1)}, {"short", MS(7) / 4, MS(1)}, {"main", MS(19) / 4, MS(2)},
	};
	/* Wilson's interval of 1 of 3. Its low bound is less than a period. */
	const double high = 0.7923404, all = MS(3);
	struct made made = {0};
	make_children(&made);
	made.options.rows.keys = (const enum sp_key[]){SP_KEY_COMM};
	made.options.rows.key_count = 1;
	finish(&made);
	ck_assert_uint_eq(profile(&made, 0)->missing_weight, MS(19) / 4);
	ck_assert_uint_eq(profile(&made, 0)->unplaced_weight, MS(2));
	for (size_t i = 0; i < 3; i++) {
		const struct sp_row *row = row_of_comm(&made, rows[i].comm);
		const struct sp_share *share = &row->self.share;
		double lacks = (double)rows[i].lacks;
		ck_assert_uint_eq(row->missing_weight, rows[i].lacks);
		double widened = (high * all + lacks) / (all + lacks);
		ck_assert(share->low == 0);
		double moved = (double)rows[i].unplaced / all;
		ck_assert(fabs(share->high - fmin(widened + moved, 1)) < 1e-6);
	}
	made_deinit(&made);

	/* Rows that are not by program may lack all of it. */
	struct made mixed = {0};
	make_children(&mixed);
	mixed.options.rows.keys = (const enum sp_key[]){SP_KEY_DSO};
	mixed.options.rows.key_count = 1;
	finish(&mixed);
	ck_assert_uint_eq(sp_profile_row(profile(&mixed, 0), 0)->missing_weight, MS(19) / 4);
	made_deinit(&mixed);
}

TEST(switches_say_what_short_lives_used)
{
	struct made made = {0};
	make_children(&made);
	for (uint64_t i = 0; i < 3; i++) { /* twice 10 us, and 5 until the end; in any order */
		uint64_t in_ns = i < 2 ? MS(20) + i * 100000 : MS(60) - 5000;
		struct sp_record record = {
			.type = PERF_RECORD_SWITCH, .misc = 1 << 13,
			.id = {.time_ns = in_ns + 10000, .pid = 13, .tid = 13}};
		if (i < 2)
			put(&made, 0, &record);
		record.misc = 0;
		record.id.time_ns = in_ns;
		put(&made, 0, &record);
	}
	finish(&made);
	const struct sp_profile *of = profile(&made, 0);
	ck_assert_uint_eq(of->unsampled_count, 3);
	is_unsampled(sp_profile_unsampled(of, 0), "short", 3, 2, MS(3) / 4, false);
	is_unsampled(sp_profile_unsampled(of, 1), "sleepy", 1, 1, 25000, true);
	made_deinit(&made);
}

TEST(a_rate_in_step_with_timers_is_a_finding)
{
	for (uint64_t hz = 997; hz <= 1000; hz += 3) {
		struct made made = {0};
		struct sp_event *event = add_event(&made, "cpu-clock", BASIC);
		event->attr.freq = 1;
		event->attr.sample_freq = hz;
		sample(&made, 10, 1, 1, 0x10010);
		finish(&made);
		ck_assert_int_eq(has_finding(&made, SP_FINDING_LOCK_IN), hz == 1000);
		if (hz == 1000) {
			const struct sp_finding *found = finding(&made, SP_FINDING_LOCK_IN);
			says(found, "cpu-clock: sampling at 1000 Hz can lock in step with 1 ms timers");
			ck_assert_str_eq(found->remedy, "record with -F 809");
		}
		made_deinit(&made);
	}
}

TEST(cpu_wide_events_miss_no_task)
{
	struct made made = {0};
	make_children(&made);
	sample(&made, MS(12), 0, 0, 0x10010);
	finish(&made);
	ck_assert_uint_eq(profile(&made, 0)->unsampled_count, 0);
	ck_assert(!has_finding(&made, SP_FINDING_UNSAMPLED));
	made_deinit(&made);

	struct made alone = {0};
	make_children(&alone);
	alone.events[0].attr.inherit = 0;
	finish(&alone);
	ck_assert_uint_eq(profile(&alone, 0)->unsampled_count, 0);
	made_deinit(&alone);
}

TEST(notes_of_the_recorder_are_the_last_findings)
{
	struct made made = {0};
	add_event(&made, "cpu-clock", BASIC);
	sample(&made, 1000000000, 1, 1, 0x10010);
	ok_or_fail(record_encode_note(&made.buffer, &(struct sp_note){.text = "the rate was lowered",
				.size = strlen("the rate was lowered"), .time_ns = 3500000000}));
	ok_or_fail(record_encode_note(&made.buffer, &(struct sp_note){.text = "another",
				.size = strlen("another"), .time_ns = 0}));
	finish(&made);
	size_t count = sp_analysis_finding_count(made.analysis);
	ck_assert_uint_ge(count, 2);
	ck_assert_str_eq(sp_analysis_finding(made.analysis, count - 2)->what,
			 "the rate was lowered — after 2.50 s");
	ck_assert_str_eq(sp_analysis_finding(made.analysis, count - 1)->what, "another");
	ck_assert(!has_finding(&made, SP_FINDING_LOST) && !has_finding(&made, SP_FINDING_DAMAGE));
	made_deinit(&made);
}

TEST(records_after_damage_are_read)
{
	struct made made = {0};
	add_event(&made, "cpu-clock", BASIC);
	map(&made, 0, 1, 0x10000, "/bin/program");
	for (uint64_t i = 0; i < 100; i++)
		sample(&made, 10 + i, 1, 1, 0x10010);
	const char *path = write_file(&made);
	/* In the middle of the samples, a header of zeros. */
	size_t size = 56, from_end = 50 * size;
	FILE *file = fopen(path, "r+");
	uint64_t offset[2] = {0};
	ck_assert_int_eq(fseek(file, 40, SEEK_SET), 0); /* the header's data.offset, data.size */
	ck_assert_uint_eq(fread(offset, sizeof(*offset), 2, file), 2);
	ck_assert_int_eq(fseek(file, (long)(offset[0] + offset[1] - from_end), SEEK_SET), 0);
	ck_assert_uint_eq(fwrite("\0\0\0\0\0\0\0\0", 8, 1, file), 1);
	fclose(file);
	analyse(&made, path);
	ck_assert_uint_eq(profile(&made, 0)->samples, 99);
	says(finding(&made, SP_FINDING_DAMAGE), "damaged in 1 place");
	made_deinit(&made);
}

static int random_below(int limit)
{
	return (int)(lrand48() % limit);
}

static void compare_trees(const struct sp_tree_node *a, const struct sp_tree_node *b)
{
	if (a->child_count != b->child_count || a->total.weight != b->total.weight ||
	    a->self.weight != b->self.weight || a->left_out != b->left_out ||
	    strcmp(a->function ?: "", b->function ?: "") || strcmp(a->dso ?: "", b->dso ?: ""))
		ck_abort_msg("%s differs", a->function ?: "the root");
	for (size_t i = 0; i < a->child_count; i++)
		compare_trees(sp_tree_child(a, i), sp_tree_child(b, i));
}

/* Enough for several ranges of the file. */
static void put_much(struct made *made)
{
	char name[32];
	srand48(5);
	for (uint32_t pid = 1; pid <= 20; pid++) {
		snprintf(name, sizeof(name), "p%d", (int)pid % 7);
		comm(made, 0, pid, pid, name, false);
		map(made, 0, pid, 0x10000, "/bin/program");
		map(made, 0, pid, 0x30000, "/lib/libc.so.6");
	}
	for (uint64_t i = 0; i < 30000; i++) {
		uint64_t ips[40] = {(uint64_t)PERF_CONTEXT_USER};
		uint32_t pid = 1 + (uint32_t)random_below(20);
		size_t count = 2 + (size_t)random_below(38);
		for (size_t j = 1; j < count; j++)
			ips[j] = (random_below(9) ? 0x10000u : 0x30000u) +
				 (uint64_t)random_below(random_below(20) ? 4 : 40) * 16;
		if (random_below(400) == 0)
			map(made, i, pid, 0x10000, random_below(2) ? "/bin/other" : "/bin/program");
		struct sp_record record = sample_at(i, pid, pid, ips[1]);
		record.sample.ips = ips;
		record.sample.ip_count = count;
		record.sample.period = 1 + (uint64_t)random_below(5);
		record.sample.cpu = (uint32_t)random_below(3);
		put_sample(made, 0, &record);
	}
}

TEST(results_do_not_depend_on_the_number_of_threads)
{
	static const enum sp_key keys[] = {SP_KEY_COMM, SP_KEY_CPU, SP_KEY_DSO, SP_KEY_SYMBOL};
	static const enum sp_tree_order orders[] = {SP_TREE_CALLER, SP_TREE_CALLEE};
	struct made one = {.options = {.rows = {.keys = keys, .key_count = 4, .children = true},
				       .threads = 1, .tree.comms = true}};
	add_event(&one, "cpu-clock", BASIC | PERF_SAMPLE_CALLCHAIN);
	put_much(&one);
	for (int i = 0; i < 2; i++) {
		one.options.tree.order = orders[i];
		finish(&one);
		struct made many = one;
		many.options.threads = 5;
		analyse(&many, files_path("made.data"));
		const struct sp_profile *a = profile(&one, 0), *b = profile(&many, 0);
		ck_assert_uint_gt(a->row_count, 500);
		ck_assert_uint_eq(a->row_count, b->row_count);
		for (size_t j = 0; j < a->row_count; j++) {
			const struct sp_row *x = sp_profile_row(a, j), *y = sp_profile_row(b, j);
			if (strcmp(x->comm, y->comm) || strcmp(x->dso, y->dso) ||
			    strcmp(x->symbol, y->symbol) || x->cpu != y->cpu ||
			    memcmp(&x->self, &y->self, sizeof(x->self)) ||
			    memcmp(&x->total, &y->total, sizeof(x->total)))
				ck_abort_msg("row %zu differs", j);
		}
		ck_assert(memcmp(&a->stacks, &b->stacks, sizeof(a->stacks)) == 0);
		compare_trees(a->tree, b->tree);
		forget_analysis(&many);
		forget_analysis(&one);
	}
	vec_deinit(&one.buffer);
}

/* Totals and tree once more, in the plainest way: each sample by itself. */
TEST(totals_agree_with_a_count_sample_by_sample)
{
	static const enum sp_key keys[] = {SP_KEY_SYMBOL};
	enum { FUNCTIONS = 24, SAMPLES = 4000 };
	static uint64_t selfs[FUNCTIONS], totals[FUNCTIONS];
	struct made made = {.options = {.rows = {.keys = keys, .key_count = 1, .children = true},
					.tree.order = SP_TREE_CALLEE}};
	add_event(&made, "cpu-clock", BASIC | PERF_SAMPLE_CALLCHAIN);
	map(&made, 0, 1, 0x10000, "/bin/program");
	srand48(11);
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t ips[30] = {(uint64_t)PERF_CONTEXT_USER};
		bool seen[FUNCTIONS] = {false};
		size_t count = 2 + (size_t)random_below(28);
		for (size_t j = 1; j < count; j++) {
			int function = 1 + random_below(FUNCTIONS - 1);
			ips[j] = 0x10000 + (uint64_t)function * 16;
			totals[function] += !seen[function];
			seen[function] = true;
			selfs[function] += j == 1;
		}
		put_chain(&made, (uint64_t)i, PERF_RECORD_MISC_USER, count, ips);
	}
	finish(&made);
	const struct sp_profile *of = profile(&made, 0);
	ck_assert_uint_eq(of->row_count, FUNCTIONS - 1);
	for (size_t i = 0; i < of->row_count; i++) {
		size_t function = sp_profile_row(of, i)->address / 16;
		ck_assert_uint_eq(sp_profile_row(of, i)->self.samples, selfs[function]);
		ck_assert_uint_eq(sp_profile_row(of, i)->total.samples, totals[function]);
	}
	/* With callees, the outermost nodes are the sampled functions. */
	ck_assert_uint_eq(of->tree->total.samples, SAMPLES);
	for (size_t i = 0; i < of->tree->child_count; i++)
		ck_assert_uint_eq(sp_tree_child(of->tree, i)->total.samples,
				  selfs[sp_tree_child(of->tree, i)->address / 16]);
	made_deinit(&made);
}

TEST(a_recording_of_nothing_is_analysed)
{
	struct made made = {.options = {.rows.children = true, .tree.order = SP_TREE_CALLER}};
	add_event(&made, "cpu-clock", BASIC);
	comm(&made, 0, 1, 1, "a", false);
	finish(&made);
	ck_assert_uint_eq(profile(&made, 0)->row_count, 0);
	ck_assert_uint_eq(profile(&made, 0)->tree->child_count, 0);
	ck_assert_uint_eq(sp_analysis_finding_count(made.analysis), 0);
	made_deinit(&made);
}

/* Writes and opens a recording of two events; the reader keeps its file when the next is written. */
static void open_made(struct made *made)
{
	const char *path = write_file(made);
	ok_or_fail(sp_ctx_new(&made->ctx));
	ok_or_fail(sp_reader_open(made->ctx, path, &made->reader));
}

static void put_process(struct made *made, const char *name, const char *path, size_t samples)
{
	comm(made, 0, 7, 7, name, true);
	map(made, 0, 7, 0x10000, path);
	for (size_t i = 0; i < samples; i++) {
		struct sp_record record = sample_at(100 + i, 7, 7, 0x10010);
		size_t event = made->event_count - 1;
		record.sample.id = made->ids[event];
		put_sample(made, event, &record);
	}
}

TEST(recordings_are_summed_each_with_its_own_machine)
{
	struct made first = {0}, second = {0};
	add_event(&first, "one", BASIC);
	add_event(&first, "two", BASIC);
	put_process(&first, "a", "/bin/a", 3);
	open_made(&first);
	/* The same process number and addresses are of another program there. */
	add_event(&second, "two", BASIC);
	put_process(&second, "b", "/bin/b", 2);
	sample(&second, 5000, 7, 7, 0x10010);
	sample(&second, 6000, 99, 99, 0x999999);
	open_made(&second);
	const struct sp_recording recordings[] = {{.reader = first.reader}, {.reader = second.reader},
						  {.reader = first.reader}};
	const struct sp_time_span late = {103, 0};
	const struct sp_analysis_options options = {.size = sizeof(options)};
	ok_or_fail(sp_analysis_sum(first.ctx, recordings, 2, &options, &first.analysis));
	ck_assert_uint_eq(sp_analysis_profile_count(first.analysis), 2);
	ck_assert_str_eq(sp_analysis_event(first.analysis, 1)->name, "two");
	rows_are(&first, 0, "");
	rows_are(&first, 1, "a a 0x10 3, b b 0x10 3, :99 [unknown] 0x999999 1");
	ck_assert_uint_eq(profile(&first, 1)->samples, 7);
	ck_assert_uint_eq(sp_analysis_last_ns(first.analysis), 0);
	ck_assert_uint_eq(sp_analysis_duration_ns(first.analysis), 2 + 5900);
	const struct sp_finding *unmapped = finding(&first, SP_FINDING_UNMAPPED);
	says(unmapped, "made.data: 25%"); /* share of its own recording, but */
	ck_assert(fabs(unmapped->share - 1.0 / 7) < 1e-9);
	sp_analysis_free(first.analysis);

	/* A recording twice: all sums are twice those of one. */
	const struct sp_recording twice[] = {recordings[0], {.reader = first.reader, .times = &late,
							     .time_count = 1}};
	ok_or_fail(sp_analysis_sum(first.ctx, twice, 1, &options, &first.analysis));
	rows_are(&first, 1, "a a 0x10 3");
	struct sp_share once = sp_profile_row(profile(&first, 1), 0)->self.share;
	ck_assert(once.value > 0.99);
	sp_analysis_free(first.analysis);
	ok_or_fail(sp_analysis_sum(first.ctx, (struct sp_recording[]){recordings[0], recordings[2]}, 2,
				   &options, &first.analysis));
	rows_are(&first, 1, "a a 0x10 6");
	/* Twice the samples: a narrower interval. */
	ck_assert(sp_profile_row(profile(&first, 1), 0)->self.share.low > once.low);
	sp_analysis_free(first.analysis);
	/* Each with times of its own. */
	ok_or_fail(sp_analysis_sum(first.ctx, twice, 2, &options, &first.analysis));
	rows_are(&first, 1, "a a 0x10 3");
	made_deinit(&first);
	second.analysis = NULL;
	made_deinit(&second);
}
