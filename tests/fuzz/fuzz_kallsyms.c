/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/kallsyms, or a file that says it is one; the same bytes as symbols of the cache. */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/disk_cache.h"
#include "fuzz.h"
#include "proc/kallsyms.h"

static void look_up_all(const struct kallsyms *kallsyms, bool is_sorted)
{
	for (size_t i = 0; i < kallsyms_count(kallsyms); i++) {
		struct kallsyms_symbol symbol = kallsyms_symbol(kallsyms, i), found;
		assert(symbol.name && (!is_sorted || symbol.end >= symbol.address));
		if (kallsyms_find(kallsyms, symbol.address, &found) && is_sorted)
			assert(found.address <= symbol.address && symbol.address < found.end);
		kallsyms_find_name(kallsyms, symbol.name, &found);
	}
}

/* Writes the bytes to a file of the cache, and opens it as symbols. */
static struct kallsyms *open_encoded(const uint8_t *bytes, size_t size)
{
	const struct disk_key key = {"fuzz", "fuzz"};
	char path[] = "/tmp/sprof-fuzz.XXXXXX";
	struct disk_entry *entry = NULL;
	struct kallsyms *ret = NULL;
	if (!mkdtemp(path))
		abort();
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sp_error_free(disk_cache_add(folder, &key, bytes, size));
	sp_error_free(disk_cache_open(folder, &key, &entry));
	if (entry)
		sp_error_free(kallsyms_open(entry, &ret));
	unlinkat(folder, key.name, 0);
	close(folder);
	rmdir(path);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct kallsyms_part all = {.size = UINT64_MAX};
	struct kallsyms *kallsyms = NULL, *encoded = open_encoded(bytes, size);
	if (encoded)
		look_up_all(encoded, false);
	kallsyms_free(encoded);
	struct sp_error *error = kallsyms_parse(bytes, size, "fuzz", &kallsyms);
	if (error) {
		sp_error_free(error);
		return 0;
	}
	look_up_all(kallsyms, true);
	uint8_t *copy;
	size_t copy_size;
	error = kallsyms_encode(kallsyms, &all, &copy, &copy_size);
	assert(!error);
	encoded = open_encoded(copy, copy_size);
	assert(encoded || copy_size > (size_t)1 << 26);
	for (size_t i = 0, j = 0; encoded && i < kallsyms_count(kallsyms); i++) {
		struct kallsyms_symbol symbol = kallsyms_symbol(kallsyms, i);
		if (symbol.module || strlen(symbol.name) >= 65536 || symbol.address == UINT64_MAX)
			continue;
		struct kallsyms_symbol kept = kallsyms_symbol(encoded, j++);
		assert(kept.address == symbol.address && kept.type == symbol.type);
		assert(!strcmp(kept.name, symbol.name));
	}
	free(copy);
	kallsyms_free(encoded);
	kallsyms_free(kallsyms);
	return 0;
}
