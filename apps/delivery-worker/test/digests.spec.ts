/** Members who chose the digest get one e-mail a day with what is unread, and none without anything unread. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { notificationsHandlers } from '@muster/notifications';
import { createMailer, type Mailer } from '@muster/outbound/mail';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { pino } from 'pino';
import PostalMime, { type Email } from 'postal-mime';
import { mailDigest } from '../src/deliver.ts';
import { requestDigestMails } from '../src/digests.ts';
import { type OutboxHarness, openOutboxHarness, waitUntil } from './line.ts';

const world = useWorld({ notifications: notificationsHandlers.notifications });
let folder: string;
let mailer: Mailer;
let outboxHarness: OutboxHarness;
let people: PeopleOf<typeof world>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-digests-'));
  mailer = createMailer({ folder }, 'Muster <muster@acme.example>', pino({ level: 'silent' }));
  outboxHarness = openOutboxHarness(world);
  outboxHarness.startWorkers({ 'digest.mail': mailDigest({ mailer, baseUrl: 'https://muster.example/' }) });
});
afterAll(async () => {
  await outboxHarness.close();
  mailer.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  people = await world.org();
  for (const file of await readdir(folder)) await rm(path.join(folder, file));
});

const setPreference = (
  who: PersonOf<typeof world>,
  kind: 'mention' | 'assigned' | 'broadcast',
  enabled = true,
) => who.notifications.setPreference({ kind, channel: 'digest', enabled });

/** The hour at which digests were due an hour ago, so that they are due now. */
const dueHour = (new Date().getUTCHours() + 23) % 24;

/** Lets the last digest of all members be as old as given. */
const backdateLastDigest = (hours: number) =>
  world.rows(
    `update notification_digests set sent_until = now() - $2::int * interval '1 hour' where org_id = $1`,
    people.orgId,
    hours,
  );

interface NotificationDraft {
  readonly kind?: 'mention' | 'assigned' | 'broadcast';
  readonly title: string;
  readonly hoursAgo?: number;
  readonly story?: { readonly id: string; readonly key: string; readonly title: string };
  readonly projectId?: string;
}
/** Writes an unread notification of a member, and returns its id. */
async function notify(
  who: PersonOf<typeof world>,
  { kind = 'mention', title, hoursAgo = 3, story, projectId }: NotificationDraft,
) {
  const [row] = await world.rows<{ id: string }>(
    `insert into notifications (org_id, id, member_id, project_id, kind, title, subject, actor, in_inbox, created_at)
       select $1, app.new_id(t.at), $2, $3, $4, $5, $6::jsonb, '{"name": "Ana"}', true, t.at
       from (select now() - $7::float8 * interval '1 hour' as at) t returning id`,
    people.orgId,
    who.me.memberId,
    projectId ?? null,
    kind,
    title,
    story === undefined ? null : JSON.stringify({ type: 'story', ...story }),
    hoursAgo,
  );
  return row?.id ?? '';
}
async function createProject(key: string, visibility: 'org' | 'private' = 'org'): Promise<string> {
  const id = newId();
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, $4, $5, 'hosted')`,
    people.orgId,
    id,
    key,
    `Project ${key}`,
    visibility,
  );
  return id;
}

const requestDigests = () => requestDigestMails(world.database.app, new AbortController().signal, dueHour);
const listRequestedDigests = () =>
  world.rows<{ member: string }>(
    `select payload ->> 'memberId' as member from outbox where org_id = $1 and topic = 'digest.mail' order by id`,
    people.orgId,
  );
async function deliver(): Promise<Email[]> {
  await requestDigests();
  await outboxHarness.runRelayTurn();
  await waitUntil(async () => (await outboxHarness.rows(people.orgId)).every((row) => row.done));
  const files = await readdir(folder);
  return Promise.all(files.map(async (file) => PostalMime.parse(await readFile(path.join(folder, file)))));
}

it('lists what is unread by project and story, with links to the inbox and the settings', async () => {
  const { chloe } = people;
  for (const kind of ['mention', 'assigned'] as const) await setPreference(chloe, kind);
  await backdateLastDigest(30);
  const [web, docs] = [await createProject('WEB'), await createProject('DOCS')];
  const passkeys = { id: newId(), key: 'WEB-1', title: 'Passkeys' };
  await notify(chloe, { title: 'Ana mentioned you on WEB-1', story: passkeys, projectId: web });
  await notify(chloe, {
    title: 'Ana assigned DOCS-2 to you',
    kind: 'assigned',
    projectId: docs,
    story: { id: newId(), key: 'DOCS-2', title: 'Guide' },
  });
  await notify(chloe, { title: 'Ben mentioned you on WEB-1', story: passkeys, projectId: web });
  await notify(chloe, { title: 'About the organization', kind: 'assigned' });
  await notify(chloe, { title: 'Not in the digest', kind: 'broadcast' });
  await notify(chloe, { title: 'Before the last digest', hoursAgo: 31 });
  await notify(chloe, { title: 'After this digest', hoursAgo: 0 });
  const [mail, ...others] = await deliver();
  expect(others).toEqual([]);
  expect(mail?.to).toMatchObject([{ address: 'chloe@example.com' }]);
  expect(mail?.subject).toBe('[Acme] 4 unread notifications');
  expect(mail?.text?.trim().split('\n\n')).toEqual([
    'Project DOCS (DOCS)',
    'DOCS-2 Guide\n- Ana assigned DOCS-2 to you',
    'Project WEB (WEB)',
    'WEB-1 Passkeys\n- Ana mentioned you on WEB-1\n- Ben mentioned you on WEB-1',
    'Organization',
    '- About the organization',
    'Open your inbox: https://muster.example/console/inbox',
    'You get this once a day as a member of Acme on Muster. Unsubscribe or choose what it contains: https://muster.example/console/settings/notifications',
  ]);
});

it('sends nothing without anything unread that the member may see', async () => {
  const { chloe } = people;
  await setPreference(chloe, 'mention');
  await backdateLastDigest(30);
  expect(await deliver()).toEqual([]);
  await backdateLastDigest(30);
  const read = await notify(chloe, { title: 'read' });
  await chloe.notifications.markRead({ notificationIds: [read] });
  const snoozed = await notify(chloe, { title: 'snoozed' });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await chloe.notifications.snooze({ notificationIds: [snoozed], until });
  await notify(chloe, { title: 'hidden', projectId: await createProject('HID', 'private') });
  expect(await deliver()).toEqual([]);
  expect(await listRequestedDigests()).toHaveLength(2);
});

it('requests one digest a day, however many workers look', async () => {
  const { chloe, ben } = people;
  await setPreference(chloe, 'mention');
  await setPreference(ben, 'mention');
  expect(await listRequestedDigests()).toEqual([]);
  await requestDigests();
  expect(await listRequestedDigests()).toEqual([]);
  await backdateLastDigest(30);
  await Promise.all([requestDigests(), requestDigests()]);
  await requestDigests();
  expect((await listRequestedDigests()).map(({ member }) => member).sort()).toEqual(
    [chloe.me.memberId, ben.me.memberId].sort(),
  );
});

it('ends when the member turns it off for the last kind', async () => {
  const { chloe } = people;
  await setPreference(chloe, 'mention');
  await setPreference(chloe, 'mention', false);
  await backdateLastDigest(30);
  await requestDigests();
  expect(await listRequestedDigests()).toEqual([]);
  expect(await world.rows('select from notification_digests where org_id = $1', people.orgId)).toEqual([]);
});
