// The page at `/`: asks the API what every client can ask, every two seconds.

const element = id => document.getElementById(id);
const PERIOD = 2000;
const PAGE = 50;
let token = sessionStorage.getItem("token");
let shown = PAGE;
let offset = 0; // of the server's clock, in milliseconds

async function get(path) {
  const answer = await fetch(path, { headers: { authorization: `Bearer ${token}` }, cache: "no-store" });
  if (answer.status === 401) throw Object.assign(new Error("the server does not know this token"), { fatal: true });
  if (answer.status === 403) return null;
  if (!answer.ok) throw new Error(`${path}: ${(await answer.json().catch(() => ({}))).detail ?? answer.status}`);
  const date = Date.parse(answer.headers.get("date"));
  if (date) offset = date - Date.now();
  return answer.json();
}

const number = (value, digits = 0) =>
  value == null ? "–" : value.toLocaleString("en", { maximumFractionDigits: digits });
const bytes = value => value == null ? "–" : value >= 1e9 ? `${number(value / 1e9, 1)} GB` : `${number(value / 1e6)} MB`;

function time(ms) {
  if (ms == null) return "–";
  if (ms < 1000) return `${Math.round(Math.max(ms, 0))} ms`;
  if (ms < 90e3) return `${number(ms / 1000, 1)} s`;
  if (ms < 90 * 60e3) return `${number(ms / 60e3)} min`;
  return ms < 48 * 3600e3 ? `${number(ms / 3600e3)} h` : `${number(ms / 86400e3)} days`;
}

const now = () => Date.now() + offset;

// A cell with text only: what jobs and workers say is never read as HTML.
function cell(content, kind = "") {
  const td = document.createElement("td");
  td.className = kind;
  td.append(content);
  return td;
}

function fill(table, rows, columns, empty) {
  const body = element(table).tBodies[0];
  body.replaceChildren(...rows.map(cells => {
    const tr = document.createElement("tr");
    tr.append(...cells);
    return tr;
  }));
  if (rows.length === 0) {
    const td = cell(empty, "empty");
    td.colSpan = columns;
    body.insertRow().append(td);
  }
}

function badge(state) {
  const span = document.createElement("span");
  span.className = `state ${state}`;
  span.textContent = state;
  return span;
}

function phases(finished) {
  const bar = document.createElement("div");
  bar.className = "bar";
  const total = finished.phases.reduce((sum, phase) => sum + phase.seconds, 0) || 1;
  finished.phases.forEach((phase, index) => {
    const part = document.createElement("i");
    part.style.setProperty("--n", index);
    part.style.width = `${100 * phase.seconds / total}%`;
    part.title = `${phase.name}: ${time(1000 * phase.seconds)}`;
    bar.append(part);
  });
  return bar;
}

function showQueue(queue) {
  if (!queue) return fill("queue", [], 3, "this token does not see the queue");
  const waiting = queue.waiting.reduce((sum, group) => sum + group.jobs, 0);
  element("waiting").textContent = number(waiting);
  element("running").textContent = number(queue.running);
  const ended = queue.ended_last_hour;
  element("done").textContent = number(ended.done ?? 0);
  element("lost").textContent = number((ended.failed ?? 0) + (ended.dead ?? 0));
  fill("queue", queue.waiting.map(group => [
    cell(bytes(group.memory), "number"), cell(number(group.jobs), "number"), cell(time(group.oldest_ms), "number"),
  ]), 3, "nothing waits");
}

// What a worker with a price cost in the last hour, or since it started, and the jobs that it has done for that.
function spent(worker, queue) {
  const hours = Math.min(Math.max(now() - worker.started_at, PERIOD) / 3600e3, 1);
  return { dollars: (worker.dollars_per_hour ?? 0) * hours, done: queue?.done_last_hour[worker.id] ?? 0 };
}

const perDollar = ({ dollars, done }) => number(dollars > 0 ? done / dollars : null);

