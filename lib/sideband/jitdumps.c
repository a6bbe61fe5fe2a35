/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sideband/jitdumps.h"

#include <inttypes.h>
#include <time.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/ticks.h"
#include "symbol/jitdump.h"
#include "symbol/kernel_tables.h"

/* Ways to convert a dump's times to the recording's clock. */
enum clock_kind {
	CLOCK_SAME,
	CLOCK_TICKS,  /* time stamp counter values, by the recording's own conversion */
	CLOCK_MOVED,  /* by the time at which the file was mapped */
	CLOCK_ORDER,  /* times cannot be converted: later code in the dump replaces earlier code */
	CLOCK_KINDS,
};

struct jitdump_import {
	struct sp_ctx *ctx;
	const char *symfs;
	struct stored *stored; /* files in the recording; NULL: none */
	enum host host; /* whether the recording was made on this host */
	struct sideband *sideband;
	size_t dumps_of[CLOCK_KINDS];
	const char *first_of[CLOCK_KINDS]; /* path of the first dump of each kind; the sideband owns it */
};

static enum clock_kind clock_of(const struct sideband *sideband,
				const struct machine_jitdump *mark, const struct jitdump *dump)
{
	if (!sideband->layout->event_count || sideband->by_offset)
		return CLOCK_ORDER;
	const struct perf_event_attr *attr = &sideband->layout->events[0].attr;
	if (dump->in_ticks)
		return !attr->use_clockid && sideband->ticks.mult ? CLOCK_TICKS : CLOCK_ORDER;
	if (attr->use_clockid && attr->clockid == CLOCK_MONOTONIC)
		return CLOCK_SAME;
	return mark->time_ns ? CLOCK_MOVED : CLOCK_ORDER;
}

static uint64_t ticks_to_ns(const struct sp_time_conv *conv, uint64_t ticks)
{
	if (conv->cap_user_time_short)
		ticks = ticks_widen(ticks, conv->cycles, conv->mask);
	return conv->zero + ticks_scale(ticks, conv->mult, conv->shift);
}

static uint64_t time_of(const struct sideband *sideband, enum clock_kind kind,
			const struct machine_jitdump *mark, const struct jitdump *dump,
			uint64_t time)
{
	switch (kind) {
	case CLOCK_SAME:
		return time;
	case CLOCK_TICKS:
		return ticks_to_ns(&sideband->ticks, time);
	case CLOCK_MOVED:
		return time > dump->began ? mark->time_ns + (time - dump->began) : mark->time_ns;
	case CLOCK_ORDER:
	case CLOCK_KINDS:
		break;
	}
	return 0;
}

static struct sp_error *note(struct sideband *sideband, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static struct sp_error *note(struct sideband *sideband, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *text = format_text_va(format, args);
	va_end(args);
	return text ? sideband_note(sideband, text) : error_no_memory();
}

static struct sp_error *note_damage(struct sideband *sideband, const struct jitdump *dump)
{
	if (dump->bad_records) {
		TRY(note(sideband, "%s: %" PRIu64 " damaged records of JIT code ignored",
			 dump->path, dump->bad_records));
	}
	if (!dump->cut_at)
		return NULL;
	return note(sideband, "%s ends within a record, at offset 0x%" PRIx64 ": later "
		   "JIT code has no symbols", dump->path, dump->cut_at);
}

static struct sp_error *add_code(struct jitdump_import *adding, const struct machine_jitdump *mark,
				 const struct jitdump *dump)
{
	struct sideband *sideband = adding->sideband;
	enum clock_kind kind = clock_of(sideband, mark, dump);
	struct sp_error *error = NULL;
	for (size_t i = 0; !error && i < dump->places.count; i++) {
		const struct jitdump_place *place = &dump->places.items[i];
		error = machine_add_jit(sideband->machine, mark,
					time_of(sideband, kind, mark, dump, place->time),
					place->start, place->size, place->file_offset);
	}
	if (!adding->dumps_of[kind]++)
		adding->first_of[kind] = mark->module->path;
	return error ? error : note_damage(sideband, dump);
}

static struct sp_error *add_dump(struct jitdump_import *adding, const struct machine_jitdump *mark)
{
	CLEANUP(diagnosis_clear) struct diagnosis why = {0};
	const struct jitdump *dump;
	const struct jitdump_request request = {
		.ctx = adding->ctx,
		.symfs = adding->symfs,
		.host = adding->host,
		.module = mark->module,
		.pid = mark->pid,
		.stored = adding->stored,
		.files = adding->sideband->jit,
	};
	TRY(jitdump_open(&request, &why, &dump));
	if (dump)
		return add_code(adding, mark, dump);
	return note(adding->sideband, "JIT code of process %u: %s%s%s", mark->pid,
		   why.text ?: "unusable jitdump", why.remedy ? "; " : "",
		   why.remedy ?: "");
}

static struct sp_error *note_clock(const struct jitdump_import *adding, enum clock_kind kind,
				  const char *done)
{
	size_t count = adding->dumps_of[kind];
	if (!count)
		return NULL;
	char more[48] = "";
	if (count > 1)
		snprintf(more, sizeof(more), " (and %zu more)", count - 1);
	return note(adding->sideband, "%s%s: its clock is not the recording's: %s; record with "
		   "-k mono", adding->first_of[kind], more, done);
}

struct sp_error *jitdumps_add(struct sp_ctx *ctx, const struct sp_reader *reader, const char *symfs,
			 struct sideband *sideband)
{
	const struct resolver_options recorded = {
		.osrelease = sp_reader_info(reader)->osrelease,
		.hostname = sp_reader_info(reader)->hostname,
	};
	struct jitdump_import adding = {
		.ctx = ctx,
		.symfs = symfs,
		.stored = sideband->stored,
		.host = resolver_provenance(ctx, &recorded).host,
		.sideband = sideband,
	};
	for (size_t i = 0; i < machine_jitdump_count(sideband->machine); i++) {
		const struct machine_jitdump mark = machine_jitdump(sideband->machine, i);
		TRY(add_dump(&adding, &mark));
	}
	TRY(note_clock(&adding, CLOCK_MOVED, "times are aligned to within milliseconds"));
	return note_clock(&adding, CLOCK_ORDER,
			 "where JIT code was replaced, samples have the last symbol");
}

struct sp_error *jitdumps_note(struct sideband *sideband)
{
	uint64_t times = machine_jit_unparted(sideband->machine);
	if (!times)
		return NULL;
	return note(sideband,
		    "JIT code was replaced %" PRIu64 " times more than is tracked: earlier "
		    "samples there have the later symbol",
		    times);
}
