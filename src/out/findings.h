/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings: merged by cause in a report's head, all of them in `sprof info --findings` and JSON. */
#ifndef OUT_FINDINGS_H
#define OUT_FINDINGS_H

#include "json.h"
#include "out/output.h"

/* The findings that matter most, each on a line or two, with one remedy. */
void findings_write(const struct report *report, FILE *out);

/* Each finding in full, without the recorder's notes. */
void findings_write_all(const struct term *term, const struct sp_finding *const *findings,
			size_t count, FILE *out);

/* The array "findings". */
void findings_write_json(const struct sp_finding *const *findings, size_t count, struct json *json);

#endif
