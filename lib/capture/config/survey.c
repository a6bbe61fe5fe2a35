/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/survey.h"

#include <string.h>
#include <unistd.h>
#include "base/format.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "capture/python/processes.h"
#include "proc/maps.h"
#include "proc/proc_tasks.h"
#include "unwind/cfi_row.h"

/* Limit of a script's first line. */
#define SCRIPT_LINE 256

/* Limits of a search for Python in the command: number of words, and bytes of each one's file. */
#define WORDS_MAX 8
#define WORD_FILE_BYTES 65536

void target_survey_deinit(struct target_survey *survey)
{
	free(survey->note);
	*survey = (struct target_survey){0};
}

/* State of the survey. */
struct binary_survey {
	const struct sp_ctx *ctx;
	size_t looked_at;
	bool is_static;  /* has no other C library */
	char *keeps_not; /* a sentence of the first that keeps no frame pointers; malloc'ed */
};

static void survey_deinit(struct binary_survey *survey)
{
	free(survey->keeps_not);
}

/*
 * Examines the file at `path` below `root` (NULL: /). Messages name it `name`. Ignores unreadable
 * files.
 */
static struct sp_error *look_at(struct binary_survey *survey, const char *root, const char *path,
				const char *name)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct sp_error *error = image_open_guarded(ctx_proxies(survey->ctx), root, path, &image);
	if (error) {
		if (sp_error_code(error) == SP_ERROR_NO_MEMORY)
			return error;
		sp_error_free(error);
		return NULL;
	}
	GElf_Shdr header;
	survey->looked_at++;
	survey->is_static = !image_section(image, ".interp", &header);
	if (survey->keeps_not || image_keeps_frame_pointers(image))
		return NULL;
	bool is_go = image_section(image, ".note.go.buildid", &header);
	const char *why = is_go ? " is a Go program, which is unwound by its .gopclntab"
				: " keeps no frame pointers";
	survey->keeps_not = format_text("%s%s", name, why);
	return survey->keeps_not ? NULL : error_no_memory();
}

static bool is_c_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && (!strncmp(slash, "/libc.so", 8) || !strncmp(slash, "/libc-2", 7) ||
			 !strncmp(slash, "/ld-musl", 8) || !strncmp(slash, "/libc.musl", 10));
}

/* Finds the C library that a process has mapped. */
static struct sp_error *look_at_library(struct binary_survey *survey, uint32_t pid)
{
	CLEANUP(cleanup_maps_free) struct maps *maps = NULL;
	const struct maps_entry *entry = NULL;
	char root[32];
	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	bool elsewhere = tasks_has_other_root(survey->ctx, pid);
	struct sp_error *error = maps_open(survey->ctx, pid, 0, MAPS_EXECUTABLE, &maps);
	while (!error) {
		error = maps_next(maps, &entry);
		if (error || !entry)
			break;
		if (is_c_library(entry->path))
			return look_at(survey, elsewhere ? root : NULL, entry->path,
				       entry->path);
	}
	if (error && sp_error_code(error) != SP_ERROR_NO_MEMORY)
		sp_error_free(take_ptr(error));
	return error;
}

static struct sp_error *look_at_process(struct binary_survey *survey, uint32_t pid)
{
	char path[64], name[4096];
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	ssize_t size = readlink(path, name, sizeof(name) - 1);
	name[size < 0 ? 0 : size] = '\0';
	struct sp_error *error = size > 0 ? look_at(survey, NULL, path, name) : NULL;
	return error || survey->is_static ? error : look_at_library(survey, pid);
}

/*
 * Returns the path that execvp(3) would use, malloc'ed; NULL if there is none, or when out of
 * memory. A name with a slash is the path, also if no such file exists.
 */
static char *find_command(const char *name)
{
	if (strchr(name, '/'))
		return strdup(name);
	const char *places = getenv("PATH");
	if (!places)
		places = "/bin:/usr/bin";
	while (*places) {
		size_t size = strcspn(places, ":");
		char *path = format_text("%.*s%s%s", (int)size, places, size ? "/" : "", name);
		if (!path || !access(path, X_OK))
			return path;
		free(path);
		places += size + (places[size] == ':');
	}
	return NULL;
}

/* Replaces *path by a script's interpreter. Returns false if the file is no script. */
static bool follow_script(char **path)
{
	char line[SCRIPT_LINE + 1] = "";
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	sp_error_free(regular_file_open(NULL, *path, 0, &fd, &status));
	if (fd < 0 || io_read(fd, line, SCRIPT_LINE, NULL) || strncmp(line, "#!", 2))
		return false;
	line[strcspn(line, "\n")] = '\0';
	char *rest = line + 2 + strspn(line + 2, " \t");
	char *word = strsep(&rest, " \t");
	/* "/usr/bin/env python3" */
	const char *slash = strrchr(word, '/');
	char *next = rest && slash && !strcmp(slash, "/env") ? find_command(strsep(&rest, " \t"))
							     : strdup(word);
	free(*path);
	*path = next;
	return next;
}

static struct sp_error *look_at_command(struct binary_survey *survey, const char *name)
{
	CLEANUP_FREE char *path = find_command(name);
	while (path && follow_script(&path))
		if (survey->looked_at++ > 4)
			break;
	survey->looked_at = 0;
	struct sp_error *error = path ? look_at(survey, NULL, path, path) : NULL;
	return error || survey->is_static ? error : look_at_library(survey, getpid());
}

/*
 * Returns whether a file is Python: a script with the name of Python or of its version manager, or
 * a program that links Python's library. These strings are at the begin of the file.
 */
