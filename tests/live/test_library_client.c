/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client of the library: recording must change neither its threads nor its children. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sprof/capture.h>
#include <sprof/ctx.h>
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

/* False: this machine refuses to record. */
static bool can_record(struct sp_ctx *ctx, const struct sp_capture_options *options)
{
	struct sp_capture *capture = NULL;
	struct sp_error *error = sp_capture_new(ctx, options, &capture);
	if (error && sp_error_code(error) != SP_ERROR_PERMISSION)
		tap_need(error);
	sp_error_free(error);
	sp_capture_free(capture);
	/* What is left is check_no_start()'s to find. */
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
