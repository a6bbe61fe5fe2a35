/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows, as RFC 4180 has them but for the line ends, under a header line.
 * The columns are the keys of a row in JSON, in their order; those of totals are
 * always there, and empty where totals are not known. Rows of several events
 * have a last column that names theirs.
 */
#include <inttypes.h>
#include <string.h>
#include "out/output.h"
#include "text.h"

/* Quoted where it must be; bytes that are not UTF-8 become U+FFFD. */
static void put_text(const char *text, FILE *out)
{
	bool quote = text[strcspn(text, ",\"\n\r")] != '\0';
	char buffer[4];
	if (quote)
		putc('"', out);
	while (true) {
		size_t plain = text_plain_size(text);
		const char *inner = memchr(text, '"', plain);
		if (inner)
			plain = (size_t)(inner - text);
		fwrite(text, 1, plain, out);
		text += plain;
		uint32_t code = text_next(&text);
		if (!code)
			break;
		if (code == '"')
			putc('"', out);
		fwrite(buffer, 1, text_put(code == TEXT_INVALID ? 0xfffd : code, buffer), out);
	}
	if (quote)
		putc('"', out);
}

static bool has_events(const struct report *report)
{
	return report->profile_count > 1 || report_has_key(report, SP_KEY_EVENT);
}

/* What every row needs to know. */
struct columns {
	enum sp_key keys[SP_KEY_COUNT];
	size_t count;
	bool build_id, events;
};

static void put_header(const struct columns *columns, FILE *out)
{
	fputs("self,self_low,self_high,self_samples,self_weight,"
	      "total,total_low,total_high,total_samples,total_weight", out);
	for (size_t i = 0; i < columns->count; i++)
		fprintf(out, ",%s", sp_key_name(columns->keys[i]));
	if (columns->build_id)
		fputs(",build_id", out);
	fputs(columns->events ? ",event\n" : "\n", out);
}

static void put_weight(const struct sp_weight *weight, FILE *out)
{
	fprintf(out, "%.10g,%.10g,%.10g,%" PRIu64 ",%" PRIu64, weight->share.value,
		weight->share.low, weight->share.high, weight->samples, weight->weight);
}

static void put_name(const char *name, FILE *out)
{
	putc(',', out);
	if (name)
		put_text(name, out);
}

static void put_key(const struct sp_row *row, enum sp_key key, FILE *out)
{
	int64_t number;
	if (!sp_key_is_number(key)) {
		put_name(row_text(row, key), out);
		return;
	}
	putc(',', out);
	if (row_number(row, key, &number))
		fprintf(out, "%" PRId64, number);
}

static void put_row(const struct columns *columns, const struct sp_profile *profile, bool totals,
		    const struct sp_row *row, FILE *out)
{
	put_weight(&row->self, out);
	putc(',', out);
	if (totals)
		put_weight(&row->total, out);
	else
		fputs(",,,,", out);
	for (size_t i = 0; i < columns->count; i++)
		put_key(row, columns->keys[i], out);
	if (columns->build_id)
		put_name(row->build_id, out);
	if (columns->events)
		put_name(profile->event, out);
	putc('\n', out);
}

static bool write_csv(const struct report *report, FILE *out)
{
	struct columns columns = {.build_id = report_has_key(report, SP_KEY_DSO),
				  .events = has_events(report)};
	columns.count = report_ordered_keys(report, columns.keys);
	put_header(&columns, out);
	for (size_t i = 0; i < report->profile_count; i++) {
		const struct sp_profile *profile = report->profiles[i];
		size_t count = report_row_count(report, profile);
		bool totals = report_has_totals(report, profile);
		for (size_t j = 0; j < count; j++)
			put_row(&columns, profile, totals, &profile->rows[j], out);
	}
	return true;
}

const struct output output_csv = {"csv", "csv", false, write_csv};
