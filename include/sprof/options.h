/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types that the option structs share. */
#ifndef SPROF_OPTIONS_H
#define SPROF_OPTIONS_H

/* Yes or no, with yes as the default: zeroed options are the defaults. */
enum sp_choice {
	SP_DEFAULT, /* on */
	SP_ON,
	SP_OFF,
};

#endif
