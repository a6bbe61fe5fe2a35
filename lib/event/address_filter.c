/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/address_filter.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "event/file_symbols.h"
#include "proc/kallsyms.h"

static const struct action {
	const char *name, *kernel; /* the action's name, as typed and for the kernel */
	bool range;
} actions[] = {
	{"filter", "filter", true},
	{"start", "start", false},
	{"stop", "stop", false},
	{"tracestop", "stop", true},
};

/* Part of the filter's text. */
struct filter_word {
	const char *text;
	size_t size;
};

struct filter_text {
	const struct action *action;
	struct filter_word place, end, file; /* size 0: not given */
};

struct filter_reader {
	const char *whole, *at;
};

static struct sp_error *wrong(const struct filter_reader *reader, const char *what)
{
	return error_set_remedy(
		error_new(SP_ERROR_INVALID, "--filter '%s': %s at character %zu", reader->whole, what,
			  (size_t)(reader->at - reader->whole) + 1),
		"examples: 'filter main @ /bin/ls', 'start 0x1000 @ FILE', 'filter A / B @ FILE', "
		"'filter * @ FILE'");
}

static void skip_blanks(struct filter_reader *reader)
{
	reader->at += strspn(reader->at, " \t");
}

/* Reads a word up to a blank or one of the characters `ends`. */
static struct filter_word take_word(struct filter_reader *reader, const char *ends)
{
	skip_blanks(reader);
	struct filter_word word = {.text = reader->at};
	while (reader->at[0] && !strchr(" \t", reader->at[0]) && !strchr(ends, reader->at[0]))
		reader->at++;
	word.size = reader->at - word.text;
	skip_blanks(reader);
	return word;
}

static struct sp_error *parse_one(struct filter_reader *reader, struct filter_text *ret)
{
	const char *start = reader->at;
	struct filter_word action = take_word(reader, ",/@");
	for (size_t i = 0; i < count_of(actions); i++)
		if (strlen(actions[i].name) == action.size &&
		    !memcmp(actions[i].name, action.text, action.size))
			ret->action = &actions[i];
	if (!ret->action) {
		reader->at = start + strspn(start, " \t");
		return wrong(reader, "neither filter, start, stop nor tracestop");
	}
	ret->place = take_word(reader, ",/@");
	if (!ret->place.size)
		return wrong(reader, "no address or symbol");
	if (*reader->at == '/') {
		reader->at++;
		ret->end = take_word(reader, ",@");
		if (!ret->end.size)
			return wrong(reader, "no size or symbol");
		if (!ret->action->range)
			return wrong(reader, "a size, where only the place counts,");
	}
	if (*reader->at == '@') {
		reader->at++;
		ret->file = take_word(reader, ",");
		if (!ret->file.size)
			return wrong(reader, "no file");
	}
	if (*reader->at && *reader->at != ',')
		return wrong(reader, "unexpected text");
	return NULL;
}

static bool is_number(struct filter_word word, uint64_t *ret)
{
	char digits[32], *end;
	if (!word.size || word.size >= sizeof(digits) || *word.text < '0' || *word.text > '9')
		return false;
	memcpy(digits, word.text, word.size);
	digits[word.size] = '\0';
	*ret = strtoull(digits, &end, 0);
	return !*end;
}

/* Source of symbols: a file; NULL: the kernel. */
struct filter_symbols {
	struct image *image;
	struct kallsyms *kallsyms;
};

static struct sp_error *find_kernel(const struct filter_symbols *names, struct filter_word name,
				    uint64_t *at, uint64_t *size)
{
	CLEANUP_FREE char *text = format_text("%.*s", (int)name.size, name.text);
	struct kallsyms_symbol symbol;
	NEED(text);
	if (!kallsyms_find_name(names->kallsyms, text, &symbol))
		return error_new(SP_ERROR_NOT_FOUND, "--filter: the kernel has no symbol %s", text);
	*at = symbol.address;
	*size = symbol.end - symbol.address;
	return NULL;
}

