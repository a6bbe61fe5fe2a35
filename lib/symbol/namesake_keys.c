/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/namesake_keys.h"

#include <string.h>
#include "base/vec.h"

void namesake_keys_deinit(struct namesake_keys *keys)
{
	u64map_deinit(&keys->map);
}

const char *namesake_suffix(const char *raw_name)
{
	/* A digit follows these: Go has names such as "main.coldStart" and "main.part.Add". */
	static const char *const numbered[] = {".cold.", ".constprop.", ".isra.", ".part."};
	const char *dot = strchr(raw_name, '.');
	for (; dot; dot = strchr(dot + 1, '.')) {
		if (!strcmp(dot, ".cold") || !strncmp(dot, ".llvm.", 6))
			return dot;
		for (size_t i = 0; i < count_of(numbered); i++) {
			size_t size = strlen(numbered[i]);
			if (!strncmp(dot, numbered[i], size) && dot[size] >= '0' &&
			    dot[size] <= '9')
				return dot;
		}
	}
	return raw_name + strlen(raw_name);
}

uint64_t namesake_raw_hash(const char *raw_name)
{
	return hash_bytes(raw_name, namesake_suffix(raw_name) - raw_name);
}

/*
 * Returns the end of an identifier that begins with its length, or `at` if it is the hash of a Rust
 * name, which is not shown.
 */
static const char *skip_identifier(const char *at)
{
	size_t size = 0;
	const char *text = at;
	for (; *text >= '0' && *text <= '9'; text++)
		size = size < 4096 ? 10 * size + (size_t)(*text - '0') : size;
	if (size == 17 && *text == 'h' && strnlen(text, 18) == 18 && text[17] == 'E' &&
	    (!text[18] || text[18] == '.'))
		return at;
	return text + strnlen(text, size);
}

/* Returns the end of a reference to an earlier part, such as "S1_" or "St". */
static const char *skip_reference(const char *at)
{
	at++;
	if (*at >= 'a' && *at <= 'z')
		return at + 1;
	at += strspn(at, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return *at == '_' ? at + 1 : at;
}

/* Returns the end of template arguments; their begin if they have parts that are not read. */
static const char *skip_arguments(const char *arguments)
{
	const char *at = arguments;
	int depth = 0;
	do {
		const char *begin = at;
		if (*at >= '0' && *at <= '9')
			at = skip_identifier(at);
		else if (*at == 'S')
			at = skip_reference(at);
		else if (*at == 'I' || *at == 'N' || *at == 'J' || *at == 'F')
			at++, depth++;
		else if (*at == 'E')
			at++, depth--;
		else if ((*at >= 'a' && *at <= 'z') || (*at && strchr("KVPROTM_", *at)))
			at++;
		if (at == begin)
			return arguments;
	} while (depth);
	return at;
}

/* Returns the end of the next part of a name; `at` at an end: where its grammar is involved. */
static const char *skip_part(const char *at)
{
	if (*at >= '0' && *at <= '9')
		return skip_identifier(at);
	if (*at == 'S')
		return skip_reference(at);
	if (*at == 'I')
		return skip_arguments(at);
	return *at == 'L' || *at == 'B' ? at + 1 : at;
}

/* Position in a mangled name. */
struct key_reader {
	const char *at;
	uint64_t key; /* hash of all parts that were read */
	bool nested, done;
};

/*
 * Reads the next part of a mangled name into the key. Returns false at the end, which is before the
 * parameters. It is earlier at operators, constructors, lambdas, local names and values in template
 * arguments; all functions of one name end alike.
 */
static bool read_part(struct key_reader *reader)
{
	const char *begin = reader->at, *end = reader->done ? begin : skip_part(begin);
	if (end == begin)
		return false;
	/* Linkage is no part of the shown name. */
	if (*begin != 'L')
		reader->key = hash_pair(reader->key, hash_bytes(begin, end - begin));
	reader->done = !reader->nested && *begin >= '0' && *begin <= '9' && *end != 'I' &&
		       *end != 'B';
	reader->at = end;
	return true;
}

static struct key_reader read_name(const char *raw_name)
{
	struct key_reader reader = {.at = raw_name};
	if (raw_name[0] != '_' || raw_name[1] != 'Z') {
		reader.key = namesake_raw_hash(raw_name);
		reader.done = true;
		return reader;
	}
	reader.nested = raw_name[2] == 'N';
	reader.at += reader.nested ? 3 + strspn(raw_name + 3, "rVKRO") : 2;
	return reader;
}

static uint64_t bit_of(uint64_t key)
{
	return UINT64_C(1) << (key & 63);
}

bool namesake_keys_have(const struct namesake_keys *keys, const char *raw_name)
{
	struct key_reader reader = read_name(raw_name);
	do
		if (!(keys->begins[reader.key >> 58] & bit_of(reader.key)))
			return false;
	while (read_part(&reader));
	return u64map_find(&keys->map, reader.key);
}

bool namesake_keys_add(struct namesake_keys *keys, const char *raw_name)
{
	struct key_reader reader = read_name(raw_name);
	do
		keys->begins[reader.key >> 58] |= bit_of(reader.key);
	while (read_part(&reader));
	return u64map_put(&keys->map, reader.key, 0, NULL);
}
