/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places as perf stat names them, and the columns before the count in a line of text. */
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

const char *const stat_place_titles[] = {
	[SP_STAT_CPU] = "cpu",         [SP_STAT_CORE] = "core",
	[SP_STAT_CLUSTER] = "cluster", [SP_STAT_CACHE] = "cache",
	[SP_STAT_DIE] = "die",         [SP_STAT_SOCKET] = "socket",
	[SP_STAT_NODE] = "node",       [SP_STAT_THREAD] = "thread",
};

const char *stat_place_name(const struct stat_line *line, char name[STAT_PLACE_SIZE])
{
	const struct sp_stat_place *of = line->place;
	enum sp_stat_aggregate aggregate = line->style->aggregate;
	char inner[40] = "";
	if (aggregate == SP_STAT_CORE)
		snprintf(inner, sizeof(inner), "-C%d", of->core);
	else if (aggregate == SP_STAT_CLUSTER)
		snprintf(inner, sizeof(inner), "-CLS%d", of->cluster);
	else if (aggregate == SP_STAT_CACHE)
		snprintf(inner, sizeof(inner), "-L%d-ID%d", of->cache_level, of->cache);
	if (aggregate == SP_STAT_THREAD)
		snprintf(name, STAT_PLACE_SIZE, "%s-%d", of->comm, of->tid);
	else if (*inner || aggregate == SP_STAT_DIE)
		snprintf(name, STAT_PLACE_SIZE, "S%d-D%d%s", of->socket, of->die, inner);
	else if (aggregate == SP_STAT_SOCKET)
		snprintf(name, STAT_PLACE_SIZE, "S%d", of->socket);
	else if (aggregate == SP_STAT_NODE)
		snprintf(name, STAT_PLACE_SIZE, "N%d", of->node);
	else
		snprintf(name, STAT_PLACE_SIZE, "%d", of->cpu);
	return name;
}

bool stat_has_members(const struct stat_style *style)
{
	return style->aggregate != SP_STAT_GLOBAL && style->aggregate != SP_STAT_CPU &&
	       style->aggregate != SP_STAT_THREAD;
}

void stat_put_text_place(const struct stat_line *line)
{
	FILE *out = line->style->out;
	const struct sp_stat_place *place = line->place;
	int members = line->row->members > 0 ? (int)line->row->members : 0;
	char name[STAT_PLACE_SIZE];
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
		fprintf(out, "%-19s %7d ", stat_place_name(line, name), members);
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
