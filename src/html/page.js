// SPDX-License-Identifier: GPL-2.0-or-later
// The page: its frame, keys and mouse, and the beginning.
"use strict";

function update() {
	if (!profile.events.length) {
		$("panel").replaceChildren(element("p", "empty", "This recording has no events."));
		return;
	}
	derive();
	showHeader();
	showTools();
	showStrip();
	showView();
	writeHash();
}

function showHeader() {
	const event = currentEvent();
	const facts = profile.comparison ? profile.comparison.lines.slice(1, 3) : [];
	if (profile.command)
		facts.push(profile.command);
	if (!profile.comparison)
		facts.push(samplesText(event.samples));
	if (event.unit && !profile.comparison)
		facts.push(weightText(event, event.weight) + (event.time ? ` of ${event.time}`
			: {wall: " of threads' time", "off-cpu": " of threads' time", latency: " of processes' lifetimes"}[profile.mode] || ""));
	else if (event.weight && event.weight !== event.samples && !profile.comparison)
		facts.push(`${grouped(event.weight)} ${event.name}`);
	if (event.lostUnknown)
		facts.push(`up to ${grouped(event.lostUnknown)} lost, of this program or of others`);
	else if (event.lostOwn)
		facts.push(event.lostOwn === event.lost ? `${grouped(event.lost)} lost`
			: `up to ${grouped(event.lost)} lost, about ${grouped(event.lostOwn)} of them of this program`);
	if (profile.filtered)
		facts.push(`${grouped(event.shownSamples)} pass the report's filters`);
	$("facts").textContent = facts.join(" \u00b7 ");
	$("facts").title = facts.join("\n");
	$("event").value = String(state.event);
	$("thread").value = String(state.thread);
}

function press(id, on) {
	$(id).setAttribute("aria-pressed", on ? "true" : "false");
}

function showTools() {
	for (const view of VIEWS) {
		const tab = $(`tab-${view}`), chosen = view === state.view;
		tab.setAttribute("aria-selected", chosen ? "true" : "false");
		tab.tabIndex = chosen ? 0 : -1;
	}
	const code = ["flame", "functions", "tree", "sides"].includes(state.view);
	$("filters").hidden = !code && state.view !== "wakers";
	$("callers").hidden = !["flame", "tree"].includes(state.view);
	$("mine").hidden = $("mine-objects").hidden = !code;
	const isFlame = state.view === "flame" && !state.wings;
	$("ordered").hidden = !isFlame || !currentEvent().cells;
	press("callers", state.callers && !isOrdered());
	press("ordered", isOrdered());
	$("processes").hidden = !code || state.view === "functions" || state.wings !== "" ||
		profile.processCount < 2 || !currentEvent().cells;
	press("processes", hasProcesses());
	press("mine", state.mine);
	press("only", state.only);
	press("hide", state.hide);
	$("search").placeholder = `Search ${code ? "functions" : "threads"}`;
	if (document.activeElement !== $("search"))
		$("search").value = state.search;
	$("only").hidden = $("hide").hidden = !state.search;
	const least = currentEvent().totalsDiffer ? "at least " : "";
	$("found").textContent = !derived.matches || state.hide ? ""
		: least + percentText(derived.found.weight / (derived.weight || 1));
	showTrail();
}

// Shows the active filters as buttons that remove them.
function showTrail() {
	const event = currentEvent(), buttons = [];
	const add = (text, title, parts) => {
		const button = element("button", "", `${text} \u00d7`);
		button.title = title;
		button.addEventListener("click", () => change(parts));
		buttons.push(button);
	};
	if (state.wings)
		add(`callers and callees of ${state.wings}`, "Show all functions", {wings: ""});
	if (state.zoom.length && (state.view === "sides" || (state.view === "flame" && !state.wings)))
		add(`zoom: ${state.zoom[state.zoom.length - 1]}`, "Show the whole graph", {zoom: []});
	if (state.focus)
		add(`only stacks through ${state.focus}`, "Show all stacks", {focus: ""});
	for (const name of state.drop)
		add(`without ${name}`, "Show these stacks again", {drop: state.drop.filter((other) => other !== name)});
	if (state.thread >= 0)
		add(`thread ${threadName(profile, state.thread)}`, "Show all threads", {thread: -1});
	if (state.from !== null)
		add(`${rangeSeconds(event)}`, "Show all times", {from: null, to: null});
	if (derived.samples !== (event.node.samples[0] || 0) || derived.weight !== (event.node.weight[0] || 0)) {
		const share = percentText(derived.weight / (derived.whole || 1));
		buttons.unshift(element("span", "", profile.comparison
			? `${withUnit(quantityText(derived.weight))}, ${share} of ${event.name}`
			: `${grouped(derived.samples)} samples, ${share} of all`));
	}
	$("trail").replaceChildren(...buttons);
}

