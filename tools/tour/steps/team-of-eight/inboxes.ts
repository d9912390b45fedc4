import { Check } from '../../check.ts';
import { allPages, from } from '../../pages.ts';
import { comesTo, type Eight, type EightStep, idOf, people, type Person, person, tell } from './eight.ts';

/** Broadcasts to the team and one to everybody; then each finds in their inbox what concerns them, and reads it. */
export const inboxes: EightStep = {
  name: 'Everybody reads their inbox',
  run: async (eight) => {
    const sent = await broadcast(eight);
    const counted = new Check('every inbox has exactly what concerns its owner, and its counts are true');
    const read = new Check('what was read is unread no more, and nobody else’s');
    let total = 0;
    for (const name of people) total += await compareInbox(eight, name, counted);
    await readOne(eight, read);
    for (const name of people) await readAll(eight, name, read);
    counted.detail = `${total} notifications to ${people.length}, from all that they did`;
    read.detail = 'one by one, then all of them';
    eight.checks.push(sent, counted, read);
    return `a broadcast to the team and one to all; ${total} notifications, all read`;
  },
};

async function broadcast(eight: Eight): Promise<Check> {
  const found = new Check('a broadcast reaches those it is for');
  const [ivo, jana, milo] = [person(eight, 'Ivo'), person(eight, 'Jana'), person(eight, 'Milo')];
  const teamId = idOf(eight, 'team');
  const message = 'Quiet hours go out today: please watch the calls tonight.';
  const { recipients: fromOutside } = await milo.api.broadcasts.send({ message, teamId });
  found.same(fromOutside, 3, 'the number of those in the team, for a sender from outside');
  tell(eight, 'broadcast', 'Jana', 'Kofi', 'Lea');
  found.same(await comesTo(jana.api.broadcasts.send({ message })), '403 role', 'a member to everybody');
  const { broadcast: toTeam, recipients } = await jana.api.broadcasts.send({
    ...{ message, teamId, level: 'warning' },
  });
  found.same(recipients, 2, 'the number of those in the team besides the sender');
  tell(eight, 'broadcast', 'Kofi', 'Lea');
  const { recipients: all } = await ivo.api.broadcasts.send({ message: 'Eight of us, at last.' });
  found.same(all, people.length - 1, 'the number of all besides the sender');
  tell(eight, 'broadcast', ...people.filter((name) => name !== 'Ivo'));
  const sees = async (name: Person): Promise<boolean> =>
    (await person(eight, name).api.broadcasts.list()).items.some(({ id }) => id === toTeam.id);
  const seen = [];
  for (const name of people) if (await sees(name)) seen.push(name);
  found.same(seen, ['Jana', 'Kofi', 'Lea'], 'those who see the message to the team');
  found.detail = `${recipients} in the team, ${all} in all, 1 refused`;
  return found;
}

const allOf = (eight: Eight, name: Person, unreadOnly = false) =>
  allPages((cursor) => person(eight, name).api.notifications.list({ limit: 5, unreadOnly, ...from(cursor) }));

/** By what was noted while it happened; answers how many there are. */
async function compareInbox(eight: Eight, name: Person, found: Check): Promise<number> {
  const { unread, byKind } = await person(eight, name).api.notifications.unreadCount();
  const sorted = (counts: object): unknown =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .sort();
  found.same(sorted(byKind), sorted(eight.inboxes.get(name) ?? {}), `the inbox of ${name}, by kind`);
  const items = await allOf(eight, name);
  found.same(items.length, unread, `the number of notifications of ${name}`);
  const counts = new Map<string, number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  found.same(sorted(Object.fromEntries(counts)), sorted(byKind), `the list of ${name}, by kind`);
  const { memberId } = person(eight, name);
  const own = items.filter(({ actor }) => actor.memberId === memberId && actor.agentId === null);
  found.same(own.length, 0, `what ${name} is told of their own doing`);
  return items.length;
}

async function readOne(eight: Eight, found: Check): Promise<void> {
  const [jana, kofi] = [person(eight, 'Jana'), person(eight, 'Kofi')];
  const [mine, ...rest] = await allOf(eight, 'Jana', true);
  const [his] = await allOf(eight, 'Kofi', true);
  if (mine === undefined || his === undefined) throw new Error('somebody was told of nothing');
  const foreign = jana.api.notifications.markRead({ notificationIds: [mine.id, his.id] });
  found.same(await comesTo(foreign), '404 not_found', 'reading what is in another inbox');
  const once = await jana.api.notifications.markRead({ notificationIds: [mine.id] });
  found.same(once, { updated: 1, unread: rest.length }, 'reading one');
  const twice = await jana.api.notifications.markRead({ notificationIds: [mine.id] });
  found.same(twice, { updated: 0, unread: rest.length }, 'reading it twice');
  const left = await allOf(eight, 'Jana', true);
  found.same(
    left.map(({ id }) => id),
    rest.map(({ id }) => id),
    'what is left unread',
  );
  const { unread } = await kofi.api.notifications.unreadCount();
  found.same(unread, (await allOf(eight, 'Kofi')).length, 'what is unread in the other inbox');
}

async function readAll(eight: Eight, name: Person, found: Check): Promise<void> {
  const { notifications } = person(eight, name).api;
  const { unread } = await notifications.unreadCount();
  const marked = await notifications.markAllRead({});
  found.same(marked, { updated: unread, unread: 0 }, `${name} reading all`);
  found.same((await allOf(eight, name, true)).length, 0, `what ${name} has left`);
}
