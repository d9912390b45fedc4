// Imprecise arguments for every tool: corrected if they have one meaning, otherwise rejected with an
// explanation.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Operation } from '@muster/contract';
import { operations, registry } from '@muster/registry';
import { checkEachCase } from '@muster/testing';
import {
  exampleCallerOf,
  type ExampleOrg,
  createExampleOrg,
  createExampleOrgProvider,
} from '@muster/examples';
import { repairArguments, applyClearParameter } from '../src/calls/repair.ts';
import { type AnyTool, allTools } from '../src/tools/toolbox.ts';
import { operationTool, toolNameOf } from '../src/tools/tools.ts';
import { type Args, malformedFields, firstOfEachKind, kindOf, invalidValuesFor } from './arguments.ts';
import { specRead, type ToolAnswer, useGateway } from './gateway.ts';

const gateway = useGateway();
const orgFor = createExampleOrgProvider(gateway.world);
const toolOperations = [...operations.values()].filter(({ surfaces }) => surfaces.includes('tool'));
const storyId = 'WEB-1';
const unknownId = '01936d5c-0000-7000-8000-00000000dead';

/** Selects the core list for meta tools, since the full list has none. */
const modeOptions = ({ kind }: AnyTool) => (kind === 'meta' ? { query: '?mode=core' } : {});

/** Example arguments of tools that are not operations. */
const macroToolExamples: Readonly<Record<string, Args>> = {
  start_work: { storyId, resources: ['src/auth/**'], runId: 'run-7', ttlSeconds: 600, force: true },
  next_work: { projectId: 'WEB', labels: ['api'], runId: 'run-8', assignedToMe: true },
  lock_paths: { executionId: unknownId, leaseToken: 'token', resources: ['src/auth/**'] },
  ask_question: { executionId: unknownId, leaseToken: 'token', question: 'Which?', directedTo: unknownId },
  wait_for: { executionId: unknownId, leaseToken: 'token', waitSeconds: 1 },
  inbox: { after: 1 },
  submit_work: {
    ...{ executionId: unknownId, leaseToken: 'token', summary: 'Done', nextSteps: ['Go on'], pushed: true },
    ...{ outcome: 'submitted', pullRequest: { number: 7, url: 'https://example.com/pull/7' } },
  },
  hand_off_work: { executionId: unknownId, leaseToken: 'token', summary: 'Half', toMemberId: unknownId },
  attach_text: { targetType: 'story', targetId: 'WEB-1', name: 'notes.md', text: 'Text', kind: 'log' },
  release_work: { executionId: unknownId, leaseToken: 'token', reason: 'Lunch' },
  search_operations: { query: 'lock files', limit: 3 },
  describe_operation: { operation: 'stories.list' },
  call_read_operation: { operation: 'stories.list', params: { projectId: 'WEB', limit: 1 } },
  call_write_operation: { operation: 'locks.release', params: { lockId: unknownId } },
};

const examples = allTools.map(
  (tool) =>
    [
      tool.name,
      tool,
      tool.kind === 'operation' ? (tool.operation.example as Args) : (macroToolExamples[tool.name] ?? {}),
    ] as const,
);

/** Every parameter of every tool. */
const params = examples.flatMap(([name, tool, example]) =>
  Object.entries(tool.fullParams.properties).map(
    ([param, schema]) => [`${name} ${param}`, { tool, example, param, schema }] as const,
  ),
);

describe('what has one meaning', () => {
  it('is read as that by every tool', async () => {
    await checkEachCase(examples, ({ fullParams }, example) => {
      expect(Object.keys(example).length).toBeGreaterThanOrEqual(fullParams.required?.length ?? 0);
      expect(repairArguments(fullParams, malformedFields(fullParams, example))).toEqual(example);
    });
  });

  const statedBy = ({ name }: Operation) =>
    operationTool(name)?.fullParams ?? { type: 'object' as const, properties: {} };
  const ofEachKind = firstOfEachKind(toolOperations, (operation) =>
    Object.keys(operation.example).map((param) => kindOf(statedBy(operation).properties[param] ?? {})),
  );

  it('does what it does as it should be written, called by itself and in the core: an operation for each kind of parameter', async () => {
    const cases = ofEachKind.map((operation) => [toolNameOf(operation.name), operation] as const);
    await checkEachCase(cases, async (operation) => {
      for (const isCore of [false, true]) {
        const { token } = exampleCallerOf(operation, await orgFor(operation)).me;
        const read = await specRead(gateway, operation.name, token);
        const given = malformedFields(statedBy(operation), { ...(operation.example as Args), ...read });
        const { isError, structuredContent } = isCore
          ? await gateway.tool(
              token,
              `call_${operation.effect}_operation`,
              { Operation: ` ${operation.name} `, params: JSON.stringify(given) },
              { query: '?mode=core&view=full' },
            )
          : await gateway.tool(token, toolNameOf(operation.name), given, { query: '?view=full' });
        expect([isError, structuredContent.error]).toEqual([undefined, undefined]);
        const { cut: _, ...result } = structuredContent;
        if (structuredContent['cut'] === undefined) expect(operation.result.parse(result)).toEqual(result);
      }
    });
  }, 300_000);
});

