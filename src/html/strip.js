// SPDX-License-Identifier: GPL-2.0-or-later
// Samples over time: a curve of all threads with a lane for each busy thread, or a heat map; and the selected range.
"use strict";

const CURVE = 46, LANE = 17, AXIS = 20, LABEL = 124, HEAT_CELL = 4; // CSS pixels
const NARROW_LABEL = 112; // in a narrow window
const FEW_LANES = 4, LANES = 30; // threads with a lane
const COLUMN_SAMPLES = 4; // fewest samples of a column, on average
const LANE_UNITS = 127; // a whole bin in one state, if the page has lanes

class Strip {
	constructor(host, canvas, look, on) {
		this.host = host;
		this.canvas = canvas;
		this.look = look;
		this.on = on;
		this.heat = this.all = false;
		this.thread = -1;
		host.addEventListener("pointerdown", (event) => this.press(event));
		host.addEventListener("pointermove", (event) => this.drag(event));
		host.addEventListener("pointerup", (event) => this.release(event));
		host.addEventListener("pointercancel", () => { this.from = undefined; });
		host.addEventListener("pointerleave", () => on.hover(null));
		host.addEventListener("keydown", (event) => this.key(event));
	}

	// `lanes` is of makeLanes(); `range` has the first and the last selected bin, or is null.
	show(event, lanes, range) {
		this.event = event;
		this.lanes = this.all ? lanes : lanes.slice(0, 1 + FEW_LANES);
		this.range = range;
		this.resize();
	}

	// Keeps the room that the picture is going to have.
	reserve(threads) {
		this.canvas.style.height = `${CURVE + (threads > 1 ? Math.min(threads, FEW_LANES) * LANE : 0) + AXIS}px`;
	}

	resize() {
		if (!this.event)
			return;
		const ratio = window.devicePixelRatio || 1;
		this.width = this.host.clientWidth;
		this.label = this.heat ? 0 : this.width < 500 ? NARROW_LABEL : LABEL;
		this.shape = this.heat ? heatShape(this.event, this.width) : null;
		this.height = (this.heat ? this.shape.rows * HEAT_CELL
			: CURVE + (this.lanes.length - 1) * LANE) + AXIS;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.height = `${this.height}px`;
		this.draw();
	}

	x(bin) {
		return this.label + bin / this.event.bins * (this.width - this.label);
	}

	bin(x, y) {
		const last = this.event.bins - 1;
		let bin = (x - this.label) / (this.width - this.label) * this.event.bins;
		if (this.heat) {
			const column = Math.floor(x / this.shape.size);
			const row = Math.floor(y / HEAT_CELL);
			bin = column * this.shape.binsOfColumn +
				Math.max(0, this.shape.rows - 1 - row) * this.shape.binsOfRow;
		}
		return Math.max(0, Math.min(last, Math.floor(bin)));
	}