function rangeSeconds(event) {
	const seconds = (bin) => formatSeconds(bin * event.binNs / 1e9);
	return `${seconds(state.from)} to ${seconds(state.to + 1)}`;
}

function showStrip() {
	const event = currentEvent(), shown = event.cell && event.durationNs > 0 && event.cells > 0;
	$("times").hidden = event.cell ? !shown : !event.durationNs;
	if (!event.cell)
		strip.reserve(profile.threads.length);
	if (!shown)
		return;
	lanesOf[state.event] = lanesOf[state.event] || makeLanes(profile, event);
	strip.heat = state.heat;
	strip.all = state.lanes;
	strip.thread = state.thread;
	strip.show(event, lanesOf[state.event].lanes, state.from === null ? null : [state.from, state.to]);
	press("strip-lines", !state.heat);
	press("strip-heat", state.heat);
	$("strip-lines").textContent = lanesOf[state.event].lanes.length > 1 ? "Threads" : "Curve";
	const lanes = lanesOf[state.event].lanes.length - 1;
	$("strip-more").hidden = state.heat || lanes <= FEW_LANES;
	$("strip-more").textContent = state.lanes ? "Fewer threads" : `${lanes} threads`;
	press("strip-more", state.lanes);
	$("range-clear").hidden = state.from === null;
	showRange(null);
	showStates(event);
	$("strip").setAttribute("aria-valuemax", event.bins - 1);
	$("strip").setAttribute("aria-valuenow", state.from || 0);
	$("strip").setAttribute("aria-valuetext", state.from === null ? "all times" : rangeSeconds(event));
}

// Shows the colours of states, and describes the lanes in text.
function showStates(event) {
	const shown = strip.lanes.filter((lane) => event.statesOf.has(lane.thread));
	$("states").hidden = state.heat || !shown.length;
	$("states").replaceChildren(...STATES.map((name, i) => {
		const item = element("span", "", name), swatch = element("span", "swatch");
		swatch.style.background = look.states[i];
		item.prepend(swatch);
		item.hidden = !shown.some((lane) => event.statesOf.get(lane.thread)[i].some((share) => share));
		return item;
	}));
	const [from, to] = [state.from ?? 0, state.to ?? event.bins - 1];
	$("states-text").textContent = shown.map((lane) =>
		`${lane.name}: ${statesText(event, lane.thread, from, to)}.`).join(" ");
}

// Shows the selected range, or the time at the pointer, with the states of the lane there.
function showRange(bin, lane) {
	const event = currentEvent(), {lanes} = lanesOf[state.event];
	const states = bin !== null && lane && lane.thread >= 0 ? statesText(event, lane.thread, bin, bin) : "";
	const all = bin !== null && event.statesOf.get(-1);
	if (states)
		$("range-text").textContent = `${formatSeconds(bin * event.binNs / 1e9)}: ${lane.name} ${states}`;
	else if (all)
		$("range-text").textContent = `${formatSeconds(bin * event.binNs / 1e9)}: ` + STATES.map((name, i) =>
			all[i][bin] ? `${Number((all[i][bin] / event.binNs).toPrecision(2))} ${name}` : "")
			.filter((text) => text).join(", ");
	else if (bin !== null)
		$("range-text").textContent = `${formatSeconds(bin * event.binNs / 1e9)}: ` +
			`${weightText(event, lanes[0].weight[bin])} in ${formatSeconds(event.binNs / 1e9)}`;
	else
		$("range-text").textContent = state.from === null ? "Drag to select a range." : rangeSeconds(event);
}

