/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads in the formats for other programs. Names and order of members are stable (sprof-report(1)). */
#include "out/threads.h"

#include <inttypes.h>
#include "json.h"
#include "out/cell.h"

static const char *split_name(enum sp_thread_split split)
{
	static const char *const names[] = {"none", "schedstat", "waking"};
	return names[split];
}

static void write_times(struct json *json, const struct sp_thread_times *times)
{
	json_unsigned(json, "running_ns", times->running_ns);
	json_unsigned(json, "runnable_ns", times->runnable_ns);
	json_unsigned(json, "blocked_ns", times->blocked_ns);
	json_unsigned(json, "unknown_ns", times->unknown_ns);
}

static void write_thread(struct json *json, const struct sp_thread *thread)
{
	json_begin(json, NULL, '{');
	json_unsigned(json, "pid", thread->pid);
	json_unsigned(json, "tid", thread->tid);
	json_string(json, "comm", thread->comm);
	json_unsigned(json, "begin_ns", thread->begin_ns);
	json_unsigned(json, "end_ns", thread->end_ns);
	json_bool(json, "born", thread->born);
	json_bool(json, "ended", thread->ended);
	write_times(json, &thread->times);
	json_unsigned(json, "waits", thread->waits);
	json_unsigned(json, "longest_wait_ns", thread->longest_wait_ns);
	json_unsigned(json, "preemptions", thread->preemptions);
	json_unsigned(json, "migrations", thread->migrations);
	json_string(json, "split", split_name(thread->split));
	json_bool(json, "counted", thread->counted);
	json_begin(json, "slices", '[');
	for (size_t i = 0; i < SP_THREAD_SLICES; i++) {
		json_begin(json, NULL, '{');
		write_times(json, &thread->slices[i]);
		json_end(json, '}');
	}
	json_end(json, ']');
	json_end(json, '}');
}

void threads_write_json(const struct threads_report *report, FILE *out)
{
	struct json json = {.out = out};
	json_begin_lines(&json, NULL, '{');
	json_begin_lines(&json, "recordings", '[');
	for (size_t i = 0; i < report->view_count; i++) {
		const struct sp_threads *threads = report->views[i].threads;
		json_begin_lines(&json, NULL, '{');
		json_string(&json, "file", report->views[i].path);
		json_unsigned(&json, "begin_ns", sp_threads_first_ns(threads));
		json_unsigned(&json, "end_ns", sp_threads_last_ns(threads));
		json_begin_lines(&json, "threads", '[');
		for (size_t j = 0; j < sp_threads_count(threads); j++)
			write_thread(&json, sp_threads_at(threads, j));
		json_end_lines(&json, ']');
		json_end_lines(&json, '}');
	}
	json_end_lines(&json, ']');
	json_end_lines(&json, '}');
	putc('\n', out);
}

void threads_write_csv(const struct threads_report *report, FILE *out)
{
	fputs("pid,tid,comm,begin_ns,end_ns,born,ended,running_ns,runnable_ns,blocked_ns,unknown_ns,waits,"
	      "longest_wait_ns,preemptions,migrations,split", out);
	for (int i = 1; i <= SP_THREAD_SLICES; i++)
		fprintf(out, ",running_ns_%d", i);
	fputs(report->view_count > 1 ? ",file\n" : "\n", out);
	for (size_t i = 0; i < report->view_count; i++) {
		for (size_t j = 0; j < sp_threads_count(report->views[i].threads); j++) {
			const struct sp_thread *thread = sp_threads_at(report->views[i].threads, j);
			const struct sp_thread_times *times = &thread->times;
			fprintf(out, "%" PRIu32 ",%" PRIu32 ",", thread->pid, thread->tid);
			cell_put(thread->comm, ",", out);
			fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%d,%d", thread->begin_ns, thread->end_ns,
				thread->born, thread->ended);
			fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, times->running_ns,
				times->runnable_ns, times->blocked_ns, times->unknown_ns);
			fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s", thread->waits,
				thread->longest_wait_ns, thread->preemptions, thread->migrations,
				split_name(thread->split));
			for (size_t k = 0; k < SP_THREAD_SLICES; k++)
				fprintf(out, ",%" PRIu64, thread->slices[k].running_ns);
			if (report->view_count > 1)
				putc(',', out);
			if (report->view_count > 1)
				cell_put(report->views[i].path, ",", out);
			putc('\n', out);
		}
	}
}
