/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each module has a struct module_names, made on first use. A lock protects the list of them. */
#include "symbol/resolver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"
#include "base/vec.h"
#include "elf/debuginfod.h"
#include "symbol/jit_files.h"
#include "symbol/kernel_tables.h"
#include "symbol/kept_names.h"
#include "symbol/module_names.h"
#include "symbol/module_namesakes.h"
#include "symbol/recorded.h"
#include "symbol/source_stored.h"

/* Sources in order of preference: the first that opens serves the module. */
static const struct source *const sources[] = {
	/* Files and the vdso; code without a file; BPF. */
	&source_elf,
	&source_jitdump,
	&source_perfmap,
	&source_bpf,
	&source_python,
	/* The kernel; its modules. */
	&source_vmlinux_given,
	&source_kallsyms,
	&source_vmlinux_found,
	&source_ko,
	/* Last resort: the recording's own symbols. See also prefer_stored(). */
	&source_recorded,
};
#define SOURCE_COUNT (count_of(sources))

/* Distinguishes keys of stored symbols from those of the module's source. */
#define STORED_KEY ((uint64_t)1 << 63)

struct resolver {
	struct source_env env;
	struct jit_files *own_jit; /* NULL: the caller has one */
	pthread_mutex_t lock;
	VEC(struct module_names *) modules; /* by module->index; NULL: not used yet */
	atomic_bool no_memory; /* memory was short for a name */
	atomic_uint open_lines; /* number of modules with open debug information */
};

DEFINE_CLEANUP(struct resolver *, resolver_free)

struct sp_error *resolver_new(struct sp_ctx *ctx, const struct resolver_options *options,
			      struct resolver **ret)
{
	CLEANUP(cleanup_resolver_free) struct resolver *resolver = calloc(1, sizeof(*resolver));
	NEED(resolver);
	pthread_mutex_init(&resolver->lock, NULL);
	resolver->env.ctx = ctx;
	resolver->env.options = *options;
	const struct provenance provenance = resolver_provenance(ctx, options);
	TRY(binary_env_init(&resolver->env.binary, ctx, options->symfs, &provenance));
	resolver->env.binary.stored = options->stored;
	resolver->env.binary.held = options->names ? kept_names_held(options->names) : NULL;
	TRY(recorded_index_new(&options->recorded, &resolver->env.recorded));
	TRY(kernel_tables_new(&resolver->env.kernel));
	if (!options->jit)
		TRY(jit_files_new(0, NULL, &resolver->own_jit));
	resolver->env.jit = options->jit ?: resolver->own_jit;
	struct kallsyms *kallsyms =
		options->names ? kept_names_take_kernel(options->names, &resolver->env) : NULL;
	if (kallsyms)
		kernel_tables_set_cached(resolver->env.kernel, kallsyms);
	*ret = take_ptr(resolver);
	return NULL;
}

/* Orders modules by their number of sampled addresses, which is about that of their samples. */
static int compare_use(const void *a, const void *b)
{
	const struct module_names *x = *(struct module_names *const *)a;
	const struct module_names *y = *(struct module_names *const *)b;
	if (!x || !y)
		return !x - !y;
	return u64_order(y->log.points.count, x->log.points.count) ?:
	       u64_order(x->module->index, y->module->index);
}

/* Stores the logged names, those of files with most samples first, and gives all names back. */
static void give_names(struct resolver *resolver)
{
	struct sp_names *kept = resolver->env.options.names;
	if (kept_names_are_logged(kept))
		vec_sort(&resolver->modules, compare_use);
	vec_each (item, &resolver->modules) {
		struct module_names *names = take_ptr(*item);
		if (names)
			module_names_close_lines(names);
		if (names && names->logged)
			kept_names_store(kept, &resolver->env, names);
		if (names)
			kept_names_give(kept, &resolver->env, names->module, names);
	}
	kept_names_give_kernel(kept, &resolver->env,
			       kernel_tables_take_cached(resolver->env.kernel));
	kept_names_expire(kept);
}

