/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections that say what they unpack to: the libraries' own packers are the oracle. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "elf/unpack.h"
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define SIZE ((size_t)16 << 20)

typedef struct sp_error *unpack_fn(const void *bytes, size_t size, size_t size_unpacked,
				   const char *path, uint8_t **ret);

static uint8_t zeros[SIZE], packed[SIZE / 512];

static void is_refused(unpack_fn *unpack, size_t size, size_t claim, const char *why)
{
	uint8_t *bytes = NULL;
	struct sp_error *error = unpack(packed, size, claim, "file", &bytes);
	ck_assert_ptr_nonnull(error);
	ck_assert_ptr_nonnull(strstr(sp_error_message(error), why));
	ck_assert_ptr_null(bytes);
	sp_error_free(error);
}

/* The most compressed input is unpacked; a size that no stream can reach allocates no memory. */
static void is_bounded(unpack_fn *unpack, size_t size)
{
	uint8_t *bytes = NULL;
	ok_or_fail(unpack(packed, size, SIZE, "file", &bytes));
	ck_assert(!memcmp(bytes, zeros, SIZE));
	free(bytes);
	is_refused(unpack, size, SIZE + 1, "damaged");
	is_refused(unpack, size, SIZE_MAX / 2, "cannot become");
}

TEST(zlib_sections_claim_no_more_than_they_can_hold)
{
	uLongf size = sizeof(packed);
	ck_assert_int_eq(compress2(packed, &size, zeros, SIZE, 9), Z_OK);
	is_bounded(zlib_unpack_sized, size);
}

#ifdef HAVE_ZSTD
TEST(zstd_sections_claim_no_more_than_they_can_hold)
{
	size_t size = ZSTD_compress(packed, sizeof(packed), zeros, SIZE, 19);
	ck_assert(!ZSTD_isError(size));
	is_bounded(zst_unpack_sized, size);
}
#endif
