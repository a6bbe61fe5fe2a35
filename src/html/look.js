// SPDX-License-Identifier: GPL-2.0-or-later
// Colours and texts of canvases.
"use strict";

const GROUP_NAMES = ["program", "libraries", "kernel", "unknown", "no code"];
const GROUP_COLOURS = ["own", "library", "kernel", "unknown", "note"];
const INLINED = 4, INLINED_MIX = 0.42; // shade of inlined functions

// Colours of canvases, from the style sheet.
const look = {
	// Returns a box's name, with the sign of its change in comparisons.
	label: (tree, node) => node ? (profile.comparison ? SIGNS[classAt(tree, node)] : "") + functionName(tree.fn[node])
		: "all",
	matches: (fn) => Boolean(derived.matches && derived.matches[fn]),
	colour(tree, node, isPlain) {
		const fn = tree.fn[node], inlined = tree.inlined[node];
		if (profile.comparison && !this.matches(fn))
			return this.changes[classAt(tree, node)];
		const base = this.matches(fn) ? this.match : this.groups[groups[fn]];
		const shade = inlined ? INLINED : profile.functions.name[fn] * 7 % INLINED;
		return isPlain ? base : this.shades[base][shade];
	},
	// Returns the colour of a box's text. Boxes of unknown code are dark in the dark theme.
	boxText(fn) {
		const isUnknown = fn >= 0 && groups[fn] === UNKNOWN && !this.matches(fn) && !profile.comparison;
		return isUnknown ? this.unknownInk : this.boxInk;
	},
	note: (tree, node) => profile.comparison ? boxNote(tree, node)
		: `${(100 * tree.weight[node] / (derived.weight || 1)).toFixed(1)}%`,
	whole: (tree) => profile.comparison ? withUnit(quantityText(tree.weight[0])) : profile.mode !== "cpu" ? weightText(currentEvent(), derived.weight) : samplesText(derived.samples),
	read() {
		const style = getComputedStyle(document.documentElement);
		const get = (name) => style.getPropertyValue(`--${name}`).trim();
		this.groups = GROUP_COLOURS.map(get);
		this.changes = CHANGE_COLOURS.map(get);
		this.match = get("match");
		this.shades = {};
		for (const colour of [...this.groups, this.match])
			this.shades[colour] = [0, 0.07, 0.14, -0.05, INLINED_MIX].map((part) => mix(colour, part));
		for (const name of ["accent", "soft", "ink", "warn", "line"])
			this[name] = get(name);
		this.root = get("note");
		this.boxInk = get("box-ink");
		this.unknownInk = get("unknown-ink");
		this.mark = mix(this.boxInk, 0.45);
		this.lane = get("lane");
		this.heat = get("accent");
		this.states = STATES.map((name) => get(`state-${name}`));
		this.veil = document.documentElement.classList.contains("dark") ? "rgb(0 0 0 / 0.55)"
			: "rgb(255 255 255 / 0.72)";
	},
};

// Mixes a colour (#rrggbb) with white, or with black if `part` is negative.
function mix(colour, part) {
	const to = part < 0 ? 0 : 255;
	const values = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
	return `#${values.map((value) => Math.round(value + (to - value) * Math.abs(part)).toString(16)
		.padStart(2, "0")).join("")}`;
}

const samplesText = (count) => `${grouped(count)} ${count === 1 ? "sample" : "samples"}`;

function weightText(event, weight) {
	if (event.unit === "ns")
		return formatSeconds(weight / 1e9);
	return `${grouped(Math.round(weight))}${event.unit ? ` ${event.unit}` : ""}`;
}
