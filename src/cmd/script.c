/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sprof script: what a recording says, line by line. Threads make the text of a batch of
 * records each, and write when it is their turn, so that the lines are in order.
 */
#include "cmd/script.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "cmd/info.h"
#include "command.h"
#include "diag.h"
#include "input.h"
#include "pager.h"

#define THREADS_MAX 256

#define BIT(number) (UINT64_C(1) << (number))

/* What threads hand on to one another. */
struct relay {
	const struct script_view *view;
	struct sp_script *script;
	FILE *out;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	size_t next;   /* batch to be taken */
	size_t turn;   /* batch to be written */
	bool stopped;  /* somebody failed, or nobody reads */
	struct sp_error *error;
	bool no_memory;
};

static uint64_t kernel_types(const struct script_arguments *a)
{
	if (a->format != SCRIPT_TEXT)
		return UINT64_MAX;
	return (a->show_tasks ? BIT(PERF_RECORD_COMM) | BIT(PERF_RECORD_FORK) |
					BIT(PERF_RECORD_EXIT) : 0) |
	       (a->show_mmaps ? BIT(PERF_RECORD_MMAP) | BIT(PERF_RECORD_MMAP2) : 0) |
	       (a->show_switches ? BIT(PERF_RECORD_SWITCH) | BIT(PERF_RECORD_SWITCH_CPU_WIDE) : 0) |
	       (a->show_namespaces ? BIT(PERF_RECORD_NAMESPACES) : 0) |
	       (a->show_losses ? BIT(PERF_RECORD_LOST) | BIT(PERF_RECORD_LOST_SAMPLES) : 0) |
	       (a->show_bpf ? BIT(PERF_RECORD_KSYMBOL) | BIT(PERF_RECORD_BPF_EVENT) : 0) |
	       (a->show_cgroups ? BIT(PERF_RECORD_CGROUP) : 0) |
	       (a->show_text_pokes ? BIT(PERF_RECORD_KSYMBOL) | BIT(PERF_RECORD_TEXT_POKE) : 0);
}

/* Whether lines of some kind of events have a field. */
static bool any_has(const struct script_arguments *arguments, uint64_t field)
{
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (arguments->fields.kinds[i].fields & field)
			return true;
	return false;
}

static struct sp_script_options script_options(const struct script_arguments *a)
{
	bool dump = a->format == SCRIPT_DUMP;
	bool symbols = a->format == SCRIPT_JSON || any_has(a, FIELD(SYM));
	return (struct sp_script_options){
		.kernel_types = kernel_types(a),
		.user_types = a->format != SCRIPT_TEXT ? UINT64_MAX :
			      a->show_rounds ? BIT(SP_RECORD_FINISHED_ROUND - 64) : 0,
		.in_file_order = dump || a->show_rounds,
		.no_chains = a->no_chains || dump,
		.max_stack = a->max_stack < UINT32_MAX ? (unsigned int)a->max_stack : UINT32_MAX,
		.no_inlines = a->inlines == 0 || dump || !symbols,
		.lines = a->format == SCRIPT_TEXT && any_has(a, FIELD(SRCLINE)),
		.comms = option_strings_list(&a->comms),
		.dsos = option_strings_list(&a->dsos),
		.symbols = option_strings_list(&a->symbols),
		.events = option_strings_list(&a->events),
		.pids = option_numbers_list(&a->pids),
		.tids = option_numbers_list(&a->tids),
		.cpus = option_numbers_list(&a->cpus),
		.times = a->times,
		.time_count = a->time_count,
		.symfs = a->symfs,
		.vmlinux = a->vmlinux,
		.kallsyms = a->kallsyms,
		.unwinder = a->unwinder,
		.threads = (unsigned int)a->jobs,
	};
}

/* Lines that depend on those before them are made one after the other. */
static unsigned int thread_count(const struct script_view *view, size_t batches)
{
	const struct script_arguments *arguments = view->arguments;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t count = arguments->jobs ? arguments->jobs : processors > 0 ? (uint64_t)processors : 1;
	bool chained = arguments->format == SCRIPT_TEXT &&
		       (arguments->delta_time || arguments->relative_time || view->counters ||
			any_has(arguments, FIELD(DATA_SRC)));
	if (chained || count > THREADS_MAX)
		count = chained ? 1 : THREADS_MAX;
	return count < batches ? (unsigned int)count : batches ? (unsigned int)batches : 1;
}

static struct sp_error *make_batch(struct printer *printer, size_t batch)
{
	const struct sp_script_item *item;
	struct sp_error *error = sp_teller_begin(printer->teller, batch);
	printer->out.count = 0;
	while (!error) {
		error = sp_teller_next(printer->teller, &item);
		if (error || !item)
			break;
		switch (printer->view->arguments->format) {
		case SCRIPT_TEXT:
			script_put_text(printer, item);
			break;
		case SCRIPT_JSON:
			script_put_json(printer, item);
			break;
		case SCRIPT_DUMP:
			script_put_dump(printer, item);
			break;
		}
	}
	return error;
}

