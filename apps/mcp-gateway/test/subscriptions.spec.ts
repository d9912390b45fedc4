/** subscriptions/listen: the client is notified when one of its resources is written. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type People, waitUntil } from '@muster/testing';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
let people: People;
let ana: Client;
const open = new Set<AbortController>();

beforeEach(async () => {
  people = await gateway.world.org();
  ana = gateway.apiClient(people.ana.me.token);
  await ana.projects.create({ key: 'WEB', name: 'Website' });
  await ana.stories.create({ projectId: 'WEB', title: 'One' });
  await ana.stories.create({ projectId: 'WEB', title: 'Two' });
});
afterEach(() => {
  for (const leaving of open) leaving.abort();
  open.clear();
});

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly uri?: string; readonly notifications?: object; readonly _meta?: object };
  readonly result?: object;
  readonly error?: { readonly code: number; readonly message: string };
}

interface SubscriptionStream {
  readonly response: Response;
  readonly messages: Message[];
  readonly updated: () => (string | undefined)[];
  readonly ended: Promise<void>;
}

async function listen(
  token: string,
  resourceSubscriptions: readonly string[],
  { at = gateway.url(), query = '' } = {},
): Promise<SubscriptionStream> {
  const leaving = new AbortController();
  open.add(leaving);
  const response = await fetch(`${at}${query}`, {
    method: 'POST',
    signal: leaving.signal,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 'listen-1', method: 'subscriptions/listen' },
      params: {
        notifications: { resourceSubscriptions },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'spec', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  const messages: Message[] = [];
  const read = async (): Promise<void> => {
    if (response.headers.get('content-type')?.includes('event-stream') !== true) {
      messages.push((await response.json()) as Message);
      return;
    }
    const decoder = new TextDecoder();
    let rest = '';
    for await (const piece of response.body as ReadableStream<Uint8Array>) {
      rest += decoder.decode(piece, { stream: true });
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (data !== undefined) messages.push(JSON.parse(data) as Message);
      }
    }
  };
  const ended = read().catch(() => undefined);
  await waitUntil(() => messages.length > 0);
  const updated = () =>
    messages.flatMap(({ method, params }) =>
      method === 'notifications/resources/updated' ? [params?.uri] : [],
    );
  return { response, messages, updated, ended };
}

const storyUri = 'muster://stories/WEB-1';
const rename = (storyId: string, title: string) => ana.stories.update({ storyId, title, expectedVersion: 1 });

describe('subscriptions/listen', () => {
  it('names what it will tell of, and tells of each write to that and of nothing else', async () => {
    const named = [storyUri, `${storyUri}/spec`, 'https://other.example', 'x'];
    const dan = await listen(people.dan.me.token, named);
    expect(dan.messages[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { resourceSubscriptions: [storyUri, `${storyUri}/spec`] },
        _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen-1' },
      },
    });
    await rename('WEB-2', 'Other');
    await rename('WEB-1', 'Renamed');
    await waitUntil(() => dan.updated().length > 0);
    expect(dan.updated()).toEqual([storyUri]);
    await ana.storySpec.update({ storyId: 'WEB-1', content: 'So', baseVersion: 0 });
    await waitUntil(() => dan.updated().includes(`${storyUri}/spec`));
    expect(new Set(dan.updated())).toEqual(new Set([storyUri, `${storyUri}/spec`]));
  });

  it('tells of what happens to an execution, also of what is no activity, and ends with it for who may not see it', async () => {
    const { execution, leaseToken } = await ana.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1' },
    });
    const uri = `muster://executions/${execution.id}/events`;
    const missing = 'muster://executions/01936d5c-0000-7000-8000-00000000dead/events';
    const dan = await listen(people.dan.me.token, [uri, missing, 'muster://executions/x/events']);
    expect(dan.messages[0]?.params?.notifications).toEqual({
      resourceSubscriptions: [uri, missing, 'muster://executions/x/events'],
    });
    await ana.deliveryExecutions.update({ executionId: execution.id, requestStop: true });
    await waitUntil(() => dan.updated().length === 1);
    await ana.deliveryExecutions.checkpoint({ executionId: execution.id, leaseToken, summary: 'Half' });
    await waitUntil(() => dan.updated().length === 2);
    expect(new Set(dan.updated())).toEqual(new Set([uri]));
    await ana.projects.update({ projectId: 'WEB', visibility: 'private' });
    await ana.deliveryExecutions.checkpoint({ executionId: execution.id, leaseToken, summary: 'More' });
    await dan.ended;
    expect(dan.updated()).toHaveLength(2);
  });

  it('tells of each new item of the own inbox, and of no older one', async () => {
    const mention = (name: string) => ana.comments.create({ storyId: 'WEB-1', body: `@${name} look` });
    await mention('dan');
    const [dan, ben] = await Promise.all(
      [people.dan, people.ben].map(({ me }) => listen(me.token, ['muster://inbox', 'muster://inbox/x'])),
    );
    expect(dan?.messages[0]?.params?.notifications).toEqual({ resourceSubscriptions: ['muster://inbox'] });
    await mention('ben');
    await waitUntil(() => ben?.updated().length === 1);
    expect(dan?.updated()).toEqual([]);
    await mention('dan');
    await waitUntil(() => dan?.updated().length === 1);
    expect([dan?.updated(), ben?.updated()]).toEqual([['muster://inbox'], ['muster://inbox']]);
  });

  it('takes few executions at once, since each is a call that waits', async () => {
    const uris = Array.from({ length: 6 }, (_, index) => `muster://executions/${index}/events`);
    const dan = await listen(people.dan.me.token, [storyUri, ...uris]);
    expect(dan.messages[0]?.params?.notifications).toEqual({
      resourceSubscriptions: [storyUri, ...uris.slice(0, 4)],
    });
  });

  it('goes on with an execution while the API is started anew, and ends with the token', async () => {
    const { execution, leaseToken } = await ana.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1' },
    });
    const uri = `muster://executions/${execution.id}/events`;
    const ben = await listen(people.ben.me.token, [uri]);
    await gateway.whileApiIsAway(async () => undefined);
    ana = gateway.apiClient(people.ana.me.token);
    const held = { executionId: execution.id, leaseToken };
    await ana.deliveryExecutions.checkpoint({ ...held, summary: 'Right after' });
    await waitUntil(() => ben.updated().length === 1);
    await ana.members.removeMember({ memberId: people.ben.me.memberId });
    await ana.deliveryExecutions.checkpoint({ ...held, summary: 'Another' });
    await ben.ended;
    expect(ben.messages.at(-1)).toMatchObject({ id: 'listen-1', result: { resultType: 'complete' } });
    expect(ben.updated()).toEqual([uri]);
  });

  it('tells nobody of what they may not see', async () => {
    await ana.projects.create({ key: 'HID', name: 'Hidden', visibility: 'private' });
    await ana.stories.create({ projectId: 'HID', title: 'Secret' });
    const [dan, owner] = await Promise.all(
      [people.dan, people.ana].map(({ me }) => listen(me.token, ['muster://stories/HID-1', storyUri])),
    );
    await rename('HID-1', 'Still secret');
    await rename('WEB-1', 'Renamed');
    await waitUntil(() => owner?.updated().length === 2 && dan?.updated().length === 1);
    expect(dan?.updated()).toEqual([storyUri]);
    // A missing execution and a hidden one give the same response.
    expect(dan?.messages[0]).toEqual(owner?.messages[0]);
  });

  it('loses nothing while the API is started anew', async () => {
    const dan = await listen(people.dan.me.token, [storyUri, 'muster://stories/web-2']);
    await gateway.whileApiIsAway(async () => undefined);
    ana = gateway.apiClient(people.ana.me.token);
    await rename('WEB-1', 'Right after');
    await rename('WEB-2', 'And this');
    await waitUntil(() => dan.updated().length === 2);
    expect(dan.updated()).toEqual([storyUri, 'muster://stories/web-2']);
  });

  it('is passed on by the API as it comes', async () => {
    const dan = await listen(people.dan.me.token, [storyUri], { at: `${gateway.apiUrl()}/api/mcp` });
    expect(dan.response.headers.get('content-type')).toBe('text/event-stream');
    await rename('WEB-1', 'Renamed');
    await waitUntil(() => dan.updated().length === 1);
  });

  it('is no wider than what its connection was narrowed to', async () => {
    const dan = await listen(people.dan.me.token, [storyUri, `${storyUri}/spec`], {
      query: '?exclude=stories_get',
    });
    expect(dan.messages[0]?.params?.notifications).toEqual({ resourceSubscriptions: [`${storyUri}/spec`] });
    await rename('WEB-1', 'Renamed');
    await ana.storySpec.update({ storyId: 'WEB-1', content: 'So', baseVersion: 0 });
    await waitUntil(() => dan.updated().length > 0);
    expect(dan.updated()).toEqual([`${storyUri}/spec`]);
  });

  it('ends with the token, by the result that says that it is over', async () => {
    const dan = await listen(people.dan.me.token, [storyUri]);
    await ana.members.removeMember({ memberId: people.dan.me.memberId });
    await rename('WEB-1', 'Renamed');
    await dan.ended;
    expect(dan.updated()).toEqual([]);
    expect(dan.messages.at(-1)).toMatchObject({ id: 'listen-1', result: { resultType: 'complete' } });
  });

  it('is one of the four streams of a member; a fifth ends the oldest by the result', async () => {
    const { token } = people.chloe.me;
    const oldest = await listen(token, [storyUri]);
    for (let count = 0; count < 3; count += 1) await listen(token, [storyUri]);
    const [begun] = (await listen(token, [storyUri])).messages;
    expect(begun?.error).toBeUndefined();
    await oldest.ended;
    expect(oldest.messages.at(-1)).toMatchObject({ id: 'listen-1', result: { resultType: 'complete' } });
  });

  it('ends at once where nothing is left to tell of', async () => {
    const dan = await listen(people.dan.me.token, ['https://other.example']);
    await dan.ended;
    expect(dan.messages).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } },
      { id: 'listen-1', result: {} },
    ]);
  });

  it.each([{}, { notifications: 1 }, { notifications: { resourceSubscriptions: [1] } }])(
    'refuses %j as parameters',
    async (params) => {
      const { body } = await gateway.modern(people.dan.me.token, 'subscriptions/listen', params);
      expect(body.error?.code).toBe(-32602);
    },
  );

  it('is declared in its own era, and unknown to the older ones', async () => {
    const { token } = people.dan.me;
    const modern = await gateway.modern(token, 'server/discover');
    expect(modern.body.result).toMatchObject({ capabilities: { resources: { subscribe: true } } });
    const begun = await gateway.rpc(token, 'initialize', {
      ...{ protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'spec', version: '1' } },
    });
    expect(begun.body.result).toMatchObject({ capabilities: { resources: { listChanged: false } } });
    expect(JSON.stringify(begun.body.result)).not.toContain('subscribe');
    const old = await gateway.rpc(token, 'subscriptions/listen', { notifications: {} });
    expect(old.body.error?.code).toBe(-32601);
  });

  it('holds up no stop of the gateway', async () => {
    const dan = await listen(people.dan.me.token, [storyUri]);
    const began = performance.now();
    await gateway.whileGatewayIsAway(() => pause(0));
    expect(performance.now() - began).toBeLessThan(10_000);
    await dan.ended;
  });
});