void resolver_free(struct resolver *resolver)
{
	if (!resolver)
		return;
	if (resolver->env.options.names && resolver->env.kernel)
		give_names(resolver);
	vec_each (module, &resolver->modules)
		module_names_free(*module);
	vec_deinit(&resolver->modules);
	jit_files_free(resolver->own_jit);
	recorded_index_free(resolver->env.recorded);
	kernel_tables_free(resolver->env.kernel);
	binary_env_deinit(&resolver->env.binary);
	pthread_mutex_destroy(&resolver->lock);
	free(resolver);
}

static struct module_names *new_names(struct resolver *resolver, const struct module *module)
{
	struct sp_names *kept = resolver->env.options.names;
	struct module_names *names =
		kept ? kept_names_take(kept, &resolver->env, module) : NULL;
	if (!names)
		names = calloc(1, sizeof(*names));
	if (names) {
		names->module = module;
		/* The recording has its Python functions in records. */
		names->logged = kept && kept_names_are_logged(kept) &&
				module->kind != MODULE_PYTHON;
	}
	return names;
}

static struct module_names *names_at(struct resolver *resolver, const struct module *module)
{
	while (resolver->modules.count <= module->index) {
		struct module_names **slot = vec_push(&resolver->modules);
		if (!slot)
			return NULL;
		*slot = NULL;
	}
	struct module_names **slot = &resolver->modules.items[module->index];
	if (!*slot)
		*slot = new_names(resolver, module);
	return *slot;
}

/* Returns the module's state, made on first use; NULL when out of memory. */
static struct module_names *names_of(struct resolver *resolver, const struct module *module)
{
	pthread_mutex_lock(&resolver->lock);
	struct module_names *names = names_at(resolver, module);
	pthread_mutex_unlock(&resolver->lock);
	if (!names)
		atomic_store(&resolver->no_memory, true);
	return names;
}

static void open_source(struct resolver *resolver, struct module_names *names,
			const struct source *source, const struct module *module, uint32_t pid)
{
	struct sp_error *error =
		source->open(&resolver->env, module, pid, &names->diagnosis, &names->opened);
	if (error)
		diagnosis_set(&names->diagnosis, RESOLVER_DAMAGED_FILE, NULL, "%s: %s",
			      module->path, sp_error_message(error));
	if (error && sp_error_code(error) == SP_ERROR_NO_MEMORY)
		atomic_store(&resolver->no_memory, true);
	sp_error_free(error);
	if (names->opened)
		names->source = source;
}

/*
 * Returns whether stored names are better than what was opened: that is not proven to be the recorded
 * code, lacks symbols, or has no debug information while the stored names come from some. A perf map
 * proves nothing.
 */
static bool prefer_stored(const struct resolver *resolver, const struct module_names *names,
			  const struct module *module, const struct stored_module *stored)
{
	bool is_proven = names->opened &&
			 (names->source->by_content || module->kind == MODULE_KERNEL ||
			  module->kind == MODULE_KERNEL_MODULE || module->kind == MODULE_JIT ||
			  module->kind == MODULE_PYTHON);
	if (!is_proven || names->diagnosis.problem != RESOLVER_OK)
		return true;
	return stored->has_lines &&
	       !(names->source->has_lines &&
		 names->source->has_lines(names->opened, &resolver->env, module));
}

static void choose_provider(struct resolver *resolver, struct module_names *names,
			const struct module *module, uint32_t pid)
{
	const struct stored_module *stored = source_stored_module(&resolver->env, module);
	names->asked = true;
	/* The sources have this machine's kernel, or the given one. */
	if (module->is_guest) {
		diagnosis_set(&names->diagnosis, RESOLVER_KERNEL_OTHER,
			      "record inside the virtual machine",
			      "%s is of a virtual machine: its symbols are not here",
			      module->path);
		return;
	}
	for (size_t i = 0; i < SOURCE_COUNT && !names->opened; i++)
		open_source(resolver, names, sources[i], module, pid);
	/* Stored names without an address have only the reason why there are none. */
	if (!stored || (names->opened && !stored->points.count))
		return;
	if (!prefer_stored(resolver, names, module, stored)) {
		/*
		 * Opens stored names in addition to a better source, unless other recordings use
		 * the module.
		 */
		CLEANUP(diagnosis_clear) struct diagnosis diagnosis = {0};
		CLEANUP(cleanup_sp_error_free) struct sp_error *error = NULL;
		if (!resolver->env.options.names)
			error = source_stored.open(&resolver->env, module, pid, &diagnosis,
						   &names->stored);
		if (error)
			atomic_store(&resolver->no_memory, true);
		return;
	}
	void *opened = take_ptr(names->opened);
	if (opened && names->source->close)
		names->source->close(opened);
	open_source(resolver, names, &source_stored, module, pid);
}

