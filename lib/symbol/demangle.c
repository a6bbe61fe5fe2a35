/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Demangles with libiberty, as perf and binutils do, so that names are the same. Its callback
 * interface allocates only stack memory. libiberty cannot be stopped, and 20 bytes of back
 * references can expand to gigabytes, so the callback leaves it by longjmp() when the name gets too
 * long.
 */
#include "symbol/demangle.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef SP_DEMANGLE_H
#include SP_DEMANGLE_H
#endif

#define OCAML_PREFIX "caml"

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the byte of an escape, "$5b", or -1. Control characters stay escaped. */
static int escaped(const char *text)
{
	int high = text[0] == '$' ? hex_digit(text[1]) : -1;
	int low = high >= 0 ? hex_digit(text[2]) : -1;
	int byte = high * 16 + low;
	return low >= 0 && byte >= ' ' && byte != 0x7f ? byte : -1;
}

/* Returns OCaml's "camlModule__function_12" as "Module.function_12"; NULL: not OCaml's. */
static const char *demangle_ocaml(const char *name, struct arena *arena)
{
	const char *from = name + strlen(OCAML_PREFIX);
	if (strncmp(name, OCAML_PREFIX, strlen(OCAML_PREFIX)) != 0 || *from < 'A' || *from > 'Z')
		return NULL;
	char *shown = arena_alloc(arena, strlen(from) + 1), *to = shown;
	while (shown && *from) {
		int byte = escaped(from);
		bool separates = from[0] == '_' && from[1] == '_';
		*to++ = byte >= 0 ? (char)byte : separates ? '.' : *from;
		from += byte >= 0 ? 3 : separates ? 2 : 1;
	}
	return shown;
}

#ifdef SP_DEMANGLE_H
/*
 * Longest mangled name in bytes. libiberty's own limit of 1,024 is too small for real templates.
 * Without that limit its stack use grows with the name: at most about 2 MB for 4,096 bytes.
 */
#define MANGLED_MAX 4096
#define PLT "@plt"

/* Most steps for a name of D: milliseconds. Of 18,632 names in D's libraries, 18,514 need fewer. */
#define D_STEPS_MAX ((uint64_t)1 << 20)
#define SHOWN_MAX ((size_t)1 << 15)

struct demangled_text {
	jmp_buf overflow;
	size_t size;
	char text[SHOWN_MAX];
};

static void collect(const char *text, size_t size, void *arg)
{
	struct demangled_text *output = arg;
	if (size > SHOWN_MAX - output->size)
		longjmp(output->overflow, 1);
	if (size > 0)
		memcpy(output->text + output->size, text, size);
	output->size += size;
}

/* Demangles a name of Rust or C++; `whole`: with parameters. False also if it gets too long. */
static bool demangle_rust_or_cxx(const char *name, bool whole, struct demangled_text *output)
{
	if (setjmp(output->overflow))
		return false;
	int flags = DMGL_NO_RECURSE_LIMIT | (whole ? DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP : 0);
	/*
	 * Names by Rust's older scheme end with a hash of 17 characters, "17h…". libiberty looks
	 * for it after all else: an eighth of the time for names of C++.
	 */
	if ((name[1] != 'Z' || strstr(name, "17h")) &&
	    rust_demangle_callback(name, whole ? DMGL_VERBOSE : 0, collect, output))
		return output->size > 0;
	output->size = 0;
	return cplus_demangle_v3_callback(name, flags, collect, output) && output->size > 0;
}

static size_t d_number(const char *text)
{
	return *text >= '0' && *text <= '9' ? strtoul(text, NULL, 10) : 0;
}

/* Reads a back reference, "QBc". Returns its distance, and moves `at` to its end; 0: it is none. */
static size_t d_distance(const char *name, size_t *at)
{
	size_t distance = 0, i = *at + 1;
	for (; name[i] >= 'A' && name[i] <= 'Z' && distance <= MANGLED_MAX; i++)
		distance = distance * 26 + (size_t)(name[i] - 'A');
	if (name[*at] != 'Q' || name[i] < 'a' || name[i] > 'z')
		return 0;
	distance = distance * 26 + (size_t)(name[i] - 'a');
	if (distance > *at)
		return 0;
	*at = i;
	return distance;
}

