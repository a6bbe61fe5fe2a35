/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of the library: recording changes neither its threads nor its children, and zeroed options
 * record as `sprof record` without options does.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sprof/capture.h>
#include <sprof/ctx.h>
#include <sprof/reader.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"

/* struct sched_attr of Linux 4.13, which glibc before 2.41 lacks. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static struct attributes scheduling(void)
{
	struct attributes attributes = {0};
	(void)!syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0);
	return attributes;
}

static bool is_same(const struct attributes *before)
{
	const struct attributes now = scheduling();
	return !memcmp(&now, before, sizeof(now));
}

static bool has_child(void)
{
	return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

static const char *const command[] = {"sleep", "0.1", NULL};

/* The end of all that is recorded, as its manual page has it. */
static void record(struct sp_capture *capture)
{
	bool running = true;
	while (running) {
		struct pollfd poll_fd = {.fd = sp_capture_fd(capture), .events = POLLIN};
		poll(&poll_fd, 1, -1);
		tap_need(sp_capture_step(capture, &running));
	}
	tap_need(sp_capture_stop(capture));
}

static void check_recording(struct sp_ctx *ctx, const struct sp_capture_options *options)
{
	const struct attributes before = scheduling();
	struct sp_capture *capture;
	tap_need(sp_capture_new(ctx, options, &capture));
	tap_result(is_same(&before), "sp_capture_new() does not change how its caller is scheduled");
	tap_need(sp_capture_start(capture));
	record(capture);
	tap_result(is_same(&before), "nor does a recording");
	sp_capture_free(capture);
	tap_result(!has_child(), "a recorded command is reaped");
}

static uint64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Runs a capture to its end; returns whether the command had ended then, and kills it otherwise. */
static bool run_capture(struct sp_ctx *ctx, const struct sp_capture_options *options, bool start, int stop_fd)
{
	struct sp_capture *capture;
	bool ended = false;
	int status;
	tap_need(sp_capture_new(ctx, options, &capture));
	if (start)
		tap_need(sp_capture_start(capture));
	tap_need(sp_capture_run(capture, stop_fd));
	tap_need(sp_capture_wait(capture, false, &ended, &status));
	pid_t pid = sp_capture_pid(capture);
	sp_capture_free(capture);
	if (!ended) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return ended;
}

static void check_run(struct sp_ctx *ctx, const struct sp_capture_options *options)
{
	static const char *const forever[] = {"sleep", "100", NULL};
	struct sp_capture_target target = *options->target;
	struct sp_capture_schedule schedule = {.size = sizeof(schedule), .duration_ns = 200000000};
	struct sp_capture_options other = *options;
	struct sp_reader *reader;
	int fds[2];
	tap_result(run_capture(ctx, options, false, -1), "sp_capture_run() records until the command ends");
	tap_result(run_capture(ctx, options, true, -1), "it does not start a started capture again");
	target.command = forever;
	other.target = &target;
	tap_result(pipe(fds) == 0 && write(fds[1], "", 1) == 1 && !run_capture(ctx, &other, false, fds[0]),
		   "sp_capture_run() returns when its descriptor is readable");
	other.schedule = &schedule;
	uint64_t begin_ms = now_ms();
	bool ended = run_capture(ctx, &other, false, -1);
	uint64_t used_ms = now_ms() - begin_ms;
	tap_result(!ended && used_ms >= 200 && used_ms < 50000,
		   "sp_capture_run() returns after the duration: %u ms", (unsigned int)used_ms);
	tap_need(sp_reader_open(ctx, options->output->path, &reader));
	tap_result(!sp_reader_unfinished(reader), "the file is complete");
	sp_reader_free(reader);
	close(fds[0]);
	close(fds[1]);
}

static void check_run_of_nothing(struct sp_ctx *ctx, const struct sp_capture_options *options)
{
	static const char *const absent[] = {"/nonexistent/command", NULL};
	struct sp_capture_target target = *options->target;
	struct sp_capture_options other = *options;
	struct sp_capture *capture;
	target.command = absent;
	other.target = &target;
	tap_need(sp_capture_new(ctx, &other, &capture));
	struct sp_error *error = sp_capture_run(capture, -1);
	tap_result(error && sp_error_code(error) == SP_ERROR_NOT_FOUND,
		   "sp_capture_run() fails if the command cannot be executed");
	sp_error_free(error);
	sp_capture_free(capture);
}

static void check_no_start(struct sp_ctx *ctx, const struct sp_capture_options *options)
{
	struct sp_capture *capture;
	tap_need(sp_capture_new(ctx, options, &capture));
	sp_capture_free(capture);
	tap_result(!has_child(), "sp_capture_free() without a start leaves no process");
}

