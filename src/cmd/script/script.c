/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `sprof script` prints a recording's records, line by line. Each thread formats a batch of records,
 * and writes it after the previous batch, so that lines stay in order.
 */
#include "cmd/script/script.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sprof/private/command.h>
#include <sprof/private/instruction.h>
#include "cmd/common/recordings.h"
#include "cmd/info/info.h"
#include "command.h"
#include "diag.h"
#include "input.h"
#include "pager.h"
#include "progress.h"

/* ELF machine of each architecture, for the disassembler. */
static const struct {
	enum sp_architecture architecture;
	uint16_t machine;
} machines[] = {
	{SP_ARCHITECTURE_X86, EM_X86_64},      {SP_ARCHITECTURE_ARM64, EM_AARCH64},
	{SP_ARCHITECTURE_ARM, EM_ARM},         {SP_ARCHITECTURE_POWERPC, EM_PPC64},
	{SP_ARCHITECTURE_S390, EM_S390},       {SP_ARCHITECTURE_MIPS, EM_MIPS},
};

#define THREADS_MAX 256

#define BIT(number) (UINT64_C(1) << (number))

/* State shared by the threads: batches are formatted in parallel and written in order. */
struct ordered_output {
	const struct script_view *view;
	struct sp_script *script;
	FILE *out;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	size_t next;   /* next batch to format */
	size_t turn;   /* next batch to write */
	bool stopped;  /* a thread failed, or the reader closed the pipe */
	struct sp_error *error;
	int errnum; /* errno of the failed write; 0: none */
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

/* Returns the number of threads: only one if a line depends on the lines before it. */
static unsigned int thread_count(const struct script_view *view, size_t batches)
{
	const struct script_arguments *arguments = view->arguments;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t jobs = arguments->selection.jobs;
	uint64_t count = jobs ? jobs : processors > 0 ? (uint64_t)processors : 1;
	bool chained = arguments->format == SCRIPT_TEXT &&
		       (arguments->delta_time || arguments->relative_time || view->counters ||
			script_has_field(arguments, FIELD(DATA_SRC)));
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

/*
 * Waits until all earlier batches are written, and writes this one. Returns false if no more output is
 * possible.
 */
static bool write_batch(struct ordered_output *relay, const struct printer *printer, size_t batch)
{
	pthread_mutex_lock(&relay->lock);
	while (relay->turn != batch && !relay->stopped)
		pthread_cond_wait(&relay->turned, &relay->lock);
	bool stopped = relay->stopped;
	pthread_mutex_unlock(&relay->lock);
	if (stopped)
		return false;
	/* Written without the lock: only the thread in turn writes. */
	bool good = fwrite(printer->out.text, 1, printer->out.count, relay->out) ==
		    printer->out.count;
	int errnum = good ? 0 : errno;
	pthread_mutex_lock(&relay->lock);
	relay->turn++;
	relay->errnum = errnum;
	relay->stopped |= !good;
	pthread_cond_broadcast(&relay->turned);
	pthread_mutex_unlock(&relay->lock);
	return good;
}

static void *batches_format(void *arg)
{
	struct ordered_output *relay = arg;
	size_t count = sp_script_batch_count(relay->script);
	struct printer printer = {.view = relay->view,
				  .disassembly.big_endian = relay->view->info->big_endian};
	printer.out.form = printer.scratch.form = relay->view->form;
	struct sp_error *error = sp_teller_new(relay->script, &printer.teller);
	/* has_traces() already called sp_trace_new() and printed its error. */
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
	if (error) {
		pthread_mutex_lock(&relay->lock);
		relay->stopped = true;
		if (relay->error)
			sp_error_free(error);
		else
			relay->error = error;
		pthread_cond_broadcast(&relay->turned);
		pthread_mutex_unlock(&relay->lock);
	}
	printer_deinit(&printer);
	return NULL;
}

/* Formats all batches with `count` threads, including the caller's. Returns the exit status. */
static int batches_run_threads(struct ordered_output *relay, unsigned int count)
{
	pthread_t threads[THREADS_MAX];
	unsigned int started = 0;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->turned, NULL);
	while (started + 1 < count && !pthread_create(&threads[started], NULL, batches_format, relay))
		started++;
	batches_format(relay);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pthread_cond_destroy(&relay->turned);
	pthread_mutex_destroy(&relay->lock);
	bool failed = relay->error;
	diag_error(relay->error);
	return failed;
}

/* Limit on files without symbols that are printed one by one. */
#define SHOWN_NAMELESS 6

static void report_damaged(const struct script_view *view, const struct sp_script *script)
{
	const char *what;
	size_t index = 0, files = 0;
	while ((what = sp_script_damaged(script, &index)))
		if (++files <= SHOWN_NAMELESS)
			diag_print("%s: inlined functions and lines may be missing: %s",
				   view->info->path, what);
	if (files > SHOWN_NAMELESS)
		diag_print("%s: inlined functions and lines of %zu more files may be missing",
			   view->info->path, files - SHOWN_NAMELESS);
}

/* Prints losses, samples without symbols, failed unwinding, and a missing end of the recording. */
static void limits_print(const struct script_view *view, const struct sp_script *script,
			 struct sp_reader *reader)
{
	const struct sp_error *refusal = sp_script_unwinding_refusal(script);
	uint64_t lost = sp_script_lost(script);
	char text[INPUT_TEXT];
	if (view->arguments->selection.quiet)
		return;
	if (!sp_script_record_count(script))
		recordings_print_span(view->recordings, &view->arguments->selection);
	if (input_unfinished(reader, text))
		diag_print("%s: %s", view->info->path, text);
	if (view->arguments->format == SCRIPT_JSON ||
	    script_has_field(view->arguments, FIELD(SYM))) {
		/*
		 * Prints the files with samples that have no symbols, each with the reason and the
		 * remedy, as report does.
		 */
		struct sp_nameless shown[SHOWN_NAMELESS];
		size_t count = sp_script_nameless(script, shown, SHOWN_NAMELESS);
		size_t last = count < SHOWN_NAMELESS ? count : SHOWN_NAMELESS;
		for (size_t i = 0; i < last; i++) {
			diag_print("%s: %llu sample%s in %s without a symbol%s%s",
				   view->info->path, (unsigned long long)shown[i].samples,
				   shown[i].samples == 1 ? "" : "s", shown[i].module,
				   shown[i].what ? ": " : "", shown[i].what ?: "");
			/* If consecutive files have the same remedy, prints it only once. */
			bool again = i && shown[i].remedy && shown[i - 1].remedy &&
				     !strcmp(shown[i].remedy, shown[i - 1].remedy);
			if (shown[i].remedy && !again)
				diag_more("%s", shown[i].remedy);
		}
		if (count > last)
			diag_print("%s: samples in %zu more files have no symbols; 'sprof report' "
				   "counts them",
				   view->info->path, count - last);
		const char *what, *remedy;
		size_t index = 0, files = 0;
		while ((what = sp_script_unproven(script, &index, &remedy)))
			if (++files <= SHOWN_NAMELESS)
				diag_print("%s: symbols may be wrong: %s; %s", view->info->path,
					   what, remedy);
		if (files > SHOWN_NAMELESS)
			diag_print("%s: symbols of %zu more files may be wrong", view->info->path,
				   files - SHOWN_NAMELESS);
		report_damaged(view, script);
	}
	if (lost) {
		char *command = input_command("sprof info --losses", view->info->path);
		diag_print("%s: %llu samples were lost; '%s' shows when", view->info->path,
			   (unsigned long long)lost, command);
		free(command);
	}
	if (refusal && !view->arguments->no_chains)
		diag_print("stack copies are not unwound: %s", sp_error_message(refusal));
	const char *note;
	for (size_t i = 0; (note = sp_script_note(script, i)); i++)
		diag_print("%s", note);
}

static int script_print(struct sp_ctx *ctx, struct script_view *view, struct sp_reader *reader)
{
	const struct script_arguments *a = view->arguments;
	bool dump = a->format == SCRIPT_DUMP;
	bool symbols = a->format == SCRIPT_JSON || script_has_field(a, FIELD(SYM));
	const struct sp_filter filter =
		input_options_filter(&a->selection, view->recordings->items);
	const struct sp_files files = input_options_files(&a->selection);
	const struct sp_script_options options = {
		.size = sizeof(struct sp_script_options),
		.kernel_types = kernel_types(a),
		.user_types = a->format != SCRIPT_TEXT ? UINT64_MAX :
			      a->show_rounds ? BIT(SP_RECORD_FINISHED_ROUND - 64) : 0,
		.in_file_order = dump || a->show_rounds,
		.chains = a->no_chains || dump ? SP_OFF : SP_ON,
		.max_stack = a->max_stack < UINT32_MAX ? (unsigned int)a->max_stack : UINT32_MAX,
		.inlines = a->selection.inlines == 0 || dump || !symbols ? SP_OFF : SP_ON,
		.lines = a->format == SCRIPT_TEXT && script_has_field(a, FIELD(SRCLINE)),
		.filter = &filter,
		/* Samples that are not shown are iterated too: they change the counters. */
		.tell_all = view->counters,
		.events = option_strings_list(&a->selection.events),
		.files = &files,
		.threads = (unsigned int)a->selection.jobs,
	};
	struct sp_script *script;
	struct progress progress;
	bool quiet = a->selection.quiet || a->selection.verbose;
	progress_begin(&progress, ctx, !quiet);
	struct sp_error *error = sp_script_open(ctx, reader, &options, &script);
	progress_end(&progress);
	if (error) {
		diag_error(error);
		return 1;
	}
	struct pager pager = pager_open(NULL, a->selection.pager != 0);
	if (a->header && a->format == SCRIPT_TEXT)
		info_print_header(reader, pager.out);
	struct ordered_output relay = {.view = view, .script = script, .out = pager.out};
	/* On a terminal, the records themselves show it. */
	progress_begin(&progress, ctx, !quiet && !isatty(STDOUT_FILENO));
	int status = batches_run_threads(&relay, thread_count(view, sp_script_batch_count(script)));
	progress_end(&progress);
	pager.errnum = relay.errnum;
	status |= pager_close(&pager);
	limits_print(view, script, reader);
	sp_script_free(script);
	return status;
}

/* Returns whether a requested disassembler is available. Prints the error before any output begins. */
static bool can_disassemble(const struct script_arguments *arguments,
			    const struct sp_reader *reader)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	struct sp_disassembler *disassembler;
	bool wanted = script_has_field(arguments, FIELDS_DISASM);
	struct sp_error *error = NULL;
	uint16_t machine = EM_NONE;
	for (size_t i = 0; wanted && i < sizeof(machines) / sizeof(*machines); i++)
		if (!info->arch || sp_architecture_parse(info->arch) == machines[i].architecture) {
			machine = machines[i].machine;
			break;
		}
	if (wanted)
		error = sp_disassembler_new(machine, info->big_endian, 0, &disassembler);
	if (wanted && !error)
		sp_disassembler_free(disassembler);
	if (error)
		diag_error(error);
	return !error;
}

