import { Check } from '../../check.ts';
import {
  answerTo,
  type Eight,
  type EightStep,
  expectNotice,
  idOf,
  people,
  person,
  type TourPerson,
} from './eight.ts';

/** The team gets a broadcast, and the organization gets another. Then each person reads their inbox. */
export const inboxes: EightStep = {
  name: 'Everyone reads their inbox',
  run: async (eight) => {
    const sent = await broadcast(eight);
    const found = new Check('every inbox has exactly what concerns its owner');
    let total = 0;
    for (const name of people) total += await readInbox(eight, name, found);
    found.detail = `${total} notifications to ${people.length} people`;
    eight.checks.push(sent, found);
    return `a broadcast to the team and one to all; ${total} notifications, all read`;
  },
};

async function broadcast(eight: Eight): Promise<Check> {
  const found = new Check('a broadcast reaches the people it is for');
  const [ivo, jana] = [person(eight, 'Ivo'), person(eight, 'Jana')];
  const message = 'Quiet hours start today: please watch the calls tonight.';
  found.same(await answerTo(jana.api.broadcasts.send({ message })), '403 role', 'a member to everyone');
  const toTeam = await jana.api.broadcasts.send({ message, teamId: idOf(eight, 'team'), level: 'warning' });
  found.same(toTeam.recipients, 2, 'the recipients in the team');
  expectNotice(eight, 'broadcast', 'Kofi', 'Lea');
  const toAll = await ivo.api.broadcasts.send({ message: 'Eight of us, at last.' });
  found.same(toAll.recipients, people.length - 1, 'the recipients in the organization');
  expectNotice(eight, 'broadcast', ...people.filter((name) => name !== 'Ivo'));
  found.detail = `${toTeam.recipients} in the team, ${toAll.recipients} in all`;
  return found;
}

/**
 * Compares an inbox with the expected notifications, marks all as read, and returns their number.
 * Notifications of the kind `seat_limit` are not compared, because their recipients depend on when the worker
 * counts seats.
 */
async function readInbox(eight: Eight, name: TourPerson, found: Check): Promise<number> {
  const { notifications } = person(eight, name).api;
  const items = await Array.fromAsync(notifications.list.all({ limit: 5, unreadOnly: true }));
  const counts: Record<string, number> = {};
  for (const { kind } of items) if (kind !== 'seat_limit') counts[kind] = (counts[kind] ?? 0) + 1;
  const sorted = (inbox: object): unknown => Object.entries(inbox).toSorted();
  found.same(sorted(counts), sorted(eight.inboxes.get(name) ?? {}), `the inbox of ${name}, by kind`);
  const marked = await notifications.markAllRead({});
  found.same(marked, { updated: items.length, unread: 0 }, `the answer to ${name}, who reads all`);
  return items.length;
}
