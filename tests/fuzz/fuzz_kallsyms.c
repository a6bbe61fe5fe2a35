/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/kallsyms, or a file that says it is one. */
#include <assert.h>
#include "fuzz.h"
#include "proc/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct kallsyms *kallsyms = NULL;
	struct sp_error *error = kallsyms_parse(bytes, size, "fuzz", &kallsyms);
	if (error) {
		sp_error_free(error);
		return 0;
	}
	for (size_t i = 0; i < kallsyms_count(kallsyms); i++) {
		struct kallsyms_symbol symbol = kallsyms_symbol(kallsyms, i), found;
		assert(symbol.name && symbol.end >= symbol.address);
		if (kallsyms_find(kallsyms, symbol.address, &found))
			assert(found.address <= symbol.address && symbol.address < found.end);
		kallsyms_find_name(kallsyms, symbol.name, &found);
	}
	kallsyms_free(kallsyms);
	return 0;
}
