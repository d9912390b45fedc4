// The board view: the listed stories by status, each with its holder.
import { begin, call, el, label, mayCall, show } from './frame.js';

const order = ['backlog', 'ready', 'in_progress', 'in_review', 'done', 'canceled'];

function card(story) {
  const { key, title, priority, labels, blocked, execution, assignees } = story;
  const holder = execution?.holder?.name;
  const people = Object.values(assignees ?? {}).flatMap((one) => one?.name ?? []);
  return el(
    'li',
    { class: 'card' },
    el('p', { class: 'key', text: key }),
    el('p', { class: 'title', text: title }),
    el(
      'p',
      { class: 'facts' },
      blocked && el('span', { class: 'mark warn', text: 'Blocked' }),
      priority !== 'none' && el('span', { class: 'mark', text: label(priority) }),
      (labels ?? []).map((text) => el('span', { class: 'mark', text })),
      holder && el('span', { class: 'who', text: `Held by ${holder}` }),
      !holder && people.length > 0 && el('span', { class: 'who', text: `Assigned to ${people.join(', ')}` }),
    ),
    blocked && el('p', { class: 'note', text: blocked.note }),
  );
}

function column(status, stories) {
  const name = el(
    'h2',
    { id: status, text: label(status) },
    el('span', { class: 'count', text: stories.length }),
  );
  return el('section', { class: 'column', 'aria-labelledby': status }, name, el('ul', {}, stories.map(card)));
}

function board(shown, args, next) {
  const byStatus = Map.groupBy(shown, ({ status }) => status);
  const more = async ({ currentTarget: button }) => {
    button.disabled = true;
    try {
      const { items, nextCursor } = await call('stories_list', { ...args, cursor: next });
      board([...shown, ...items], args, nextCursor);
    } catch (failure) {
      button.after(el('p', { class: 'refused', role: 'alert', text: failure.message }));
    }
  };
  const columns = order.filter((status) => byStatus.has(status));
  const summary = `${shown.length} ${shown.length === 1 ? 'story' : 'stories'}${next ? ', and there are more' : ''}`;
  show(
    el('header', {}, el('h1', { text: 'Board' }), el('p', { class: 'quiet', role: 'status', text: summary })),
    el(
      'div',
      { class: 'columns' },
      columns.map((status) => column(status, byStatus.get(status))),
    ),
    next && mayCall() && el('button', { type: 'button', text: 'Show more', on: { click: more } }),
  );
}

begin('board', ({ items = [], nextCursor }, args) => board(items, args, nextCursor));
