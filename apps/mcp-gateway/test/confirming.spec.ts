// A person confirms irreversible calls, if the client can ask one.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type People } from '@muster/testing';
import { confirmedOperations } from '../src/calls/confirming.ts';
import { type RpcAnswer, useGateway } from './gateway.ts';

const gateway = useGateway();
let people: People;

beforeEach(async () => {
  people = await gateway.world.org();
  const api = gateway.apiClient(people.ana.me.token);
  for (const [key, name] of [
    ['OLD', 'Old site'],
    ['WEB', 'Website'],
  ] as const)
    await api.projects.create({ key, name });
});

const capabilities = (said: object) => ({ 'io.modelcontextprotocol/clientCapabilities': said });
const formCapabilities = capabilities({ elicitation: { form: {}, url: {} } });
const deleteProjectCall = (key: string) => ({
  name: 'projects_delete',
  arguments: { projectId: key, confirmKey: key },
});

const call = (
  params: object,
  meta: object = formCapabilities,
  token = people.ana.me.token,
): Promise<RpcAnswer> => gateway.modern(token, 'tools/call', params, { meta: { ...meta } });

const stateOf = ({ body }: RpcAnswer): string => String(body.result?.['requestState']);
const answeredCall = (state: string, confirm: object) => ({
  inputResponses: { confirm },
  requestState: state,
});
const acceptResponse = { action: 'accept', content: { confirm: true } };
const projects = async () =>
  (await gateway.apiClient(people.ana.me.token).projects.list()).items.map(({ key }) => key);

describe('a call that cannot be undone', () => {
  it('asks first, by the name of what it is about, and is done once that is confirmed', async () => {
    const asked = await call(deleteProjectCall('OLD'));
    expect(asked.body.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        confirm: {
          method: 'elicitation/create',
          params: {
            message: expect.stringMatching(/Old site \(OLD\).*cannot be undone/),
            requestedSchema: { required: ['confirm'] },
          },
        },
      },
    });
    expect(await projects()).toEqual(['OLD', 'WEB']);
    const done = await call({ ...deleteProjectCall('OLD'), ...answeredCall(stateOf(asked), acceptResponse) });
    expect(done.body.result).toMatchObject({ resultType: 'complete', structuredContent: { deleted: true } });
    expect(await projects()).toEqual(['WEB']);
  });

  it.each([
    { action: 'accept', content: { confirm: false } },
    { action: 'accept', content: {} },
    { action: 'decline' },
    { action: 'cancel' },
  ])('is not done where a person says %j', async (said) => {
    const asked = await call(deleteProjectCall('OLD'));
    const { body } = await call({ ...deleteProjectCall('OLD'), ...answeredCall(stateOf(asked), said) });
    expect(body.result).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'forbidden', details: { reason: 'declined' } } },
    });
    expect(await projects()).toEqual(['OLD', 'WEB']);
  });

  it('is confirmed for itself alone: for another the person is asked anew', async () => {
    const asked = await call(deleteProjectCall('OLD'));
    const other = await call({
      ...deleteProjectCall('WEB'),
      ...answeredCall(stateOf(asked), acceptResponse),
    });
    expect(other.body.result).toMatchObject({ resultType: 'input_required' });
    const unsaid = await call({ ...deleteProjectCall('OLD'), requestState: stateOf(asked) });
    expect(unsaid.body.result).toMatchObject({ resultType: 'input_required' });
    expect(await projects()).toEqual(['OLD', 'WEB']);
  });

  it('takes no word of a state that was changed, or that is of another caller', async () => {
    const state = stateOf(await call(deleteProjectCall('OLD')));
    const [version = '', body = '', mac = ''] = state.split('.');
    const changed = [version, `${body.slice(0, -2)}AA`, mac].join('.');
    for (const [token, sent] of [
      [people.ana.me.token, changed],
      [people.ben.me.token, state],
    ] as const) {
      const refused = await call(
        { ...deleteProjectCall('OLD'), ...answeredCall(sent, acceptResponse) },
        formCapabilities,
        token,
      );
      expect(refused.body.error?.code).toBe(-32602);
    }
    expect(await projects()).toEqual(['OLD', 'WEB']);
  });

  it('asks through the tool that calls others, too, and by the name of a person', async () => {
    const { ben, ana } = people;
    const operation = { operation: 'members.removeMember', params: { memberId: ben.me.memberId } };
    const params = { name: 'call_write_operation', arguments: operation };
    const { body } = await gateway.modern(ana.me.token, 'tools/call', params, {
      query: '?mode=core',
      meta: { ...formCapabilities },
    });
    expect(JSON.stringify(body.result)).toContain('Remove Ben from the organization?');
  });

  it.each([{}, { elicitation: { url: {} } }])(
    'goes by its key alone for a client that says %j',
    async (said) => {
      const { body } = await call(deleteProjectCall('OLD'), capabilities(said));
      expect(body.result).toMatchObject({ structuredContent: { deleted: true } });
    },
  );

  it('goes by its key alone in the older eras, which have no way to ask within a request', async () => {
    const { structuredContent } = await gateway.tool(
      people.ana.me.token,
      'projects_delete',
      deleteProjectCall('OLD').arguments,
    );
    expect(structuredContent).toEqual({ deleted: true });
  });

  it('is refused before anybody is asked where there is nothing to be done', async () => {
    const { body } = await call(deleteProjectCall('NONE'));
    expect(body.result).toMatchObject({ isError: true, structuredContent: { error: { code: 'not_found' } } });
  });
});

it('the operations that ask are those of the contract that nothing brings back', () => {
  expect(confirmedOperations).toEqual([
    ...['orgs.delete', 'orgs.transferOwnership', 'projects.delete'],
    ...['members.removeMember', 'gamification.reset', 'agents.catalog.delete'],
  ]);
});

it('the v2 SDK asks its user, and goes on with what they say', async () => {
  const heard: string[] = [];
  const client = new Client(
    { name: 'spec', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    heard.push(params.message);
    return { action: 'accept', content: { confirm: true } };
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(gateway.url()), {
      requestInit: { headers: { authorization: `Bearer ${people.ana.me.token}` } },
    }),
  );
  const { structuredContent } = await client.callTool(deleteProjectCall('OLD'));
  await client.close();
  expect([heard.length, structuredContent]).toEqual([1, { deleted: true }]);
  expect(await projects()).toEqual(['WEB']);
});
