/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/thread_times.h"

#include <inttypes.h>
#include <string.h>
#include "out/format_value.h"

/* Adds "DURATION WHAT" to the text if the time is not 0. */
static void add_time(const struct term *term, char *buffer, size_t size, uint64_t ns, const char *what)
{
	size_t used = strlen(buffer);
	char duration[FORMAT_SIZE];
	if (ns)
		snprintf(buffer + used, size - used, "%s%s %s", used && buffer[used - 1] != ' ' ? ", " : "",
			 format_duration(term, ns, duration), what);
}

/* Writes the wake-ups of SP_MODE_WAKERS, and the waits that they ended. */
static void describe_wakeups(const struct term *term, const struct sp_profile *profile, char *buffer,
			     size_t size)
{
	const struct sp_times *times = &profile->times;
	char count[FORMAT_SIZE], blocked[FORMAT_SIZE], all[FORMAT_SIZE], longest[FORMAT_SIZE];
	int used = snprintf(buffer, size, "%s wake-up%s", format_count(times->waits, count),
			    times->waits == 1 ? "" : "s");
	if (!profile->weight_is_time) {
		snprintf(buffer + used, size - (size_t)used, ", blocked times unknown (no context switches "
			 "recorded)");
		return;
	}
	snprintf(buffer + used, size - (size_t)used, " ended %s of %s of blocked time (longest %s)",
		 format_duration(term, times->blocked_ns, blocked),
		 format_duration(term, times->blocked_ns + times->unknown_ns, all),
		 format_duration(term, times->longest_wait_ns, longest));
	add_time(term, buffer, size, times->runnable_ns, "from wake-up to running");
}

void times_describe(const struct term *term, const struct sp_profile *profile, char *buffer, size_t size)
{
	const struct sp_times *times = &profile->times;
	bool latency = profile->mode == SP_MODE_LATENCY;
	char whole[FORMAT_SIZE], count[FORMAT_SIZE], longest[FORMAT_SIZE];
	uint64_t threads = profile->threads - profile->idle_threads;
	if (profile->mode == SP_MODE_WAKERS) {
		describe_wakeups(term, profile, buffer, size);
		return;
	}
	format_duration(term, profile->weight, whole);
	if (latency || !threads)
		snprintf(buffer, size, "%s%s: ", whole, latency ? " of the processes' lifetimes" : "");
	else
		snprintf(buffer, size, "%s of %s thread%s: ", whole, format_count(threads, count),
			 threads == 1 ? "" : "s");
	add_time(term, buffer, size, times->running_ns, "on CPU");
	add_time(term, buffer, size, times->runnable_ns, "waiting for CPU");
	add_time(term, buffer, size, times->blocked_ns, latency ? "with all threads blocked" : "blocked");
	size_t used = strlen(buffer);
	if (times->blocked_ns && times->waits && !latency)
		snprintf(buffer + used, size - used, " (%s wait%s, longest %s)",
			 format_count(times->waits, count), times->waits == 1 ? "" : "s",
			 format_duration(term, times->longest_wait_ns, longest));
	add_time(term, buffer, size, times->unknown_ns,
		 "unknown (no context switch was recorded)");
}

void times_write_idle(const struct term *term, const struct sp_profile *profile, FILE *out)
{
	char count[FORMAT_SIZE], duration[FORMAT_SIZE];
	bool one = profile->idle_threads == 1;
	if (!profile->idle_threads)
		return;
	fprintf(out, "left out: %s idle thread%s (%s); --all-threads shows %s\n",
		format_count(profile->idle_threads, count), one ? "" : "s",
		format_duration(term, profile->idle_ns, duration), one ? "it" : "them");
}

void times_write_json(struct json *json, const char *key, const struct sp_times *times)
{
	json_begin(json, key, '{');
	json_unsigned(json, "running_ns", times->running_ns);
	json_unsigned(json, "runnable_ns", times->runnable_ns);
	json_unsigned(json, "blocked_ns", times->blocked_ns);
	json_unsigned(json, "unknown_ns", times->unknown_ns);
	json_unsigned(json, "waits", times->waits);
	json_unsigned(json, "longest_wait_ns", times->longest_wait_ns);
	json_end(json, '}');
}

void times_write_json_head(struct json *json, const struct sp_profile *profile)
{
	times_write_json(json, "times", &profile->times);
	json_unsigned(json, "wait_samples", profile->wait_samples);
	json_unsigned(json, "threads", profile->threads);
	json_unsigned(json, "idle_threads", profile->idle_threads);
	json_unsigned(json, "idle_ns", profile->idle_ns);
}

void times_write_csv_titles(FILE *out)
{
	static const char *const of[] = {"self", "total"};
	for (int i = 0; i < 2; i++)
		fprintf(out, ",%s_running_ns,%s_runnable_ns,%s_blocked_ns,%s_unknown_ns,%s_waits,"
			"%s_longest_wait_ns", of[i], of[i], of[i], of[i], of[i], of[i]);
}

void times_write_csv(const struct sp_times *self, const struct sp_times *total, FILE *out)
{
	const struct sp_times *of[] = {self, total};
	for (int i = 0; i < 2; i++) {
		if (!of[i]) {
			fputs(",,,,,,", out);
			continue;
		}
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			of[i]->running_ns, of[i]->runnable_ns, of[i]->blocked_ns, of[i]->unknown_ns,
			of[i]->waits, of[i]->longest_wait_ns);
	}
}
