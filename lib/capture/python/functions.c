/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/python/functions.h"

#include "base/error.h"

/* Limits on memory. Programs that compile code without end reach them. */
#define FUNCTIONS_MAX ((size_t)1 << 18)
#define STRINGS_MAX ((size_t)32 << 20)

void python_functions_init(struct python_functions *functions)
{
	*functions = (struct python_functions){0};
	pthread_mutex_init(&functions->lock, NULL);
}

void python_functions_deinit(struct python_functions *functions)
{
	strtab_deinit(&functions->strings);
	index_set_deinit(&functions->index_of);
	vec_deinit(&functions->list);
	pthread_mutex_destroy(&functions->lock);
}

static bool is_full(const struct python_functions *functions)
{
	return functions->list.count >= FUNCTIONS_MAX ||
	       strtab_bytes(&functions->strings) >= STRINGS_MAX;
}

/*
 * Finds or adds a function with interned names. False when out of memory, or if there are too many
 * functions.
 */
static bool add(struct python_functions *functions, const struct python_function *function,
		uint64_t *start_ret)
{
	uint64_t hash = hash_pair(hash_pair((uintptr_t)function->name, (uintptr_t)function->file),
				  function->first_line);
	if (!index_set_reserve(&functions->index_of))
		return false;
	struct index_probe probe = index_set_probe(&functions->index_of, hash);
	for (uint32_t i; index_set_next(&functions->index_of, &probe, &i);) {
		const struct python_function *known = &functions->list.items[i];
		if (known->name == function->name && known->file == function->file &&
		    known->first_line == function->first_line) {
			*start_ret = known->start;
			return true;
		}
	}
	uint32_t number = functions->list.count;
	struct python_function *slot = is_full(functions) ? NULL : vec_push(&functions->list);
	if (!slot)
		return false;
	*slot = *function;
	slot->start = *start_ret = python_start(number);
	index_set_add(&functions->index_of, &probe, number);
	return true;
}

bool python_functions_add(struct python_functions *functions, const struct python_function *function,
			  uint64_t *start_ret)
{
	struct python_function interned = *function;
	pthread_mutex_lock(&functions->lock);
	bool full = is_full(functions);
	interned.name = full ? strtab_find(&functions->strings, function->name) :
			       strtab_add(&functions->strings, function->name);
	interned.file = full ? strtab_find(&functions->strings, function->file) :
			       strtab_add(&functions->strings, function->file);
	bool good = interned.name && interned.file && add(functions, &interned, start_ret);
	pthread_mutex_unlock(&functions->lock);
	return good;
}

struct sp_error *python_functions_encode(struct python_functions *functions,
					 struct record_buffer *buffer)
{
	struct sp_error *error = NULL;
	pthread_mutex_lock(&functions->lock);
	while (!error && functions->written < functions->list.count)
		error = record_encode_python(buffer, &functions->list.items[functions->written++]);
	pthread_mutex_unlock(&functions->lock);
	return error;
}

void python_functions_restart(struct python_functions *functions)
{
	functions->written = 0;
}
