/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rfc8259.h"

#include <stdint.h>
#include <string.h>

#define DEPTH_MAX 4096

struct reading {
	const unsigned char *at, *end;
	unsigned int depth;
};

static void blanks(struct reading *r)
{
	while (r->at < r->end && strchr(" \n\r\t", *r->at) && *r->at)
		r->at++;
}

static bool take(struct reading *r, char c)
{
	if (r->at == r->end || *r->at != (unsigned char)c)
		return false;
	r->at++;
	return true;
}

/* One code point of well-formed UTF-8, not below U+0080. */
static bool long_sequence(struct reading *r)
{
	unsigned char first = *r->at;
	size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
	if (first < 0xc2 || first > 0xf4 || (size_t)(r->end - r->at) <= more)
		return false;
	uint32_t code = first & (0x3fu >> more);
	for (size_t i = 1; i <= more; i++) {
		if ((r->at[i] & 0xc0) != 0x80)
			return false;
		code = code << 6 | (r->at[i] & 0x3f);
	}
	r->at += more + 1;
	return code >= (more == 1 ? 0x80u : more == 2 ? 0x800u : 0x10000u) && code <= 0x10ffff &&
	       (code < 0xd800 || code > 0xdfff);
}

static bool escape(struct reading *r)
{
	if (r->at == r->end || !*r->at || !strchr("\"\\/bfnrtu", *r->at))
		return false;
	if (*r->at++ != 'u')
		return true;
	for (int i = 0; i < 4; i++, r->at++)
		if (r->at == r->end || !*r->at || !strchr("0123456789abcdefABCDEF", *r->at))
			return false;
	return true;
}

static bool string(struct reading *r)
{
	if (!take(r, '"'))
		return false;
	while (r->at < r->end && *r->at != '"') {
		bool good = true;
		if (*r->at == '\\') {
			r->at++;
			good = escape(r);
		} else if (*r->at >= 0x80) {
			good = long_sequence(r);
		} else {
			good = *r->at++ >= 0x20;
		}
		if (!good)
			return false;
	}
	return take(r, '"');
}

static bool digits(struct reading *r)
{
	const unsigned char *begin = r->at;
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return r->at > begin;
}

static bool number(struct reading *r)
{
	take(r, '-');
	if (!take(r, '0') && !digits(r))
		return false;
	if (take(r, '.') && !digits(r))
		return false;
	if (take(r, 'e') || take(r, 'E')) {
		if (!take(r, '+'))
			take(r, '-');
		return digits(r);
	}
	return true;
}

static bool word(struct reading *r, const char *text)
{
	size_t size = strlen(text);
	if ((size_t)(r->end - r->at) < size || memcmp(r->at, text, size))
		return false;
	r->at += size;
	return true;
}

static bool value(struct reading *r);

static bool members(struct reading *r, bool named, char close)
{
	blanks(r);
	if (take(r, close))
		return true;
	do {
		blanks(r);
		if (named && !string(r))
			return false;
		blanks(r);
		if ((named && !take(r, ':')) || !value(r))
			return false;
		blanks(r);
	} while (take(r, ','));
	return take(r, close);
}

static bool value(struct reading *r)
{
	bool good;
	blanks(r);
	if (r->at == r->end || r->depth == DEPTH_MAX)
		return false;
	r->depth++;
	switch (*r->at) {
	case '{':
		r->at++;
		good = members(r, true, '}');
		break;
	case '[':
		r->at++;
		good = members(r, false, ']');
		break;
	case '"':
		good = string(r);
		break;
	case 't':
		good = word(r, "true");
		break;
	case 'f':
		good = word(r, "false");
		break;
	case 'n':
		good = word(r, "null");
		break;
	default:
		good = number(r);
	}
	r->depth--;
	return good;
}

bool json_is_valid(const char *text, size_t size)
{
	struct reading r = {(const unsigned char *)text, (const unsigned char *)text + size, 0};
	bool good = value(&r);
	blanks(&r);
	return good && r.at == r.end;
}