/* Returns the module's state after trying its sources. NULL: no source serves it, or out of memory. */
static struct module_names *served_names(struct resolver *resolver,
					 const struct location *location)
{
	if (!location->module)
		return NULL;
	struct module_names *names = names_of(resolver, location->module);
	if (names && !names->asked)
		choose_provider(resolver, names, location->module, location->pid);
	return names && names->opened ? names : NULL;
}

/*
 * Finds the range if there is no symbol, or one of unknown size that begins before the range: a symbol
 * does not extend into the next function. False when out of memory.
 */
static bool find_range(struct resolver *resolver, const struct module_names *names,
		       const struct location *location, bool *is_found, struct found *found)
{
	struct found range;
	if (!names->source->find_range || (*is_found && !found->stretched))
		return true;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = names->source->find_range(
		names->opened, &resolver->env, location, &range);
	if (!error && (!*is_found || range.start > found->start)) {
		*found = range;
		*is_found = range.size;
	}
	return !error;
}

/* Returns whether a stored range is a gap: its name is an address. */
static bool is_gap(const struct found *stored)
{
	return stored->from_cfi && stored->raw_name && stored->raw_name[0] == '0';
}

/*
 * Uses the stored name of an address if the source has none there, a range without a name, or a
 * symbol of unknown size that begins before the stored one.
 */
static void find_stored(const struct module_names *names, const struct location *location,
			bool *is_found, struct found *found)
{
	struct diagnosis diagnosis = {0};
	struct found stored;
	if (!names->stored || (*is_found && !found->from_cfi && !found->stretched) ||
	    !source_stored.find(names->stored, location, &diagnosis, &stored) || is_gap(&stored))
		return;
	if (*is_found && !(found->from_cfi && !stored.from_cfi) &&
	    !(found->stretched && stored.start > found->start))
		return;
	stored.key |= STORED_KEY;
	*found = stored;
	*is_found = true;
}

struct location resolver_locate(const struct resolver *resolver, const struct machine *machine,
				const struct code_address *address)
{
	struct location location =
		machine_locate(machine, address->view, address->cpumode, address->ip);
	if (!address->caller || !address->ip ||
	    (location.module && recorded_is_dex(resolver->env.recorded, location.module)))
		return location;
	return machine_locate(machine, address->view, address->cpumode, address->ip - 1);
}

/* Interns a symbol, and logs it for the stored names. NULL when out of memory. */
static const struct symbol *intern_symbol(struct resolver *resolver, struct module_names *names,
					const struct location *location, const struct found *found)
{
	const struct symbol *symbol = module_names_intern(names, found);
	if (!symbol)
		atomic_store(&resolver->no_memory, true);
	else if (names->logged)
		name_log_add_symbol(&names->log, location->offset, symbol);
	return symbol;
}

const struct symbol *resolver_find(struct resolver *resolver, const struct location *location)
{
	struct found found;
	struct module_names *names = served_names(resolver, location);
	if (!names)
		return NULL;
	bool is_found = names->source->find(names->opened, location, &names->diagnosis, &found) &&
			!is_gap(&found);
	bool done = find_range(resolver, names, location, &is_found, &found);
	find_stored(names, location, &is_found, &found);
	if (!done)
		atomic_store(&resolver->no_memory, true);
	if (!done || !is_found)
		return NULL;
	const struct symbol *symbol = intern_symbol(resolver, names, location, &found);
	/* Reports by the stored names have the address, too. */
	uint64_t vaddr;
	if (symbol && names->logged)
		(void)resolver_vaddr(resolver, location, &vaddr);
	return symbol;
}

const struct symbol *resolver_find_gap(struct resolver *resolver, const struct location *location)
{
	struct diagnosis diagnosis = {0};
	struct found found;
	struct module_names *names = served_names(resolver, location);
	if (!names)
		return NULL;
	bool is_own = names->source == &source_stored;
	void *stored = is_own ? names->opened : names->stored;
	if (names->source->find_gap && names->source->find_gap(names->opened, location, &found)) {
		found.raw_name = NULL;
	} else {
		if (!stored || !source_stored.find(stored, location, &diagnosis, &found) ||
		    !is_gap(&found))
			return NULL;
		found.key |= is_own ? 0 : STORED_KEY;
	}
	return intern_symbol(resolver, names, location, &found);
}

