/** Replies to notification mails, from a mail program's SMTP connection to the comment. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createPool, newId, type Pool } from '@muster/driver';
import { handlers, reactions } from '@muster/operations';
import { type Mail, type Mailer } from '@muster/outbound/mail';
import { createReplyAddresses } from '@muster/outbound/reply-addresses';
import { type PeopleOf, useWorld, withTestTimeouts } from '@muster/testing';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { pino } from 'pino';
import { mailNotification } from '../src/deliver.ts';
import { replyMarker } from '../src/replies/reply-text.ts';
import {
  type ReplyListener,
  type ReplyListenerOptions,
  startReplyListener,
} from '../src/replies/listener.ts';
import { environment } from '../src/workers.ts';
import { inOrganizationAsSystem } from '@muster/tenancy';

const world = useWorld(handlers, reactions);
const domain = 'reply.muster.example';
const addresses = createReplyAddresses(domain, ['a key of this installation, for specs']);
let pool: Pool;
let listener: ReplyListener;
let listenerOptions: ReplyListenerOptions;
let people: PeopleOf<typeof world>;

beforeAll(async () => {
  pool = withTestTimeouts(
    createPool({ url: world.database.url, role: 'muster_app', name: 'replies', max: 4 }),
  );
  listenerOptions = {
    ...{ pool, environment, addresses, mailFrom: 'Muster <muster@acme.example>' },
    ...{ host: '127.0.0.1', port: 0, domain, logger: pino({ level: 'silent' }) },
  };
  listener = await startReplyListener(listenerOptions);
});
afterAll(async () => {
  await listener.close();
  await pool.end();
});
beforeEach(async () => {
  people = await world.org();
  await people.ana.projects.create({ key: 'WEB', name: 'Web', visibility: 'org' });
  await people.ana.stories.create({ projectId: 'WEB', title: 'Passkeys' });
});

/** Prepares the mail of Chloe's only notification, as the worker sends it. */
async function mailToChloe(): Promise<Mail> {
  const { orgId, chloe } = people;
  const [row] = await world.rows<{ id: string }>(
    'select id from notifications where org_id = $1 and member_id = $2 order by id desc',
    ...[orgId, chloe.me.memberId],
  );
  const mails: Mail[] = [];
  const mailer: Mailer = { send: async (mail) => void mails.push(mail), close: () => undefined };
  const worker = mailNotification({ mailer, baseUrl: 'https://muster.example', replyAddresses: addresses });
  const send = await inOrganizationAsSystem(pool, orgId, (db) =>
    worker({ db, orgId, rowId: newId(), payload: { notificationId: row?.id ?? '' } }),
  );
  await send?.(new AbortController().signal);
  const [mail] = mails;
  if (mail === undefined) throw new Error('no mail was prepared');
  return mail;
}

const ask = () =>
  people.ana.comments.create({
    ...{ storyId: 'WEB-1', kind: 'question', body: 'Which one?', directedTo: people.chloe.me.memberId },
  });

/** Sends a mail and returns the first line of the answer to it. */
async function reply(mail: SendMailOptions): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: listener.port, ignoreTLS: true });
  try {
    const { response } = await transport.sendMail({
      from: 'Chloé <Chloe@Example.com>',
      subject: 'Re: a question',
      ...mail,
    });
    return response;
  } catch (error) {
    return String((error as { response?: string }).response);
  } finally {
    transport.close();
  }
}

const replies = async () => {
  const { items } = await people.ana.comments.list({ storyId: 'WEB-1' });
  return items.flatMap((thread) => [thread, ...thread.replies]).filter(({ via }) => via !== null);
};

