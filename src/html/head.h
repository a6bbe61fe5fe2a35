/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names, functions and other facts that the page's data begins with. */
#ifndef HTML_HEAD_H
#define HTML_HEAD_H

#include "buffer.h"
#include "export/unique.h"
#include "html/page.h"
#include "json.h"

/* Most rows of an event's function table. */
#define HEAD_ROWS_MAX 50000

/* Bits of a function's kind, in addition to enum sp_level. */
#define KIND_LEVEL 7
#define KIND_UNKNOWN 8 /* its name is an address */
#define KIND_MISSING 16 /* stands for missing callers, or for a thread's state */
#define KIND_STATE 64 /* a thread's state; the level's bits are its enum sp_state */
#define KIND_OWN 256 /* the user's own code */
#define KIND_LIGHT 32 /* stands for functions that are too light to keep */

/* Columns of `functions`. */
enum function_column {
	FUNCTION_NAME, /* index in `strings` */
	FUNCTION_DSO,  /* index in `strings`; of an empty text if there is none */
	FUNCTION_PATH, /* index in `strings`: path of the dso */
	FUNCTION_KIND,
	FUNCTION_ADDRESS, /* distinguishes functions of one name */
	FUNCTION_COLUMNS,
};

struct head {
	struct page *page;
	struct unique strings; /* the first is empty */
	struct unique functions;
	uint32_t **row_functions;  /* by event and row */
	size_t *row_counts;        /* by event */
	uint32_t *thread_names, *process_names; /* by page_thread.number: index in `strings` */
};

/* Numbers all names and functions, also those of the page's nodes. */
void head_init(struct head *head, struct page *page);
void head_deinit(struct head *head);

/* Returns the index of a function for frames inside a stack. */
uint32_t head_add_inner(struct head *head);

/* Returns the index of the one for light functions of a function's library. */
uint32_t head_add_light(struct head *head, uint32_t function);

/* Returns the index of a row's function. */
uint32_t head_add_row(struct head *head, const struct sp_row *row);

/* JSON, and a buffer for texts of unknown origin. */
struct head_writing {
	struct json json;
	struct buffer text;
};

/* Writes a text without characters that are unsafe to show. `key` is NULL for items of an array. */
void head_put_text(struct head_writing *writing, const char *key, const char *text);

/* Writes the JSON. */
void head_write(const struct head *head, FILE *out);

#endif
