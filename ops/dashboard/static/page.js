"use strict";

// Verdicts as they are told, the menu's figures, and single keys. All text is set as text, never as markup.
(() => {
  const element = (id) => document.getElementById(id);
  const live = element("live");
  const pause = element("pause");
  const base = document.body.dataset.events?.replace(/\/events$/, "");
  let sequence = Number(document.body.dataset.sequence);
  let stream = null;
  let waiting = null; // what came while paused, null when not paused

  const say = (text) => {
    if (live && live.textContent !== text) live.textContent = text;
  };

  // The list has a fixed number of rows; what they say moves down, so that nothing else does.
  const list = element("live-list")?.tBodies[0];
  const read = (row) => {
    const cell = (name) => row.querySelector(`.${name}`);
    return {
      id: row.dataset.id,
      moment: cell("when").firstElementChild.getAttribute("datetime"),
      clock: cell("when").textContent,
      status: cell("what").textContent,
      tool: cell("tool").textContent,
      effect: cell("effect").textContent,
      host: cell("host").textContent,
      reasons: cell("reasons").textContent,
      took: cell("took").textContent,
    };
  };
  const write = (row, shown) => {
    const cell = (name) => row.querySelector(`.${name}`);
    row.dataset.id = shown.id;
    row.classList.remove("blank");
    row.removeAttribute("aria-hidden");
    const time = cell("when").firstElementChild;
    time.setAttribute("datetime", shown.moment);
    time.textContent = shown.clock;
    const status = cell("what").firstElementChild;
    status.className = `status status-${shown.status}`;
    status.textContent = shown.status;
    const link = cell("tool").firstElementChild;
    link.setAttribute("href", `${base}/verdicts/${encodeURIComponent(shown.id)}`);
    link.textContent = shown.tool;
    cell("tool").title = shown.tool;
    cell("effect").textContent = shown.effect;
    cell("host").textContent = shown.host;
    cell("reasons").textContent = shown.reasons;
    cell("reasons").title = shown.reasons;
    cell("took").textContent = shown.took;
  };
  let shown = list ? [...list.rows].filter((row) => row.dataset.id).map(read) : [];

  const shownOf = (row) => {
    const moment = new Date(row.at).toISOString();
    return {
      ...row,
      moment,
      clock: moment.slice(5, 19).replace("T", " "),
      reasons: row.reasons || "–",
      took: row.took_ms === null ? "–" : `${row.took_ms} ms`,
    };
  };

  const show = (batch) => {
    if (list && batch.rows.length) {
      const known = new Set(shown.map((each) => each.id));
      const fresh = batch.rows.filter((row) => !known.has(row.id)).map(shownOf).reverse();
      shown = [...fresh, ...shown].slice(0, list.rows.length);
      const keepsFocus = list.contains(document.activeElement) ? document.activeElement.closest("tr").dataset.id : null;
      shown.forEach((each, place) => write(list.rows[place], each));
      if (keepsFocus) [...list.rows].find((row) => row.dataset.id === keepsFocus)?.querySelector("a").focus({ preventScroll: true });
    }
    for (const [name, more] of Object.entries(batch.counts)) {
      const figure = document.querySelector(`[data-counts="${name}"]`);
      if (figure) figure.textContent = (Number(figure.textContent.replaceAll(",", "")) + more).toLocaleString("en");
    }
    standing(batch.standing);
    tell(batch.counts);
  };

  // Who hears the page is told in one sentence what came, and not more often than it can be heard.
  const news = element("news");
  let unheard = {};
  let quiet = false;
  const tell = (counts) => {
    for (const [name, more] of Object.entries(counts)) unheard[name] = (unheard[name] ?? 0) + more;
    const said = ["held", "degraded", "passed"].filter((name) => unheard[name]).map((name) => `${unheard[name]} ${name}`);
    if (!news || quiet || !said.length) return;
    news.textContent = `New: ${said.join(", ")}`;
    unheard = {};
    quiet = true;
    setTimeout(() => {
      quiet = false;
      tell({});
    }, 10_000);
  };

  const standing = (now) => {
    const badge = element("pending");
    if (badge) {
      const count = badge.querySelector("[data-count]");
      if (Number(count.textContent) !== now.pending_approvals && element("changed")) {
        element("changed").textContent = "What waits has changed. Load the page again to see it.";
      }
      count.textContent = now.pending_approvals;
      badge.hidden = now.pending_approvals === 0;
    }
    const pending = document.querySelector("[data-pending]");
    if (pending) pending.textContent = now.pending_approvals.toLocaleString("en");
    isStopped = now.stopped_at !== null;
    showState();
  };

  // Whether the sidecar runs is looked at from time to time, whether it is stopped is told at once.
  const chip = element("standing");
  let isStopped = chip.textContent === "stopped";
  let isRunning = chip.textContent !== "sidecar not running";
  const showState = () => {
    const [text, style] = !isRunning ? ["sidecar not running", "off"] : isStopped ? ["stopped", "held"] : ["running", "passed"];
    if (chip.textContent !== text) chip.textContent = text;
    chip.className = `status status-${style}`;
    chip.setAttribute("href", isRunning ? `${base}/stop` : `${base}/`);
  };

  const names = new Map([...document.querySelectorAll(".menu a")].map((link) => [link.getAttribute("href"), link.firstChild.data.trim()]));
  const lineOf = (need) => {
    const line = document.createElement("li");
    line.className = `need need-${need.kind}`;
    const told = document.createElement("strong");
    told.textContent = need.told;
    const remedy = document.createElement("span");
    remedy.textContent = need.remedy;
    line.append(told, " ", remedy);
    if (need.page) {
      const link = document.createElement("a");
      link.setAttribute("href", base + need.page);
      link.textContent = names.get(base + need.page);
      remedy.append(" ", link);
    }
    return line;
  };
  let needed = null;
  const showNeeds = (message) => {
    const look = JSON.parse(message.data);
    isRunning = look.running;
    showState();
    const wrong = look.needs.filter((need) => need.kind === "wrong").length;
    element("wrong").hidden = wrong === 0;
    element("wrong").textContent = `${wrong} wrong`;
    const list = element("needs");
    if (!list) return;
    const moment = new Date(look.at).toISOString();
    element("looked").setAttribute("datetime", moment);
    element("looked").textContent = `${moment.slice(0, 19).replace("T", " ")}Z`;
    for (const figure of document.querySelectorAll("[data-looked]")) {
      figure.textContent = look[figure.dataset.looked]?.toLocaleString("en") ?? "?";
    }
    const needs = JSON.stringify(look.needs);
    if (needs === needed || list.contains(document.activeElement)) return;
    needed = needs;
    const nothing = { kind: "none", told: "Nothing is wrong, and nothing waits for you.", remedy: "" };
    list.replaceChildren(...(look.needs.length ? look.needs : [nothing]).map(lineOf));
  };

  const take = (message) => {
    const batch = JSON.parse(message.data);
    sequence = Number(message.lastEventId);
    if (waiting === null) {
      show(batch);
      return;
    }
    waiting.push(batch);
    while (waiting.length > 200) { // the newest rows, and every count
      const [first, second] = waiting.splice(0, 2);
      const counts = { ...first.counts };
      for (const [name, more] of Object.entries(second.counts)) counts[name] = (counts[name] ?? 0) + more;
      waiting.unshift({ rows: second.rows, counts, standing: second.standing });
    }
    const verdicts = waiting.reduce((sum, each) => sum + (each.counts.passed ?? 0) + (each.counts.held ?? 0) + (each.counts.degraded ?? 0), 0);
    pause.textContent = `Go on (${verdicts})`;
  };

  const open = () => {
    if (stream || !base) return;
    stream = new EventSource(`${base}/events?after=${sequence}`);
    stream.onopen = () => say(waiting === null ? "live" : "paused");
    stream.onmessage = take;
    stream.addEventListener("needs", showNeeds);
    stream.onerror = () => {
      say(stream.readyState === EventSource.CLOSED ? "ended: start the dashboard again" : "interrupted, trying again");
    };
  };
  const close = () => {
    stream?.close();
    stream = null;
  };
  const toggle = () => {
    if (waiting === null) {
      waiting = [];
      pause.textContent = "Go on (0)";
      pause.setAttribute("aria-pressed", "true");
      say("paused");
    } else {
      const missed = waiting;
      waiting = null;
      missed.forEach(show);
      pause.textContent = "Pause";
      pause.setAttribute("aria-pressed", "false");
      say("live");
    }
  };

  if (base) {
    pause.hidden = false;
    pause.addEventListener("click", toggle);
    // A browser has six connections for a server: a hidden page needs none.
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    addEventListener("pagehide", close);
    addEventListener("pageshow", () => document.hidden || open());
  }

  const shortcuts = element("shortcuts");
  try {
    shortcuts.checked = localStorage.getItem("shortcuts") !== "off";
    shortcuts.addEventListener("change", () => localStorage.setItem("shortcuts", shortcuts.checked ? "on" : "off"));
  } catch {
    // Without storage they are on.
  }
  // What an action did is read out, and the next key goes on from there.
  document.querySelector(".told")?.focus();
  document.addEventListener("keydown", (event) => {
    const leave = document.querySelector("[data-leave]");
    if (event.key === "Escape" && leave) leave.click();
    const isTyping = event.target.closest?.("input, select, textarea");
    if (!shortcuts.checked || isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = document.querySelector(`.menu [aria-keyshortcuts="${CSS.escape(event.key)}"]`);
    if (page) page.click();
    else if (event.key === "p" && base) toggle();
    else if (event.key === "r") location.reload();
    else if (event.key === "m") element("main").focus();
    else if (event.key === "?") {
      element("keys").open = !element("keys").open;
      if (element("keys").open) element("keys").firstElementChild.focus();
    } else return;
    event.preventDefault();
  });
})();