/* Waits for its turn, writes, and gives it on; false when all is over. */
static bool write_batch(struct relay *relay, const struct printer *printer, size_t batch)
{
	pthread_mutex_lock(&relay->lock);
	while (relay->turn != batch && !relay->stopped)
		pthread_cond_wait(&relay->turned, &relay->lock);
	bool stopped = relay->stopped;
	pthread_mutex_unlock(&relay->lock);
	if (stopped)
		return false;
	/* No other thread writes: it is not its turn. */
	bool good = fwrite(printer->out.text, 1, printer->out.count, relay->out) ==
		    printer->out.count;
	pthread_mutex_lock(&relay->lock);
	relay->turn++;
	relay->stopped |= !good || printer->out.failed;
	relay->no_memory |= printer->out.failed;
	pthread_cond_broadcast(&relay->turned);
	pthread_mutex_unlock(&relay->lock);
	return good && !printer->out.failed;
}

static void fail(struct relay *relay, struct sp_error *error)
{
	pthread_mutex_lock(&relay->lock);
	relay->stopped = true;
	if (relay->error)
		sp_error_free(error);
	else
		relay->error = error;
	pthread_cond_broadcast(&relay->turned);
	pthread_mutex_unlock(&relay->lock);
}

static void *tell(void *arg)
{
	struct relay *relay = arg;
	size_t count = sp_script_batch_count(relay->script);
	struct printer printer = {.view = relay->view};
	struct sp_error *error = sp_teller_new(relay->script, &printer.teller);
	/* What stands in the way was said before. */
	if (!error && relay->view->traces)
		sp_error_free(sp_trace_new(relay->view->ctx, relay->view->reader, &printer.trace));
	bool going = !error;
	while (going) {
		pthread_mutex_lock(&relay->lock);
		size_t batch = relay->next++;
		pthread_mutex_unlock(&relay->lock);
		if (batch >= count)
			break;
		error = make_batch(&printer, batch);
		going = !error && write_batch(relay, &printer, batch);
	}
	if (error)
		fail(relay, error);
	printer_deinit(&printer);
	return NULL;
}

/* Tells the story by so many threads; the last by the caller's own. */
static int run_threads(struct relay *relay, unsigned int count)
{
	pthread_t threads[THREADS_MAX];
	unsigned int started = 0;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->turned, NULL);
	while (started + 1 < count && !pthread_create(&threads[started], NULL, tell, relay))
		started++;
	tell(relay);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pthread_cond_destroy(&relay->turned);
	pthread_mutex_destroy(&relay->lock);
	if (relay->no_memory)
		diag_say("out of memory");
	if (relay->error)
		diag_error(relay->error);
	return relay->no_memory || relay->error;
}

static int compare_cgroups(const void *a, const void *b)
{
	const struct script_cgroup *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

const char *view_cgroup(const struct script_view *view, uint64_t id)
{
	const struct script_cgroup key = {.id = id};
	const struct script_cgroup *found =
		view->cgroup_count ? bsearch(&key, view->cgroups, view->cgroup_count,
					     sizeof(key), compare_cgroups) : NULL;
	return found ? found->path : NULL;
}

/* Whether an event's samples say of which cgroup they are. */
static bool has_cgroups(const struct sp_reader *reader)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++)
		if (sp_reader_event(reader, i)->attr.sample_type & PERF_SAMPLE_CGROUP)
			return true;
	return false;
}

static bool add_cgroup(struct script_view *view, const struct sp_cgroup *cgroup)
{
	struct script_cgroup *more = realloc(view->cgroups,
					     (view->cgroup_count + 1) * sizeof(*more));
	char *path = more ? strdup(cgroup->path) : NULL;
	if (more)
		view->cgroups = more;
	if (!path)
		return false;
	more[view->cgroup_count++] = (struct script_cgroup){cgroup->id, path};
	return true;
}

/* False when out of memory. */
static bool read_cgroups(struct script_view *view, struct sp_reader *reader)
{
	bool good = true;
	while (good) {
		const struct sp_record *record = NULL;
		struct sp_error *error = sp_reader_next(reader, &record);
		bool damaged = error && sp_error_code(error) == SP_ERROR_FORMAT;
		sp_error_free(error); /* damage is told at the end */
		if (!record && !damaged)
			break;
		if (record && record->type == PERF_RECORD_CGROUP)
			good = add_cgroup(view, &record->cgroup);
	}
	sp_reader_rewind(reader);
	if (view->cgroup_count)
		qsort(view->cgroups, view->cgroup_count, sizeof(*view->cgroups), compare_cgroups);
	return good;
}

