/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Divides an event's format string into literals and conversions. */
#include "trace/lexer.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Literals are copied into one text of the format string's size. */
struct divider {
	struct lexer *lexer;
	struct format_node *arg; /* next argument */
	char *literals;
};

static struct format_piece *add_piece(struct divider *divider, enum piece_kind kind)
{
	struct format *format = divider->lexer->format;
	struct format_piece *piece = &format->pieces[format->piece_count++];
	piece->kind = kind;
	piece->width = piece->precision = -1;
	return piece;
}

static struct format_node *take_arg(struct divider *divider)
{
	struct format_node *arg = divider->arg;
	if (arg)
		divider->arg = arg->next;
	return arg;
}

/* Reads a literal up to a conversion, and returns the text after it. */
static const char *take_literal(struct divider *divider, const char *at)
{
	static const char escapes[] = "n\nt\tr\r";
	add_piece(divider, PIECE_LITERAL)->text = divider->literals;
	for (; *at && (*at != '%' || at[1] == '%'); at++) {
		const char *escape = *at == '\\' && at[1] ? strchr(escapes, *++at) : NULL;
		if (*at == '%')
			at++;
		*divider->literals++ = escape ? escape[1] : *at;
	}
	*divider->literals++ = '\0';
	return at;
}

/* Reads a width or precision of up to 3 digits, or '*'. NULL if it is neither, nor empty. */
static const char *take_size(const char *at, struct format_piece *piece, char kind, int *ret)
{
	size_t digits = strspn(at, "0123456789");
	if (!digits && *at == '*' && !piece->star) {
		piece->star = kind;
		return at + 1;
	}
	if (digits)
		*ret = atoi(at);
	return digits <= 3 ? at + digits : NULL;
}

/* Reads the size of a number's type, as "ll". NULL if none of the letters for numbers follows. */
static const char *take_type(const char *at, struct format_piece *piece)
{
	static const struct {
		const char *letters;
		unsigned int bytes;
	} types[] = {{"hh", 1}, {"h", 2}, {"ll", 8}, {"l", 8}, {"L", 8}, {"z", 8}, {"Z", 8}};
	piece->bytes = 4;
	for (size_t i = 0; i < count_of(types); i++) {
		size_t length = strlen(types[i].letters);
		if (strncmp(at, types[i].letters, length) != 0)
			continue;
		piece->bytes = types[i].bytes;
		return at[length] && strchr("duixXo", at[length]) ? at + length : NULL;
	}
	return at;
}

/* Returns how many letters after "%p" belong to it. */
static size_t letters_of_pointer(const char *at)
{
	size_t count = 1;
	switch (*at) {
	case 'F':
	case 'S':
	case 'f':
	case 's':
		return 1;
	case 'M':
	case 'm':
		return 1 + (at[1] && strchr("RF", at[1]));
	case 'U':
		return 1 + (at[1] && strchr("LlBb", at[1]));
	case 'h':
		return 1 + (at[1] && strchr("CDN", at[1]));
	case 'I':
	case 'i':
		if (!at[1] || !strchr("4S6", at[1]))
			return 1;
		count = 2;
		if (at[1] == 'S')
			count += strspn(at + count, "pfs");
		if (at[1] != '6' && at[count] && strchr("hnlb", at[count]))
			count++;
		return count + (at[1] != '4' && at[count] == 'c');
	default:
		return 0;
	}
}

/* Another letter is no conversion; it is shown, and takes no argument. */
static const char *take_unknown(struct divider *divider, const char *at)
{
	struct format *format = divider->lexer->format;
	char *text = lexer_alloc(divider->lexer, 4);
	if (!text)
		return NULL;
	text[0] = '>';
	text[1] = *at;
	text[2] = '<';
	format->pieces[format->piece_count - 1] =
		(struct format_piece){.kind = PIECE_LITERAL, .text = text};
	return at + 1;
}

/*
 * Reads a conversion after '%', and returns the text after it. NULL if it is invalid, or an
 * argument is missing.
 */
static const char *take_conversion(struct divider *divider, const char *at)
{
	struct format_piece *piece = add_piece(divider, PIECE_NUMBER);
	size_t flags = strspn(at, "-+#0");
	if (flags >= sizeof(piece->flags))
		return NULL;
	memcpy(piece->flags, at, flags);
	at = take_size(at + flags, piece, 'w', &piece->width);
	if (at && *at == '.') {
		piece->precision = 0;
		at = take_size(at + 1, piece, 'p', &piece->precision);
	}
	at = at ? take_type(at, piece) : NULL;
	if (!at || !*at || strchr("-+#0123456789.*hlLzZ", *at) ||
	    (piece->star && !(piece->star_arg = take_arg(divider))))
		return NULL;
	piece->letter = *at;
	if (!strchr("cduixXops", *at))
		return take_unknown(divider, at);
	if (!(piece->arg = take_arg(divider)))
		return NULL;
	at++;
	if (piece->letter == 's')
		piece->kind = PIECE_TEXT;
	if (piece->letter != 'p')
		return at;
	piece->kind = PIECE_POINTER;
	piece->text = at;
	return at + letters_of_pointer(at);
}

bool pieces_read(struct lexer *lexer, const char *text, struct format_node *args)
{
	size_t most = 1;
	for (const char *at = text; *at; at++)
		most += *at == '%' ? 2 : 0;
	struct divider divider = {.lexer = lexer, .arg = args};
	lexer->format->pieces = lexer_alloc(lexer, most * sizeof(struct format_piece));
	divider.literals = lexer_alloc(lexer, strlen(text) + most);
	if (!lexer->format->pieces || !divider.literals)
		return false;
	while (text && *text)
		text = *text == '%' && text[1] != '%' ? take_conversion(&divider, text + 1)
						      : take_literal(&divider, text);
	return text;
}