bool resolver_vaddr(struct resolver *resolver, const struct location *location, uint64_t *ret)
{
	struct module_names *names = served_names(resolver, location);
	if (!names || !names->source->vaddr ||
	    !names->source->vaddr(names->opened, location->offset, ret))
		return false;
	if (names->logged)
		name_log_add_vaddr(&names->log, location->offset, *ret);
	return true;
}

bool resolver_no_memory(const struct resolver *resolver)
{
	return atomic_load(&resolver->no_memory);
}

const struct symbol *resolver_find_caller(struct resolver *resolver, const struct location *location)
{
	static const char padding[] = "__pfx_";
	const struct symbol *symbol = resolver_find(resolver, location);
	if (!symbol || strncmp(symbol->raw_name, padding, sizeof(padding) - 1) != 0)
		return symbol;
	struct location next = *location;
	next.offset++;
	next.ip++;
	return resolver_find(resolver, &next) ?: symbol;
}

/* Bytes of code to read. */
struct code_bytes {
	uint8_t *bytes;
	size_t size;
	uint16_t machine; /* result: the ELF machine */
};

/* Returns the file of a location's code, which belongs to the names; NULL: it is not here. */
static const struct image *code_of(struct resolver *resolver, struct module_names *names,
				   const struct location *location)
{
	if (!names->code_asked) {
		names->code_asked = true;
		sp_error_free(binary_open_code(&resolver->env.binary, location->module,
					       location->pid, &names->code));
	}
	return names->code;
}

/* Reads code from the module's source, or else from its file, or else from the stored names. */
static bool read_code(struct resolver *resolver, struct module_names *names,
		      const struct location *location, uint64_t from, struct code_bytes *ret)
{
	size_t done;
	bool has_code = names->opened && names->source->read_code;
	if (has_code && names->source->read_code(names->opened, location->offset, from, ret->size,
						 ret->bytes, &ret->machine))
		return true;
	bool is_file = location->module->kind == MODULE_FILE ||
		       location->module->kind == MODULE_VDSO;
	/* Stored names have the code of few places. */
	const struct image *image =
		is_file && (!has_code || names->source == &source_stored) ?
			code_of(resolver, names, location) : NULL;
	if (!image)
		return names->stored &&
		       source_stored.read_code(names->stored, location->offset, from, ret->size,
					       ret->bytes, &ret->machine);
	if (from > image->size || ret->size > image->size - from)
		return false;
	ret->machine = image->machine;
	if (image->memory) {
		memcpy(ret->bytes, (const uint8_t *)image->memory + from, ret->size);
		return true;
	}
	return image->fd >= 0 && io_pread(image->fd, ret->bytes, ret->size, from, &done) == 0 &&
	       done == ret->size;
}

bool resolver_code_is_public(struct resolver *resolver, const struct location *location)
{
	struct module_names *names = names_of(resolver, location->module);
	const struct image *image = names ? code_of(resolver, names, location) : NULL;
	return image ? image->is_public :
		       names && (names->source == &source_stored || names->stored);
}

bool resolver_read_code(struct resolver *resolver, const struct location *location,
			int64_t distance, size_t size, uint8_t *ret, uint16_t *machine_ret)
{
	struct module_names *names = location->module ? names_of(resolver, location->module) : NULL;
	struct code_bytes code = {.bytes = ret, .size = size};
	uint64_t from = location->offset + (uint64_t)distance;
	if (!names || !read_code(resolver, names, location, from, &code))
		return false;
	*machine_ret = code.machine;
	if (names->logged)
		name_log_add_code(&names->log, from, ret, size, code.machine);
	return true;
}

bool resolver_has_sources(struct resolver *resolver, const struct module *module, uint32_t pid)
{
	struct module_names *names = names_of(resolver, module);
	if (names && !names->asked)
		choose_provider(resolver, names, module, pid);
	return names && names->opened && names->source->has_lines &&
	       names->source->has_lines(names->opened, &resolver->env, module);
}