	draw() {
		const context = this.canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, this.width, this.height);
		context.font = "11.5px system-ui, -apple-system, \"Segoe UI\", \"Noto Sans\", \"DejaVu Sans\", sans-serif";
		if (this.heat) {
			this.drawHeat(context);
		} else {
			this.drawLanes(context);
			if (this.label) {
				context.fillStyle = this.look.soft;
				context.textBaseline = "middle";
				const room = this.label - 12, {soft} = this.look;
				drawName(context, "all threads", 10, CURVE / 2 - 7, room, soft);
				drawName(context, this.peak, 10, CURVE / 2 + 8, room, soft);
			}
		}
		this.drawAxis(context);
		this.drawLosses(context);
		this.drawRange(context);
	}

	// Returns the number of bins of a column: each column of the picture has as many.
	binsOfColumn() {
		const wanted = Math.max(50, this.event.shownSamples / COLUMN_SAMPLES);
		return Math.ceil(this.event.bins / Math.max(1, Math.min(wanted, (this.width - this.label) / 2)));
	}

	drawCurve(context, columns, highest, top, height, colour) {
		const width = (this.width - this.label) * this.binsOfColumn() / this.event.bins;
		context.fillStyle = colour;
		for (let i = 0; i < columns.length; i++) {
			const tall = Math.max(1, columns[i] / highest * (height - 4));
			// Whole pixels leave no seams between columns.
			const left = Math.round(this.label + i * width);
			const right = Math.min(Math.round(this.label + (i + 1) * width), this.width);
			if (columns[i])
				context.fillRect(left, top + height - tall, Math.max(1, right - left), tall);
		}
	}

	// Draws states on top of each other: a column's height is the time that threads existed, at most `whole`.
	drawStates(context, states, bins, top, height, whole) {
		const sums = states.map((values) => columnsOf(this.event, values, bins));
		const width = (this.width - this.label) * bins / this.event.bins;
		for (let i = 0; i < sums[0].length; i++) {
			const left = Math.round(this.label + i * width);
			const right = Math.min(Math.round(this.label + (i + 1) * width), this.width);
			let bottom = top + height;
			sums.forEach((columns, state) => {
				const tall = Math.min(columns[i] / whole * height, bottom - top);
				context.fillStyle = this.look.states[state];
				context.fillRect(left, bottom - tall, Math.max(1, right - left), tall);
				bottom -= tall;
			});
		}
	}

	// Draws a curve, and a lane for each thread: its states if they are known, else a curve; curves have one scale.
	drawLanes(context) {
		const bins = this.binsOfColumn(), highestOf = (columns) => columns.reduce((a, b) => Math.max(a, b), 0) || 1;
		const [all, ...lanes] = this.lanes.map((lane) => columnsOf(this.event, lane.weight, bins)), look = this.look;
		const highest = Math.max(...lanes.map(highestOf), 0);
		this.peak = peakText(this.event, highestOf(all) / (this.event.binNs / 1e9));
		const states = this.event.statesOf.get(-1);
		if (states)
			this.drawStates(context, states, bins, 4, CURVE - 4, highestOf(all));
		else
			this.drawCurve(context, all, highestOf(all), 0, CURVE, look.accent);
		lanes.forEach((columns, i) => {
			const lane = this.lanes[i + 1], top = CURVE + i * LANE, chosen = lane.thread === this.thread;
			context.fillStyle = look.line;
			context.fillRect(this.label, top + LANE - 1, this.width - this.label, 1);
			const bright = this.thread < 0 || chosen, states = this.event.statesOf.get(lane.thread);
			if (states) {
				context.globalAlpha = bright ? 1 : 0.35;
				this.drawStates(context, states, bins, top + 1, LANE - 3, this.event.laneUnits);
				context.globalAlpha = 1;
			} else {
				this.drawCurve(context, columns, highest, top, LANE - 1, bright ? look.lane : look.line);
			}
			if (this.label) {
				context.textBaseline = "middle";
				const ink = chosen ? look.ink : look.soft;
				const middle = top + LANE / 2 + 2;
				drawName(context, lane.name, 10, middle, this.label - 14, ink);
			}
		});
	}

	// Draws the key of the heat map's colours at the right end of the axis. Returns its left edge.
	drawKey(context) {
		const step = 4, steps = 14, top = this.height - AXIS + 6;
		const most = peakText(this.event, this.heatPeak, this.heatRunning);
		const left = this.width - context.measureText(most).width - step * steps - 34;
		context.fillStyle = this.look.soft;
		context.textBaseline = "middle";
		context.fillText("0", left + 8, top + 5);
		context.fillText(most, left + step * steps + 26, top + 5);
		context.fillStyle = this.look.heat;
		for (let i = 0; i < steps; i++) {
			context.globalAlpha = heatAlpha(i / (steps - 1));
			context.fillRect(left + 20 + i * step, top, step, 9);
		}
		context.globalAlpha = 1;
		return left;
	}

	drawAxis(context) {
		const seconds = this.event.bins * this.event.binNs / 1e9, top = this.height - AXIS;
		const step = niceStep(seconds / Math.max(2, this.width / 110));
		const scale = this.heat ? this.shape.size / this.shape.columnNs * 1e9
			: (this.width - this.label) / seconds;
		const end = this.heat ? this.drawKey(context) : this.width;
		context.fillStyle = this.look.soft;
		context.textBaseline = "middle";
		for (let i = 0; i * step < seconds; i++) {
			const x = this.label + i * step * scale, text = formatSeconds(i * step);
			context.fillRect(x, top, 1, 4);
			if (x + 4 + context.measureText(text).width < end)
				context.fillText(text, x + 4, top + AXIS / 2 + 1);
		}
	}

	// Marks losses; with a line if the recorded program probably lost samples, and not other processes only.
	drawLosses(context) {
		context.fillStyle = this.look.warn;
		for (const [bin] of this.event.lostAt || []) {
			const x = this.heat ? (Math.floor(bin / this.shape.binsOfColumn) + 0.5) * this.shape.size
				: this.x(bin + 0.5);
			context.beginPath();
			context.moveTo(x - 4, 0);
			context.lineTo(x + 4, 0);
			context.lineTo(x, 8);
			context.fill();
			if (this.event.lostOwn)
				context.fillRect(x - 0.5, 0, 1, this.height - AXIS);
		}
	}

	// The lives of threads hardly vary, so that in modes of time the map has their time on a CPU, if there is any.
	drawHeat(context) {
		const shape = this.shape, running = (this.event.statesOf.get(-1) || [])[0];
		const weights = running && running.some((weight) => weight) ? running : this.lanes[0].weight;
		const sums = new Float64Array(shape.columns * shape.rows);
		for (let bin = 0; bin < weights.length; bin++) {
			const column = Math.floor(bin / shape.binsOfColumn);
			const row = Math.floor(bin % shape.binsOfColumn / shape.binsOfRow);
			sums[column * shape.rows + row] += weights[bin];
		}
		const most = sums.reduce((a, b) => Math.max(a, b), 0) || 1;
		this.heatRunning = weights === running;
		this.heatPeak = most / (shape.binsOfRow * this.event.binNs / 1e9);
		context.fillStyle = this.look.heat;
		for (let i = 0; i < sums.length; i++) {
			context.globalAlpha = sums[i] ? heatAlpha(sums[i] / most) : 0;
			const column = Math.floor(i / shape.rows), row = i % shape.rows;
			context.fillRect(column * shape.size, (shape.rows - 1 - row) * HEAT_CELL,
				Math.max(shape.size - 1, 1), HEAT_CELL);
		}
		context.globalAlpha = 1;
	}

	drawRange(context) {
		if (!this.range)
			return;
		const [from, to] = this.range;
		context.fillStyle = this.look.veil;
		if (this.heat) {
			const shape = this.shape;
			for (let i = 0; i < shape.columns * shape.rows; i++) {
				const column = Math.floor(i / shape.rows), row = i % shape.rows;
				const bin = column * shape.binsOfColumn + row * shape.binsOfRow;
				if (bin + shape.binsOfRow <= from || bin > to)
					context.fillRect(column * shape.size, (shape.rows - 1 - row) * HEAT_CELL, shape.size,
						HEAT_CELL);
			}
			return;
		}
		const left = this.x(from), right = this.x(to + 1), height = this.height - AXIS;
		context.fillRect(this.label, 0, left - this.label, height);
		context.fillRect(right, 0, this.width - right, height);
		context.fillStyle = this.look.accent;
		context.fillRect(left - 1, 0, 2, height);
		context.fillRect(right - 1, 0, 2, height);
	}

	place(event) {
		const bounds = this.canvas.getBoundingClientRect();
		return this.bin(event.clientX - bounds.left, event.clientY - bounds.top);
	}

	press(event) {
		if (event.button)
			return;
		this.from = this.place(event);
		this.pressed = event.clientX;
		this.before = this.range;
		this.host.setPointerCapture(event.pointerId);
	}

	drag(event) {
		if (this.from === undefined && this.event)
			this.on.hover(this.place(event), this.heat ? undefined : this.lanes[this.row(event)]);
		if (this.from === undefined || Math.abs(event.clientX - this.pressed) < 3)
			return;
		const to = this.place(event);
		this.range = [Math.min(this.from, to), Math.max(this.from, to)];
		this.on.preview(this.range);
		this.draw();
	}

	release(event) {
		if (this.from === undefined)
			return;
		const moved = Math.abs(event.clientX - this.pressed) >= 3, lane = this.laneAt(event);
		this.from = undefined;
		if (moved)
			this.on.select(this.range);
		else if (lane)
			this.on.thread(lane.thread);
		else if (this.before)
			this.on.select(null);
	}

	// Returns the lane with its name at the pointer.
	laneAt(event) {
		const bounds = this.canvas.getBoundingClientRect();
		return event.clientX - bounds.left >= this.label ? undefined : this.lanes[this.row(event)];
	}

	// Returns the index of the lane at the pointer's height.
	row(event) {
		const y = event.clientY - this.canvas.getBoundingClientRect().top;
		return y < CURVE ? 0 : 1 + Math.floor((y - CURVE) / LANE);
	}

	// Arrow keys move the range, with Shift its end; Enter begins a range; Escape ends it.
	key(event) {
		const last = this.event.bins - 1, step = Math.max(1, Math.round(this.event.bins / 50));
		const move = {ArrowLeft: -step, ArrowRight: step}[event.key];
		let range = this.range ? [...this.range] : null;
		if (event.key === "Enter" && !range)
			range = [0, Math.min(last, 5 * step - 1)];
		else if (event.key === "Escape" && range)
			range = null;
		else if (move && range && event.shiftKey)
			range[1] = Math.max(range[0], Math.min(last, range[1] + move));
		else if (move && range && range[0] + move >= 0 && range[1] + move <= last)
			range = [range[0] + move, range[1] + move];
		else if (move && !range)
			range = move > 0 ? [0, Math.min(last, 5 * step - 1)] : [Math.max(0, last - 5 * step + 1), last];
		else
			return;
		event.preventDefault();
		event.stopPropagation();
		this.on.select(range, "range keys");
	}
}

