/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_time FILE [ENGINE]: how long unwinding a recording's dumps takes, first and again,
 * and how the stacks end. `unwind_time -v FILE` prints the stacks, `unwind_time -f FILE` those
 * of user space folded, for tests/workload/chains.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "dumps.h"
#include "symbol/resolver.h"

#define FRAMES 8192

static const char *const ends[] = {"complete", "truncated", "no_info", "bad_memory", "depth_limit"};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void must(struct sp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "unwind_time: %s\n", sp_error_message(error));
	exit(1);
}

static void print_stack(struct dumps *dumps, const struct dump *dump,
			const struct unwind_frame *frames, const struct unwind_result *result)
{
	printf("%u/%u at %lu %s missing %lx sp %lx size %zu fp %u sig %u\n", dump->pid, dump->tid,
	       (long)dump->time_ns, ends[result->end], (long)result->missing,
	       result->count ? (long)frames[0].sp : 0,
	       dump->sample.stack.size, result->frame_pointers, result->signals);
	for (size_t i = 0; i < result->count; i++) {
		struct location location = machine_locate(dumps->machine, dump->sample.view,
							  PERF_RECORD_MISC_USER, frames[i].ip);
		printf("\t%lx %s+0x%lx sp %lx\n", (long)frames[i].ip,
		       location.module ? location.module->name : "?", (long)location.offset,
		       (long)frames[i].sp);
	}
}

static void print_folded(struct dumps *dumps, struct resolver *resolver, const struct dump *dump,
			 const struct unwind_frame *frames, const struct unwind_result *result)
{
	printf("%s", machine_span(dumps->machine, dump->pid, dump->tid, dump->time_ns).comm);
	if (result->end != UNWIND_COMPLETE)
		printf(";[truncated: %s]", ends[result->end]);
	for (size_t i = result->count; i-- > 0;) {
		const struct unwind_frame *frame = &frames[i];
		struct location location =
			machine_locate(dumps->machine, dump->sample.view, PERF_RECORD_MISC_USER,
				       frame->ip - !frame->exact);
		const struct symbol *symbol = resolver_find(resolver, &location);
		if (symbol)
			printf(";%s", symbol->name);
		else
			printf(";[%s]", location.module ? location.module->name : "unknown");
	}
	printf(" 1\n");
}

int main(int argc, char **argv)
{
	bool folded = argc > 1 && !strcmp(argv[1], "-f");
	bool verbose = argc > 1 && !strcmp(argv[1], "-v");
	argv += verbose + folded;
	argc -= verbose + folded;
	if (argc < 2)
		return 2;
	struct dumps dumps;
	struct dump_list list = {0};
	must(dumps_open(&dumps, argv[1]));
	must(dumps_read(&dumps, SIZE_MAX, 1, &list));
	struct unwinder *unwinder;
	must(dumps_unwinder(&dumps, argc > 2 ? argv[2] : NULL, &unwinder));
	struct unwind_thread *thread = unwind_thread_new(unwinder);
	static struct unwind_frame frames[FRAMES];
	uint64_t stacks = 0, frame_pointers = 0, how[UNWIND_END_COUNT] = {0};
	struct resolver_options resolver_options = {0};
	struct resolver *resolver;
	must(resolver_new(dumps.ctx, &resolver_options, &resolver));
	for (int round = 0; round < (verbose || folded ? 1 : 3); round++) {
		uint64_t count = 0, start = now_ns();
		for (size_t i = 0; i < list.count; i++) {
			if (i + 1 < list.count)
				unwind_prefetch(&list.items[i + 1].sample);
			struct unwind_result result =
				unwind_stack(thread, &list.items[i].sample, frames, FRAMES);
			count += result.count;
			stacks++;
			how[result.end]++;
			frame_pointers += result.frame_pointers;
			if (verbose)
				print_stack(&dumps, &list.items[i], frames, &result);
			if (folded)
				print_folded(&dumps, resolver, &list.items[i], frames, &result);
		}
		uint64_t ns = now_ns() - start;
		fprintf(stderr, "round %d: %zu stacks, %lu frames, %.1f ms, %.1f ns a frame\n", round,
			list.count, (long)count, (double)ns / 1e6, (double)ns / (double)count);
	}
	for (size_t i = 0; i < UNWIND_END_COUNT; i++)
		fprintf(stderr, "%s %lu (%.3f%%)  ", ends[i], (long)how[i],
			100.0 * (double)how[i] / (double)stacks);
	fprintf(stderr, "\nframe pointers %lu\n", (long)frame_pointers);
	resolver_free(resolver);
	unwind_thread_free(thread);
	unwinder_free(unwinder);
	dump_list_free(&list);
	dumps_close(&dumps);
	return 0;
}
