import { describe, expect, it } from '@jest/globals';
import { organizationsRegistry } from '@muster/organizations-registry';
import { useWorld } from '@muster/testing';
import {
  createDeviceHandlers,
  deviceSecretOwner,
  organizationsHandlers,
  prepareChatMail,
} from '../../index.ts';
import { createSecretCipher } from '@muster/outbound';
import { handle } from '@muster/runtime';

const world = useWorld(organizationsHandlers);

const laptop = { deviceId: 'laptop', name: 'Work laptop', platform: 'macos' } as const;
const secret = 'push-secret-4711';

const tokensOf = (orgId: string) =>
  world.rows<{ device_id: string; push_token: string | null }>(
    'select device_id, push_token from devices where org_id = $1 order by device_id',
    orgId,
  );

describe('devices.register', () => {
  it('registers a device, and registers it anew', async () => {
    const { chloe } = await world.org();
    const answer = await chloe.devices.register({ ...laptop, pushToken: secret, appVersion: '1.0' });
    expect(organizationsRegistry.devices.register.result.parse(answer)).toEqual(answer);
    expect(answer.device).toMatchObject({ ...laptop, appVersion: '1.0', takesPush: true });
    const { device } = await chloe.devices.register({ ...laptop, name: 'Old laptop', appVersion: null });
    expect(device).toEqual({
      ...answer.device,
      name: 'Old laptop',
      appVersion: null,
      updatedAt: device.updatedAt,
    });
    const { device: silent } = await chloe.devices.register({ ...laptop, pushToken: null });
    expect(silent).toMatchObject({ id: device.id, takesPush: false });
  });

  it('keeps a push token that is left out, and never shows it: not in an answer, the audit or an event', async () => {
    const { orgId, chloe } = await world.org();
    const idempotencyKey = 'k1';
    const params = { pushToken: secret, ...laptop };
    const first = await world.call(chloe, organizationsHandlers.devices.register, params, { idempotencyKey });
    const second = await chloe.devices.register(laptop);
    expect(await tokensOf(orgId)).toEqual([{ device_id: 'laptop', push_token: secret }]);
    expect([second.device.takesPush, first.json, JSON.stringify(second)].join()).not.toContain(secret);
    for (const table of ['audit', 'activity', 'outbox', 'idempotency_keys']) {
      const rows = await world.rows<{ text: string }>(
        `select t::text as text from ${table} t where org_id = $1`,
        orgId,
      );
      for (const { text } of rows) expect(text).not.toContain(secret);
    }
    expect(await world.rows('select target from audit where org_id = $1', orgId)).toEqual([
      { target: 'laptop' },
      { target: 'laptop' },
    ]);
  });

  describe('from a browser', () => {
    const point = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)]).toString('base64url');
    const auth = Buffer.alloc(16, 7).toString('base64url');
    const browser = { ...laptop, platform: 'web' } as const;
    const endpoint = 'https://updates.push.services.mozilla.com/x';

    it('takes what can be pushed to', async () => {
      const { chloe } = await world.org();
      const pushToken = JSON.stringify({ endpoint, expirationTime: null, keys: { p256dh: point, auth } });
      expect((await chloe.devices.register({ ...browser, pushToken })).device.takesPush).toBe(true);
    });

    it.each([
      'a token of another kind',
      '{}',
      JSON.stringify({ endpoint: 'http://a.example', keys: { p256dh: point, auth } }),
      JSON.stringify({ endpoint, keys: { p256dh: 'x', auth } }),
      JSON.stringify({ endpoint, keys: { p256dh: `A${point.slice(1)}`, auth } }),
      JSON.stringify({ endpoint, keys: { p256dh: point, auth: `${auth}AA` } }),
    ])('refuses %s', async (pushToken) => {
      const { orgId, chloe } = await world.org();
      await expect(chloe.devices.register({ ...browser, pushToken })).rejects.toMatchObject({
        status: 400,
        body: { details: { issues: [{ path: 'pushToken' }] } },
      });
      expect(await tokensOf(orgId)).toEqual([]);
    });
  });

  it('is each member’s own: the same deviceId is two devices of two members', async () => {
    const { orgId, chloe, dan } = await world.org();
    const { device: one } = await chloe.devices.register(laptop);
    const { device: two } = await dan.devices.register(laptop);
    expect(two.id).not.toBe(one.id);
    expect(await tokensOf(orgId)).toHaveLength(2);
  });

  it('is not for an agent’s token, whose device would hear its member’s notifications', async () => {
    const { orgId, chloe, robo } = await world.org();
    await chloe.devices.register(laptop);
    for (const call of [
      () => robo.devices.register(laptop),
      () => robo.devices.unregister({ deviceId: 'laptop' }),
    ])
      await expect(call()).rejects.toMatchObject({ status: 403 });
    await expect(robo.devices.register({ ...laptop, deviceId: 'x' })).rejects.toMatchObject({
      reason: 'agents_may_not',
    });
    expect(await tokensOf(orgId)).toHaveLength(1);
  });

  it('makes room when a device ended with the token that it came by', async () => {
    const { orgId, chloe } = await world.org();
    const leaked = await world.token(orgId, chloe.me.memberId);
    for (let n = 1; n <= 50; n += 1) await leaked.devices.register({ ...laptop, deviceId: `d${n}` });
    await expect(chloe.devices.register(laptop)).rejects.toMatchObject({ reason: 'limit_exceeded' });
    // A repeated registration binds the device to the new token.
    await chloe.devices.register({ ...laptop, deviceId: 'd1' });
    await world.rows(
      'update tokens set revoked_at = now() where hash = sha256($1::bytea)',
      Buffer.from(leaked.me.token),
    );
    await chloe.devices.register(laptop);
    expect((await tokensOf(orgId)).map((device) => device.device_id)).toEqual(['d1', 'laptop']);
  });

  it('gives a push token to who registers it last, and only within the organization', async () => {
    const { orgId, chloe, dan } = await world.org();
    const { orgId: otherOrgId, ana: stranger } = await world.org();
    await stranger.devices.register({ ...laptop, pushToken: secret });
    await chloe.devices.register({ ...laptop, pushToken: secret });
    await dan.devices.register({ ...laptop, deviceId: 'phone', pushToken: secret });
    expect(await tokensOf(orgId)).toEqual([
      { device_id: 'laptop', push_token: null },
      { device_id: 'phone', push_token: secret },
    ]);
    expect((await chloe.devices.register(laptop)).device.takesPush).toBe(false);
    expect(await tokensOf(otherOrgId)).toEqual([{ device_id: 'laptop', push_token: secret }]);
  });

  it('leaves a push token with one device when all register it at once', async () => {
    const { orgId, ana, ben, chloe, dan } = await world.org();
    const people = [ana, ben, chloe, dan];
    const outcomes = await world.runUnderContention(
      { table: 'members', id: people.map(({ me }) => me.memberId) },
      ...people.map((person) => () => person.devices.register({ ...laptop, pushToken: secret })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
    const tokens = (await tokensOf(orgId)).map(({ push_token: token }) => token);
    expect(tokens.filter((token) => token !== null)).toEqual([secret]);
  });

  it('doubles nothing when one device registers twice at once', async () => {
    const { orgId, chloe } = await world.org();
    const outcomes = await world.runUnderContention(
      { table: 'members', id: chloe.me.memberId },
      () => chloe.devices.register(laptop),
      () => chloe.devices.register(laptop),
    );
    const ids = outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value.device.id);
    expect(ids[0]).toBe(ids[1]);
    expect(await tokensOf(orgId)).toHaveLength(1);
  });

  it('takes 50 devices of one member, also when they come at once', async () => {
    const { orgId, chloe, dan } = await world.org();
    for (let n = 1; n < 50; n += 1) await chloe.devices.register({ ...laptop, deviceId: `d${n}` });
    const outcomes = await world.runUnderContention(
      { table: 'members', id: chloe.me.memberId },
      () => chloe.devices.register({ ...laptop, deviceId: 'x' }),
      () => chloe.devices.register({ ...laptop, deviceId: 'y' }),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as { reason: string }).reason)).toEqual(['limit_exceeded']);
    expect(await tokensOf(orgId)).toHaveLength(50);
    await chloe.devices.register({ ...laptop, deviceId: 'd1' });
    await dan.devices.register(laptop);
  });

  it('is refused to who was removed while waiting', async () => {
    const { orgId, ana, chloe } = await world.org();
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'members', id: chloe.me.memberId },
      () => ana.members.removeMember({ memberId: chloe.me.memberId }),
      () => chloe.devices.register(laptop),
    );
    expect(outcomes[0]?.status).toBe('fulfilled');
    expect(await tokensOf(orgId)).toEqual([]);
  });

  it.each([
    { deviceId: '' },
    { deviceId: 'x'.repeat(129) },
    { name: ' ' },
    { platform: 'amiga' },
    { pushToken: '' },
    { pushToken: 'x'.repeat(4097) },
    { appVersion: '' },
  ])('refuses %j', async (wrong) => {
    const { chloe } = await world.org();
    const params = { ...laptop, ...wrong };
    await expect(world.call(chloe, organizationsHandlers.devices.register, params)).rejects.toMatchObject({
      status: 400,
    });
  });
});

