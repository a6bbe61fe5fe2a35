/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/threads.h"

#include <stdlib.h>
#include "command.h"
#include "diag.h"
#include "out/threads.h"
#include "output_file.h"
#include "pager.h"

/* Returns the function for the chosen format; NULL after printing which formats there are. */
static void (*writer_of(const struct report_arguments *arguments))(const struct threads_report *, FILE *)
{
	if (arguments->output == &output_text)
		return threads_write_text;
	if (arguments->output == &output_json)
		return threads_write_json;
	if (arguments->output == &output_csv)
		return threads_write_csv;
	diag_say("--threads has the formats text, json and csv, not %s", arguments->output->name);
	return NULL;
}

/* Returns false after printing that an option selects samples, which --threads does not read. */
static bool check_filters(const struct selection *selection)
{
	if (!selection->dsos.count && !selection->symbols.count && !selection->events.count &&
	    !selection->focus.count && !selection->ignore.count && !selection->cpus.count)
		return true;
	diag_say("--threads selects threads, not samples: use --comms, --pid, --tid or --time");
	return false;
}

static int write_threads(const struct report_arguments *arguments, const struct threads_report *report)
{
	void (*write)(const struct threads_report *, FILE *) = writer_of(arguments);
	struct output_file file = {0};
	struct pager pager = {0};
	if (!write)
		return EXIT_USAGE;
	if (arguments->file && !output_file_open(&file, arguments->file))
		return 1;
	if (!arguments->file)
		pager = pager_open(arguments->selection.pager != 0 && arguments->output->paged);
	write(report, arguments->file ? file.out : pager.out);
	return arguments->file ? output_file_close(&file, true) : pager_close(&pager);
}

/* Reads the threads of all recordings. Returns false after printing an error. */
static bool read_threads(const struct report_arguments *arguments, struct sp_ctx *ctx,
			 const struct recordings *recordings, struct sp_threads **threads,
			 struct threads_view *views)
{
	bool known = false;
	for (size_t i = 0; i < recordings->count; i++) {
		struct sp_reader *reader = recordings->items[i].reader;
		struct sp_filter filter = input_options_filter(&arguments->selection,
							       &recordings->items[i]);
		struct sp_error *error = sp_threads_new(ctx, reader, &filter, &threads[i]);
		if (error) {
			diag_error(error);
			return false;
		}
		views[i] = (struct threads_view){sp_reader_info(reader)->path, threads[i]};
		known |= sp_threads_known(threads[i]);
	}
	if (known)
		return true;
	diag_say("%s: no context switches were recorded", views[0].path);
	diag_more("'sprof record --switch-events' records them");
	return false;
}

int report_threads(const struct report_arguments *arguments, struct sp_ctx *ctx,
		   const struct recordings *recordings)
{
	struct sp_threads **threads = calloc(recordings->count + 1, sizeof(*threads));
	struct threads_view *views = calloc(recordings->count + 1, sizeof(*views));
	struct threads_report report = {
		.views = views,
		.view_count = recordings->count,
		.all = arguments->limit == 0,
		.quiet = arguments->selection.quiet,
		.term = term_of_stdout(arguments->colour),
	};
	int status = 1;
	if (!threads || !views)
		diag_say("out of memory");
	else if (!check_filters(&arguments->selection))
		status = EXIT_USAGE;
	else if (read_threads(arguments, ctx, recordings, threads, views))
		status = write_threads(arguments, &report);
	for (size_t i = 0; threads && i < recordings->count; i++)
		sp_threads_free(threads[i]);
	free(threads);
	free(views);
	return status;
}
