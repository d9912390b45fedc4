// The forms of answers: lean for models, within limits in tokens, and the API's own form with view=full.
import { describe, expect, it } from '@jest/globals';
import { registry } from '@muster/registry';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { type ToolAnswer, useGateway } from './gateway.ts';

const gateway = useGateway();
const { world } = gateway;

const encoding = new Tiktoken(o200k);
const tokensOf = (text: string): number => encoding.encode(text).length;
const textOf = ({ content }: ToolAnswer): string => content[0]?.text ?? '';

interface HeldWork {
  readonly executionId: string;
  readonly leaseToken: string;
}
const heldWorkIn = ({ structuredContent }: ToolAnswer): HeldWork => {
  const { execution, leaseToken } = structuredContent as unknown as {
    execution: { id: string };
    leaseToken: string;
  };
  return { executionId: execution.id, leaseToken };
};

/** Creates a project with an epic, and stories as teams write them. */
async function createTestBoard() {
  const people = await world.org();
  const api = gateway.apiClient(people.ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  const { epic } = await api.epics.create({ projectId: 'WEB', title: 'Passkeys for everyone' });
  const titles = ['Sign in with a passkey', 'Show the passkeys of a member', 'Remove a lost passkey'];
  for (const title of titles)
    await api.stories.create({
      ...{ projectId: 'WEB', title, status: 'ready', priority: 'high', epicId: epic.id },
      ...{ labels: ['auth', 'web'], estimate: 3, description: 'Members forget their passwords.' },
      spec: '# Passkeys\n\n- The form offers the passkeys of the device.\n- A password still works.\n',
    });
  await api.stories.update({
    ...{ storyId: 'WEB-3', priority: 'urgent', blockedBy: ['WEB-1'], parentId: 'WEB-2' },
  });
  await api.comments.create({ storyId: 'WEB-1', kind: 'question', body: 'Do we keep the password?' });
  return { ...people, api };
}

const callTool = (token: string, name: string, args: object, query = '?mode=core') =>
  gateway.tool(token, name, args, { query });

describe('a lean answer', () => {
  it('is short: identity, next_work, lock_paths, checkpoint and a listed story', async () => {
    const { robo } = await createTestBoard();
    const call = async (name: string, args: object): Promise<ToolAnswer> => {
      const answer = await callTool(robo.me.token, name, args);
      expect([name, answer.isError, JSON.parse(textOf(answer))]).toEqual([
        ...[name, undefined, answer.structuredContent],
      ]);
      return answer;
    };
    const next = await call('next_work', { projectId: 'WEB', runId: 'run-1', resources: ['src/auth'] });
    expect(next.structuredContent).toMatchObject({
      ...{ execution: { runId: 'run-1', state: 'leased' }, lock: { resources: ['src/auth'] } },
      ...{ context: { story: { key: 'WEB-1' }, spec: { version: 1 } }, skipped: [{ key: 'WEB-3' }] },
    });
    const held = heldWorkIn(next);
    const locked = await call('lock_paths', { ...held, resources: ['src/forms', 'docs/sign-in.md'] });
    const saved = await call('deliveryExecutions_checkpoint', {
      ...{ ...held, summary: 'The form is there; its check is missing', nextSteps: ['Check it'] },
      filesTouched: ['src/auth/form.ts'],
    });
    expect(saved.structuredContent).toMatchObject({
      execution: { checkpoint: { seq: 1 }, lease: { renewBy: expect.stringMatching(/^in \d+ min$/) } },
      signals: [],
    });
    const identity = await call('session_identity', {});
    expect(identity.structuredContent).toMatchObject({
      agent: { name: 'Robo' },
      holding: [{ key: 'WEB-1', runId: 'run-1', executionId: held.executionId }],
    });
    const listed = await call('stories_list', { projectId: 'WEB' });
    const items = listed.structuredContent['items'] as readonly unknown[];
    expect(items).toHaveLength(3);
    expect(items).toContainEqual(
      expect.objectContaining({ key: 'WEB-3', blockedBy: ['WEB-1'], parentId: 'WEB-2' }),
    );
    const costs = {
      identity: tokensOf(textOf(identity)),
      nextWork: tokensOf(textOf(next)),
      lockPaths: tokensOf(textOf(locked)),
      checkpoint: tokensOf(textOf(saved)),
      story: Math.max(...items.map((item) => tokensOf(JSON.stringify(item)))),
    };
    const limits = { identity: 400, nextWork: 700, lockPaths: 200, checkpoint: 120, story: 120 };
    expect(Object.entries(limits).filter(([name, most]) => costs[name as keyof typeof costs] > most)).toEqual(
      [],
    );
    for (const answer of [next, locked, saved, identity, listed])
      expect(textOf(answer)).not.toMatch(/:null|(?<!serverTime":)"\d{4}-\d\d-\d\dT/);
  });

  it('has the fields of the API at their paths, and nothing else', async () => {
    const { robo } = await createTestBoard();
    const read = async (query: string): Promise<Record<string, unknown>> =>
      (await callTool(robo.me.token, 'stories_get', { storyId: 'WEB-1' }, query)).structuredContent;
    const [lean, full] = [await read(''), await read('?view=full')];
    const { story } = registry.stories.get.result.parse(full);
    expect(full['story']).toEqual(story);
    const { createdBy, ...shown } = lean['story'] as Record<string, unknown>;
    expect(story).toMatchObject(shown);
    expect(createdBy).toEqual({ kind: 'member', name: 'Ana' });
  });
});

describe('the API’s own form', () => {
  it.each([
    ['?view=full', {}],
    ['?outputSchema=1', {}],
    ['', { 'x-mcp-view': 'full' }],
  ])('is answered to programs: %s %j', async (query, headers) => {
    const { robo, api } = await createTestBoard();
    const call = (name: string, args: object) => gateway.tool(robo.me.token, name, args, { query, headers });
    const held = heldWorkIn(await call('start_work', { storyId: 'WEB-1' }));
    const answer = await call('deliveryExecutions_renew', held);
    expect(registry.deliveryExecutions.renew.result.parse(answer.structuredContent)).toEqual(
      JSON.parse(textOf(answer)),
    );
    const { execution } = await api.deliveryExecutions.get({ executionId: held.executionId });
    expect(answer.structuredContent).toMatchObject({
      execution: { targetId: execution.targetId, lease: { holder: { agentId: robo.me.agentId } } },
    });
  });

  it('is not mistaken for another', async () => {
    const { robo } = await createTestBoard();
    const { status, body } = await gateway.rpc(robo.me.token, 'tools/list', {}, { query: '?view=fat' });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('lean, full')]);
  });
});
