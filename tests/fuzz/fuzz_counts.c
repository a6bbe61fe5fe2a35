/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts in files: whatever the bytes are, rows are of what there is, and reading comes to an end. */
#include <assert.h>
#include <string.h>
#include <sprof/stat.h>
#include "base/cleanup.h"
#include "fuzz.h"

static void read_rounds(struct sp_stat *stat)
{
	enum sp_stat_step round = SP_STAT_STEP_LAST;
	size_t sum = 0;
	while (round != SP_STAT_STEP_NONE) {
		const struct sp_stat_row *rows = NULL;
		size_t events, places;
		struct sp_error *error = sp_stat_next_round(stat, &round);
		if (!error)
			error = sp_stat_rows(stat, SP_STAT_SINCE_MARK, &rows);
		if (error) {
			assert(sp_error_message(error)[0]);
			sp_error_free(error);
			break;
		}
		const struct sp_stat_event *event = sp_stat_events(stat, &events);
		const struct sp_stat_place *place = sp_stat_places(stat, &places);
		for (size_t p = 0; p < places; p++)
			for (size_t e = 0; e < events; e++) {
				const struct sp_stat_row *row = &rows[p * events + e];
				struct sp_stat_derived derived[2];
				sum += strlen(event[e].name) + strlen(event[e].unit) +
				       (place[p].comm ? strlen(place[p].comm) : 0) + row->members;
				sum += sp_stat_derive(event, &rows[p * events], events, e, 1e9, derived);
				assert(!row->interval_known || row->low <= row->high);
			}
		sp_stat_mark(stat);
	}
	__asm__ volatile("" : : "r"(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const enum sp_stat_aggregate aggregates[] = {SP_STAT_CPU, SP_STAT_CORE, SP_STAT_NODE,
							    SP_STAT_THREAD};
	struct sp_ctx *ctx;
	struct sp_reader *reader = NULL;
	struct sp_error *error = sp_ctx_new(&ctx);
	assert(!error);
	error = sp_reader_open_memory(ctx, bytes, size, "input", &reader);
	for (size_t i = 0; !error && i <= sizeof(aggregates) / sizeof(*aggregates); i++) {
		struct sp_stat *stat = NULL;
		sp_reader_rewind(reader);
		struct sp_error *load_error =
			sp_stat_load(ctx, reader, i ? &aggregates[i - 1] : NULL, &stat);
		if (!load_error)
			read_rounds(stat);
		sp_error_free(load_error);
		sp_stat_free(stat);
	}
	sp_error_free(error);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
	return 0;
}
