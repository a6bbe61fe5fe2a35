/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output of findings. A report's head shows them merged by cause; `sprof info --findings` and JSON
 * show each one.
 */
#ifndef OUT_FINDINGS_OUTPUT_H
#define OUT_FINDINGS_OUTPUT_H

#include "json.h"
#include "out/output.h"

/* Writes the most important findings, one or two lines and one remedy each. */
void findings_write(const struct report *report, FILE *out);

/* Most findings in a report's head. */
#define FINDINGS_SHOWN_MAX 3

struct shown_finding {
	char text[512];
	const char *remedy; /* NULL: none, or that of the next one */
	bool remark;        /* it is about the meaning of rows or names, and no loss of data */
};

/*
 * Sets `ret` to the most important findings. Returns their number, and that of all in *count_ret.
 */
size_t findings_shown(const struct report *report, struct shown_finding ret[FINDINGS_SHOWN_MAX],
		      size_t *count_ret);

/* Writes each finding completely, without the recorder's notes. Returns whether there is one. */
bool findings_write_all(const struct term *term, const struct sp_finding *const *findings,
			size_t count, FILE *out);

/* Writes the findings as the JSON array "findings". */
void findings_write_json(const struct sp_finding *const *findings, size_t count, struct json *json);

#endif