/* Finds a symbol. *at: its address in the kernel, or its offset in the file. */
static struct sp_error *find_symbol(const struct filter_symbols *names, struct filter_word name,
				    uint64_t *at, uint64_t *size)
{
	struct file_symbol symbol;
	if (!names->image)
		return find_kernel(names, name, at, size);
	struct sp_error *error = file_symbol_find(names->image, name.text, name.size, false, &symbol);
	if (error)
		return error_prefix(error, "--filter");
	if (!image_file_offset(names->image, symbol.vaddr, at))
		return error_new(SP_ERROR_FORMAT, "--filter: %.*s is in no segment of %s",
				 (int)name.size, name.text, names->image->path);
	*size = symbol.size;
	return NULL;
}

/*
 * Finds the range of a filter; *at as in find_symbol(), *size 0: unknown. `filter->end` is the size
 * if it is a number, else the last symbol.
 */
static struct sp_error *find_range(const struct filter_symbols *names,
				   const struct filter_text *filter, uint64_t *at, uint64_t *size)
{
	struct sp_error *error = NULL;
	uint64_t end, end_size;
	*size = 0;
	if (filter->place.size == 1 && *filter->place.text == '*') {
		*at = 0;
		*size = names->image ? names->image->size : 0;
		return NULL;
	}
	if (!is_number(filter->place, at))
		error = find_symbol(names, filter->place, at, size);
	if (error || !filter->end.size || is_number(filter->end, size))
		return error;
	TRY(find_symbol(names, filter->end, &end, &end_size));
	if (end + end_size <= *at)
		return error_new(SP_ERROR_INVALID, "--filter: %.*s is before %.*s",
				 (int)filter->end.size, filter->end.text, (int)filter->place.size,
				 filter->place.text);
	*size = end + end_size - *at;
	return NULL;
}

static bool needs_names(const struct filter_text *filter)
{
	uint64_t number;
	return !is_number(filter->place, &number) ||
	       (filter->end.size && !is_number(filter->end, &number));
}

/* Append the filter in the kernel's syntax to *text. */
static struct sp_error *put_one(const struct sp_ctx *ctx, const struct filter_text *filter,
				char **text)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	CLEANUP(cleanup_kallsyms_free) struct kallsyms *kallsyms = NULL;
	CLEANUP_FREE char *file = format_text("%.*s", (int)filter->file.size, filter->file.text ?: "");
	uint64_t at = 0, size = 0;
	NEED(file);
	struct sp_error *error = NULL;
	if (*file)
		error = image_open(file, &image);
	else if (needs_names(filter))
		error = kallsyms_read(ctx, NULL, &kallsyms);
	if (error)
		return error;
	const struct filter_symbols names = {image, kallsyms};
	TRY(find_range(&names, filter, &at, &size));
	if (filter->action->range && !size)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "--filter: unknown size of %.*s",
						  (int)filter->place.size, filter->place.text),
					"append its size in bytes, such as / 0x40");
	CLEANUP_FREE char *before = *text;
	CLEANUP_FREE char *range = format_text("/0x%llx", (unsigned long long)size);
	*text = format_text("%s%s%s 0x%llx%s%s%s", before ?: "", before ? " " : "",
			    filter->action->kernel, (unsigned long long)at,
			    filter->action->range && range ? range : "", *file ? "@" : "", file);
	return *text && range ? NULL : error_no_memory();
}

struct sp_error *address_filter_translate(const struct sp_ctx *ctx, const char *text, char **ret)
{
	CLEANUP_FREE char *made = NULL;
	struct filter_reader reader = {text, text};
	for (;;) {
		struct filter_text filter = {0};
		TRY(parse_one(&reader, &filter));
		TRY(put_one(ctx, &filter, &made));
		if (!*reader.at)
			break;
		reader.at++; /* skip the comma */
	}
	*ret = take_ptr(made);
	return NULL;
}
