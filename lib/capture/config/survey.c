/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/format.h"
#include "capture/config/command_path.h"
#include "proc/maps.h"
#include "proc/proc_tasks.h"
#include "unwind/cfi_row.h"

/* Limit of interpreters of scripts that are followed. */
#define INTERPRETERS_MAX 6

/* Number of examined functions: these take less than a millisecond. */
#define FUNCTIONS_MAX 4000

void target_survey_deinit(struct target_survey *survey)
{
	free(survey->note);
	*survey = (struct target_survey){0};
}

/* State of the search for frame pointers. */
struct binary_survey {
	const struct sp_ctx *ctx;
	size_t examined; /* number of files */
	bool is_static;  /* the last examined file has no dynamic linker, so no C library */
	char *refusal;   /* text on the first file without frame pointers, malloc'ed; NULL: none */
};

static void survey_deinit(struct binary_survey *survey)
{
	free(survey->refusal);
}

/*
 * Examines the file at `path` below `root` (NULL: /). Messages name it `name`. Ignores unreadable
 * files.
 */
static struct sp_error *examine_file(struct binary_survey *survey, const char *root,
				     const char *path, const char *name)
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
	survey->examined++;
	survey->is_static = !image_section(image, ".interp", &header);
	if (survey->refusal || image_keeps_frame_pointers(image))
		return NULL;
	bool is_go = image_section(image, ".note.go.buildid", &header);
	const char *why = is_go ? " is a Go program, which is unwound by its .gopclntab"
				: " keeps no frame pointers";
	survey->refusal = format_text("%s%s", name, why);
	return survey->refusal ? NULL : error_no_memory();
}

static bool is_c_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && (!strncmp(slash, "/libc.so", 8) || !strncmp(slash, "/libc-2", 7) ||
			 !strncmp(slash, "/ld-musl", 8) || !strncmp(slash, "/libc.musl", 10));
}

/* Examines the C library that a process has mapped. */
static struct sp_error *examine_c_library(struct binary_survey *survey, uint32_t pid)
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
			return examine_file(survey, elsewhere ? root : NULL, entry->path,
					    entry->path);
	}
	if (error && sp_error_code(error) != SP_ERROR_NO_MEMORY)
		sp_error_free(take_ptr(error));
	return error;
}

static struct sp_error *examine_process(struct binary_survey *survey, uint32_t pid)
{
	char path[64], name[4096];
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	ssize_t size = readlink(path, name, sizeof(name) - 1);
	name[size < 0 ? 0 : size] = '\0';
	struct sp_error *error = size > 0 ? examine_file(survey, NULL, path, name) : NULL;
	return error || survey->is_static ? error : examine_c_library(survey, pid);
}

/* Examines the command's file, or its last interpreter, and the C library of this process. */
static struct sp_error *examine_command(struct binary_survey *survey, const char *name)
{
	CLEANUP_FREE char *path = command_path_find(name);
	for (int i = 0; path && i < INTERPRETERS_MAX && command_path_follow(&path);)
		i++;
	struct sp_error *error = path ? examine_file(survey, NULL, path, path) : NULL;
	return error || survey->is_static ? error : examine_c_library(survey, getpid());
}

static struct sp_error *survey_targets(struct binary_survey *survey,
				       const struct capture_options *options)
{
	struct sp_error *error = NULL;
	const struct sp_number_list *lists[] = {&options->target.pids, &options->target.tids};
	for (size_t i = 0; i < 2 && !error; i++)
		for (size_t j = 0; j < lists[i]->count && !survey->refusal && !error; j++)
			error = examine_process(survey, lists[i]->items[j]);
	if (error || survey->examined)
		return error;
	if (options->target.command && !options->target.system_wide && !options->target.cpus)
		return examine_command(survey, options->target.command[0]);
	return examine_c_library(survey, getpid());
}

static struct sp_error *survey_frame_pointers(const struct sp_ctx *ctx,
					      const struct capture_options *options,
					      struct target_survey *ret)
{
	CLEANUP(survey_deinit) struct binary_survey survey = {.ctx = ctx};
	TRY(survey_targets(&survey, options));
	ret->frame_pointers = !survey.refusal && survey.examined;
	if (!ret->frame_pointers)
		ret->note = format_text("call chains by DWARF: %s",
					survey.refusal ?: "the running programs were probably "
							  "built without frame pointers");
	else
		ret->note = format_text("call chains by frame pointers, which %s",
					survey.examined > 1 ? "the binaries keep"
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
		ret->is_python = target_runs_python(ctx, options);
	return error;
}

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
