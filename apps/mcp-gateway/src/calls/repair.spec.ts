import { describe, expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { checkEachCase } from '@muster/testing';
import fc from 'fast-check';
import { type z } from 'zod';
import { type AnswerBody } from '../answers/answers.ts';
import { repairArguments, applyClearParameter } from './repair.ts';
import { operationTool, operationTools } from '../tools/tools.ts';

function toolOf(name: string) {
  const tool = operationTool(name);
  if (tool === undefined) throw new Error(`${name} is no tool`);
  return tool;
}
const read = (name: string, args: AnswerBody): AnswerBody => {
  const { fullParams, clearablePaths } = toolOf(name);
  return applyClearParameter(clearablePaths, repairArguments(fullParams, args));
};

describe('null', () => {
  it('leaves alone what an update may leave out, as strict clients send it for each', () => {
    const sent = { storyId: 'WEB-1', title: 'New', description: null, estimate: null, epicId: null };
    expect(read('stories.update', { ...sent, blocked: null, clear: null })).toEqual({
      storyId: 'WEB-1',
      title: 'New',
    });
    const git = { branch: 'web-1', headSha: null, pullRequest: null };
    expect(read('stories.updateGitMeta', { storyId: 'WEB-1', git })).toEqual({
      storyId: 'WEB-1',
      git: { branch: 'web-1' },
    });
    expect(read('stories.list', { projectId: 'WEB', label: null, maxBytes: null })).toEqual({
      projectId: 'WEB',
    });
  });

  it('stays where it is one of the values that are needed', () => {
    expect(read('stories.select', { storyId: null })).toEqual({ storyId: null });
    expect(read('stories.create', { projectId: 'WEB', title: null })).toEqual({
      projectId: 'WEB',
      title: null,
    });
  });

  it('stays in data of the caller’s own', () => {
    const data = { found: null, list: ['1', null] };
    expect(read('deliveryExecutions.checkpoint', { data })).toEqual({ data });
  });

  it('is as if nothing was given, for all that a tool need not be given', async () => {
    const cases = operationTools.map((tool) => [tool.name, tool] as const);
    await checkEachCase(cases, ({ operation, fullParams, clearablePaths, tool }) => {
      const optional = Object.keys(tool.inputSchema.properties ?? {}).filter(
        (name) => fullParams.required?.includes(name) !== true,
      );
      const nulls = Object.fromEntries(optional.map((name) => [name, null]));
      const given = applyClearParameter(
        clearablePaths,
        repairArguments(fullParams, { ...nulls, ...operation.example }),
      );
      expect(given).toEqual(operation.example);
    });
  });
});

describe('clear', () => {
  it('empties what it names, also a field that is merged', () => {
    expect(read('stories.update', { storyId: 'WEB-1', clear: ['estimate', 'blocked'] })).toEqual({
      storyId: 'WEB-1',
      estimate: null,
      blocked: null,
    });
    const git = { branch: 'web-1' };
    expect(read('stories.updateGitMeta', { storyId: 'WEB-1', git, clear: '["git.headSha"]' })).toEqual({
      storyId: 'WEB-1',
      git: { branch: 'web-1', headSha: null },
    });
    expect(read('deliveryExecutions.update', { clear: 'waitingFor' })).toEqual({ waitingFor: null });
  });

  it('is refused for what cannot be empty, and for what is given too', () => {
    const refused = {
      details: expect.objectContaining({ issues: [expect.objectContaining({ path: 'clear' })] }),
    };
    for (const args of [{ clear: ['title'] }, { clear: 7 }, { clear: ['estimate'], estimate: 3 }])
      expect(() => read('stories.update', { storyId: 'WEB-1', ...args })).toThrow(
        expect.objectContaining(refused),
      );
  });

  it('names all that null clears in an update of the contract', () => {
    const tools = [...operations.values()].filter(({ surfaces }) => surfaces.includes('tool'));
    const nullable = tools.flatMap(({ name, idempotent, params }) =>
      Object.entries(params.shape as Record<string, z.ZodType>)
        .filter(([, schema]) => idempotent && schema.safeParse(null).success)
        .map(([field]) => ({ name, field })),
    );
    expect(nullable.length).toBeGreaterThan(20);
    for (const { name, field } of nullable)
      expect([name, toolOf(name).clearablePaths]).toEqual([name, expect.arrayContaining([field])]);
  });
});

describe('text', () => {
  it.each([
    ['stories.list', { limit: '5', maxBytes: '2000' }, { limit: 5, maxBytes: 2_000 }],
    ['stories.list', { status: '["ready","done"]' }, { status: ['ready', 'done'] }],
    ['stories.update', { estimate: '1.5', labels: '["a"]' }, { estimate: 1.5, labels: ['a'] }],
    ['stories.update', { blockedBy: 'WEB-2' }, { blockedBy: ['WEB-2'] }],
    [
      'stories.updateGitMeta',
      { git: '{"branch":"b","pullRequest":{"number":"7"}}' },
      { git: { branch: 'b', pullRequest: { number: 7 } } },
    ],
    [
      'stories.updateGitMeta',
      { git: { pullRequest: '{"number":7}' } },
      { git: { pullRequest: { number: 7 } } },
    ],
    [
      'deliveryExecutions.checkpoint',
      { pushed: 'true', data: '{"a":"1"}' },
      { pushed: true, data: { a: '1' } },
    ],
    ['storyCollaboration.context', { include: 'readiness' }, { include: ['readiness'] }],
    ['stories.list', { status: 'In Progress', sort: ' UPDATED' }, { status: 'in_progress', sort: 'updated' }],
    ['stories.list', { label: 404, query: 500, limit: 'null' }, { label: '404', query: '500' }],
    ['stories.update', { story_id: ['WEB-1 '], labels: 'api' }, { storyId: 'WEB-1', labels: ['api'] }],
    ['projects.create', { columns: '{"name":"To do"}' }, { columns: [{ name: 'To do' }] }],
    ['stories.update', { blockedBy: 'WEB-2, WEB-3' }, { blockedBy: ['WEB-2', 'WEB-3'] }],
    ['deliveryExecutions.checkpoint', { filesTouched: 'src/a.ts, b' }, { filesTouched: ['src/a.ts', 'b'] }],
    [
      'deliveryExecutions.complete',
      { pullRequest: 'https://forge.example/o/r/pull/7' },
      { pullRequest: { number: 7, url: 'https://forge.example/o/r/pull/7' } },
    ],
    ...['/files', '#issuecomment-1', '/commits/abc?w=1'].map(
      (end) =>
        [
          'deliveryExecutions.complete',
          { pullRequest: `https://forge.example/o/r/pull/7${end}` },
          { pullRequest: { number: 7, url: `https://forge.example/o/r/pull/7${end}` } },
        ] as const,
    ),
    ['reviewers.setVerdict', { verdict: 'approve' }, { verdict: 'approved' }],
    ['deliveryExecutions.eventsSince', { waitSeconds: 300 }, { waitSeconds: 25 }],
    ['stories.list', { limit: '5000' }, { limit: 1_000 }],
    ['deliveryExecutions.renew', { leaseToken: ' token\n' }, { leaseToken: 'token' }],
  ])('in %s that stands for another kind is taken as that: %j', (name, sent, taken) => {
    expect(read(name, sent)).toEqual(taken);
  });

  it.each([
    ['stories.list', { limit: 'five', query: '5', status: 'ready' }],
    ['stories.list', { limit: '1e3' }],
    ['stories.update', { title: '["a"]', description: '{"a":1}', labels: 'a, b', estimate: '' }],
    ['stories.update', { blockedBy: 'WEB-2 and WEB-3' }],
    ['deliveryExecutions.checkpoint', { filesTouched: 'a b, c', headSha: 'main' }],
    ['deliveryExecutions.complete', { pullRequest: 'https://forge.example/o/r/issues/7' }],
    ['reviewers.setVerdict', { verdict: 'app' }],
    ['deliveryExecutions.checkpoint', { summary: '5', data: '[1]', pushed: 'yes', nextSteps: 'Go on' }],
    ['stories.update', { unknown: '5', blocked: 'no' }],
    ['stories.update', { labels: 'null', blockedBy: 'None', estimate: 'undefined' }],
    ['stories.update', { title: ['a'], storyId: ['WEB-1', 'WEB-2'], story_id: 'WEB-3' }],
    ['agents.catalog.publish', { version: 1.1 }],
    ['stories.list', { label: 12_345_678_901_234_567_890 }],
  ])('in %s that has more than one meaning, or none, stays as it is: %j', (name, args) => {
    expect(read(name, args)).toEqual(args);
  });

  it('never makes of a good call another', () => {
    for (const { operation, fullParams } of operationTools)
      expect(repairArguments(fullParams, operation.example as AnswerBody)).toEqual(operation.example);
  });

  it('survives anything', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...operationTools),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (tool, args) => {
          const named = Object.keys(tool.fullParams.properties);
          const values = Object.values(args);
          const sent = Object.fromEntries(named.map((name, index) => [name, values[index % values.length]]));
          expect(() => repairArguments(tool.fullParams, { ...args, ...sent })).not.toThrow();
        },
      ),
      { numRuns: 300 },
    );
  });
});
