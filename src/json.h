/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON writer. It adds the commas, and its output is valid JSON for any strings: bytes that are not
 * UTF-8 become U+FFFD. Write errors stay in the stream; the caller checks the stream once at the end.
 *
 *     struct json json = {.out = stdout};
 *     json_begin(&json, NULL, '{');
 *     json_string(&json, "name", "cpu-clock");
 *     json_begin(&json, "rows", '[');
 *     ...
 *     json_end(&json, ']');
 *     json_end(&json, '}');
 *
 * The key is NULL for items of an array.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool later;                /* a comma is needed before the next value */
	unsigned int lines;        /* number of open objects and arrays that write each value on its own
				    * line */
	unsigned int inline_depth; /* number of open objects and arrays inside these, which are written on
				    * one line */
};

/*
 * Writes a string with its quotes. Control characters, and marks that reorder text, are escaped; bytes
 * that are not UTF-8 become U+FFFD.
 */
void json_put_text(FILE *out, const char *text);

/* Opens an object ('{') or an array ('['); its values follow on the same line. */
void json_begin(struct json *json, const char *key, char bracket);

/* Opens an object or an array with each value on its own line. */
void json_begin_lines(struct json *json, const char *key, char bracket);

/* Closes an object ('}') or an array (']'). json_end_lines() is for json_begin_lines(). */
void json_end(struct json *json, char bracket);
void json_end_lines(struct json *json, char bracket);

/* Writes a text; nothing if it is NULL: unknown. */
void json_string(struct json *json, const char *key, const char *text);

/* Writes the text "0x1f". */
void json_hex(struct json *json, const char *key, uint64_t number);
void json_unsigned(struct json *json, const char *key, uint64_t number);
void json_signed(struct json *json, const char *key, int64_t number);
void json_bool(struct json *json, const char *key, bool value);

/* Writes a number with 10 significant digits; null if it is not finite. */
void json_double(struct json *json, const char *key, double number);

#endif