static void check_dead_command(struct sp_ctx *ctx, const struct sp_capture_options *options)
{
	struct sp_capture *capture;
	siginfo_t info;
	tap_need(sp_capture_new(ctx, options, &capture));
	pid_t pid = sp_capture_pid(capture);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	signal(SIGPIPE, SIG_DFL);
	struct sp_error *error = sp_capture_start(capture);
	tap_result(error, "a command that was killed before its start is an error, and no SIGPIPE: %s",
		   error ? sp_error_message(error) : "");
	sp_error_free(error);
	sp_capture_free(capture);
	tap_result(!has_child(), "it is reaped as well");
}

/* Runs `sprof record -q -o PATH` on the command; false if it fails. */
static bool run_record(const char *path)
{
	const char *sprof = getenv("SPROF");
	int status = 1;
	pid_t pid = sprof ? fork() : -1;
	if (pid == 0) {
		execl(sprof, "sprof", "record", "-q", "-o", path, "--", command[0], command[1],
		      (char *)NULL);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Whether both recordings have events of the same names and attrs. */
static bool same_events(const struct sp_reader *a, const struct sp_reader *b)
{
	size_t count = sp_reader_event_count(a);
	bool same = count == sp_reader_event_count(b);
	for (size_t i = 0; same && i < count; i++) {
		const struct sp_event *x = sp_reader_event(a, i), *y = sp_reader_event(b, i);
		same = !strcmp(x->name, y->name) && !memcmp(&x->attr, &y->attr, sizeof(x->attr));
	}
	return same;
}

static void check_defaults(struct sp_ctx *ctx, const struct sp_capture_target *target)
{
	static const char what[] = "zeroed options open the events of `sprof record`";
	const struct sp_capture_output output = {.size = sizeof(output), .path = "zeroed"};
	const struct sp_capture_options options = {.size = sizeof(options), .target = target,
						   .output = &output};
	struct sp_capture *capture;
	struct sp_reader *zeroed, *recorded;
	tap_need(sp_capture_new(ctx, &options, &capture));
	tap_need(sp_capture_start(capture));
	record(capture);
	sp_capture_free(capture);
	if (run_record("recorded")) {
		tap_need(sp_reader_open(ctx, "zeroed", &zeroed));
		tap_need(sp_reader_open(ctx, "recorded", &recorded));
		tap_result(sp_reader_event_count(zeroed) > 0 && same_events(zeroed, recorded), what);
		sp_reader_free(zeroed);
		sp_reader_free(recorded);
	} else {
		tap_skip(what, "sprof record failed");
	}
	unlink("zeroed");
	unlink("recorded");
}

static void check_wrong_size(struct sp_ctx *ctx)
{
	const struct sp_capture_options options = {.size = 0};
	struct sp_capture *capture = NULL;
	dup2(STDERR_FILENO, STDIN_FILENO);
	struct sp_error *error = sp_capture_new(ctx, &options, &capture);
	tap_result(error && !capture && fcntl(STDIN_FILENO, F_GETFD) >= 0,
		   "options of a wrong size are refused; standard input stays open");
	sp_error_free(error);
}

/* False: this machine refuses to record. */
static bool can_record(struct sp_ctx *ctx, const struct sp_capture_options *options)
{
	struct sp_capture *capture = NULL;
	struct sp_error *error = sp_capture_new(ctx, options, &capture);
	if (error && sp_error_code(error) != SP_ERROR_PERMISSION)
		tap_need(error);
	sp_error_free(error);
	sp_capture_free(capture);
	/* check_no_start() reports children that are left. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	return capture;
}

int main(void)
{
	char folder[] = "/tmp/sprof-client.XXXXXX", path[64];
	struct sp_ctx *ctx;
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return tap_skip_all(folder, errno);
	snprintf(path, sizeof(path), "%s/data", folder);
	tap_need(sp_ctx_new(&ctx));
	const struct sp_capture_target target = {.size = sizeof(target), .command = command};
	const struct sp_capture_sampling sampling = {.size = sizeof(sampling), .events = "cpu-clock"};
	const struct sp_capture_chains chains = {.size = sizeof(chains),
						 .call_graph = SP_CALL_GRAPH_DWARF};
	const struct sp_capture_output output = {.size = sizeof(output), .path = path};
	const struct sp_capture_options options = {.size = sizeof(options), .target = &target,
						   .sampling = &sampling, .chains = &chains,
						   .output = &output};
	int status = 0;
	if (can_record(ctx, &options)) {
		check_recording(ctx, &options);
		check_no_start(ctx, &options);
		check_dead_command(ctx, &options);
		check_run(ctx, &options);
		check_run_of_nothing(ctx, &options);
		check_defaults(ctx, &target);
		check_wrong_size(ctx);
		status = tap_end();
	} else {
		status = tap_skip_all("perf_event_open is refused", EACCES);
	}
	sp_ctx_free(ctx);
	unlink("data");
	unlink("data.old");
	rmdir(folder);
	return status;
}
