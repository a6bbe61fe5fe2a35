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

/* Columns of names in text. */
static const int name_widths[] = {
	[SP_STAT_CPU] = 7,   [SP_STAT_CORE] = 15,  [SP_STAT_CLUSTER] = 14, [SP_STAT_CACHE] = 19,
	[SP_STAT_DIE] = 12,  [SP_STAT_SOCKET] = 6, [SP_STAT_NODE] = 6,
};

void stat_put_text_place(const struct stat_line *line)
{
	FILE *out = line->style->out;
	enum sp_stat_aggregate aggregate = line->style->aggregate;
	char name[STAT_PLACE_SIZE];
	if (aggregate == SP_STAT_THREAD) {
		stat_put_name(out, line->place->comm, 16);
		fprintf(out, "-%-8d ", line->place->tid);
	} else if (aggregate != SP_STAT_GLOBAL) {
		fprintf(out, "%s%-*s ", aggregate == SP_STAT_CPU ? "CPU" : "",
			name_widths[aggregate], stat_place_name(line, name));
	}
	if (stat_has_members(line->style))
		fprintf(out, "%*u ", aggregate == SP_STAT_CACHE ? 7 : 4, line->row->members);
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
