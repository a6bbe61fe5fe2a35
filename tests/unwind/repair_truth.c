/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repair_truth FILE SIZE [MS [BYTES [NTH]]]: measures the value of repairing stacks. FILE has stack
 * copies that are large enough for whole stacks. Only SIZE bytes of them are unwound and repaired,
 * and compared to the result of the whole copies. With MS, stacks are completed every MS
 * milliseconds, as in the recorder, from earlier stacks, within BYTES of memory. With NTH, every
 * NTH stack is unwound from its whole copy, as if recorded so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dumps.h"
#include "unwind/repair.h"

#define FRAMES 8192

struct truth {
	struct unwind_frame *frames;
	struct unwind_result full, cut;
	uint32_t number;
};

struct score {
	size_t stacks, known, complete, truncated, joined, wrong;
	size_t frames, joined_frames, wrong_frames, frames_of_wrong;
};

static void must(struct sp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "repair_truth: %s\n", sp_error_message(error));
	exit(1);
}

static void judge(const struct repair *repair, const struct truth *truth, struct score *score)
{
	static struct unwind_frame outer[FRAMES];
	score->stacks++;
	if (truth->cut.end == UNWIND_COMPLETE)
		score->complete++;
	if (truth->cut.end == UNWIND_TRUNCATED)
		score->truncated++;
	/* If the whole copy is truncated, too, the truth is unknown. */
	if (truth->full.end != UNWIND_COMPLETE)
		return;
	score->known++;
	score->frames += truth->cut.count;
	if (truth->cut.end != UNWIND_TRUNCATED)
		return;
	size_t count = repair_outer(repair, truth->number, outer, FRAMES), wrong = 0;
	if (!count)
		return;
	score->joined++;
	score->joined_frames += count;
	for (size_t i = 0; i < count; i++) {
		size_t at = truth->cut.count + i;
		wrong += at >= truth->full.count || outer[i].ip != truth->frames[at].ip ||
			 outer[i].sp != truth->frames[at].sp;
	}
	if (truth->cut.count + count < truth->full.count)
		wrong += truth->full.count - truth->cut.count - count;
	score->wrong += wrong > 0;
	score->wrong_frames += wrong;
}

static void print(const char *path, const struct score *score)
{
	double all = (double)score->stacks;
	printf("%s: %zu stacks, %.2f%% complete from the copy, %.2f%% after repair; "
	       "%zu truncated, %zu of them joined, %zu wrongly; wrong frames %zu of %zu (%.3f%%)\n",
	       path, score->stacks, 100 * (double)score->complete / all,
	       100 * (double)(score->complete + score->joined) / all, score->truncated,
	       score->joined, score->wrong, score->wrong_frames,
	       score->frames + score->joined_frames,
	       100 * (double)score->wrong_frames /
		       (double)(score->frames + score->joined_frames));
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	size_t size = (size_t)atol(argv[2]), bytes = argc > 4 ? (size_t)atol(argv[4]) : 1u << 30;
	uint64_t step_ns = argc > 3 ? (uint64_t)(atof(argv[3]) * 1e6) : 0;
	size_t nth = argc > 5 ? (size_t)atol(argv[5]) : 0;
	struct dumps dumps;
	struct dump_list list = {0};
	must(dumps_open(&dumps, argv[1]));
	must(dumps_read(&dumps, SIZE_MAX, 1, &list));
	struct unwinder *unwinder;
	must(dumps_unwinder(&dumps, NULL, &unwinder));
	struct unwind_thread *thread = unwind_thread_new(unwinder);
	struct repair *repair = repair_new(bytes);
	struct truth *truths = calloc(list.count + 1, sizeof(*truths));
	static struct unwind_frame frames[FRAMES];
	struct score score = {0};
	size_t judged = 0;
	if (!truths)
		return 1;
	uint64_t next_ns = list.count ? list.items[0].time_ns + step_ns : 0;
	for (size_t i = 0; i <= list.count; i++) {
		struct unwind_sample *sample = i < list.count ? &list.items[i].sample : NULL;
		struct truth *truth = &truths[i];
		if (!sample || (step_ns && list.items[i].time_ns >= next_ns)) {
			if (!repair_complete(repair))
				return 1;
			for (; judged < i; judged++)
				judge(repair, &truths[judged], &score);
			if (step_ns && !repair_trim(repair))
				return 1;
			next_ns += step_ns;
		}
		if (!sample)
			break;
		truth->full = unwind_stack(thread, sample, frames, FRAMES);
		truth->frames = malloc((truth->full.count + 1) * sizeof(*frames));
		if (!truth->frames)
			return 1;
		memcpy(truth->frames, frames, truth->full.count * sizeof(*frames));
		if (sample->stack.size > size && !(nth && i % nth == 0))
			sample->stack.size = size;
		truth->cut = unwind_stack(thread, sample, frames, FRAMES);
		truth->number = repair_add(repair, (uint64_t)list.items[i].tid << 32 | sample->view,
					   list.items[i].time_ns, frames, &truth->cut);
	}
	print(argv[1], &score);
	for (size_t i = 0; i < list.count; i++)
		free(truths[i].frames);
	free(truths);
	repair_free(repair);
	unwind_thread_free(thread);
	unwinder_free(unwinder);
	dump_list_free(&list);
	dumps_close(&dumps);
	return 0;
}