describe('a reply to a notification mail', () => {
  it('becomes a comment of the recipient in the thread, marked as sent by e-mail', async () => {
    const { comment: question } = await ask();
    const { replyTo, text } = await mailToChloe();
    expect(text.startsWith(replyMarker)).toBe(true);
    expect(await reply({ to: replyTo, text: `The first one.\n\n> ${replyMarker}\n> Ana asks` })).toMatch(
      /^250/,
    );
    expect(await replies()).toMatchObject([
      {
        ...{ body: 'The first one.', via: 'email', parentId: question.id },
        author: { kind: 'member', memberId: people.chloe.me.memberId, agentId: null, name: 'Chloé' },
      },
    ]);
    // It is audited as the member's, and notifies the others like every comment.
    const { items } = await people.ana.audit.list({ actorId: people.chloe.me.memberId });
    expect(items[0]).toMatchObject({ operation: 'comments.create', userAgent: 'e-mail', outcome: 'allowed' });
    expect((await people.ana.notifications.list({})).items.map(({ title }) => title)).toContain(
      'Chloé replied on WEB-1',
    );
  });

  it('is stored once when a server delivers it twice, also at the same time', async () => {
    await ask();
    const { replyTo } = await mailToChloe();
    const mail = { to: replyTo, text: 'Once.', messageId: '<once@example.com>' };
    expect(await Promise.all([reply(mail), reply(mail), reply(mail)])).toEqual(
      Array(3).fill(expect.stringMatching(/^250/)),
    );
    expect((await replies()).map(({ body }) => body)).toEqual(['Once.']);
  });

  it('is stored once for as long as the address accepts replies', async () => {
    await ask();
    const { replyTo } = await mailToChloe();
    const mail = { to: replyTo, text: 'Once.', messageId: '<once@example.com>' };
    await reply(mail);
    const days = 24 * 60 * 60 * 1000;
    const id = `${(Date.now() - 13 * days).toString(16).padStart(12, '0')}${newId().replaceAll('-', '').slice(12)}`;
    await world.rows(
      `update comments set id = $2::uuid, created_at = now() - interval '13 days' where org_id = $1 and via is not null`,
      ...[people.orgId, id],
    );
    expect(await reply(mail)).toMatch(/^250/);
    expect(await replies()).toHaveLength(1);
  });

  it('says that attachments were not kept', async () => {
    await ask();
    const { replyTo } = await mailToChloe();
    await reply({ to: replyTo, text: 'See here.', attachments: [{ filename: 'a.png', content: 'x' }] });
    expect((await replies()).map(({ body }) => body)).toEqual([
      'See here.\n\n_An attachment was not kept. Attach files in Muster._',
    ]);
  });

  it.each([
    ['another sender', { from: 'ben@example.com' }],
    ['two senders', { from: ['chloe@example.com', 'ben@example.com'] as unknown as string }],
    [
      'a second From header',
      {
        headers: [{ key: 'X-A', value: 'b' }],
        raw: 'From: chloe@example.com\r\nFrom: ben@example.com\r\nSubject: x\r\n\r\nHi',
      },
    ],
    ['a sender that only looks alike', { from: '"chloe@example.com" <ben@example.com>' }],
    ...[
      '<chloe@example.com> x <ben@example.com>',
      '<chloe@example.com>ben@example.com',
      '=?utf-8?Q?=3Cchloe=40example.com=3E?= (ben@example.com)',
      '=?utf-8?Q?ben=40example.com?= <chloe@example.com>',
      '"ben@example.com" <chloe@example.com>',
      '"a\\" <ben@example.com>, "b" <chloe@example.com>',
      'chloe@example.com (ben@example.com)',
      'Team: chloe@example.com;',
      '@ben.example,@a:chloe@example.com',
      'chloe@example.com ben',
    ].map((from) => [`the sender ${from}`, { raw: `From: ${from}\r\n\r\nHi` }] as const),
    ['no sender', { raw: 'Subject: x\r\n\r\nHi' }],
    // The sender of notifications is muster@acme.example.
    ['a sender whose address is part of that of notifications', { from: 'uster@acme.example' }],
    ['more than 4,000 lines', { text: 'a\n'.repeat(4_001) }],
    ['no text', { text: '> Ana asks' }],
    ['too much text', { text: 'x'.repeat(20_001) }],
  ])('is refused with %s', async (_, mail) => {
    await ask();
    const { replyTo } = await mailToChloe();
    const envelope = { from: 'chloe@example.com', to: replyTo ?? '' };
    expect(await reply({ to: replyTo, text: 'Hi', envelope, ...mail })).toMatch(/^55[02]/);
    expect(await replies()).toEqual([]);
  });

  it.each([
    'chloe@example.com',
    '<Chloe@Example.com>',
    '"Diaz, Chloé (Acme)" <chloe@example.com>',
    '"chloe@example.com" <chloe@example.com>',
    '=?utf-8?Q?Chlo=C3=A9?= <chloe@example.com>',
  ])('is accepted from %s', async (from) => {
    await ask();
    const { replyTo = '' } = await mailToChloe();
    const envelope = { from: 'chloe@example.com', to: replyTo };
    expect(await reply({ raw: `From: ${from}\r\n\r\nHi`, envelope })).toMatch(/^250/);
    expect((await replies()).map(({ body }) => body)).toEqual(['Hi']);
  });

  it.each([
    ['a forwarded mail', 'message/rfc822', 'From: ben@example.com\r\n\r\nForwarded'],
    ['a page', 'text/html; name="a.html"\r\nContent-Disposition: attachment', '<p>Page'],
  ])('does not contain the text of %s', async (_, type, content) => {
    await ask();
    const { replyTo = '' } = await mailToChloe();
    const part = (contentType: string, text: string) =>
      `--b\r\nContent-Type: ${contentType}\r\n\r\n${text}\r\n`;
    const html = part('text/html', '<p>Formatted');
    const raw = `From: chloe@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${part('text/plain', 'Hi')}${html}${part(type, content)}--b--`;
    expect(await reply({ raw, envelope: { from: 'chloe@example.com', to: replyTo } })).toMatch(/^250/);
    expect((await replies()).map(({ body }) => body)).toEqual([
      'Hi\n\n_An attachment was not kept. Attach files in Muster._',
    ]);
  });

  it('is refused before it is sent if the address is not signed', async () => {
    await ask();
    const { replyTo = '' } = await mailToChloe();
    const to = replyTo.replace(/.(?=@)/, (last) => (last === '0' ? '1' : '0'));
    const transport = createTransport({ host: '127.0.0.1', port: listener.port, ignoreTLS: true });
    await expect(transport.sendMail({ from: 'chloe@example.com', to, text: 'Hi' })).rejects.toMatchObject({
      command: 'RCPT TO',
      responseCode: 550,
    });
    transport.close();
  });

  it('reads the same if the address is refused and if the sender is', async () => {
    await ask();
    const { replyTo = '' } = await mailToChloe();
    const forged = addresses.addressOf(Buffer.alloc(32), { orgId: people.orgId, notificationId: newId() });
    const refusals = [
      await reply({ to: replyTo, text: 'Hi', from: 'ben@example.com' }),
      await reply({ to: forged, text: 'Hi' }),
    ];
    expect(refusals).toEqual(Array(2).fill(expect.stringMatching(/^550 Reply within 14 days/)));
  });

  it('is not waited for longer than the time for a mail', async () => {
    await ask();
    const { replyTo = '' } = await mailToChloe();
    const impatient = await startReplyListener({ ...listenerOptions, mailTimeoutMillis: 300 });
    const socket = connect(impatient.port, '127.0.0.1').setEncoding('utf8');
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
    await once(socket, 'data');
    socket.write(`HELO a\r\nMAIL FROM:<chloe@example.com>\r\nRCPT TO:<${replyTo}>\r\nDATA\r\n`);
    const slow = setInterval(() => socket.write('X-Slow: yes\r\n'), 50);
    socket.resume();
    await closed.finally(() => {
      clearInterval(slow);
    });
    await impatient.close();
    expect(await replies()).toEqual([]);
  });

  it('is refused if the address was forged, belongs to another notification, or is too old', async () => {
    await ask();
    const { replyTo = '' } = await mailToChloe();
    const forged = [
      replyTo.replace(/.(?=@)/, (last) => (last === '0' ? '1' : '0')),
      addresses.addressOf(Buffer.alloc(32), { orgId: people.orgId, notificationId: newId() }),
      addresses.addressOf(Buffer.alloc(32), { orgId: newId(), notificationId: newId() }),
      'chloe@example.com',
      `postmaster@${domain}`,
    ];
    for (const to of forged) expect(await reply({ to, text: 'Hi' })).toMatch(/^550/);
    await world.rows(
      `update notifications set created_at = now() - interval '15 days' where org_id = $1`,
      people.orgId,
    );
    expect(await reply({ to: replyTo, text: 'Hi' })).toMatch(/^550/);
    expect(await replies()).toEqual([]);
  });

  it('is refused to who lost access or was removed, and in an archived project', async () => {
    await ask();
    const { replyTo } = await mailToChloe();
    await world.rows(`update projects set visibility = 'private' where org_id = $1`, people.orgId);
    expect(await reply({ to: replyTo, text: 'Hi' })).toMatch(/^550/);
    await world.rows(`update projects set visibility = 'org' where org_id = $1`, people.orgId);
    await people.ana.projects.update({ projectId: 'WEB', archived: true });
    expect(await reply({ to: replyTo, text: 'Hi' })).toMatch(/^550/);
    await people.ana.projects.update({ projectId: 'WEB', archived: false });
    await people.ana.members.removeMember({ memberId: people.chloe.me.memberId });
    expect(await reply({ to: replyTo, text: 'Hi' })).toMatch(/^550/);
    expect(await replies()).toEqual([]);
  });

  it.each([
    { 'Auto-Submitted': 'auto-replied' },
    { 'Auto-Submitted': 'auto-generated' },
    { Precedence: 'bulk' },
    { 'List-Id': '<list.example.com>' },
    { 'X-Autoreply': 'yes' },
  ])('that a program sent is dropped without an answer that could begin a loop: %j', async (headers) => {
    await ask();
    const { replyTo } = await mailToChloe();
    expect(await reply({ to: replyTo, text: 'I am away.', headers })).toMatch(/^250/);
    expect(await replies()).toEqual([]);
  });

  it('is no report of a failed delivery, and no mail of Muster itself', async () => {
    await ask();
    const { replyTo = '' } = await mailToChloe();
    expect(await reply({ to: replyTo, text: 'Failed.', envelope: { from: '', to: replyTo } })).toMatch(
      /^550/,
    );
    expect(await reply({ to: replyTo, text: 'Hi', from: 'muster@acme.example' })).toMatch(/^250/);
    expect(await replies()).toEqual([]);
  });

  it('has one recipient, and no more than 256 KiB', async () => {
    await ask();
    const { replyTo = '' } = await mailToChloe();
    const twice = { from: 'chloe@example.com', to: [replyTo, replyTo.toUpperCase()] };
    await reply({ to: replyTo, text: 'Hi', envelope: twice });
    expect((await replies()).length).toBeLessThanOrEqual(1);
    const content = Buffer.alloc(300 * 1024);
    expect(await reply({ to: replyTo, text: 'Big', attachments: [{ filename: 'a', content }] })).toMatch(
      /^552/,
    );
    expect((await replies()).map(({ body }) => body)).not.toContain('Big');
  });

  it('is accepted 30 times within an hour', async () => {
    await ask();
    const { replyTo } = await mailToChloe();
    await reply({ to: replyTo, text: 'First.' });
    await world.rows(
      `insert into comments (org_id, id, story_id, kind, body, author, author_member_id, via, mail_key, mentions, agent_mentions, told)
       select c.org_id, app.new_id(clock_timestamp()), c.story_id, c.kind, 'Again', c.author, c.author_member_id, 'email', n::text, '{}', '{}', '{}'
       from comments c, generate_series(1, 29) n where c.org_id = $1 and c.via is not null`,
      people.orgId,
    );
    expect(await reply({ to: replyTo, text: 'Too many.' })).toMatch(/^451 Too many/);
  });
});
