/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include <langinfo.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include <unistd.h>

/*
 * Decodes the first byte of a UTF-8 sequence: the number of bytes that follow, their code bits so far,
 * and the least code point of that length. Returns false if it cannot begin a sequence.
 */
static bool lead_byte(unsigned char byte, int *follow, uint32_t *code, uint32_t *least)
{
	if (byte >= 0xc2 && byte <= 0xdf) {
		*follow = 1;
		*code = byte & 0x1f;
		*least = 0x80;
	} else if (byte >= 0xe0 && byte <= 0xef) {
		*follow = 2;
		*code = byte & 0x0f;
		*least = 0x800;
	} else if (byte >= 0xf0 && byte <= 0xf4) {
		*follow = 3;
		*code = byte & 0x07;
		*least = 0x10000;
	} else {
		return false;
	}
	return true;
}

uint32_t text_next(const char **text)
{
	const unsigned char *at = (const unsigned char *)*text;
	uint32_t code, least;
	int follow;
	if (!*at)
		return 0;
	++*text;
	if (*at < 0x80)
		return *at;
	if (!lead_byte(*at, &follow, &code, &least))
		return TEXT_INVALID;
	for (int i = 1; i <= follow; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return TEXT_INVALID;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return TEXT_INVALID;
	*text += follow;
	return code;
}

size_t text_plain_size(const char *text)
{
	const uint64_t ones = 0x0101010101010101, highs = ones * 0x80;
	size_t at = 0, size;
	uint64_t word, odd = 0;
	/*
	 * Skips eight bytes at once while all are printable ASCII: no high bit, not below 0x20, not
	 * 0x7f.
	 */
	do {
		size = at + strnlen(text + at, 256);
		while (!odd && at + sizeof(word) <= size) {
			memcpy(&word, text + at, sizeof(word));
			odd = (word | (word - ones * 0x20) | (word + ones)) & highs;
			at += odd ? 0 : sizeof(word);
		}
	} while (!odd && text[size]);
	while (text[at] >= 0x20 && text[at] < 0x7f)
		at++;
	return at;
}

size_t text_put(uint32_t code, char *buffer)
{
	if (code < 0x80) {
		buffer[0] = (char)code;
		return 1;
	}
	size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = size - 1; i; i--, code >>= 6)
		buffer[i] = (char)(0x80 | (code & 0x3f));
	buffer[0] = (char)((0xf00 >> size) | code);
	return size;
}

int text_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x2069) || code == 0xfeff;
}

enum text_form text_form_shown(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") ? TEXT_SHOWN_ASCII : TEXT_SHOWN;
}

enum text_form text_form_of(int fd)
{
	return isatty(fd) ? text_form_shown() : TEXT_ONE_LINE;
}

uint32_t text_shown(uint32_t code, enum text_form form)
{
	if (code == TEXT_INVALID || text_is_control(code))
		return form == TEXT_SHOWN ? 0xfffd : '?';
	return code < 0x80 || form == TEXT_SHOWN ? code : '?';
}

static const char *line_piece(const char **text, size_t *size_ret)
{
	const char *begin = *text;
	size_t size = strcspn(begin, "\n\r");
	*size_ret = size;
	*text += size;
	if (size || !*begin)
		return begin;
	*size_ret = 2;
	++*text;
	return *begin == '\n' ? "\\n" : "\\r";
}

const char *text_piece(const char **text, enum text_form form, char buffer[TEXT_PIECE],
		       size_t *size_ret)
{
	if (form == TEXT_ONE_LINE)
		return line_piece(text, size_ret);
	const char *begin = *text;
	*size_ret = text_plain_size(begin);
	*text += *size_ret;
	if (*size_ret)
		return begin;
	uint32_t code = text_next(text);
	*size_ret = code ? text_put(text_shown(code, form), buffer) : 0;
	return buffer;
}

void text_write(const char *text, enum text_form form, FILE *out)
{
	char buffer[TEXT_PIECE];
	size_t size;
	for (;;) {
		const char *piece = text_piece(&text, form, buffer, &size);
		if (!size)
			return;
		fwrite(piece, 1, size, out);
	}
}

size_t text_expand_tabs(const char *line, size_t size, size_t most, char *copy)
{
	size_t used = 0;
	for (size_t i = 0; i < size && used < most; i++) {
		if (line[i] == '\r')
			continue;
		if (line[i] != '\t') {
			copy[used++] = line[i];
			continue;
		}
		do
			copy[used++] = ' ';
		while (used % TEXT_TAB);
	}
	copy[used] = '\0';
	return used;
}

char *text_expression(const char *text)
{
	char *expression = xmalloc(2 * strlen(text) + 1), *end = expression;
	for (; *text; text++) {
		if (strchr(".[]()*+?{}|^$\\", *text))
			*end++ = '\\';
		*end++ = *text;
	}
	*end = '\0';
	return expression;
}

const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool text_is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

bool text_is_bare(const char *word)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_./:@%+=,-";
	return *word && !word[strspn(word, bare)];
}

char *text_append_word(char *text, const char *word)
{
	char *longer = xrealloc(text, strlen(text) + 4 * strlen(word) + 4);
	char *end = longer + strlen(longer);
	if (end > longer)
		*end++ = ' ';
	if (text_is_bare(word)) {
		strcpy(end, word);
		return longer;
	}
	*end++ = '\'';
	for (; *word; word++)
		end = *word == '\'' ? stpcpy(end, "'\\''") : stpncpy(end, word, 1);
	strcpy(end, "'");
	return longer;
}