// Returns the weight of all threads by bin, and that of the busiest threads: the first lane has all threads.
function makeLanes(profile, event) {
	const count = profile.threads.length, cell = event.cell, totals = new Float64Array(count);
	for (let i = 0; i < cell.bin.length; i++)
		totals[cell.thread[i]] += cell.weight[i];
	const busiest = [...totals.keys()].filter((thread) => totals[thread] > 0)
		.sort((a, b) => totals[b] - totals[a]);
	const lanes = [{weight: new Float64Array(event.bins), name: "all threads", thread: -1}];
	const laneOf = new Int32Array(count).fill(-1), state = statesOfNodes(profile, event);
	// Without filters, the cells of wall time have all states.
	const whole = state && event.exact && profile.mode === "wall" && !profile.filtered;
	if (busiest.length > 1)
		for (const thread of busiest.slice(0, LANES)) {
			laneOf[thread] = lanes.length;
			lanes.push({weight: new Float64Array(event.bins), name: threadName(profile, thread), thread});
		}
	for (const {thread} of lanes)
		if (thread < 0 ? state : whole && !profile.threads[thread].merged)
			event.statesOf.set(thread, STATES.map(() => new Float64Array(event.bins)));
	const add = (lane, i) => {
		const states = event.statesOf.get(lane.thread);
		lane.weight[cell.bin[i]] += cell.weight[i];
		if (states && (whole || lane === lanes[0]))
			states[state[cell.node[i]]][cell.bin[i]] += cell.weight[i];
	};
	for (let i = 0; i < cell.bin.length; i++) {
		add(lanes[0], i);
		if (laneOf[cell.thread[i]] > 0)
			add(lanes[laneOf[cell.thread[i]]], i);
	}
	event.laneUnits = whole ? event.binNs : LANE_UNITS;
	return {lanes, busiest};
}