static int script_recording(struct sp_ctx *ctx, void *data, struct recordings *recordings)
{
	struct script_arguments *arguments = data;
	struct sp_reader *reader = recordings->items[0].reader;
	struct script_view view;
	if (arguments->format == SCRIPT_TEXT && sp_reader_has_feature(reader, FEATURE_STAT)) {
		diag_print("%s has counts, no samples: use 'perf stat report -i %s'",
			   sp_reader_info(reader)->path, sp_reader_info(reader)->path);
		return 1;
	}
	if (!recordings_select_events(recordings, &arguments->selection, false) ||
	    !recordings_resolve_times(recordings, &arguments->selection) ||
	    !fields_remove_missing(&arguments->fields, reader, !arguments->no_chains))
		return 1;
	if (script_has_field(arguments, FIELD(TOD)) && !sp_reader_info(reader)->has_clock) {
		diag_print("tod: the recording has no wall clock time; record with -k monotonic");
		return 1;
	}
	if (!can_disassemble(arguments, reader))
		return 1;
	view_init(&view, ctx, arguments, recordings);
	int status = script_print(ctx, &view, reader);
	view_deinit(&view);
	return input_print_damage(reader) | status;
}

static int script_run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct script_arguments arguments;
	int status = script_arguments_parse(&arguments, argc, argv);
	const struct recordings_run run = {
		.selection = &arguments.selection,
		.header_only = arguments.header_only,
		.read = script_recording,
		.arguments = &arguments,
	};
	if (status < 0)
		status = recordings_run(&run, ctx);
	script_arguments_deinit(&arguments);
	return status;
}

const struct command command_script = {
	.name = "script",
	.summary = "print each sample and other records of a recording",
	.run = script_run,
};