static bool file_names_python(const char *path)
{
	CLEANUP_FREE char *bytes = malloc(WORD_FILE_BYTES);
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	size_t size = 0;
	sp_error_free(regular_file_open(NULL, path, 0, &fd, &status));
	if (!bytes || fd < 0 || io_read(fd, bytes, WORD_FILE_BYTES, &size) || size < 4)
		return false;
	if (!memcmp(bytes, "#!", 2))
		return memmem(bytes, size, "python", 6) || memmem(bytes, size, "pyenv", 5);
	return !memcmp(bytes, "\177ELF", 4) && memmem(bytes, size, "libpython3.", 11);
}

static bool process_is_python(const struct sp_ctx *ctx, uint32_t pid)
{
	CLEANUP(cleanup_maps_free) struct maps *maps = NULL;
	const struct maps_entry *entry = NULL;
	bool found = false;
	struct sp_error *error = maps_open(ctx, pid, 0, MAPS_EXECUTABLE, &maps);
	while (!error && !found && !(error = maps_next(maps, &entry)) && entry)
		found = python_is_interpreter(entry->path);
	sp_error_free(error);
	return found;
}

static bool target_is_python(const struct sp_ctx *ctx, const struct capture_options *options)
{
	const struct sp_number_list *lists[] = {&options->target.pids, &options->target.tids};
	for (size_t i = 0; i < 2; i++)
		vec_each (item, lists[i])
			if (process_is_python(ctx, *item))
				return true;
	if (!options->target.command || lists[0]->count || lists[1]->count ||
	    options->target.system_wide || options->target.cpus)
		return false;
	/* A shell or a wrapper may start it. */
	const char *const *words = options->target.command;
	for (size_t i = 0; words[i]; i++)
		if (strstr(words[i], "python") ||
		    (i && i < WORDS_MAX && file_names_python(words[i])))
			return true;
	CLEANUP_FREE char *path = find_command(words[0]);
	for (int i = 0; path && i < 4; i++) {
		const char *slash = strrchr(path, '/');
		if (!strncmp(slash ? slash + 1 : path, "python", 6) || file_names_python(path))
			return true;
		if (!follow_script(&path))
			return false;
	}
	return false;
}

static struct sp_error *survey_targets(struct binary_survey *survey,
				       const struct capture_options *options)
{
	struct sp_error *error = NULL;
	const struct sp_number_list *lists[] = {&options->target.pids, &options->target.tids};
	for (size_t i = 0; i < 2 && !error; i++)
		for (size_t j = 0; j < lists[i]->count && !survey->keeps_not && !error; j++)
			error = look_at_process(survey, lists[i]->items[j]);
	if (error || survey->looked_at)
		return error;
	if (options->target.command && !options->target.system_wide && !options->target.cpus)
		return look_at_command(survey, options->target.command[0]);
	return look_at_library(survey, getpid());
}

static struct sp_error *survey_frame_pointers(const struct sp_ctx *ctx,
					      const struct capture_options *options,
					      struct target_survey *ret)
{
	CLEANUP(survey_deinit) struct binary_survey survey = {.ctx = ctx};
	TRY(survey_targets(&survey, options));
	ret->frame_pointers = !survey.keeps_not && survey.looked_at;
	if (!ret->frame_pointers)
		ret->note = format_text("call chains by DWARF: %s",
					survey.keeps_not ?: "the running programs were probably "
							    "built without frame pointers");
	else
		ret->note = format_text("call chains by frame pointers, which %s",
					survey.looked_at > 1 ? "the binaries keep"
							     : "the binary keeps");
	return ret->note ? NULL : error_no_memory();
}

struct sp_error *target_survey(const struct sp_ctx *ctx, const struct capture_options *options,
			       struct target_survey *ret)
{
	const struct sp_capture_chains *chains = &options->chains;
	bool is_open = chains->call_graph == SP_CALL_GRAPH_AUTO;
	*ret = (struct target_survey){0};
	if (chains->kernel_only || (!is_open && chains->call_graph != SP_CALL_GRAPH_DWARF))
		return NULL;
	struct sp_error *error = is_open ? survey_frame_pointers(ctx, options, ret) : NULL;
	/* Python frames are read while DWARF stacks are unwound. */
	if (!error && !ret->frame_pointers && chains->unwind == SP_UNWIND_LIVE &&
	    chains->python != SP_OFF && !options->buffers.overwrite)
		ret->is_python = target_is_python(ctx, options);
	return error;
}

/* Number of examined functions: these take less than a millisecond. */
#define FUNCTIONS_MAX 4000

bool image_keeps_frame_pointers(struct image *image)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(image, ".eh_frame", &header);
	const struct unwind_arch *arch = arch_of_machine(image->machine);
	/* 32-bit programs are unwound by frame pointers only on request. */
	if (!section || !arch || arch->word != 8 || image->swap)
		return false;
	struct image_bytes bytes;
	struct sp_error *error = image_section_bytes(image, section, &bytes);
	if (error) {
		sp_error_free(error);
		return false;
	}
	const struct cfi_section frames = {
		.bytes = {.bytes = bytes.bytes, .size = bytes.size, .vaddr = header.sh_addr},
		.word = image->is_64bit ? 8 : 4,
	};
	size_t functions = 0, framed = 0;
	struct cfi_entry entry;
	for (uint64_t at = 0; functions < FUNCTIONS_MAX && cfi_next(&frames, &at, &entry);) {
		functions++;
		framed += cfi_sets_frame_pointer(arch, &entry);
	}
	bool keeps = functions && framed * 2 >= functions;
	image_bytes_release(&bytes);
	return keeps;
}
