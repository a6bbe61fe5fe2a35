/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes from the first half of the level's time to the second: two reports, each with shares of
 * its half. The interval of a difference combines the two intervals (Newcombe's method 10).
 */
#include "memory.h"
#include "tui/browse_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "text.h"

/* Least share, in one of the halves, of a listed row. */
#define LEAST_SHARE 0.005

/* A row in both halves. */
struct changed_row {
	const struct sp_row *row;
	uint64_t hash; /* hash of the keys */
	struct sp_share shares[2];
	double change, low, high;
};

static int compare_changes(const void *a, const void *b)
{
	const struct changed_row *x = a, *y = b;
	double first = fabs(x->change), second = fabs(y->change);
	if (first != second)
		return first > second ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Returns the interval of a share that no sample has: that of the half's rule, from 0. */
static struct sp_share absent_share(const struct sp_profile *profile)
{
	double samples = (double)profile->shown_samples;
	/* Wilson's upper bound of 0 of n. */
	return (struct sp_share){0, 0, samples > 0 ? 3.8415 / (samples + 3.8415) : 1};
}

/*
 * Fills rows with those that have LEAST_SHARE in a half. Returns their number. They are few: the
 * first two rounds find them, and the others look up the smaller shares of each half.
 */
static size_t join_rows(const struct report *report, const struct sp_profile *const halves[2],
			bool by_total, struct changed_row *rows)
{
	size_t count = 0;
	for (size_t round = 0; round < 4; round++)
		for (size_t i = 0; i < halves[round % 2]->row_count; i++) {
			const struct sp_row *row = sp_profile_row(halves[round % 2], i);
			const struct sp_share *share =
				by_total ? &row->total.share : &row->self.share;
			bool adds = share->value >= LEAST_SHARE;
			if (adds != (round < 2))
				continue;
			uint64_t hash = row_order_hash(report, row);
			size_t at = 0;
			while (at < count && rows[at].hash != hash)
				at++;
			if (at == count && !adds)
				continue;
			if (at == count)
				rows[count++] = (struct changed_row){
					.row = row,
					.hash = hash,
					.shares = {absent_share(halves[0]),
						   absent_share(halves[1])},
				};
			rows[at].shares[round % 2] = *share;
		}
	for (size_t i = 0; i < count; i++) {
		struct changed_row *row = &rows[i];
		const struct sp_share *a = &row->shares[0], *b = &row->shares[1];
		row->change = b->value - a->value;
		row->low = row->change - hypot(b->value - b->low, a->high - a->value);
		row->high = row->change + hypot(b->high - b->value, a->value - a->low);
	}
	if (count)
		qsort(rows, count, sizeof(*rows), compare_changes);
	return count;
}

static void put_row(const struct report *report, const struct changed_row *row,
		    const struct term *term, FILE *out)
{
	char shares[2][FORMAT_SIZE], number[32];
	bool is_sure = row->low > 0 || row->high < 0;
	int room = term->width - 47;
	if (is_sure)
		term_begin(term, TERM_TITLE, out);
	fprintf(out, "%+7.2f  %+6.1f to %+6.1f  %7s  %7s%s", 100 * row->change, 100 * row->low,
		100 * row->high, format_share(row->shares[0].value, shares[0]),
		format_share(row->shares[1].value, shares[1]), is_sure ? " * " : "   ");
	if (is_sure)
		term_end(term, TERM_TITLE, out);
	for (size_t i = 0; i < report->key_count && room > 0; i++) {
		enum sp_key key = report->keys[i];
		int64_t value;
		const char *text = sp_key_is_number(key) ? NULL : row_text(row->row, key);
		if (sp_key_is_number(key) && row_number(row->row, key, &value)) {
			snprintf(number, sizeof(number), "%lld", (long long)value);
			text = number;
		}
		room -= term_put(term, text ?: "?", room, out) + 2;
		fputs("  ", out);
	}
	putc('\n', out);
}

static void write_changes(struct browse *browse, FILE *out)
{
	struct level *level = browse_current(browse);
	const struct report *report = level_report(level);
	const struct term term = screen_term(browse->screen);
	const struct sp_profile *halves[2];
	bool by_total = report_by_total(report);
	for (size_t i = 0; i < 2; i++)
		halves[i] = level_same_profile(level, level->pictures[LEVEL_FIRST_HALF + i].result);
	if (!halves[0] || !halves[1]) {
		fputs("One of the halves has no samples.\n", out);
		return;
	}
	size_t most = halves[0]->row_count + halves[1]->row_count;
	struct changed_row *rows = xcalloc(most + 1, sizeof(*rows));
	size_t count = join_rows(report, halves, by_total, rows);
	fprintf(out, "%7s  %16s  %7s  %7s   rows by %s\n", "change", "low to high", "first",
		"second", by_total ? "total" : "self");
	for (size_t i = 0; i < count; i++)
		put_row(report, &rows[i], &term, out);
	free(rows);
	term_wrap(&term, "Changes are in percentage points of the half's samples; low to high is "
			 "the 95% confidence interval.", 0, 0, 0, out);
	term_wrap(&term, "Rows with * changed by more than sampling explains. Rows below 0.5% in "
			 "both halves are left out.", 0, 0, 0, out);
	/* The command has no filters, and reads one file. */
	if (browse->level_count > 1 || report->filtered || report->recording_count > 1 ||
	    report->live)
		return;
	char *command = text_append_word(strdup("sprof diff --time 0%-50% --time 50%-100%"),
					 report->path);
	fprintf(out, "The same as text: %s\n", command);
	free(command);
}

void browse_open_changes(struct browse *browse)
{
	const struct level *level = browse_current(browse);
	if (level->arguments.selection.times.count && !level->has_time) {
		browse_note(browse, "--time was given; a range of the timeline (T) has halves");
		return;
	}
	for (size_t i = 0; i < 2; i++)
		if (!browse_picture(browse, LEVEL_FIRST_HALF + i, NULL))
			return;
	browse_show_text(browse, "changes from the first half of the time to the second",
			 write_changes);
}