describe('what has more than one meaning, or none', () => {
  let org: ExampleOrg;
  beforeAll(async () => {
    org = await createExampleOrg(gateway.world);
  });

  const expectRefused = (
    { isError, structuredContent: { error } }: ToolAnswer,
    name: string,
    given: unknown,
  ) => {
    const issues = error?.details?.issues ?? [];
    const isNamed = issues.some(({ path }) => path.split(/[.[]/)[0] === name);
    expect([name, given, isError, error?.code, isNamed]).toEqual([name, given, true, 'bad_request', true]);
    for (const { message } of issues) expect(message.length).toBeGreaterThan(5);
    expect(error?.hint).toContain(name);
  };

  it('is refused by the operation of every tool, which names the parameter', async () => {
    await checkEachCase(params, ({ tool, example, param, schema }) => {
      // Skip the gateway's own parameters, such as those that limit a result.
      if (tool.kind !== 'operation' || !(param in tool.operation.params.shape)) return;
      for (const value of invalidValuesFor(schema)) {
        const { error } = tool.operation.params.safeParse(
          applyClearParameter(
            tool.clearablePaths,
            repairArguments(tool.fullParams, { ...example, [param]: value }),
          ),
        );
        const named = error?.issues.map(({ path }) => path[0]) ?? [];
        expect([value, named]).toEqual([value, expect.arrayContaining([param])]);
      }
    });
  });

  it('is refused with the parameter and what is wanted of it, for each kind of parameter', async () => {
    const ofEachKind = firstOfEachKind(params, ([, { tool, schema }]) => [`${tool.kind} ${kindOf(schema)}`]);
    await checkEachCase(ofEachKind, async ({ tool, example, param, schema }) => {
      const { token } = tool.kind === 'operation' ? exampleCallerOf(tool.operation, org).me : org.ana.me;
      for (const value of invalidValuesFor(schema)) {
        const given = { ...example, [param]: value };
        expectRefused(await gateway.tool(token, tool.name, given, modeOptions(tool)), param, value);
      }
    });
  }, 300_000);

  it('is refused by every tool with the parameters that it has, where it has none of that name', async () => {
    await checkEachCase(examples, async (tool, example) => {
      const { token } = tool.kind === 'operation' ? exampleCallerOf(tool.operation, org).me : org.ana.me;
      const args = { ...example, colour_of_it: 'red' };
      const answer = await gateway.tool(token, tool.name, args, modeOptions(tool));
      expectRefused(answer, 'colour_of_it', 'red');
      for (const param of Object.keys(tool.tool.inputSchema.properties ?? {}))
        expect(answer.structuredContent.error?.hint).toContain(param);
    });
  }, 300_000);

  it('never becomes what was not meant: a word for nothing is no label, no key and no name', async () => {
    const { token } = org.ana.me;
    const api = gateway.apiClient(token);
    await api.projects.create({ key: 'NONE', name: 'None' });
    await api.stories.update({ storyId, labels: ['api'], description: 'Long', estimate: 3 });
    const before = (await api.stories.get({ storyId })).story;
    for (const word of ['null', 'None', 'undefined', ' null ', 'nil', 'N/A', '']) {
      await gateway.tool(token, 'stories_update', { storyId, labels: word, blockedBy: word });
      await gateway.tool(token, 'stories_update', { storyId, estimate: word, epicId: word, blocked: word });
      await gateway.tool(token, 'members_invite', {
        ...{ email: 'new@example.com', role: 'member', projectIds: word },
      });
    }
    expect((await api.stories.get({ storyId })).story).toEqual(before);
    expect((await api.invitations.list({})).items.map(({ email }) => email)).not.toContain('new@example.com');
  });

  it('of a text is as it came', async () => {
    const { token } = org.ana.me;
    for (const description of ['null', '["a"]', '{"a":1}', ' 5 ', 'true']) {
      await gateway.tool(token, 'stories_update', { storyId, description });
      expect((await gateway.apiClient(token).stories.get({ storyId })).story.description).toBe(description);
    }
  });

  it('knows an example of every tool that is no operation', () => {
    const own = allTools.filter(({ kind }) => kind !== 'operation').map(({ name }) => name);
    expect(Object.keys(macroToolExamples).sort()).toEqual(own.sort());
    expect(registry.stories.update.idempotent).toBe(true);
  });
});