/* Returns whether a function's type may follow the identifier that ends here. */
static bool d_may_call(const char *name)
{
	if (*name == 'M')
		name += 1 + strspn(name + 1, "xyONg");
	return *name && strchr("FUVWRY", *name);
}

/*
 * Returns whether libiberty demangles a name of D in a few steps. It cannot be stopped: a back
 * reference to a type repeats that type's steps, and an identifier's end may be parsed twice.
 */
static bool d_is_cheap(const char *name, size_t size)
{
	uint64_t steps[MANGLED_MAX + 1] = {0};
	bool ends[MANGLED_MAX + 1] = {false}; /* an identifier ends before this character */
	unsigned int doublings = 0;
	for (size_t i = 0; i < size; i++) {
		size_t last = i, distance = d_distance(name, &last), length = d_number(name + i);
		size_t text = i + strspn(name + i, "0123456789");
		if (length > 0 && length < size - text)
			ends[text + length] = true;
		if (distance > 0 || name[i] == 'Z')
			ends[last + 1] = true;
		doublings += ends[i] && d_may_call(name + i);
		uint64_t copied = distance > 0 ? d_number(name + i - distance) : 0;
		steps[i + 1] = steps[i] + 1 + (copied ?: steps[i] - steps[i - distance]);
		if (steps[i + 1] > D_STEPS_MAX || doublings >= 20)
			return false;
	}
	return steps[size] << doublings <= D_STEPS_MAX;
}

/* Demangles a name of D. libiberty allocates it, and ends the program if memory is short. */
static bool demangle_d(const char *name, struct demangled_text *output)
{
	char *text = d_is_cheap(name, strlen(name)) ? dlang_demangle(name, 0) : NULL;
	size_t size = text ? strlen(text) : 0;
	bool fits = size > 0 && size <= SHOWN_MAX;
	if (fits)
		memcpy(output->text, text, size);
	output->size = size;
	free(text);
	return fits;
}

/* Returns the size of the name before "@plt", which libiberty does not demangle. */
static size_t size_before_plt(const char *name)
{
	size_t size = strlen(name);
	return size > strlen(PLT) && !strcmp(name + size - strlen(PLT), PLT) ? size - strlen(PLT)
									     : size;
}

static const char *demangle_form(const char *name, bool whole, struct arena *arena)
{
	if (name[0] == 'c')
		return demangle_ocaml(name, arena);
	if (name[0] != '_' || !name[1] || !strchr("ZRD_", name[1]) ||
	    strnlen(name, MANGLED_MAX + 1) > MANGLED_MAX)
		return NULL;
	char mangled[MANGLED_MAX + 1];
	struct demangled_text output;
	size_t size = size_before_plt(name);
	memcpy(mangled, name, size);
	mangled[size] = '\0';

	/* Cuts a suffix that libiberty does not know: Rust's ".llvm.123", D's ".cold". */
	char *suffix = mangled[1] == 'D' ? strchr(mangled, '.') : strstr(mangled, ".llvm.");
	if (suffix)
		*suffix = '\0';
	output.size = 0;
	bool done = mangled[1] == 'D' ? demangle_d(mangled, &output)
				      : demangle_rust_or_cxx(mangled, whole, &output);
	if (!done || output.size + strlen(name + size) > SHOWN_MAX)
		return NULL;
	memcpy(output.text + output.size, name + size, strlen(name + size));
	return arena_copy_string(arena, output.text, output.size + strlen(name + size));
}

const char *demangle(const char *name, struct arena *arena)
{
	return demangle_form(name, false, arena);
}

const char *demangle_whole(const char *name, struct arena *arena)
{
	return demangle_form(name, true, arena);
}

bool demangle_available(void)
{
	return true;
}
#else
/* Without libiberty, only names of OCaml are demangled. */
const char *demangle(const char *name, struct arena *arena)
{
	return demangle_ocaml(name, arena);
}

const char *demangle_whole(const char *name, struct arena *arena)
{
	(void)name, (void)arena;
	return NULL;
}

bool demangle_available(void)
{
	return false;
}
#endif