// Returns a thread's shares of states from bin `from` to bin `to` as text; "" if they are not known.
function statesText(event, thread, from, to) {
	const states = event.statesOf && event.statesOf.get(thread);
	if (!states)
		return "";
	const sums = states.map((shares) => shares.subarray(from, to + 1).reduce((a, b) => a + b, 0));
	const all = sums.reduce((a, b) => a + b, 0);
	return sums.map((sum, i) => sum ? `${STATES[i]} ${Number((100 * sum / all).toPrecision(2))}%` : "")
		.filter((text) => text).join(", ") || "not alive";
}

function threadName(profile, index) {
	const thread = profile.threads[index], name = profile.strings[thread.name] || "?";
	if (thread.merged)
		return `${grouped(thread.merged)} other threads`;
	if (thread.tid < 0)
		return "exited tasks";
	return `${name} ${thread.tid}${thread.recording ? ` (recording ${thread.recording + 1})` : ""}`;
}

// Returns the mean of each `bins` bins; the last column may have fewer. Where states are known, the first and the
// last bin have the part of their time that the recording has; samples stand for times before them.
function columnsOf(event, weights, bins) {
	const columns = new Float64Array(Math.ceil(weights.length / bins)), exact = event.exact;
	const first = exact ? event.leadNs / event.binNs : 0;
	const last = exact ? (event.leadNs + event.durationNs) / event.binNs : event.bins;
	for (let i = 0; i < columns.length; i++) {
		const begin = i * bins, end = Math.min(begin + bins, weights.length);
		let sum = 0;
		for (let bin = begin; bin < end; bin++)
			sum += weights[bin];
		columns[i] = sum && sum / (Math.min(end, last) - Math.max(begin, first));
	}
	return columns;
}