function describe(tree, node, zoom) {
	if (profile.comparison)
		return describeChange(tree, node, zoom);
	const event = currentEvent(), weight = tree.weight[node];
	const range = rangeText(...partInterval(weight / (derived.weight || 1), derived.samples));
	const parts = [node ? functionName(tree.fn[node]) : "all"];
	if (node && functionDso(tree.fn[node]))
		parts.push(functionDso(tree.fn[node]));
	if (node && tree.inlined[node])
		parts.push("inlined");
	parts.push(`total ${percentText(weight / (derived.weight || 1))}${range && ` (${range})`}`,
		`self ${percentText(tree.ownWeight(node) / (derived.weight || 1))}`);
	if (zoom)
		parts.push(`${percentText(weight / tree.weight[zoom])} of the zoomed part`);
	if (!derived.isWhole)
		parts.push(`${percentText(weight / (derived.whole || 1))} of all`);
	parts.push(weightText(event, weight), `${grouped(tree.samples[node])} samples`);
	return parts.join(" \u00b7 ");
}

function say(text) {
	$("status").textContent = text;
}

function showTip(tree, node, zoom, x, y) {
	const tip = $("tip"), parts = describe(tree, node, zoom).split(" \u00b7 ");
	tip.replaceChildren(element("strong", "", node ? functionName(tree.fn[node]) : "all"));
	tip.append(element("small", "", parts.slice(1).join(" \u00b7 ")));
	tip.hidden = false;
	const width = tip.offsetWidth, height = tip.offsetHeight;
	tip.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - width - 8))}px`;
	tip.style.top = `${y + 20 + height > window.innerHeight ? y - height - 12 : y + 20}px`;
}

function hideTip() {
	$("tip").hidden = true;
}

function setTheme(dark) {
	document.documentElement.classList.toggle("dark", dark);
	look.read();
	$("theme").textContent = dark ? "Light" : "Dark";
	if (profile && profile.events.length) {
		showLegend();
		shownView = "";
		update();
	}
}

let stepped = {search: "", flame: null}; // the last step's search and flame graph

// Goes to the next or previous match in the shown view, in order of weight; after a new search to the first.
function step(direction) {
	if (!derived.matches)
		return;
	const last = stepped.search === state.search ? stepped : {};
	stepped = {search: state.search, flame: null};
	if (list && state.view !== "tree") {
		list.go(last.search ? list.current + direction : 0);
		return;
	}
	const graphs = list ? [{tree: shownTree(), zoom: 0, cursor: derived.treeRows[list.current]}] : flames;
	const places = graphs.flatMap((graph) => matchingNodes(graph.tree, derived.matches, graph.zoom)
		.map((node) => ({graph, node})));
	if (!places.length)
		return;
	places.sort((a, b) => b.graph.tree.weight[b.node] - a.graph.tree.weight[a.node]);
	const at = places.findIndex(({graph, node}) => last.search && node === graph.cursor &&
		(list || graph === last.flame));
	const from = at < 0 && direction < 0 ? 0 : at;
	const {graph, node} = places[(from + direction + places.length) % places.length];
	stepped.flame = graph;
	if (list) {
		revealRow(graph.tree, node);
	} else {
		graph.cursor = node;
		graph.reveal(node);
		graph.draw();
	}
	say(describe(graph.tree, node, graph.zoom));
}

const SEARCH_MS = 120; // a search waits for the next key
let searchTimer = 0;

// Searches for the text of the field, unless that is done already.
function search() {
	clearTimeout(searchTimer);
	const text = $("search").value;
	if (text !== state.search)
		change(text ? {search: text} : {search: "", only: false, hide: false}, "search");
}

// Turns the order of time on or off. It has one thread: the busiest, if none is chosen.
function toggleOrder() {
	const {busiest} = lanesOf[state.event] || {busiest: []};
	const on = !isOrdered();
	change({ordered: on, callers: false, zoom: [],
		thread: on && state.thread < 0 ? busiest[0] ?? -1 : state.thread});
}

function toggleCallers() {
	change({callers: !state.callers, ordered: false, processes: false, zoom: []});
}

function toggleProcesses() {
	change({processes: !hasProcesses(), callers: false, ordered: false, zoom: []});
}

function nextThread() {
	const busiest = lanesOf[state.event] ? lanesOf[state.event].busiest : [];
	change({thread: busiest[busiest.indexOf(state.thread) + 1] ?? -1});
}

function keyPressed(event) {
	const field = event.target.closest("input, select, dialog");
	if (event.ctrlKey || event.metaKey || (event.altKey && event.key !== "Delete"))
		return;
	if (field) {
		if (event.target === $("search") && event.key === "Enter") {
			search();
			step(event.shiftKey ? -1 : 1);
		} else if (event.target === $("search") && event.key === "Escape") {
			search();
			$("panel").focus();
		} else {
			return;
		}
		event.preventDefault();
		return;
	}
	const flame = flames.find((one) => one.scroll === document.activeElement) || flames[0];
	const simple = {z: undo, Backspace: undo, Escape: leave, "?": showHelp,
		"/": () => $("search").focus(), c: toggleCallers, o: toggleOrder, p: toggleProcesses,
		m: () => change({mine: !state.mine, zoom: []}), M: showObjects, t: nextThread,
		e: () => change({event: (state.event + 1) % profile.events.length}),
		n: () => step(1), N: () => step(-1)};
	if (simple[event.key]) {
		simple[event.key]();
	} else if (VIEWS[Number(event.key) - 1]) {
		change({view: VIEWS[Number(event.key) - 1]});
		$(`tab-${state.view}`).focus();
	} else if (flame && event.target.closest("button") === null) {
		const node = flame.cursor;
		if (event.key === "Enter")
			flameActions.zoom(flame, node);
		else if (!flame.move(event.key) && !(node && functionKey(event.key, flame.tree.fn[node])))
			return;
	} else {
		return;
	}
	event.preventDefault();
}

function fillChoices() {
	$("event").replaceChildren(...profile.events.map((event, i) => {
		const option = element("option", "", event.name);
		option.value = String(i);
		return option;
	}));
	$("event-label").hidden = profile.events.length < 2;
	$("thread-label").hidden = profile.threads.length < 2;
}

// Lists the busiest threads first; thousands would be too many for a list.
function fillThreads() {
	const {busiest} = lanesOf[state.event];
	const options = [-1, ...busiest.slice(0, 500)].map((thread) => {
		const option = element("option", "", thread < 0 ? "all" : threadName(profile, thread));
		option.value = String(thread);
		return option;
	});
	$("thread").replaceChildren(...options);
	$("thread").value = String(state.thread);
}

function connect() {
	for (const view of VIEWS)
		$(`tab-${view}`).addEventListener("click", () => change({view}));
	document.querySelector(".tabs").addEventListener("keydown", (event) => {
		const move = {ArrowLeft: VIEWS.length - 1, ArrowRight: 1}[event.key];
		if (!move)
			return;
		event.stopPropagation();
		change({view: VIEWS[(VIEWS.indexOf(state.view) + move) % VIEWS.length]});
		$(`tab-${state.view}`).focus();
	});
	$("event").addEventListener("change", () => change({event: Number($("event").value)}));
	$("thread").addEventListener("change", () => change({thread: Number($("thread").value)}));
	$("callers").addEventListener("click", toggleCallers);
	$("ordered").addEventListener("click", toggleOrder);
	$("processes").addEventListener("click", toggleProcesses);
	$("mine").addEventListener("click", () => change({mine: !state.mine, zoom: []}));
	$("mine-objects").addEventListener("click", showObjects);
	$("only").addEventListener("click", () => change({only: !state.only, hide: false, zoom: []}));
	$("hide").addEventListener("click", () => change({hide: !state.hide, only: false, zoom: []}));
	$("search").addEventListener("input", () => {
		clearTimeout(searchTimer);
		searchTimer = setTimeout(search, SEARCH_MS);
	});
	$("strip-lines").addEventListener("click", () => change({heat: false}));
	$("strip-heat").addEventListener("click", () => change({heat: true}));
	$("strip-more").addEventListener("click", () => change({lanes: !state.lanes}));
	$("range-clear").addEventListener("click", () => change({from: null, to: null}));
	$("help-button").addEventListener("click", showHelp);
	$("theme").addEventListener("click", () => setTheme(!document.documentElement.classList.contains("dark")));
	document.addEventListener("keydown", keyPressed);
	window.addEventListener("hashchange", () => {
		readHash();
		update();
	});
	window.addEventListener("beforeprint", () => profile.events.length && showPrint());
	window.addEventListener("resize", () => {
		strip.resize();
		flames.forEach((flame) => flame.resize());
		if (list)
			list.draw();
	});
	window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches));
	strip = new Strip($("strip"), $("strip-canvas"), look, {
		preview: (range) => {
			const event = currentEvent(), seconds = (bin) => formatSeconds(bin * event.binNs / 1e9);
			$("range-text").textContent = `${seconds(range[0])} to ${seconds(range[1] + 1)}`;
		},
		select: (range, kind) => change(range ? {from: range[0], to: range[1]} : {from: null, to: null}, kind),
		hover: showRange,
		thread: (thread) => change({thread: thread === state.thread ? -1 : thread}),
	});
}

// Reads a block: gzip in base64.
async function readBlock(id) {
	const text = $(id).textContent;
	let bytes;
	if (Uint8Array.fromBase64) {
		bytes = Uint8Array.fromBase64(text);
	} else {
		const decoded = atob(text);
		bytes = new Uint8Array(decoded.length);
		for (let i = 0; i < decoded.length; i++)
			bytes[i] = decoded.charCodeAt(i);
	}
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

const drawn = () => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
const parsed = () => new Promise((resolve) => {
	if (document.readyState === "loading")
		document.addEventListener("DOMContentLoaded", resolve, {once: true});
	else
		resolve();
});

// Removes the views that only comparisons, or reports of wake-ups have. These begin with the pairs of threads.
function chooseViews() {
	const isPresent = {wakers: profile.mode === "wakers", sides: Boolean(profile.comparison)};
	for (const [view, present] of Object.entries(isPresent)) {
		$(`tab-${view}`).hidden = !present;
		if (!present)
			VIEWS.splice(VIEWS.indexOf(view), 1);
	}
	if (isPresent.wakers)
		initial.view = "wakers";
}

async function start() {
	const times = {};
	window.sprof.times = times;
	document.documentElement.classList.add("running");
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;
	document.documentElement.classList.toggle("dark", dark);
	$("theme").textContent = dark ? "Light" : "Dark";
	profile = decodeTree(await readBlock("tree"));
	window.sprof.profile = profile;
	groups = groupFunctions(profile);
	const name = profile.comparison ? `${profile.comparison.verdict}: ${profile.comparison.lines[0]}`
		: profile.recording.split("/").pop();
	document.title = `${name} \u2013 sprof`;
	$("title").textContent = name;
	look.read();
	connect();
	fillChoices();
	showFindings();
	showLegend();
	if (profile.comparison)
		showPlaces();
	chooseViews();
	readHash();
	const wanted = state;
	// Ranges and threads need the cells, which are not read yet.
	state = {...state, from: null, to: null, thread: -1, view: state.view === "source" ? "flame" : state.view};
	update();
	times.first = performance.now();
	await drawn();
	await parsed();
	decodeCells(profile, await readBlock("cells"));
	if ($("source").textContent)
		listing = JSON.parse(new TextDecoder().decode(await readBlock("source")));
	else
		VIEWS.splice(VIEWS.indexOf("source"), 1);
	$("tab-source").hidden = !listing;
	state = validState(wanted);
	derived = {};
	history = [];
	update();
	if (profile.events.length && lanesOf[state.event])
		fillThreads();
	times.all = performance.now();
}

// Says why the page cannot be shown. Without the cells it has the sums of all times.
function showFailure() {
	const isDrawn = window.sprof.times.first !== undefined;
	$("start").textContent = !window.DecompressionStream
		? "This page needs a newer browser: Chromium 93, Firefox 113 or Safari 16.4."
		: isDrawn ? "This file is incomplete or damaged: selections by time and thread are missing."
			: "This file is incomplete or damaged: it cannot be shown.";
	document.documentElement.classList.add("failed");
	document.documentElement.classList.toggle("empty", !isDrawn);
}

// For tests: plain data only.
window.sprof = {
	state: () => ({...state}),
	set: (parts) => change(Object.fromEntries(Object.entries(parts).filter(([name, value]) =>
		Object.hasOwn(initial, name) && isValid(name, value)))),
	undo,
	summary: () => ({samples: derived.samples, weight: derived.weight}),
	functions: () => functionTable().map((row) => ({...row, name: functionName(row.fn), dso: functionDso(row.fn),
		inlined: Boolean(row.inlined)})),
	flame: () => flames.map((flame) => {
		const boxes = [], tree = flame.tree;
		flame.boxes((node, depth, left, width) => boxes.push({name: node ? functionName(tree.fn[node]) : "",
			path: pathOfNode(tree, node), depth, left: left / flame.width, width: width / flame.width,
			weight: tree.weight[node], samples: tree.samples[node]}));
		return boxes;
	})[0] || [],
};
window.sprof.ready = start();
window.sprof.ready.catch(showFailure);
