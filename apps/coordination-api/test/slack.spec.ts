/** Answers to questions from Slack, with requests as Slack sends and signs them. */
import { createHmac, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { newId } from '@muster/driver';
import { createSecretCipher } from '@muster/outbound';
import { createSlackTokens, slackResponseSecretOwner } from '@muster/outbound/slack';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';

const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
const secretsKey = 'k'.repeat(32);
const api = useApi({
  ...{ SLACK_SIGNING_SECRET: signingSecret, SECRETS_KEY: secretsKey },
  LIMIT_UNKNOWN_TOKENS: '1000/0.01',
});
const tokens = createSlackTokens([secretsKey]);
const team = 'T0123ABCD';
const responseUrl = 'https://hooks.slack.com/actions/T0123ABCD/8675309/tAkmYVEQ4mN2';

let people: People<AllHandlers>;
let organizationKey: Buffer;
/** Clients over HTTP, because the API signs with its own key. */
let chloe: Client;
let questionId: string;
/** The Slack account of this test, because clicks are counted for each account. */
let userOfTest: string;

beforeEach(async () => {
  userOfTest = `U${randomBytes(5).toString('hex').toUpperCase()}`;
  people = await api.org();
  await people.ana.projects.create({ key: 'WEB', name: 'Web', visibility: 'org' });
  await people.ana.stories.create({ projectId: 'WEB', title: 'Passkeys' });
  chloe = api.client(people.chloe.me.token);
  const [row] = await api.world.rows<{ key: Buffer }>(
    'select cursor_key as key from streams where org_id = $1',
    people.orgId,
  );
  organizationKey = row?.key ?? Buffer.alloc(0);
  const { comment } = await people.robo.comments.create({
    ...{ storyId: 'WEB-1', kind: 'question', body: 'Deploy?', options: ['Yes', 'No'] },
  });
  questionId = comment.id;
});

const valueOf = (option: number, { orgId = people.orgId, question = questionId } = {}): string =>
  tokens.valueOf(organizationKey, { orgId, questionId: question, option });

/** The payload of a click on a button of an incoming webhook's message. */
const clickOf = (value: string, { userId = userOfTest, teamId = team, triggerId = '' } = {}) => ({
  type: 'block_actions',
  user: { id: userId, username: 'chloe', name: 'chloe', team_id: teamId },
  api_app_id: 'A0123ABCD',
  token: '9s8d9as89d8as9d8as989',
  container: { type: 'message', message_ts: '1764500000.000700', channel_id: 'C0123', is_ephemeral: false },
  trigger_id: triggerId === '' ? `${randomBytes(6).toString('hex')}.398738663015.803a0bc887a1` : triggerId,
  team: { id: teamId, domain: 'acme' },
  enterprise: null,
  is_enterprise_install: false,
  channel: { id: 'C0123', name: 'chloe' },
  message: {
    ...{ bot_id: 'B0123', type: 'message', text: 'Robo has a question on WEB-1', ts: '1764500000.000700' },
    blocks: [{ type: 'section', block_id: 'a', text: { type: 'mrkdwn', text: 'Größe ✓', verbatim: true } }],
  },
  state: { values: {} },
  response_url: responseUrl,
  actions: [
    {
      ...{ action_id: 'muster-answer-0', block_id: 'b', type: 'button', action_ts: '1764500003.312' },
      ...{ text: { type: 'plain_text', text: 'Yes', emoji: false }, value },
    },
  ],
});

const nowSeconds = (): number => Math.floor(Date.now() / 1_000);
const sign = (body: string | Buffer, timestamp: number | string, secret = signingSecret): string =>
  `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')}`;
const formOf = (payload: unknown): string =>
  new URLSearchParams({ payload: JSON.stringify(payload) }).toString();

/** Sends a request as Slack does. */
const send = (
  body: string | Buffer,
  {
    timestamp = nowSeconds(),
    signature = sign(body, timestamp),
    type = 'application/x-www-form-urlencoded',
  }: { timestamp?: number | string; signature?: string; type?: string } = {},
) =>
  api.request('/hooks/slack', {
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: {
      'content-type': type,
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': signature,
    },
  });
const click = (...given: Parameters<typeof clickOf>) => send(formOf(clickOf(...given)));

const threads = async () =>
  (await people.ana.comments.list({ storyId: 'WEB-1' })).items.map(({ resolvedAt, resolvedBy, replies }) => ({
    isResolved: resolvedAt !== null,
    resolvedBy: resolvedBy?.name ?? null,
    replies: replies.map(({ body, via, author }) => [author.name, body, via]),
  }));
const unanswered = [{ isResolved: false, resolvedBy: null, replies: [] }];
const answered = [{ isResolved: true, resolvedBy: 'Chloé', replies: [['Chloé', 'Yes', 'slack']] }];

const responses = async () =>
  (
    await api.world.rows<{ payload: { responseUrl: string; response: Record<string, string> } }>(
      `select payload from outbox where org_id = $1 and topic = 'slack.respond' order by id`,
      people.orgId,
    )
  ).map(({ payload }) => payload);
const kinds = async () => (await responses()).map(({ response }) => response['kind']);

/** Connects the Slack account to Chloe, as she does after her first click. */
const connect = (account: { userId?: string; teamId?: string } = {}, client = chloe) =>
  client.devices.connectSlackAccount({
    linkToken: tokens.linkTokenOf(organizationKey, {
      ...{ teamId: team, userId: userOfTest, userName: 'chloe', expiresAt: Date.now() + 60_000 },
      ...account,
    }),
  });

describe('a click on an answer', () => {
  it('of an account that is not connected changes nothing, and is answered with a link', async () => {
    expect(await click(valueOf(0))).toMatchObject({ status: 200, text: '' });
    expect(await threads()).toEqual(unanswered);
    const [row, ...others] = await responses();
    expect(others).toEqual([]);
    expect(row?.response).toEqual({ kind: 'connect', teamId: team, userId: userOfTest, userName: 'chloe' });
    // The address is a secret: anyone who has it can write to the channel.
    expect(row?.responseUrl).not.toContain('hooks.slack.com');
    const sealed = Buffer.from(row?.responseUrl ?? '', 'base64');
    expect(createSecretCipher([secretsKey]).decrypt(slackResponseSecretOwner(organizationKey), sealed)).toBe(
      responseUrl,
    );
  });

  it('replies and resolves the question as the member, once, with an audit entry that names Slack', async () => {
    await connect();
    expect((await click(valueOf(0))).status).toBe(200);
    expect(await threads()).toEqual(answered);
    expect(await kinds()).toEqual(['answered']);
    const { items } = await people.ana.audit.list({ actorId: people.chloe.me.memberId });
    expect(items.find(({ userAgent }) => userAgent === 'Slack')).toMatchObject({
      ...{ operation: 'comments.create', outcome: 'allowed' },
      actor: { kind: 'member', memberId: people.chloe.me.memberId },
    });
    const feed = await people.ana.activity.list({ projectId: 'WEB' });
    expect(feed.items.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['comment.created', 'comment.resolved']),
    );
  });

  it('wakes the work that waits for the answer, and leaves work that was stopped as it is', async () => {
    const target = { targetType: 'story', targetId: 'WEB-1' } as const;
    const { execution, leaseToken } = await people.robo.deliveryExecutions.acquire(target);
    await people.robo.deliveryExecutions.update({
      ...{ executionId: execution.id, leaseToken, waitingFor: { questionId } },
    });
    await connect();
    await click(valueOf(0));
    const read = async () =>
      (await people.ana.deliveryExecutions.get({ executionId: execution.id })).execution;
    expect(await read()).toMatchObject({ state: 'leased', waitingFor: null });

    const second = await people.robo.comments.create({
      ...{ storyId: 'WEB-1', kind: 'question', body: 'Sure?', options: ['Yes'] },
    });
    await people.ana.deliveryExecutions.update({ executionId: execution.id, requestStop: true });
    await people.robo.deliveryExecutions.release({ executionId: execution.id, leaseToken });
    const { state } = await read();
    await click(valueOf(0, { question: second.comment.id }));
    expect((await threads()).map(({ isResolved }) => isResolved)).toEqual([true, true]);
    expect(await read()).toMatchObject({ state, lease: null, stopRequested: expect.anything() });
  });

  it('answers once when it is delivered twice, also at the same time and after the question was reopened', async () => {
    await connect();
    const same = clickOf(valueOf(0));
    const deliveries = [0, 1, 2].map((age) => send(formOf(same), { timestamp: nowSeconds() - age }));
    expect((await Promise.all(deliveries)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await threads()).toEqual(answered);
    await people.ana.comments.resolve({ commentId: questionId, resolved: false });
    expect((await send(formOf(same), { timestamp: nowSeconds() - 3 })).status).toBe(200);
    expect((await threads())[0]?.replies).toHaveLength(1);
    // Deliveries at the same time replace the message by the same text.
    expect(new Set(await kinds())).toEqual(new Set(['answered']));
  });

  it('on a question that was answered shows the answer, and changes nothing', async () => {
    await connect();
    await people.dan.comments.resolve({ commentId: questionId });
    expect((await click(valueOf(1))).status).toBe(200);
    expect(await threads()).toEqual([{ isResolved: true, resolvedBy: 'Dan', replies: [] }]);
    expect(await kinds()).toEqual(['answered']);
  });

  it('of two members at the same time answers once', async () => {
    await connect();
    await connect({ userId: 'U0DAN0001' }, api.client(people.dan.me.token));
    await Promise.all([click(valueOf(0)), click(valueOf(1), { userId: 'U0DAN0001' })]);
    expect((await threads())[0]?.replies).toHaveLength(1);
    expect(await kinds()).toEqual(['answered', 'answered']);
  });

  it('on a link, and other interactions, are acknowledged without work', async () => {
    await connect();
    const link = clickOf(valueOf(0));
    const other = { ...link, actions: [{ ...link.actions[0], action_id: 'muster-open' }] };
    for (const payload of [other, { type: 'view_submission' }, { ...link, actions: [] }, {}])
      expect((await send(formOf(payload))).status).toBe(200);
    expect(await threads()).toEqual(unanswered);
    expect(await kinds()).toEqual([]);
  });
});

describe('a click that may not answer', () => {
  beforeEach(() => connect());

  it.each([
    ['of the same user id in another workspace', { teamId: 'T0EVIL' }],
    ['of another user', { userId: 'U0EVIL' }],
  ])('%s is that of an account that is not connected', async (_, account) => {
    expect((await click(valueOf(0), account)).status).toBe(200);
    expect(await threads()).toEqual(unanswered);
    expect(await kinds()).toEqual(['connect']);
  });

  it('of an account that was disconnected, or whose member was removed, is that of nobody', async () => {
    await connect({ userId: 'U0DAN0001' }, api.client(people.dan.me.token));
    const { items } = await chloe.devices.list({});
    await chloe.devices.unregister({ deviceId: items[0]?.deviceId ?? '' });
    await people.ana.members.removeMember({ memberId: people.dan.me.memberId });
    await click(valueOf(0));
    await click(valueOf(0), { userId: 'U0DAN0001' });
    expect(await threads()).toEqual(unanswered);
    expect(await kinds()).toEqual(['connect', 'connect']);
    expect(
      await api.world.rows(
        `select from devices where org_id = $1 and platform = 'slack_account'`,
        people.orgId,
      ),
    ).toEqual([]);
  });

  it('of an account whose access token was revoked is that of nobody, and another member can connect it', async () => {
    await chloe.devices.unregister({ deviceId: `slack-${team}-${userOfTest}` });
    const leaked = await api.world.token(people.orgId, people.chloe.me.memberId);
    await connect({}, api.client(leaked.me.token));
    await api.world.rows(
      'update tokens set revoked_at = now() where hash = sha256($1::bytea)',
      Buffer.from(leaked.me.token),
    );
    await click(valueOf(0));
    expect(await threads()).toEqual(unanswered);
    expect(await kinds()).toEqual(['connect']);
    await connect({}, api.client(people.dan.me.token));
    await click(valueOf(0));
    expect((await threads())[0]?.resolvedBy).toBe('Dan');
  });

  it('of a member without access to the project is refused like a question that there is not', async () => {
    await people.ana.projects.update({ projectId: 'WEB', visibility: 'private' });
    await click(valueOf(0));
    await click(valueOf(0, { question: newId() }));
    expect(await threads()).toEqual(unanswered);
    const [denied, missing] = await responses();
    expect(denied?.response['kind']).toBe('refused');
    expect(missing?.response).toEqual(denied?.response);
  });

  it('in an archived project is refused', async () => {
    await people.ana.projects.update({ projectId: 'WEB', archived: true });
    expect((await click(valueOf(0))).status).toBe(200);
    expect(await threads()).toEqual(unanswered);
    expect((await responses())[0]?.response).toMatchObject({ kind: 'refused' });
  });

  it('on an answer that the question does not offer, or on a comment, is refused', async () => {
    const { comment } = await people.robo.comments.create({ storyId: 'WEB-1', body: 'Hi' });
    await click(valueOf(2));
    await click(valueOf(0, { question: comment.id }));
    expect(await kinds()).toEqual(['refused', 'refused']);
    expect((await threads())[0]).toEqual(unanswered[0]);
  });

  it('with a value that Muster did not sign for this organization is 400', async () => {
    const other = await api.org();
    const [orgId, question, option, signature] = valueOf(0).split('.');
    for (const value of [
      `${orgId}.${question}.1.${signature}`,
      `${other.orgId}.${question}.${option}.${signature}`,
      `${newId()}.${question}.${option}.${signature}`,
      createSlackTokens([]).valueOf(organizationKey, { orgId: people.orgId, questionId, option: 0 }),
      ...['', 'x', '\u0000', `${valueOf(0)}A`, '💥'.repeat(900)],
    ]) {
      const { status, body } = await click(value);
      expect([status, body.code]).toEqual([400, 'bad_request']);
    }
    expect(await threads()).toEqual(unanswered);
    expect(await kinds()).toEqual([]);
  });

  it.each([
    'https://hooks.slack.com.evil.example/actions/1',
    'http://hooks.slack.com/actions/1',
    'https://hooks.slack.com:8443/actions/1',
    'https://a:b@hooks.slack.com/actions/1',
    'https://169.254.169.254/latest',
    'file:///etc/passwd',
    'x',
  ])('with the response address %s is 400', async (address) => {
    const { status, body } = await send(formOf({ ...clickOf(valueOf(0)), response_url: address }));
    expect([status, body.code]).toEqual([400, 'bad_request']);
    expect(await threads()).toEqual(unanswered);
  });
});

describe('a request that Slack did not sign', () => {
  beforeEach(() => connect());

  const refused = {
    status: 401,
    body: { code: 'unauthorized', details: { reason: 'slack_signature' } },
  };

  it('is 401 with another secret, a changed body or time, or without a signature', async () => {
    const body = formOf(clickOf(valueOf(0)));
    const timestamp = nowSeconds();
    for (const sent of [
      { timestamp, signature: sign(body, timestamp, 'another secret of someone') },
      { timestamp, signature: sign(`${body} `, timestamp) },
      { timestamp, signature: sign(body, timestamp - 1) },
      { timestamp, signature: sign(body, timestamp).toUpperCase() },
      { timestamp, signature: '' },
      { timestamp, signature: 'v0=' },
    ])
      expect(await send(body, sent)).toMatchObject(refused);
    expect(await threads()).toEqual(unanswered);
  });

  it('is 401 if it is older or newer than five minutes, or has no time', async () => {
    const body = formOf(clickOf(valueOf(0)));
    for (const timestamp of [nowSeconds() - 301, nowSeconds() + 310, '', 'NaN', '-1', `${nowSeconds()}.0`])
      expect(await send(body, { timestamp })).toMatchObject(refused);
    expect(await threads()).toEqual(unanswered);
    expect((await send(body, { timestamp: nowSeconds() - 290 })).status).toBe(200);
  });

  it('is 401 if it was sent before, also if the first one changed nothing', async () => {
    for (const body of [formOf(clickOf(valueOf(0))), formOf({ type: 'view_closed' })]) {
      const timestamp = nowSeconds();
      expect((await send(body, { timestamp })).status).toBe(200);
      expect(await send(body, { timestamp })).toMatchObject(refused);
    }
    await people.ana.comments.resolve({ commentId: questionId, resolved: false });
    expect((await threads())[0]?.replies).toHaveLength(1);
  });

  it('is 429 after 20 clicks of one account within a minute, before any work', async () => {
    const many = Array.from({ length: 20 }, () => click(valueOf(0), { userId: 'U0MANY001' }));
    expect((await Promise.all(many)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    const before = (await responses()).length;
    const { status, body } = await click(valueOf(0), { userId: 'U0MANY001' });
    expect([status, body.details?.reason]).toEqual([429, 'delivery_limit']);
    expect(await responses()).toHaveLength(before);
    expect((await click(valueOf(0), { userId: 'U0OTHER01' })).status).toBe(200);
  });

  it('is 413 if it is too large, before its signature is verified', async () => {
    for (const bytes of [130 * 1024, 10 * 1024 * 1024]) {
      const { status, body } = await send('x'.repeat(bytes), { signature: '' });
      expect([status, body.code]).toEqual([413, 'payload_too_large']);
    }
  });

  it('is 4xx with clear JSON for other encodings, deep payloads and other types', async () => {
    const deep = `payload=${encodeURIComponent('['.repeat(20_000))}`;
    const latin = Buffer.concat([Buffer.from('payload='), Buffer.from([0xff, 0xfe, 0x22])]);
    for (const body of ['', 'payload', 'payload=%FF%FE', 'payload={', '{}', deep, latin]) {
      const answer = await send(body);
      expect([answer.status, answer.body.details?.reason]).toEqual([400, 'invalid_json']);
    }
    const json = await send('{}', { type: 'application/json' });
    expect([json.status, json.body.code]).toEqual([415, 'unsupported_media_type']);
    expect((await api.request('/hooks/slack', { method: 'GET' })).status).toBe(405);
    expect(await threads()).toEqual(unanswered);
  });

  it('finds no path if no Slack app is configured', async () => {
    const without = await api.startReplica({ SLACK_SIGNING_SECRET: '' });
    expect((await without.request('/hooks/slack', { body: {} })).status).toBe(404);
    await without.stop();
  });
});

describe('devices.connectSlackAccount', () => {
  it('is idempotent for its member, lists the account, and tells the member by e-mail', async () => {
    const { device } = await connect();
    expect(device).toMatchObject({ platform: 'slack_account', name: 'chloe', takesPush: false });
    expect((await connect()).device).toEqual(device);
    expect((await chloe.devices.list({})).items).toEqual([device]);
    const mails = await api.world.rows<{ payload: object }>(
      `select payload from outbox where org_id = $1 and topic = 'chat.mail'`,
      people.orgId,
    );
    expect(mails.map(({ payload }) => payload)).toEqual([
      { memberId: people.chloe.me.memberId, name: 'chloe', service: 'slack_account' },
    ]);
  });

  it('refuses an account of another member, also if both connect it at the same time', async () => {
    const outcomes = await Promise.allSettled([connect(), connect({}, api.client(people.dan.me.token))]);
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refusals).toMatchObject([{ reason: { status: 409, reason: 'already_exists' } }]);
  });

  it('refuses links that expired, were changed, or are for another organization', async () => {
    const link = { teamId: team, userId: userOfTest, userName: '', expiresAt: Date.now() - 1 };
    const expired = tokens.linkTokenOf(organizationKey, link);
    await expect(chloe.devices.connectSlackAccount({ linkToken: expired })).rejects.toMatchObject({
      reason: 'expired',
    });
    const later = { ...link, expiresAt: Date.now() + 60_000 };
    const [, signature] = expired.split('.');
    for (const linkToken of [
      `${Buffer.from(JSON.stringify(later)).toString('base64url')}.${signature}`,
      tokens.linkTokenOf(randomBytes(32), later),
      createSlackTokens([]).linkTokenOf(organizationKey, later),
      valueOf(0),
      ...['x', '.', '..', 'eyJ9.'],
    ])
      await expect(chloe.devices.connectSlackAccount({ linkToken })).rejects.toMatchObject({
        status: 400,
        body: { details: { issues: [{ path: 'linkToken' }] } },
      });
    expect((await chloe.devices.list({})).items).toEqual([]);
  });

  it('is not for agents and bound tokens, and no device takes its place', async () => {
    const { project } = await people.ana.projects.get({ projectId: 'WEB' });
    const bound = await api.world.token(people.orgId, people.chloe.me.memberId, { projectIds: [project.id] });
    await expect(connect({}, api.client(bound.me.token))).rejects.toMatchObject({ reason: 'bound_token' });
    await expect(connect({}, api.client(people.robo.me.token))).rejects.toMatchObject({
      reason: 'agents_may_not',
    });
    const { device } = await connect();
    await expect(
      chloe.devices.register({ deviceId: device.deviceId, name: 'x', platform: 'ios' }),
    ).rejects.toMatchObject({ status: 400 });
  });
});
