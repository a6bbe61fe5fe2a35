/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON output is valid JSON, whatever names it has. The input is cut into texts (a NUL ends each):
 * names of all kinds in a report, and keys and values of a writer. A strict reader of RFC 8259 must
 * accept the whole.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "fuzz.h"
#include "json.h"
#include "out/output.h"
#include "rfc8259.h"

#define TEXTS 16

struct input {
	const char *at;   /* the rest of a copy, which ends with a NUL */
	const char *end;  /* end of all text */
};

/* The next text; "" at the end. */
static const char *next_text(struct input *input)
{
	const char *text = input->at;
	if (input->at < input->end)
		input->at += strlen(text) + 1;
	if (input->at > input->end)
		input->at = input->end;
	return text;
}

/* -- What is written ------------------------------------------------------- */

/* One value; what it is the text's first byte says. */
static void put_value(struct json *json, const char *key, const char *text)
{
	double numbers[] = {0.1, -1e300, INFINITY, NAN, 1e-300};
	switch (text[0] % 5) {
	case 0:
		json_bool(json, key, text[0] & 1);
		break;
	case 1:
		json_signed(json, key, INT64_MIN + text[0]);
		break;
	case 2:
		json_double(json, key, numbers[(unsigned char)text[0] / 5 % 5]);
		break;
	default:
		json_string(json, key, text);
	}
}

static void write_values(struct input input, FILE *out)
{
	struct json json = {.out = out};
	json_begin_lines(&json, NULL, '{');
	for (int i = 0; i < TEXTS && input.at < input.end; i++) {
		const char *key = next_text(&input), *text = next_text(&input);
		put_value(&json, key, text);
		json_begin(&json, text, i & 1 ? '[' : '{');
		put_value(&json, i & 1 ? NULL : key, text);
		json_end(&json, i & 1 ? ']' : '}');
	}
	json_begin_lines(&json, "last", '[');
	json_end_lines(&json, ']');
	json_end_lines(&json, '}');
}

static void write_report(struct input input, FILE *out)
{
	static const enum sp_key keys[] = {SP_KEY_COMM, SP_KEY_DSO, SP_KEY_SYMBOL, SP_KEY_SRCLINE};
	const char *path = next_text(&input), *event = next_text(&input), *comm = next_text(&input);
	const struct sp_weight weight = {.samples = 3, .weight = 7};
	struct sp_tree_node nodes[2] = {
		{.function = next_text(&input), .dso = next_text(&input), .self = weight,
		 .total = weight},
		{.symbol = next_text(&input), .srcline = next_text(&input), .total = weight},
	};
	nodes[1].children = &nodes[0];
	nodes[1].child_count = 1;
	const struct sp_tree_node root = {.children = &nodes[1], .child_count = 1};
	const struct sp_row row = {
		.self = weight, .total = weight, .comm = comm, .dso = next_text(&input),
		.dso_path = next_text(&input), .symbol = next_text(&input),
		.srcline = next_text(&input), .event = event, .build_id = next_text(&input),
	};
	const struct sp_profile profile = {
		.event = event, .samples = 3, .weight = 7, .lost = 1, .missing_weight = 2,
		.has_callchains = true, .rows = &row, .row_count = 1, .tree = &root,
	};
	const struct sp_profile *const profiles[] = {&profile};
	const struct sp_finding finding = {
		.kind = SP_FINDING_NOTE, .what = next_text(&input), .remedy = next_text(&input),
	};
	const struct sp_finding *const findings[] = {&finding};
	const struct report report = {
		.path = path, .profiles = profiles, .profile_count = 1, .findings = findings,
		.finding_count = 1, .keys = keys, .key_count = sizeof(keys) / sizeof(*keys),
		.children = true, .tree = SP_TREE_CALLER,
	};
	assert(output_json.write(&report, out));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP_FREE char *copy = calloc(1, size + 1);
	assert(copy);
	if (size)
		memcpy(copy, bytes, size);
	const struct input input = {copy, copy + size};
	for (int i = 0; i < 2; i++) {
		CLEANUP_FREE char *text = NULL;
		size_t text_size = 0;
		FILE *out = open_memstream(&text, &text_size);
		assert(out);
		(i ? write_report : write_values)(input, out);
		assert(!fclose(out));
		assert(json_is_valid(text, text_size));
	}
	return 0;
}
