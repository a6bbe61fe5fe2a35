/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include "text.h"

/* Characters that need no escape are written with one call. */
void json_put_text(FILE *out, const char *text)
{
	const char *run = text, *at = text;
	char buffer[4];
	putc('"', out);
	for (;;) {
		while (*at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\')
			at++;
		const char *before = at;
		uint32_t code = text_next(&at);
		if (code && code != '"' && code != '\\' && !text_is_control(code) &&
		    code != TEXT_INVALID)
			continue;
		fwrite(run, 1, (size_t)(before - run), out);
		run = at;
		if (!code)
			break;
		if (code == TEXT_INVALID)
			fwrite(buffer, 1, text_put(0xfffd, buffer), out);
		else if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (int)code);
		else if (code == '\n' || code == '\t')
			fprintf(out, "\\%c", code == '\n' ? 'n' : 't');
		else
			fprintf(out, "\\u%04x", (unsigned int)code);
	}
	putc('"', out);
}

/* Writes the comma before a value, and a line break if each value has its own line. */
static void put_separator(struct json *json, bool line)
{
	if (json->later)
		putc(',', json->out);
	if (line)
		fprintf(json->out, "\n%*s", (int)json->lines, "");
	else if (json->later)
		putc(' ', json->out);
}

static void put_key(struct json *json, const char *key)
{
	put_separator(json, json->lines && !json->inline_depth);
	if (key) {
		json_put_text(json->out, key);
		fputs(": ", json->out);
	}
	json->later = true;
}

void json_begin(struct json *json, const char *key, char bracket)
{
	put_key(json, key);
	putc(bracket, json->out);
	json->inline_depth++;
	json->later = false;
}

void json_begin_lines(struct json *json, const char *key, char bracket)
{
	put_key(json, key);
	putc(bracket, json->out);
	json->lines++;
	json->later = false;
}

void json_end(struct json *json, char bracket)
{
	putc(bracket, json->out);
	json->inline_depth--;
	json->later = true;
}

void json_end_lines(struct json *json, char bracket)
{
	json->lines--;
	if (json->later)
		fprintf(json->out, "\n%*s", (int)json->lines, "");
	putc(bracket, json->out);
	json->later = true;
	if (!json->lines)
		putc('\n', json->out);
}

void json_string(struct json *json, const char *key, const char *text)
{
	if (!text)
		return;
	put_key(json, key);
	json_put_text(json->out, text);
}

void json_hex(struct json *json, const char *key, uint64_t number)
{
	char text[24];
	snprintf(text, sizeof(text), "0x%" PRIx64, number);
	json_string(json, key, text);
}

void json_unsigned(struct json *json, const char *key, uint64_t number)
{
	put_key(json, key);
	fprintf(json->out, "%" PRIu64, number);
}

void json_signed(struct json *json, const char *key, int64_t number)
{
	put_key(json, key);
	fprintf(json->out, "%" PRId64, number);
}

void json_bool(struct json *json, const char *key, bool value)
{
	put_key(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_double(struct json *json, const char *key, double number)
{
	put_key(json, key);
	if (isfinite(number))
		fprintf(json->out, "%.10g", number);
	else
		fputs("null", json->out);
}
