/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "findings/finding_text.h"

#include <stdio.h>

const char *count_text(uint64_t count, char *text)
{
	char digits[24], *out = text;
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = 0;
	return text;
}

const char *share_text(double share, char *text)
{
	/*
	 * Two significant digits, but neither "0.0%" for a share above 0 nor "100.0%" for one below 1.
	 */
	int decimals = share >= 0.1 && share < 0.995 ? 0 : share >= 0.01 ? 1 : 2;
	if (share > 0 && share < 0.0001)
		snprintf(text, FINDING_TEXT, "less than 0.01%%");
	else if (share >= 0.9995 && share < 1)
		snprintf(text, FINDING_TEXT, "more than 99.9%%");
	else
		snprintf(text, FINDING_TEXT, "%.*f%%", share == 1 ? 0 : decimals, share * 100);
	return text;
}

const char *time_text(uint64_t time_ns, char *text)
{
	double seconds = (double)time_ns / 1e9;
	if (seconds < 0.001)
		snprintf(text, FINDING_TEXT, "%.0f us", seconds * 1e6);
	else if (seconds < 0.9995) /* else "1e+03 ms" */
		snprintf(text, FINDING_TEXT, "%.3g ms", seconds * 1e3);
	else
		snprintf(text, FINDING_TEXT, "%.*f s", seconds < 100 ? 2 : 0, seconds);
	return text;
}

const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}
