/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the columns before the count in a line of text (time and place), as perf stat does. */
#include "out/stat_internal.h"
#include "term.h"

void stat_put_name(FILE *out, const char *text, int width)
{
	const struct term plain = {.utf8 = true};
	int used = term_text_width(&plain, text);
	term_pad(width - used, out);
	term_put(&plain, text, 0, out);
	term_pad(-width - used, out);
}

void stat_put_text_place(const struct stat_line *line)
{
	FILE *out = line->style->out;
	const struct sp_stat_place *place = line->place;
	int members = line->row->members > 0 ? (int)line->row->members : 0;
	char name[64];
	switch (line->style->aggregate) {
	case SP_STAT_GLOBAL:
		return;
	case SP_STAT_CPU:
		fprintf(out, "CPU%-7d ", place->cpu);
		return;
	case SP_STAT_THREAD:
		stat_put_name(out, place->comm, 16);
		fprintf(out, "-%-8d ", place->tid);
		return;
	case SP_STAT_CORE:
		fprintf(out, "S%d-D%d-C%-8d %4d ", place->socket, place->die, place->core, members);
		return;
	case SP_STAT_CLUSTER:
		fprintf(out, "S%d-D%d-CLS%-5d %4d ", place->socket, place->die, place->cluster, members);
		return;
	case SP_STAT_CACHE:
		snprintf(name, sizeof(name), "S%d-D%d-L%d-ID%d", place->socket, place->die,
			 place->cache_level, place->cache);
		fprintf(out, "%-19s %7d ", name, members);
		return;
	case SP_STAT_DIE:
		fprintf(out, "S%d-D%-8d %4d ", place->socket, place->die, members);
		return;
	case SP_STAT_SOCKET:
		fprintf(out, "S%-5d %4d ", place->socket, members);
		return;
	case SP_STAT_NODE:
		fprintf(out, "N%-5d %4d ", place->node, members);
		return;
	}
}

void stat_put_text_prefix(const struct stat_line *line)
{
	if (line->table->has_time) {
		uint64_t ns = (uint64_t)line->table->time_ns;
		fprintf(line->style->out, "%6llu.%09llu ", (unsigned long long)(ns / 1000000000),
			(unsigned long long)(ns % 1000000000));
	}
	stat_put_text_place(line);
}
