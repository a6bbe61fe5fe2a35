// SPDX-License-Identifier: GPL-2.0-or-later
"use strict";

async function inflate(id) {
	const text = atob(document.getElementById(id).textContent);
	const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function start() {
	const profile = decodeTree(await inflate("tree"));
	document.title = profile.recording;
	for (const event of profile.events)
		for (let i = 0; i < event.rows && i < 100; i++) {
			const row = document.createElement("p");
			const name = profile.strings[profile.functions.name[event.row.fn[i]]];
			row.textContent = `${(100 * event.row.self[i]).toFixed(2)}% ${name}`;
			document.body.append(row);
		}
}
start();
