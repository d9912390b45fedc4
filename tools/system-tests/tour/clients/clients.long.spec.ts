/**
 * Tests the part of `npm run clients` that needs no download: the protocol's own packages in both protocol
 * eras, recorded messages of coding agents, and the stub model.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { repositoryRoot } from '@muster/tools';
import { type Instance, startInstance } from '../instance.ts';
import { Journal } from '../journal.ts';
import { foundTeam, type TourTeam } from '../team.ts';
import { probes } from './probes.ts';
import { projectKey, startStubModel, type StubModel } from './stub-model.ts';
import { callsToGoal, readTranscripts, replay } from './transcripts.ts';
import { tryProbe } from './trying.ts';

const transcripts = await readTranscripts();

describe('a client', () => {
  let instance: Instance;
  let team: TourTeam;
  let token = '';

  beforeAll(async () => {
    instance = await startInstance();
    const slug = `clients-${randomBytes(4).toString('hex')}`;
    team = await foundTeam(instance, new Journal(instance.baseUrl, slug), slug);
    ({ token } = team.scout);
    await team.ana.api.projects.create({ key: projectKey, name: 'Clients' });
  }, 120_000);
  afterAll(() => instance.stop());

  it.each([
    ['SDK v1', 'initialize 2025-11-25'],
    ['SDK v2 with its defaults', 'initialize 2025-11-25'],
    ['SDK v2, stateless', 'server/discover 2026-07-28'],
  ])(
    'by the %s connects, lists, calls and is refused',
    async (name, opens) => {
      const probe = probes.find((one) => one.name === name);
      if (probe === undefined) throw new Error(`there is no probe ${name}`);
      const tried = await tryProbe(probe, `${instance.mcpUrl}/core`, token, repositoryRoot);
      expect(tried).toMatchObject({ opens, call: true, refusal: true });
      expect(tried.trouble).toBeUndefined();
      expect(tried.tools).toBeGreaterThan(10);
      expect(tried.badToken).toMatch(/unauthori[sz]|requires authorization/);
    },
    120_000,
  );

  // The messages are those that `npm run clients -- --write` recorded.
  it.each([...transcripts])(
    'by the recorded %s submits its work with five calls',
    async (name, transcript) => {
      await team.ana.api.stories.create({ projectId: projectKey, title: name, status: 'ready' });
      const exchanges = await replay(transcript, `${instance.mcpUrl}/core`, token);
      expect(callsToGoal(exchanges)).toBe(5);
    },
  );
});

describe('the stub of a model', () => {
  let model: StubModel;
  beforeAll(async () => {
    model = await startStubModel();
  });
  afterAll(() => model.close());

  const identity = '"serverTime":"2026-11-21"';
  const names = [
    ...['session_identity', 'start_work', 'next_work', 'deliveryExecutions_checkpoint', 'submit_work'],
  ].map((name) => `mcp__muster__${name}`);
  const plain = names.map((name) => ({ name }));
  const asFunctions = plain.map((stated) => ({ type: 'function', function: stated }));
  const spaced = [{ type: 'namespace', name: 'muster', tools: plain }];
  it.each([
    ['/v1/messages', plain],
    ['/v1/responses', spaced],
    ['/v1/chat/completions', asFunctions],
    ['/v1beta/models/x:streamGenerateContent?alt=sse', [{ functionDeclarations: plain }]],
  ])('asks at %s for who it is, takes and submits work, and ends', async (path, tools) => {
    const ask = async (told: string): Promise<string> => {
      const body = JSON.stringify({ stream: true, tools, told });
      const answer = await fetch(`${model.url}${path}`, { method: 'POST', body });
      return answer.text();
    };
    expect(await ask('')).toContain('session_identity');
    const second = await ask(identity);
    expect(second).toContain('start_work');
    expect(second).toContain('NONE-1');
    const refusal = `${identity}, "code":"not_found"`;
    expect(await ask(refusal)).toContain('next_work');
    const work = `${refusal}, "execution":{"id":"e-1"}, "leaseToken":"l-1"`;
    const checkpoint = await ask(work);
    for (const words of ['deliveryExecutions_checkpoint', 'e-1', 'l-1']) expect(checkpoint).toContain(words);
    expect(await ask(`${work}, "checkpoint":{"seq":1}`)).toContain('submit_work');
    const last = await ask(`${work}, "checkpoint":{"seq":1}, "state":"submitted"`);
    expect(last).toContain('Done.');
    expect(last).not.toContain('submit_work');
    expect([...model.tools()]).toEqual(names);
  });

  it('looks a tool up where its client tells names alone', async () => {
    const body = JSON.stringify({ stream: true, tools: [{ name: 'ToolSearch' }] });
    const answer = await fetch(`${model.url}/v1/messages`, { method: 'POST', body });
    expect(await answer.text()).toContain(`select:${names.join(',')}`);
  });

  const parameters = {
    type: 'object',
    properties: { storyId: { type: 'string' }, force: { type: ['boolean', 'null'] } },
    required: ['storyId', 'force'],
    additionalProperties: false,
  };
  const ask = async (strictly: object): Promise<Response> => {
    const tools = [{ type: 'function', name: 'start_work', strict: true, parameters: strictly }];
    const body = JSON.stringify({ tools, told: identity });
    return fetch(`${model.url}/v1/responses`, { method: 'POST', body });
  };

  it('sends null for what it does not mean, where it has to name it', async () => {
    const { output } = (await (await ask(parameters)).json()) as { output: { arguments: string }[] };
    expect(JSON.parse(output[0]?.arguments ?? '')).toEqual({ storyId: 'NONE-1', force: null });
  });

  it.each([
    [{ ...parameters, required: ['storyId'] }, '$: required must have force'],
    [{ ...parameters, additionalProperties: true }, '$: additionalProperties must be false'],
    [
      { ...parameters, properties: { ...parameters.properties, storyId: { type: 'string', format: 'uri' } } },
      '$.storyId: uri is no valid format',
    ],
  ])('refuses strict schemas that OpenAI refuses: %#', async (schema, why) => {
    const refused = await ask(schema);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain(why);
  });
});