/* Whether there is something that formats of tracepoints are needed for, and they are there. */
static bool has_traces(const struct script_view *view)
{
	bool wanted = false;
	struct sp_trace *trace;
	if (view->arguments->format == SCRIPT_TEXT && !any_has(view->arguments, FIELD(TRACE)))
		return false;
	for (size_t i = 0; i < sp_reader_event_count(view->reader); i++)
		wanted |= sp_reader_event(view->reader, i)->attr.type == PERF_TYPE_TRACEPOINT;
	if (!wanted || view->arguments->format == SCRIPT_DUMP)
		return false;
	struct sp_error *error = sp_trace_new(view->ctx, view->reader, &trace);
	if (error) {
		diag_error(error);
		return false;
	}
	sp_trace_free(trace);
	return true;
}

static bool view_init(struct script_view *view, struct sp_ctx *ctx,
		      const struct script_arguments *arguments, struct sp_reader *reader)
{
	struct utsname here;
	const struct sp_file_info *info = sp_reader_info(reader);
	*view = (struct script_view){.arguments = arguments, .ctx = ctx, .reader = reader,
				     .info = info};
	view->traces = has_traces(view);
	/* As perf: what does not say where it is from is from here. */
	const char *machine = info->arch ? info->arch : uname(&here) ? NULL : here.machine;
	view->architecture = sp_architecture_of(machine);
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		int width = (int)strlen(event->name);
		if (width > view->name_width)
			view->name_width = width;
		view->chains |= !arguments->no_chains &&
				event->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
	}
	view->counters = script_has_counters(arguments, reader);
	return !has_cgroups(reader) || read_cgroups(view, reader);
}

static void view_deinit(struct script_view *view)
{
	for (size_t i = 0; i < view->cgroup_count; i++)
		free(view->cgroups[i].path);
	free(view->cgroups);
}

/* What was lost, and what could not be unwound. */
static void say_limits(const struct script_view *view, const struct sp_script *script)
{
	const struct sp_error *refusal = sp_script_unwinding_refusal(script);
	uint64_t lost = sp_script_lost(script);
	if (view->arguments->quiet)
		return;
	if (lost)
		diag_say("%s: %llu samples were lost while recording; 'sprof report' says when "
			 "and why", view->info->path, (unsigned long long)lost);
	if (refusal && !view->arguments->no_chains)
		diag_say("copies of stacks are not unwound: %s", sp_error_message(refusal));
}

static int tell_script(struct sp_ctx *ctx, struct script_view *view, struct sp_reader *reader)
{
	const struct script_arguments *arguments = view->arguments;
	const struct sp_script_options options = script_options(arguments);
	struct sp_script *script;
	struct sp_error *error = sp_script_open(ctx, reader, &options, &script);
	if (error) {
		diag_error(error);
		return 1;
	}
	struct pager pager = pager_open(arguments->pager != 0);
	int status = 0;
	if (arguments->header && arguments->format == SCRIPT_TEXT)
		status = info_put_header(reader, pager.out);
	if (arguments->format == SCRIPT_TEXT && script_has_counts(reader))
		status |= script_put_counts(view, reader, pager.out);
	struct relay relay = {.view = view, .script = script, .out = pager.out};
	status |= run_threads(&relay, thread_count(view, sp_script_batch_count(script)));
	status |= pager_close(&pager);
	say_limits(view, script);
	sp_script_free(script);
	return status;
}

static int script_reader(struct sp_ctx *ctx, struct script_arguments *arguments,
			 struct sp_reader *reader)
{
	struct script_view view;
	if (arguments->header_only) {
		struct pager pager = pager_open(arguments->pager != 0);
		int status = info_put_header(reader, pager.out);
		status |= pager_close(&pager);
		return input_damage(reader) | status;
	}
	if (!input_has_events(reader, &arguments->events) || !script_times(arguments, reader) ||
	    !fields_fit(&arguments->fields, reader, !arguments->no_chains))
		return 1;
	if (any_has(arguments, FIELD(TOD)) && !sp_reader_info(reader)->has_clock) {
		diag_say("tod: the recording does not say when its clock was what; record with "
			 "-k CLOCK");
		return 1;
	}
	int status = 1;
	if (view_init(&view, ctx, arguments, reader))
		status = tell_script(ctx, &view, reader);
	else
		diag_say("out of memory");
	view_deinit(&view);
	return input_damage(reader) | status;
}

static void log_line(void *arg, enum sp_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	diag_say("%s", line);
}

static int script_run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct script_arguments arguments;
	setlocale(LC_CTYPE, "");
	int status = script_arguments_parse(&arguments, argc, argv);
	if (status < 0) {
		if (arguments.verbose)
			sp_ctx_set_log(ctx, log_line, NULL, SP_LOG_DEBUG);
		sp_ctx_set_debuginfod(ctx, arguments.debuginfod);
		struct sp_reader *reader = input_open(ctx, arguments.input);
		status = reader ? script_reader(ctx, &arguments, reader) : 1;
		sp_reader_free(reader);
	}
	script_arguments_deinit(&arguments);
	return status;
}

const struct command command_script = {
	.name = "script",
	.summary = "print the samples and other records of a recording",
	.run = script_run,
};