function showWorkers(workers, queue) {
  if (!workers) return fill("workers", [], 10, "this token does not see the workers");
  fill("workers", workers.map(worker => [
    cell(worker.host + (worker.draining ? " (shuts down)" : "")), cell(worker.cpu), cell(worker.level),
    cell(number(worker.threads), "number"), cell(bytes(worker.memory), "number"), cell(number(worker.jobs.length), "number"),
    cell(number(worker.watts, 1), "number"), cell(number(worker.dollars_per_hour, 3), "number"),
    cell(perDollar(spent(worker, queue)), "number"), cell(time(now() - worker.seen_at), "number"),
  ]), 10, "no worker was heard of: proofmill serve has one unless --no-worker is given, proofmill worker adds others");
  const sum = name => workers.every(worker => worker[name] == null)
    ? null : workers.reduce((sum, worker) => sum + (worker[name] ?? 0), 0);
  const all = workers.filter(worker => worker.dollars_per_hour > 0).map(worker => spent(worker, queue));
  element("dollar").textContent = perDollar({
    dollars: all.reduce((sum, one) => sum + one.dollars, 0), done: all.reduce((sum, one) => sum + one.done, 0),
  });
  element("watts").textContent = number(sum("watts"));
}

function showJobs(jobs, more) {
  fill("jobs", jobs.map(job => {
    const last = cell(job.error ?? job.phase ?? "", "text");
    if (job.finished?.phases.length) last.replaceChildren(phases(job.finished));
    const id = document.createElement("code");
    id.textContent = job.id;
    const end = job.ended_at ?? (job.state === "running" ? now() : null);
    return [
      cell(id), cell(job.task.type), cell(badge(job.state)), cell(number(job.attempts), "number"), last,
      cell(`${time(now() - job.created_at)} ago`, "number"),
      cell(time((job.started_at ?? job.ended_at ?? now()) - job.created_at), "number"),
      cell(job.started_at && end ? time(end - job.started_at) : "–", "number"),
    ];
  }), 8, "no jobs");
  element("more").hidden = !more;
}

async function jobs(state) {
  let list = [], cursor = null;
  do {
    const query = new URLSearchParams({ limit: PAGE });
    if (state) query.set("state", state);
    if (cursor) query.set("cursor", cursor);
    const page = await get(`/v1/jobs?${query}`);
    list = list.concat(page?.jobs ?? []);
    cursor = page?.next ?? null;
  } while (cursor && list.length < shown);
  return [list, cursor !== null];
}

function show(text, wrong = false) {
  element("status").textContent = text;
  element("status").className = wrong ? "wrong" : "";
}

let timer;
async function refresh() {
  clearTimeout(timer);
  try {
    const [queue, workers, [list, more]] =
      await Promise.all([get("/v1/queue"), get("/v1/workers"), jobs(element("state").value)]);
    showQueue(queue);
    showWorkers(workers, queue);
    showJobs(list, more);
    document.querySelector("main").hidden = false;
    show(`as of ${new Date().toLocaleTimeString()}`);
    timer = setTimeout(refresh, PERIOD);
  } catch (error) {
    show(error.message, true);
    if (error.fatal) return leave();
    timer = setTimeout(refresh, 2 * PERIOD);
  }
}

function enter() {
  element("enter").hidden = true;
  element("leave").hidden = false;
  refresh();
}

function leave() {
  clearTimeout(timer);
  token = null;
  sessionStorage.removeItem("token");
  document.querySelector("main").hidden = true;
  element("enter").hidden = false;
  element("leave").hidden = true;
}

element("enter").addEventListener("submit", event => {
  event.preventDefault();
  token = element("token").value.trim();
  element("token").value = "";
  sessionStorage.setItem("token", token);
  enter();
});
element("leave").addEventListener("click", () => { leave(); show("not connected"); });
element("state").addEventListener("change", () => { shown = PAGE; refresh(); });
element("more").addEventListener("click", () => { shown += PAGE; refresh(); });
if (token) enter();
