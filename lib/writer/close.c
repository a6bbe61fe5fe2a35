/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/writer.h"

#include <errno.h>
#include <sys/stat.h>
#include "base/error.h"
#include "record/note.h"
#include "writer/writer_struct.h"

/*
 * Writes the complete feature table. If that fails, the table of the last commit stays. It lacks the
 * time span, and the build-ids, which MMAP2 records have, too.
 */
static struct sp_error *finish_file(struct writer *writer)
{
	uint64_t file_end;
	int errnum = commit_finish(&writer->commit, writer->end, &writer->features, &file_end);
	int cut_errnum = preallocate_cut(&writer->space, file_end) ?: commit_sync(&writer->commit);
	if (!errnum)
		errnum = cut_errnum;
	if (!errnum)
		return NULL;
	return error_set_remedy(error_os(errnum, "cannot write the build-ids of %s; its "
					 "data is complete", writer->name),
				"%s", writer_remedy(errnum));
}

/* Writes the build-ids as records. A file has them in its feature table instead. */
static struct sp_error *finish_stream(struct writer *writer, const struct writer_end *end)
{
	struct record_buffer buffer = {0};
	struct sp_error *error = NULL;
	for (size_t i = 0; !error && i < end->build_id_count; i++)
		error = feature_build_id_record(&end->build_ids[i], &buffer);
	if (!error && buffer.count) {
		struct iovec span = {buffer.items, buffer.count};
		error = writer_append(writer, &span, 1);
	}
	vec_deinit(&buffer);
	return error;
}

/* Fails if the file's name was removed. */
static struct sp_error *check_present(const struct writer *writer)
{
	struct stat st;
	if (writer->output.stream || writer->output.in_memory ||
	    fstat(writer->output.fd, &st) < 0 || st.st_nlink > 0)
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_NOT_FOUND,
					  "%s was removed during recording", writer->name),
				"record again to another directory (-o FILE)");
}

/* Writes a note why writing stopped and how many samples are missing. Space for it is reserved. */
static struct sp_error *note_stop(struct writer *writer, uint64_t taken)
{
	struct record_buffer note = {0};
	int errnum = writer->errnum;
	uint64_t missing = taken > writer->samples ? taken - writer_samples(writer) :
						     writer->unwritten;
	const struct sp_note failed = {.kind = NOTE_WRITE_FAILED, .value_count = 2,
				       .values = {(uint64_t)errnum, missing}};
	struct sp_error *error = record_encode_note(&note, &failed);
	if (!error && writer->space.reserve > note.count) {
		struct iovec span = {note.items, note.count};
		writer->space.reserve -= note.count;
		sp_error_free(writer_append(writer, &span, 1));
		writer->errnum = errnum;
	}
	vec_deinit(&note);
	return error;
}

/* Returns how many build-ids fit in the reserved space. */
static size_t build_ids_fitting(const struct writer *writer, const struct writer_end *end)
{
	uint64_t bytes = 0;
	size_t count = 0;
	for (; count < end->build_id_count; count++) {
		bytes += feature_build_id_bytes(end->build_ids[count].filename);
		if (bytes > writer->build_id_bytes)
			break;
	}
	return count;
}

static struct sp_error *finish(struct writer *writer, const struct writer_end *end)
{
	struct writer_end fitting = *end;
	if (writer->output.stream)
		return writer->errnum ? NULL : finish_stream(writer, end);
	if (writer->errnum == ENOSPC || writer->errnum == EDQUOT || writer->errnum == EFBIG) {
		struct sp_error *note_error = note_stop(writer, end->samples);
		if (note_error)
			return note_error;
		fitting.build_id_count = build_ids_fitting(writer, end);
	}
	struct sp_error *error = feature_set_end(&writer->features, &fitting);
	if (!error && writer->traces.count)
		error = feature_set_auxtrace(&writer->features, writer->traces.items,
					     writer->traces.count);
	if (writer->packing.deflater)
		feature_set_ratio(&writer->features, packing_ratio(&writer->packing));
	return error_first(error, finish_file(writer));
}


/* Closes the recording. If `when` is not NULL, the file's name gets this date. */
static struct sp_error *close_as(struct writer *writer, const struct writer_end *end,
				 const struct timespec *when, char **name_ret)
{
	struct sp_error *error = writer_commit(writer);
	struct sp_error *later = finish(writer, end);
	struct sp_error *publish_error = output_publish(&writer->output);
	bool published = !publish_error;
	later = error_first(later, publish_error);
	if (when && published)
		later = error_first(later, output_rename_dated(&writer->output, *when, name_ret));
	else if (!error && !later)
		later = check_present(writer);
	if (published)
		later = error_first(later, writer_sync_name(writer));
	int errnum = output_close(&writer->output);
	if (!error && !later && errnum)
		later = error_set_remedy(error_os(errnum, "cannot close %s", writer->name), "%s",
					 writer_remedy(errnum));
	writer_free(writer);
	return error_first(error, later);
}

struct sp_error *writer_close(struct writer *writer, const struct writer_end *end)
{
	return close_as(writer, end, NULL, NULL);
}

struct sp_error *writer_close_dated(struct writer *writer, const struct writer_end *end,
				    struct timespec when, char **name_ret)
{
	*name_ret = NULL;
	return close_as(writer, end, &when, name_ret);
}
