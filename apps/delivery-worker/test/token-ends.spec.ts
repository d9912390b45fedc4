/** Members get one e-mail a week before a token expires, and none for tokens that have already ended. */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { tokenWarningDays } from '@muster/organizations';
import { type People, useWorld } from '@muster/testing';
import { type MailServer, startMailServer } from '@muster/testing/mail-server';
import { pino } from 'pino';
import PostalMime, { type Email } from 'postal-mime';
import { mailTokenExpiry } from '../src/deliver.ts';
import { createMailer, type Mailer } from '@muster/outbound/mail';
import { warnOfExpiringTokens } from '../src/token-ends.ts';
import { type OutboxHarness, openOutboxHarness, waitUntil } from './line.ts';

const world = useWorld({});
const receivedMails: Email[] = [];
let server: MailServer;
let mailer: Mailer;
let outboxHarness: OutboxHarness;
let people: People;

beforeAll(async () => {
  server = await startMailServer(async (mail) => {
    receivedMails.push(await PostalMime.parse(mail));
  });
  mailer = createMailer({ smtpUrl: server.url }, 'Muster <muster@acme.example>', pino({ level: 'silent' }));
  outboxHarness = openOutboxHarness(world);
  outboxHarness.startWorkers({
    'token.mail': mailTokenExpiry({ mailer, baseUrl: 'https://muster.example' }),
  });
});
afterAll(async () => {
  await outboxHarness.close();
  mailer.close();
  await server.close();
});

beforeEach(async () => {
  people = await world.org();
  receivedMails.length = 0;
});

/** Creates a token of this age that expires in `left` days, and returns its id. */
async function token(
  name: string,
  { age = 60, left = 6, agentId = null as string | null } = {},
): Promise<string> {
  const id = newId();
  await world.rows(
    `insert into tokens (org_id, id, member_id, agent_id, name, hash, last_four, scopes, created_at, expires_at)
     values ($1, $2, $3, $4, $5, sha256($2::uuid::text::bytea), 'abcd', '{write}', now() - $6::float8 * interval '1 day',
       now() + $7::float8 * interval '1 day')`,
    people.orgId,
    id,
    people.chloe.me.memberId,
    agentId,
    name,
    age,
    left,
  );
  return id;
}

const never = new AbortController().signal;
const requestExpiryMails = () => warnOfExpiringTokens(world.database.app, never);
const asked = async (): Promise<string[]> =>
  (
    await world.rows<{ id: string }>(
      `select payload ->> 'tokenId' as id from outbox where org_id = $1 and topic = 'token.mail' order by id`,
      people.orgId,
    )
  ).map(({ id }) => id);
const deliver = async (): Promise<void> => {
  await outboxHarness.runRelayTurn();
  await waitUntil(async () => (await outboxHarness.rows(people.orgId)).every((row) => row.done));
};

it('tells its member a week before, what ends and when, and nothing of the secret', async () => {
  await token('Laptop', { left: 6.9 });
  await token('Nightly', { left: 1, age: 80, agentId: people.robo.me.agentId });
  await requestExpiryMails();
  await deliver();
  expect(receivedMails.map(({ subject }) => subject).sort()).toEqual([
    expect.stringMatching(/^Your token "Laptop" for Acme expires on \d+ \w+ \d{4}, \d\d:\d\d UTC$/),
    expect.stringMatching(/^Your token "Nightly" for Acme expires on /),
  ]);
  for (const { to, text } of receivedMails) {
    expect(to).toMatchObject([{ address: 'chloe@example.com' }]);
    expect(text).not.toContain('must_');
  }
  expect(receivedMails.find(({ subject }) => subject?.includes('Nightly'))?.text).toContain(
    'of your agent Robo',
  );
});

it('tells it once, however often it looks and however many look at a time', async () => {
  const id = await token('Laptop');
  await world.runUnderContention({ table: 'tokens', id }, requestExpiryMails, requestExpiryMails);
  await requestExpiryMails();
  expect(await asked()).toEqual([id]);
});

it('says nothing of those that end later, ended, were revoked, or were made for a week', async () => {
  await token('later', { left: tokenWarningDays + 0.1 });
  await token('ended', { left: -0.1 });
  await token('week', { age: 1, left: 6 });
  const revoked = await token('revoked');
  await world.rows('update tokens set revoked_at = now() where id = $1', revoked);
  await requestExpiryMails();
  expect(await asked()).toEqual([]);
});

it('sends none for a token that was revoked before the mail went out', async () => {
  const id = await token('Laptop');
  await requestExpiryMails();
  await world.rows('update tokens set revoked_at = now() where id = $1', id);
  await deliver();
  expect(receivedMails).toEqual([]);
});

it('begins no other epoch of rights: what processes remember holds', async () => {
  const epoch = () => world.rows('select epoch from rights_epochs where org_id = $1', people.orgId);
  const before = await epoch();
  await token('Laptop');
  await requestExpiryMails();
  expect(await asked()).toHaveLength(1);
  expect(await epoch()).toEqual(before);
});
