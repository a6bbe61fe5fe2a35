/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "term.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>
#include "memory.h"
#include "text.h"

/* Returns the width of a terminal, or that which COLUMNS sets; 0: no limit. */
static int find_width(int fd, bool terminal)
{
	struct winsize size;
	if (terminal && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	const char *columns = getenv("COLUMNS");
	int width = columns ? atoi(columns) : 0;
	return width > 0 ? width : terminal ? 80 : 0;
}

static bool wants_colour(enum term_colour colour, bool terminal)
{
	if (colour != TERM_COLOUR_AUTO)
		return colour == TERM_COLOUR_ALWAYS;
	const char *no_color = getenv("NO_COLOR"), *name = getenv("TERM");
	return terminal && !(no_color && *no_color) && name && strcmp(name, "dumb") != 0;
}

struct term term_of_output(const char *file, enum term_colour colour)
{
	bool terminal = !file && isatty(STDOUT_FILENO);
	return (struct term){
		.colour = wants_colour(colour, terminal),
		.utf8 = text_form_shown() == TEXT_SHOWN,
		.terminal = terminal,
		.width = file ? 0 : find_width(STDOUT_FILENO, terminal),
	};
}

struct term term_of_stderr(void)
{
	bool terminal = isatty(STDERR_FILENO);
	return (struct term){
		.utf8 = text_form_shown() == TEXT_SHOWN,
		.terminal = terminal,
		.width = terminal ? find_width(STDERR_FILENO, terminal) : 0,
	};
}

void term_begin(const struct term *term, enum term_style style, FILE *out)
{
	static const char *const codes[] = {
		[TERM_TITLE] = "1", [TERM_DIM] = "2",      [TERM_HOT] = "1;31",
		[TERM_WARM] = "32", [TERM_WARNING] = "1;33", [TERM_KERNEL] = "36",
	};
	if (term->colour && style != TERM_PLAIN)
		fprintf(out, "\033[%sm", codes[style]);
}

void term_end(const struct term *term, enum term_style style, FILE *out)
{
	if (term->colour && style != TERM_PLAIN)
		fputs("\033[0m", out);
}

const char *term_glyph(const struct term *term, const char *utf8, const char *plain)
{
	return term->utf8 ? utf8 : plain;
}

static uint32_t shown_code(const struct term *term, uint32_t code)
{
	return text_shown(code, term->utf8 ? TEXT_SHOWN : TEXT_SHOWN_ASCII);
}

static int code_width(uint32_t code)
{
	int width = code < 0x80 ? 1 : wcwidth((wchar_t)code);
	return width < 0 ? 1 : width;
}

const char *term_bar(const struct term *term, double height)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
	return (term->utf8 ? blocks : plain)[(size_t)height];
}

void term_pad(int width, FILE *out)
{
	static const char blanks[] = "                                ";
	const int most = (int)sizeof(blanks) - 1;
	for (; width > 0; width -= most)
		fwrite(blanks, 1, (size_t)(width < most ? width : most), out);
}

int term_text_width(const struct term *term, const char *text)
{
	int width = 0;
	while (true) {
		size_t plain = text_plain_size(text);
		width += (int)plain;
		text += plain;
		uint32_t code = text_next(&text);
		if (!code)
			return width;
		width += code_width(shown_code(term, code));
	}
}

int term_put(const struct term *term, const char *text, int width, FILE *out)
{
	bool cut = width && term_text_width(term, text) > width;
	int used = 0, room = cut ? width - 1 : INT_MAX;
	char buffer[4];
	while (true) {
		size_t plain = text_plain_size(text);
		if (plain > (size_t)(room - used))
			plain = (size_t)(room - used);
		fwrite(text, 1, plain, out);
		used += (int)plain;
		text += plain;
		uint32_t code = text_next(&text);
		if (code)
			code = shown_code(term, code);
		if (!code || used + code_width(code) > room)
			break;
		fwrite(buffer, 1, text_put(code, buffer), out);
		used += code_width(code);
	}
	if (cut) {
		fputs(term_glyph(term, "…", "~"), out);
		used++;
	}
	return used;
}

/* Returns the number of bytes up to a blank, which does not follow a number. */
static size_t unbroken_size(const char *text)
{
	size_t size = strcspn(text, " ");
	if (size && text[size] && isdigit((unsigned char)text[size - 1]))
		size += 1 + strcspn(text + size + 1, " ");
	return size;
}

void term_wrap(const struct term *term, const char *text, int column, int indent, int lines,
	       FILE *out)
{
	int width = term->width ? term->width : TERM_PLAIN_WIDTH, line = 1;
	bool begun = false;
	while (*text) {
		size_t size = unbroken_size(text);
		char *word = xstrndup(text, size);
		text += size;
		int columns = term_text_width(term, word);
		bool last = lines && line == lines;
		/* Reserves room for the ellipsis in the last line. */
		if (column > indent && column + columns + begun + (last && *text ? 4 : 0) > width) {
			if (last) {
				fprintf(out, " %s", term_glyph(term, "…", "..."));
				free(word);
				break;
			}
			fprintf(out, "\n%*s", indent, "");
			column = indent;
			line++;
		}
		if (begun && column > indent)
			column += fprintf(out, " ");
		column += term_put(term, word, 0, out);
		free(word);
		text += strspn(text, " ");
		begun = true;
	}
	putc('\n', out);
}