// Returns the shape of the heat map: a column is a round time, and its rows are parts of that.
function heatShape(event, width) {
	const seconds = event.bins * event.binNs / 1e9;
	const wanted = niceStep(seconds / Math.max(20, Math.min(width / 6, 120)));
	const binsOfColumn = Math.max(1, Math.round(wanted * 1e9 / event.binNs));
	const rows = Math.max(1, Math.min(40, binsOfColumn)), binsOfRow = Math.ceil(binsOfColumn / rows);
	const columns = Math.ceil(event.bins / binsOfColumn);
	return {columns, rows: Math.ceil(binsOfColumn / binsOfRow), binsOfColumn, binsOfRow,
		columnNs: binsOfColumn * event.binNs, size: width / columns};
}

// Returns 1, 2 or 5 times a power of ten that is at least `least`.
function niceStep(least) {
	const unit = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
	return [1, 2, 5, 10].map((factor) => factor * unit).find((step) => step >= least * 0.999);
}

// Opacity of a cell of the heat map, whose weight is a part of the heaviest one's.
const heatAlpha = (part) => 0.08 + 0.92 * part;

// Returns a rate as text: CPUs, threads or processes for events in their time, else the event's number per second.
// `running`: of threads on a CPU.
function peakText(event, perSecond, running) {
	if (event.unit === "ns") {
		const many = Number((perSecond / 1e9).toPrecision(2)), end = many === 1 ? "" : "s";
		if (running)
			return `peak ${many} on CPU`;
		return `peak ${many} ${{cpu: `CPU${end}`, latency: `process${end && "es"}`}[profile.mode] || `thread${end}`}`;
	}
	const power = Math.max(0, Math.min(4, Math.floor(Math.log10(Math.max(1, perSecond)) / 3)));
	return `peak ${Number((perSecond / 1000 ** power).toPrecision(2))}${["", "k", "M", "G", "T"][power]}/s`;
}

// Returns a whole number with commas.
function grouped(number) {
	return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

// Returns a time in ns as text.
function formatMs(ns) {
	const ms = ns / 1e6;
	return `${ms < 100 ? ms.toFixed(ms < 10 ? 2 : 1) : grouped(Math.round(ms))} ms`;
}

function formatSeconds(seconds) {
	if (seconds === 0)
		return "0 s";
	const short = (value) => String(Number(value.toPrecision(3)));
	if (seconds < 1e-3)
		return `${short(seconds * 1e6)} \u00b5s`;
	return seconds < 1 ? `${short(seconds * 1e3)} ms` : `${short(seconds)} s`;
}
