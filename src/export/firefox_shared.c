/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writer of the tables that all threads share. */
#include "export/firefox.h"

#include <math.h>

void firefox_put_number(struct json *json, uint64_t number, double none)
{
	if (number == FIREFOX_NONE)
		json_double(json, NULL, none);
	else
		json_unsigned(json, NULL, number);
}

/* Writes a column of a table; `none` replaces unknown numbers. */
static void put_column(struct json *json, const char *key, const struct unique *table, size_t column,
		       double none)
{
	json_begin(json, key, '[');
	for (size_t i = 0; i < table->count; i++)
		firefox_put_number(json, unique_number(table, i, column), none);
	json_end(json, ']');
}

void firefox_put_constant(struct json *json, const char *key, size_t count, double value)
{
	json_begin(json, key, '[');
	for (size_t i = 0; i < count; i++)
		json_double(json, NULL, value);
	json_end(json, ']');
}

static void put_false(struct json *json, const char *key, size_t count)
{
	json_begin(json, key, '[');
	for (size_t i = 0; i < count; i++)
		json_bool(json, NULL, false);
	json_end(json, ']');
}

void firefox_begin_table(struct json *json, const char *key, size_t count)
{
	json_begin_lines(json, key, '{');
	json_unsigned(json, "length", count);
}

static void write_stacks(struct firefox *firefox)
{
	struct json *json = &firefox->json;
	size_t count = firefox->timeline && firefox->timeline->node_count ? firefox->timeline->node_count : 1;
	firefox_begin_table(json, "stackTable", count - 1);
	json_begin(json, "frame", '[');
	for (size_t i = 1; i < count; i++)
		json_unsigned(json, NULL, firefox->tables.node_frames[i]);
	json_end(json, ']');
	/* Distance to the parent; 0: no parent. The root is no stack. */
	json_begin(json, "prefixOffset", '[');
	for (size_t i = 1; i < count; i++) {
		uint32_t parent = sp_timeline_node(firefox->timeline, i)->parent;
		json_unsigned(json, NULL, parent ? i - parent : 0);
	}
	json_end(json, ']');
	json_end_lines(json, '}');
}

void firefox_write_shared(struct firefox *firefox)
{
	struct json *json = &firefox->json;
	const struct firefox_tables *tables = &firefox->tables;
	json_begin_lines(json, "shared", '{');
	json_begin_lines(json, "stringArray", '[');
	for (size_t i = 0; i < tables->strings.count; i++)
		json_string(json, NULL, tables->strings.texts[i]);
	json_end_lines(json, ']');
	write_stacks(firefox);
	const struct unique *frames = &tables->frames;
	firefox_begin_table(json, "frameTable", frames->count);
	put_column(json, "address", frames, FRAME_ADDRESS, -1);
	put_column(json, "inlineDepth", frames, FRAME_DEPTH, 0);
	put_column(json, "category", frames, FRAME_CATEGORY, 0);
	firefox_put_constant(json, "subcategory", frames->count, 0);
	put_column(json, "func", frames, FRAME_FUNCTION, 0);
	put_column(json, "nativeSymbol", frames, FRAME_SYMBOL, NAN);
	firefox_put_constant(json, "innerWindowID", frames->count, NAN);
	put_column(json, "line", frames, FRAME_LINE, NAN);
	firefox_put_constant(json, "column", frames->count, NAN);
	firefox_put_constant(json, "originalLocation", frames->count, NAN);
	json_end_lines(json, '}');
	const struct unique *functions = &tables->functions;
	firefox_begin_table(json, "funcTable", functions->count);
	put_column(json, "name", functions, FUNCTION_NAME, 0);
	put_false(json, "isJS", functions->count);
	put_false(json, "relevantForJS", functions->count);
	put_column(json, "resource", functions, FUNCTION_LIBRARY, -1);
	json_begin(json, "source", '[');
	for (size_t i = 0; i < functions->count; i++)
		firefox_put_number(json, tables->function_sources[i], NAN);
	json_end(json, ']');
	firefox_put_constant(json, "lineNumber", functions->count, NAN);
	firefox_put_constant(json, "columnNumber", functions->count, NAN);
	firefox_put_constant(json, "originalLocation", functions->count, NAN);
	json_end_lines(json, '}');
	firefox_begin_table(json, "nativeSymbols", tables->symbols.count);
	put_column(json, "libIndex", &tables->symbols, SYMBOL_LIBRARY, 0);
	put_column(json, "address", &tables->symbols, SYMBOL_ADDRESS, 0);
	put_column(json, "name", &tables->symbols, SYMBOL_NAME, 0);
	firefox_put_constant(json, "functionSize", tables->symbols.count, NAN);
	json_end_lines(json, '}');

	/* Writes the tables of libraries as resources, and of source files. */
	const struct unique *libraries = &tables->libraries, *sources = &tables->sources;
	firefox_begin_table(json, "resourceTable", libraries->count);
	json_begin(json, "lib", '[');
	for (size_t i = 0; i < libraries->count; i++)
		json_unsigned(json, NULL, i);
	json_end(json, ']');
	put_column(json, "name", libraries, LIBRARY_NAME, 0);
	firefox_put_constant(json, "host", libraries->count, NAN);
	firefox_put_constant(json, "type", libraries->count, 1);
	json_end_lines(json, '}');
	firefox_begin_table(json, "sources", sources->count);
	firefox_put_constant(json, "id", sources->count, NAN);
	put_column(json, "filename", sources, SOURCE_NAME, 0);
	firefox_put_constant(json, "startLine", sources->count, 1);
	firefox_put_constant(json, "startColumn", sources->count, 1);
	firefox_put_constant(json, "sourceMapURL", sources->count, NAN);
	firefox_put_constant(json, "content", sources->count, NAN);
	json_end_lines(json, '}');
	firefox_begin_table(json, "sourceLocationTable", 0);
	firefox_put_constant(json, "source", 0, 0);
	firefox_put_constant(json, "line", 0, 0);
	firefox_put_constant(json, "column", 0, 0);
	json_end_lines(json, '}');
	json_end_lines(json, '}');
}