describe('devices.unregister', () => {
  it('forgets one’s own device, once', async () => {
    const { orgId, chloe, dan } = await world.org();
    await chloe.devices.register({ ...laptop, pushToken: secret });
    await expect(dan.devices.unregister({ deviceId: 'laptop' })).rejects.toMatchObject({ status: 404 });
    expect(await chloe.devices.unregister({ deviceId: 'laptop' })).toEqual({ deleted: true });
    await expect(chloe.devices.unregister({ deviceId: 'laptop' })).rejects.toMatchObject({ status: 404 });
    expect(await tokensOf(orgId)).toEqual([]);
  });
});

describe('devices.connectChat', () => {
  const url = 'https://hooks.slack.com/services/T0/B0/secret-4711';
  const channel = { service: 'slack', name: '#chloe', url } as const;

  it('connects a channel whose address is sealed, and shown nowhere', async () => {
    const { orgId, chloe } = await world.org();
    const answer = await chloe.devices.connectChat(channel);
    expect(organizationsRegistry.devices.connectChat.result.parse(answer)).toEqual(answer);
    expect(answer.device).toMatchObject({
      platform: 'slack',
      name: '#chloe',
      takesPush: true,
      appVersion: null,
    });
    for (const table of ['devices', 'audit', 'activity', 'outbox', 'idempotency_keys']) {
      const rows = await world.rows<{ text: string }>(
        `select t::text as text from ${table} t where org_id = $1`,
        orgId,
      );
      for (const { text } of rows) expect(text).not.toContain('secret-4711');
    }
    const [row] = await world.rows<{ push_token: string; key: Buffer }>(
      'select d.push_token, s.cursor_key as key from devices d join streams s using (org_id) where org_id = $1',
      orgId,
    );
    const sealed = Buffer.from(row?.push_token ?? '', 'base64');
    const open = (id: string) =>
      createSecretCipher([]).decrypt(deviceSecretOwner(row?.key ?? Buffer.alloc(0), id), sealed);
    expect(open(answer.device.id)).toBe(url);
    expect(open('another')).toBeUndefined();
  });

  it('asks for a mail to the member, who may not have done it', async () => {
    const { orgId, ana, chloe } = await world.org();
    await chloe.devices.connectChat(channel);
    const [row] = await world.rows<{ payload: { memberId: string; name: string; service: 'slack' } }>(
      `select payload from outbox where org_id = $1 and topic = 'chat.mail'`,
      orgId,
    );
    expect(row?.payload).toEqual({ memberId: chloe.me.memberId, name: '#chloe', service: 'slack' });
    let mail: Awaited<ReturnType<typeof prepareChatMail>> = null;
    const looking = handle(organizationsRegistry.devices.unregister, async ({ db }) => {
      mail = await prepareChatMail(db, {
        ...{
          memberId: chloe.me.memberId,
          name: '#chloe',
          service: 'slack',
          baseUrl: 'https://muster.example/',
        },
      });
      return { deleted: true as const };
    });
    await world.call(ana, looking, { deviceId: 'x' });
    expect(mail).toMatchObject({
      to: 'chloe@example.com',
      subject: 'Your notifications are now sent to Slack: #chloe',
      text: expect.stringContaining('https://muster.example/console/settings/notifications'),
    });
  });

  it('stays when the session ends, other than devices, until it is removed', async () => {
    const { orgId, chloe, dan } = await world.org();
    const session = await world.token(orgId, chloe.me.memberId);
    await session.devices.register(laptop);
    await world.rows(
      `update tokens set kind = 'session', session_id = gen_random_uuid() where hash = sha256($1::bytea)`,
      Buffer.from(session.me.token),
    );
    const { device } = await session.devices.connectChat(channel);
    expect((await chloe.devices.list({})).items.map(({ platform }) => platform)).toEqual(['macos', 'slack']);
    await world.rows(
      'update tokens set revoked_at = now() where hash = sha256($1::bytea)',
      Buffer.from(session.me.token),
    );
    expect((await chloe.devices.list({})).items).toEqual([device]);
    expect((await dan.devices.list({})).items).toEqual([]);
    await expect(dan.devices.unregister({ deviceId: device.deviceId })).rejects.toMatchObject({
      status: 404,
    });
    await chloe.devices.unregister({ deviceId: device.deviceId });
    expect((await chloe.devices.list({})).items).toEqual([]);
  });

  it('ends with the access token that connected it, which may have leaked', async () => {
    const { orgId, chloe } = await world.org();
    const leaked = await world.token(orgId, chloe.me.memberId);
    await leaked.devices.connectChat(channel);
    expect((await chloe.devices.list({})).items).toHaveLength(1);
    await world.rows(
      'update tokens set revoked_at = now() where hash = sha256($1::bytea)',
      Buffer.from(leaked.me.token),
    );
    await chloe.devices.connectChat({ ...channel, name: '#other' });
    expect((await chloe.devices.list({})).items.map(({ name }) => name)).toEqual(['#other']);
  });

  it('is removed with its member', async () => {
    const { orgId, ana, chloe } = await world.org();
    await chloe.devices.connectChat(channel);
    await ana.members.removeMember({ memberId: chloe.me.memberId });
    expect(await tokensOf(orgId)).toEqual([]);
  });

  it('takes 5 channels, also when they come at once', async () => {
    const { orgId, chloe } = await world.org();
    for (let n = 1; n < 5; n += 1) await chloe.devices.connectChat(channel);
    const outcomes = await world.runUnderContention(
      { table: 'members', id: chloe.me.memberId },
      () => chloe.devices.connectChat(channel),
      () => chloe.devices.connectChat(channel),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as { reason: string }).reason)).toEqual(['limit_exceeded']);
    expect(await tokensOf(orgId)).toHaveLength(5);
  });

  it('is not for an agent, and no device takes its place', async () => {
    const { chloe, robo } = await world.org();
    await expect(robo.devices.connectChat(channel)).rejects.toMatchObject({ reason: 'agents_may_not' });
    await expect(robo.devices.list({})).rejects.toMatchObject({ reason: 'agents_may_not' });
    const { device } = await chloe.devices.connectChat(channel);
    await expect(chloe.devices.register({ ...laptop, deviceId: device.deviceId })).rejects.toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'deviceId' }] } },
    });
  });

  it('is for addresses of the service alone, even where webhooks reach private networks', async () => {
    const { orgId, chloe } = await world.org();
    const { connectChat } = createDeviceHandlers(createSecretCipher([]));
    for (const address of ['https://10.0.0.1/services/x', 'https://acme.example/services/x', `${url}#x`])
      await expect(world.call(chloe, connectChat, { ...channel, url: address })).rejects.toMatchObject({
        status: 400,
        details: { issues: [{ path: 'url' }] },
      });
    expect(await tokensOf(orgId)).toEqual([]);
  });

  it('lists page by page, oldest first', async () => {
    const { chloe } = await world.org();
    for (const name of ['#a', '#b', '#c']) await chloe.devices.connectChat({ ...channel, name });
    const first = await chloe.devices.list({ limit: 2 });
    const second = await chloe.devices.list({ limit: 2, cursor: first.nextCursor ?? '' });
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(['#a', '#b', '#c']);
    expect(second.nextCursor).toBeNull();
  });
});
