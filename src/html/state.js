// SPDX-License-Identifier: GPL-2.0-or-later
// State of the page, which undo takes back and the URL's hash keeps.
"use strict";

const VIEWS = ["flame", "functions", "tree", "sides", "wakers", "source", "limits", "about"];

const $ = (id) => document.getElementById(id);

// State that the URL's hash keeps. Functions are names, because their numbers differ between recordings.
const initial = {event: 0, view: "flame", from: null, to: null, thread: -1, search: "", only: false, hide: false,
	mine: false, objects: [], callers: false, ordered: false, processes: false,
	zoom: [], focus: "", drop: [], wings: "", source: "",
	sort: "self", heat: false, lanes: false};

let state = {...initial};
let history = [], lastKind = "", hashTimer = 0;
let profile, groups, flames = [], list, strip, lanesOf = [];
let derived = {}; // results of the state: see derive()
let opened = new Set(); // opened nodes of the call tree

const functionName = (fn) => profile.strings[profile.functions.name[fn]];
const functionDso = (fn) => profile.strings[profile.functions.dso[fn]];
const currentEvent = () => profile.events[state.event];

// Changes the state as a user's action, which undo takes back. Changes of one `kind` in a row are one action.
function change(parts, kind = "") {
	const event = parts.event !== undefined && parts.event !== state.event;
	if (!kind || kind !== lastKind)
		history.push(state);
	lastKind = kind;
	if (history.length > 200)
		history.shift();
	state = {...state, ...parts};
	if (event)
		state = {...state, from: null, to: null, thread: -1, zoom: []};
	state = validState(state);
	update();
}

function undo() {
	if (!history.length)
		return;
	state = history.pop();
	lastKind = "";
	update();
}

// Leaves the innermost filter.
function leave() {
	const steps = [["wings", ""], ["zoom", []], ["focus", ""], ["drop", []], ["only", false], ["hide", false],
		["search", ""], ["mine", false], ["thread", -1]];
	if (state.from !== null) {
		change({from: null, to: null});
		return;
	}
	for (const [name, value] of steps)
		if (JSON.stringify(state[name]) !== JSON.stringify(value)) {
			change({[name]: value});
			return;
		}
}

// Writes the hash a moment later: browsers take some milliseconds for it, and limit how often it changes.
function writeHash() {
	clearTimeout(hashTimer);
	hashTimer = setTimeout(() => {
		const parts = new URLSearchParams();
		for (const [name, value] of Object.entries(state))
			if (JSON.stringify(value) !== JSON.stringify(initial[name]))
				parts.set(name, typeof value === "string" ? value : JSON.stringify(value));
		const hash = parts.toString();
		if (location.hash.slice(1) !== hash)
			window.history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
	}, 25);
}

// Returns whether a value of the state has the right type.
function isValid(name, value) {
	if (name === "from" || name === "to")
		return value === null || (Number.isInteger(value) && value >= 0);
	if (Array.isArray(initial[name]))
		return Array.isArray(value) && value.every((text) => typeof text === "string");
	return typeof value === typeof initial[name];
}

// Replaces values that this recording does not have.
function validState(read) {
	const event = profile.events[read.event] || profile.events[0];
	if (!profile.events[read.event])
		read.event = 0;
	if (!VIEWS.includes(read.view))
		read.view = "flame";
	if (read.from === null || read.to === null || read.from > read.to || !event || read.to >= event.bins)
		read.from = read.to = null;
	if (!profile.threads[read.thread])
		read.thread = -1;
	return read;
}

function readHash() {
	const read = {...initial};
	for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
		if (!Object.hasOwn(initial, name))
			continue;
		let value = text;
		try {
			if (typeof initial[name] !== "string")
				value = JSON.parse(text);
		} catch {
			continue;
		}
		if (isValid(name, value))
			read[name] = value;
	}
	state = validState(read);
}