/*
 * Opens the module's debug information into names->dwarf, where it stays if the options permit it. It
 * stays NULL if there is none.
 */
static struct sp_error *open_lines(struct resolver *resolver, struct module_names *names,
				   const struct module *module)
{
	if (names->dwarf)
		return NULL;
	return names->source->open_lines(names->opened, &resolver->env, module,
					 &names->lines_diagnosis, &names->dwarf,
					 &names->placement);
}

/* Closes debug information, unless it may stay open. */
static void close_lines(struct resolver *resolver, struct module_names *names)
{
	unsigned int max = resolver->env.options.open_lines_max;
	if (names->stays_open)
		return;
	if (names->dwarf && atomic_load(&resolver->open_lines) < max)
		names->stays_open = atomic_fetch_add(&resolver->open_lines, 1) < max;
	if (!names->stays_open)
		module_names_close_lines(names);
}

/* Search for the symbols of a module's offsets. */
struct symbol_search {
	struct module_names *names;
	struct location location;
};

static bool find_symbol(void *arg, uint64_t offset, uint64_t *start_ret, uint64_t *end_ret)
{
	struct symbol_search *search = arg;
	struct module_names *names = search->names;
	struct found found;
	search->location.offset = offset;
	if (!names->source->find(names->opened, &search->location, &names->diagnosis, &found) ||
	    found.stretched)
		return false;
	*start_ret = found.start;
	*end_ret = found.start + found.size;
	return true;
}

static struct sp_error *resolve_lines(struct resolver *resolver, struct module_names *names,
				      const struct source_query *query, struct source_frames *ret)
{
	struct sp_error *error = open_lines(resolver, names, query->module);
	if (!error && !names->dwarf && names->source->frames)
		return names->source->frames(names->opened, query->offsets, query->count,
					     &names->lines.arena, ret);
	if (error || !names->dwarf)
		return error;
	struct symbol_search search = {names, {.module = query->module, .pid = query->pid}};
	const struct lines_module module = {
		.dwarf = names->dwarf, .placement = names->placement,
		.diagnosis = &names->lines_diagnosis, .find_symbol = find_symbol, .arg = &search,
	};
	error = lines_resolve(&names->lines, &module, query, ret);
	close_lines(resolver, names);
	return error;
}

/* Resolves only offsets that no earlier analysis resolved. */
static struct sp_error *resolve_new_lines(struct resolver *resolver, struct module_names *names,
					  const struct source_query *query,
					  struct source_frames *ret)
{
	struct known_lines *known = &names->known;
	if (known->lines != ret->lines)
		module_names_drop_lines(names);
	known->lines = ret->lines;
	CLEANUP_FREE uint64_t *offsets = malloc(query->count * sizeof(*offsets));
	CLEANUP_FREE const struct source_frame **items = calloc(query->count, sizeof(*items));
	NEED(offsets && items);
	struct source_query rest = *query;
	rest.offsets = offsets;
	rest.count = known_lines_select_new(known, query, offsets);
	if (rest.count) {
		struct source_frames found = {items, ret->lines, known->distinct};
		TRY(resolve_lines(resolver, names, &rest, &found));
		/* A cancelled search is incomplete. */
		if (!ctx_cancelled(resolver->env.ctx) &&
		    !known_lines_add(known, offsets, rest.count, &found))
			return error_no_memory();
	}
	known_lines_get(known, query, ret);
	return NULL;
}

static struct sp_error *find_sources(struct resolver *resolver, struct module_names *names,
				     const struct source_query *query, struct source_frames *ret)
{
	if (!names->source->open_lines)
		return names->source->frames ? names->source->frames(names->opened, query->offsets,
								     query->count, &names->arena,
								     ret) :
					       NULL;
	return (resolver->env.options.names ? resolve_new_lines : resolve_lines)(resolver, names, query,
										  ret);
}

struct sp_error *resolver_sources(struct resolver *resolver, const struct source_query *query,
				  struct source_frames *ret)
{
	for (size_t i = 0; i < query->count; i++)
		ret->items[i] = NULL;
	ret->distinct = 0;
	struct module_names *names = names_of(resolver, query->module);
	NEED(names);
	if (!names->asked)
		choose_provider(resolver, names, query->module, query->pid);
	if (!names->opened || query->count == 0)
		return NULL;
	struct sp_error *error = find_sources(resolver, names, query, ret);
	if (!error && names->logged)
		name_log_add_sources(&names->log, query, ret);
	return error;
}

