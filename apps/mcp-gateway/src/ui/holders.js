// The view of active agents and members, and of a project's locks. It first shows the result that it was
// opened for, and loads the other if the host allows calls.
import { begin, call, el, label, mayCall, show, time } from './frame.js';

const empty = (text) => el('p', { class: 'quiet', text });

function table(heads, rows) {
  const head = el(
    'tr',
    {},
    heads.map((text) => el('th', { scope: 'col', text })),
  );
  const cell = (value, at) =>
    el('td', { 'data-head': heads[at] }, ...(Array.isArray(value) ? value : [value ?? '–']));
  return el(
    'table',
    {},
    el('thead', {}, head),
    el(
      'tbody',
      {},
      rows.map((row) => el('tr', {}, row.map(cell))),
    ),
  );
}

const mark = (state) => el('span', { class: state === 'stalled' ? 'mark warn' : 'mark', text: label(state) });

const atWork = (runs) =>
  runs.length === 0
    ? empty('No one is working on a story.')
    : table(
        ['Who', 'Story', 'State', 'Last seen'],
        runs.map(({ agent, member, storyKey, state, lastSeenAt }) => [
          agent ? `${agent.name} (${member.name})` : member.name,
          storyKey,
          mark(state),
          time(lastSeenAt),
        ]),
      );

const locked = (locks) =>
  locks.length === 0
    ? empty('No locks.')
    : table(
        ['Paths and names', 'Holder', 'Kind', 'Until'],
        locks.map(({ resources, holder, mode, expiresAt, reason }) => [
          [
            ...resources.map((text) => el('code', { text })),
            reason && el('p', { class: 'note', text: reason }),
          ],
          holder.name,
          label(mode),
          time(expiresAt),
        ]),
      );

begin('holders', async ({ items = [], nextCursor }, args) => {
  const { projectId } = args;
  // Only lists of locks have items with resources, or accept a `resource` argument.
  const isOfLocks = items.some((item) => item.resources !== undefined) || args.resource !== undefined;
  const found = isOfLocks ? { locks: items } : { runs: items };
  const more = nextCursor ? empty('There are more entries than shown here.') : undefined;
  const draw = (note) =>
    show(
      el('header', {}, el('h1', { text: 'Active work and locks' })),
      found.runs && [el('h2', { text: 'At work' }), atWork(found.runs)],
      found.locks && [el('h2', { text: 'Locked' }), locked(found.locks)],
      more,
      note,
    );
  draw();
  if (!mayCall()) return;
  const project = projectId ?? items[0]?.projectId;
  if (project === undefined) return;
  try {
    if (isOfLocks) found.runs = (await call('agents_listActive', { projectId: project })).items;
    else found.locks = (await call('locks_list', { projectId: project })).items;
    draw();
  } catch (failure) {
    draw(el('p', { class: 'refused', role: 'alert', text: failure.message }));
  }
});
