/** E-mails arrive as they were rendered, by SMTP or in the folder. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { useWorld } from '@muster/testing';
import { type MailServer, startMailServer } from '@muster/testing/mail-server';
import { pino } from 'pino';
import PostalMime, { type Email } from 'postal-mime';
import { mailInvitation } from '../src/deliver.ts';
import { createMailer, type Mail, type Mailer } from '@muster/outbound/mail';
import { type OutboxHarness, openOutboxHarness, waitUntil } from './line.ts';

const world = useWorld({});
const receivedMails: Email[] = [];
let refusal: Error | undefined;
let server: MailServer;
let mailer: Mailer;
let outboxHarness: OutboxHarness;

const logger = pino({ level: 'silent' });
const from = 'Muster <muster@acme.example>';

beforeAll(async () => {
  server = await startMailServer(async (mail) => {
    if (refusal !== undefined) throw refusal;
    receivedMails.push(await PostalMime.parse(mail));
  });
  mailer = createMailer({ smtpUrl: server.url }, from, logger);
  outboxHarness = openOutboxHarness(world);
});
afterAll(async () => {
  await outboxHarness.close();
  mailer.close();
  await server.close();
});

const mail: Mail = {
  to: 'chloé@acme.example',
  subject: 'Ana invited you to Café "Zürich" — 日本語\r\nBcc: evil@evil.example',
  text: 'To accept, open this page:\nhttps://muster.example/invitations/accept#token=abc=def\n.\nA line of a dot alone, and é.\n',
  html: '<p>Accept the <a href="https://muster.example/?a=1&amp;b=2">invitation</a></p>\n',
};

/** The mail parser appends to each text the line break that precedes the next part of the mail. */
const bodies = { text: `${mail.text}\n`, html: `${mail.html ?? ''}\n` };

it('has no marks of direction, which would turn around what stands beside a name', async () => {
  await mailer.send({ ...mail, subject: 'A\u202eB\u2066C', text: 'D\u202eE\u2069F' }, 'row-6');
  expect(receivedMails).toMatchObject([{ subject: 'ABC', text: 'DEF\n' }]);
});

it('sends it as it is, and a subject stays one header', async () => {
  await mailer.send(mail, 'row-1');
  expect(receivedMails.at(-1)).toMatchObject({
    from: { name: 'Muster', address: 'muster@acme.example' },
    to: [{ address: mail.to }],
    subject: mail.subject.replace('\r\n', ' '),
    ...bodies,
    messageId: '<row-1@acme.example>',
  });
  expect(receivedMails.at(-1)?.bcc).toBeUndefined();
});

it('says that a server did not take it', async () => {
  refusal = Object.assign(new Error('mailbox unavailable'), { responseCode: 550 });
  await expect(mailer.send(mail, 'row-2')).rejects.toThrow('mailbox unavailable');
  refusal = undefined;
});

it('takes an invitation from the outbox to the mailbox, with a link that is good; a second mail replaces the first', async () => {
  const { orgId } = await world.org();
  const invitationId = newId();
  await world.rows(
    `insert into invitations (org_id, id, email, role, invited_by, expires_at)
     values ($1, $2, 'eve@example.com', 'member', '{"kind": "member", "name": "Ana"}', now() + interval '1 day')`,
    orgId,
    invitationId,
  );
  const ways = { mailer, pusher: undefined, baseUrl: 'https://muster.example' };
  outboxHarness.startWorkers({ 'invitation.mail': mailInvitation(ways) });
  const count = receivedMails.length;
  // The first attempt fails at the server, so nothing of it may take effect later.
  refusal = new Error('try again');
  const rowId = await outboxHarness.ask(orgId, 'invitation.mail', { invitationId });
  await outboxHarness.runRelayTurn();
  await waitUntil(async () => (await outboxHarness.rows(orgId))[0]?.error != null);
  refusal = undefined;
  // The second attempt must not start before the queue has released the first one.
  await waitUntil(async () => (await outboxHarness.queues.counts()).deliver.active === 0);
  await outboxHarness.makeRowsDue();
  await outboxHarness.runRelayTurn();
  await waitUntil(async () => (await outboxHarness.rows(orgId)).every((row) => row.done));
  const email = receivedMails.at(-1);
  expect(receivedMails).toHaveLength(count + 1);
  expect(email).toMatchObject({ to: [{ address: 'eve@example.com' }], messageId: `<${rowId}@acme.example>` });
  const secret = /token=(\S+)/.exec(email?.text ?? '')?.[1] ?? '';
  const [found] = await world.rows<{ id: string }>(
    'select id from invitations where token_hash = sha256($1::bytea)',
    Buffer.from(secret),
  );
  expect(found?.id).toBe(invitationId);
});

it('sends nothing for an invitation that was revoked meanwhile', async () => {
  const { orgId } = await world.org();
  const count = receivedMails.length;
  await outboxHarness.ask(orgId, 'invitation.mail', { invitationId: newId() });
  await outboxHarness.runRelayTurn();
  await waitUntil(async () => (await outboxHarness.rows(orgId)).every((row) => row.done));
  expect(receivedMails).toHaveLength(count);
});

describe('where there is no server', () => {
  let root: string;
  let folder: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'muster-mail-'));
    folder = path.join(root, 'mail');
  });
  afterEach(() => rm(root, { recursive: true }));

  it('writes it to the folder, each mail once', async () => {
    const toFolder = createMailer({ folder }, from, logger);
    await toFolder.send({ ...mail, to: '../../etc/passwd@example.com' }, 'row-3');
    await toFolder.send(mail, 'row-4');
    await toFolder.send(mail, 'row-4');
    const files = await readdir(folder);
    expect(files.sort()).toEqual([
      'row-3-.._.._etc_passwd@example.com.eml',
      expect.stringMatching(/^row-4-.*\.eml$/),
    ]);
    const email = await PostalMime.parse(await readFile(path.join(folder, files[1] ?? '')));
    expect(email).toMatchObject({ ...bodies, to: [{ address: mail.to }] });
  });

  it('lets nobody else read it, and what is in it stands in no log', async () => {
    const lines: string[] = [];
    const logging = pino({ level: 'trace' }, { write: (text: string) => void lines.push(text) });
    const invitation = { ...mail, link: 'https://muster.example/invitations/accept?token=abc=def' };
    await createMailer({ folder }, from, logging).send(invitation, 'row-5');
    const [file = ''] = await readdir(folder);
    const written = await PostalMime.parse(await readFile(path.join(folder, file)));
    expect(written.text).toContain('token=abc=def');
    for (const canary of ['abc=def', 'https://', 'Café', mail.to])
      expect(lines.join('')).not.toContain(canary);
    expect(lines.map((text) => JSON.parse(text) as unknown)).toEqual([
      expect.objectContaining({ id: 'row-5' }),
    ]);
    const modes = await Promise.all([folder, path.join(folder, file)].map((one) => stat(one)));
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600]);
  });
});