/* Gives folders to the source file of a symbol, if the debug information has them. */
static struct sp_error *add_folders(struct module_names *names, const struct symbol *symbol,
				    const struct source_frame *source)
{
	while (source && source->caller)
		source = source->caller;
	if (!source || !source->file || strcmp(path_base(source->file), symbol->object) != 0)
		return NULL;
	const char *copy = arena_strdup(&names->arena, source->file);
	NEED(copy);
	vec_each (item, &names->symbols)
		if (*item == symbol)
			(*item)->object = copy;
	return NULL;
}

struct sp_error *resolver_list_namesakes(struct resolver *resolver,
					 struct namesake_query *query, struct namesakes *ret)
{
	CLEANUP(namesakes_deinit) struct namesakes equal = {0};
	const struct location location = {.module = query->module, .pid = query->pid};
	struct module_names *names = served_names(resolver, &location);
	if (!names)
		return NULL;
	NEED(namesakes_list(names, query, ret) && namesakes_list_equal(ret, &equal));
	if (!equal.count || !resolver_has_sources(resolver, query->module, query->pid))
		return NULL;

	/*
	 * Finds the folders of source files that do not distinguish functions of one raw name,
	 * because symbol tables have no folders.
	 */
	CLEANUP_FREE uint64_t *offsets = malloc((equal.count + 1) * sizeof(*offsets));
	CLEANUP_FREE const struct source_frame **items = calloc(equal.count + 1, sizeof(*items));
	struct source_frames found = {.items = items, .lines = names->known.lines};
	const struct source_query wish = {.module = query->module, .pid = query->pid,
					  .offsets = offsets, .count = equal.count, .threads = 1};
	NEED(offsets && items);
	for (size_t i = 0; i < equal.count; i++)
		offsets[i] = equal.items[i].offset;
	TRY(find_sources(resolver, names, &wish, &found));
	for (size_t i = 0; i < equal.count; i++)
		TRY(add_folders(names, equal.items[i].symbol, items[i]));
	return NULL;
}

static const struct module_names *known_names(const struct resolver *resolver,
					      const struct module *module)
{
	/* Other threads may add modules, which moves the list. */
	struct resolver *shared = (struct resolver *)(uintptr_t)resolver;
	pthread_mutex_lock(&shared->lock);
	const struct module_names *names = module->index < resolver->modules.count ?
						   resolver->modules.items[module->index] : NULL;
	pthread_mutex_unlock(&shared->lock);
	return names;
}

bool resolver_left_out(const struct resolver *resolver, const struct module *module)
{
	const struct stored_module *stored = source_stored_module(&resolver->env, module);
	return stored && stored->left_out && resolver_is_stored(resolver, module);
}

struct jit_files *resolver_jit_files(const struct resolver *resolver)
{
	return resolver->env.jit;
}

bool resolver_is_stored(const struct resolver *resolver, const struct module *module)
{
	const struct module_names *names = known_names(resolver, module);
	return names && names->opened && names->source == &source_stored;
}

const char *resolver_debug_remedy(const struct resolver *resolver)
{
	return debuginfod_remedy(resolver->env.ctx);
}

enum resolver_problem resolver_sources_problem(const struct resolver *resolver,
					       const struct module *module, const char **text_ret,
					       const char **remedy_ret)
{
	const struct module_names *names = known_names(resolver, module);
	*text_ret = names ? names->lines_diagnosis.text : NULL;
	*remedy_ret = names ? names->lines_diagnosis.remedy : NULL;
	return names ? (enum resolver_problem)names->lines_diagnosis.problem : RESOLVER_OK;
}

enum resolver_problem resolver_problem(const struct resolver *resolver, const struct module *module,
				       const char **text_ret, const char **remedy_ret)
{
	const struct module_names *names = known_names(resolver, module);
	*text_ret = names ? names->diagnosis.text : NULL;
	*remedy_ret = names ? names->diagnosis.remedy : NULL;
	return names ? (enum resolver_problem)names->diagnosis.problem : RESOLVER_OK;
}
