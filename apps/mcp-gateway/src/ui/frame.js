// Shared code of all views: messages to and from the host (MCP Apps over postMessage), the host's theme, and
// creation of elements. A view calls `begin` once. Text in results is inserted only as text, never as HTML.
const protocolVersion = '2026-01-26';
const asked = new Map();
let host = {};
let lastId = 0;

const post = (message) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');

const ask = (method, params) =>
  new Promise((resolve, reject) => {
    lastId += 1;
    asked.set(lastId, { resolve, reject });
    post({ id: lastId, method, params });
  });

function take(context = {}) {
  const root = document.documentElement;
  if (context.theme !== undefined) root.style.colorScheme = context.theme;
  for (const [name, value] of Object.entries(context.styles?.variables ?? {}))
    if (name.startsWith('--') && typeof value === 'string') root.style.setProperty(name, value);
}

/** Flattens the children and drops absent ones. */
const present = (children) =>
  children.flat(2).filter((child) => child !== undefined && child !== null && child !== false);

export function el(name, facts = {}, ...children) {
  const { text, on = {}, ...attributes } = facts;
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== null && value !== false)
      made.setAttribute(key, value === true ? '' : value);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [event, listener] of Object.entries(on)) made.addEventListener(event, listener);
  made.append(...present(children));
  return made;
}

/** Formats an identifier such as `in_review` for display. */
export const label = (word) => {
  const words = String(word).replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Formats a time for display. Relative times of lean answers, such as `in 7 min`, are shown as they are. */
export const time = (at) =>
  /^\d{4}-/.test(at)
    ? el('time', { datetime: at, text: new Date(at).toLocaleTimeString([], { timeStyle: 'short' }) })
    : el('span', { text: at });

/** Returns the text of a failed result: the error and the next step. */
function refusalIn(result) {
  const error = result.structuredContent?.error;
  if (error !== undefined) return [error.message, error.hint].filter(Boolean).join(' ');
  return result.content?.find(({ type }) => type === 'text')?.text ?? 'The call failed.';
}

/** Returns true if the host allows views to call tools. */
export const mayCall = () => host.hostCapabilities?.serverTools !== undefined;

export async function call(name, args) {
  const result = await ask('tools/call', { name, arguments: args });
  if (result.isError === true) throw new Error(refusalIn(result));
  return result.structuredContent ?? {};
}

/** Reports a person's action in the view to the model, if the host supports it. */
export function tellModel(text) {
  if (host.hostCapabilities?.updateModelContext === undefined) return;
  void ask('ui/update-model-context', { content: [{ type: 'text', text }] }).catch(() => undefined);
}

export const show = (...children) => document.querySelector('main').replaceChildren(...present(children));
const fail = (message) => show(el('p', { class: 'refused', role: 'alert', text: message }));

/** Starts the view. `render` receives the result that the view displays and the arguments of its call. */
export function begin(title, render) {
  let args = {};
  const told = {
    'ui/notifications/tool-input': (params) => (args = params.arguments ?? {}),
    'ui/notifications/tool-result': (result) =>
      result.isError === true ? fail(refusalIn(result)) : render(result.structuredContent ?? {}, args),
    'ui/notifications/tool-cancelled': () => fail('The call was canceled.'),
    'ui/notifications/host-context-changed': take,
  };
  window.addEventListener('message', ({ source, data }) => {
    if (source !== window.parent || data?.jsonrpc !== '2.0') return;
    if (data.method === undefined) {
      const { resolve, reject } = asked.get(data.id) ?? {};
      asked.delete(data.id);
      if (data.error !== undefined) reject?.(new Error(data.error.message));
      else resolve?.(data.result);
    } else if (data.id === undefined) told[data.method]?.(data.params ?? {});
    else if (data.method === 'ping' || data.method === 'ui/resource-teardown')
      post({ id: data.id, result: {} });
    else post({ id: data.id, error: { code: -32601, message: 'This view does not support the method.' } });
  });
  show(el('p', { class: 'quiet', role: 'status', text: 'Loading…' }));
  const info = { name: `muster-${title}`, version: '1' };
  void ask('ui/initialize', { protocolVersion, appInfo: info, appCapabilities: {} }).then((answer) => {
    host = answer;
    take(answer.hostContext);
    post({ method: 'ui/notifications/initialized' });
    const tellSize = () => {
      const { width, height } = document.documentElement.getBoundingClientRect();
      const params = { width: Math.ceil(width), height: Math.ceil(height) };
      post({ method: 'ui/notifications/size-changed', params });
    };
    new ResizeObserver(tellSize).observe(document.documentElement);
  });
}
