/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/secrets.h"

#include <string.h>
#include <strings.h>

#define CUT "***"

static const char *const introducers[] = {
	"password", "passwd", "token", "secret", "key", "credential", "auth", "bearer",
};

#define SPACES " \t\r\n\v\f"
#define QUOTES "'\"`"

/* Returns the first introducer in a text, and its length; NULL: none. */
static const char *find_introducer(const char *text, size_t *length_ret)
{
	for (; *text; text++) {
		for (size_t i = 0; i < count_of(introducers); i++) {
			*length_ret = strlen(introducers[i]);
			if (!strncasecmp(text, introducers[i], *length_ret))
				return text;
		}
	}
	return NULL;
}

static bool is_name_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
}

/*
 * Returns the begin of the first secret value in a word, which ends the word; NULL: none.
 * *next_ret: the next word is a value.
 */
static const char *find_value(const char *word, bool *next_ret)
{
	size_t length;
	for (const char *at = word; (at = find_introducer(at, &length));) {
		at += length;
		while (is_name_byte(*at))
			at++;
		const char *end = at + strspn(at, QUOTES "])}");
		end += strspn(end, SPACES);
		bool separated = *end == '=' || *end == ':';
		if (separated)
			end += 1 + strspn(end + 1, SPACES);
		*next_ret = !*end;
		if (!*end)
			return NULL;
		if (separated || end > at)
			return end;
	}
	return NULL;
}

/*
 * Returns the begin of the user information that ends before the byte `at`, the last @ of a text
 * without spaces; NULL: it is none. A URL's may be a token alone; without a scheme, it has a colon.
 */
static const char *user_information(const char *text, const char *at)
{
	size_t size = (size_t)(at - text);
	const char *scheme = memmem(text, size, "://", 3);
	const char *colon = memchr(text, ':', size);
	if (scheme || !colon)
		return scheme ? scheme + 3 : NULL;
	const char *equals = memrchr(text, '=', (size_t)(colon - text));
	return equals ? equals + 1 : text;
}

/* Appends a part of a word without the user information of URLs. */
static bool put_urls(struct record_buffer *text, const char *word, size_t size)
{
	for (const char *from = word, *end = word + size; from < end;) {
		size_t run = strcspn(from, SPACES);
		const char *stop = run < (size_t)(end - from) ? from + run : end;
		const char *at = memrchr(from, '@', (size_t)(stop - from));
		const char *user = at ? user_information(from, at) : NULL;
		if (user && !(record_buffer_append(text, from, (size_t)(user - from)) &&
			      record_buffer_append(text, CUT, strlen(CUT))))
			return false;
		from = user ? at : from;
		stop += stop < end; /* the space */
		if (!record_buffer_append(text, from, (size_t)(stop - from)))
			return false;
		from = stop;
	}
	return true;
}

bool secrets_cut(struct secrets *secrets, const char *word, bool is_file,
		 struct record_buffer *text)
{
	bool is_program = !secrets->started, cut = secrets->cut_next && !is_file, next = false;
	const char *value = is_file ? NULL : find_value(word, &next);
	secrets->started = true;
	secrets->cut_next = next && !is_program;
	if (cut)
		return record_buffer_append(text, CUT, sizeof(CUT));
	if (!value)
		return put_urls(text, word, strlen(word)) && record_buffer_append(text, "", 1);
	return put_urls(text, word, (size_t)(value - word)) &&
	       record_buffer_append(text, CUT, sizeof(CUT));
}
