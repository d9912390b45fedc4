/**
 * The examples of the reference produce exactly the documented results. New operations are included
 * automatically.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe as group, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { toOperationPage, type Example, examplesOf } from '@muster/reference';
import { type Operation } from '@muster/contract';
import { operations } from '@muster/registry';
import { exampleCallerOf, createExampleOrgProvider } from '@muster/examples';
import { useApi } from './api.ts';
import { usePrograms } from './programs.ts';

const api = useApi();
const programs = usePrograms();
const operationCases = [...operations.values()].map((operation) => [operation.name, operation] as const);

function exampleIn(language: Example['language'], operation: Operation): string {
  const found = examplesOf(toOperationPage(operation)).find((example) => example.language === language);
  if (found === undefined) throw new Error(`${operation.name} has no example in ${language}`);
  return found.code;
}

const orgFor = createExampleOrgProvider(api.world);
/** Returns the token that the example is called with. */
const tokenFor = async (operation: Operation): Promise<string> =>
  exampleCallerOf(operation, await orgFor(operation)).me.token;

/** Lists the fields of a response and their types, including those of list items; null matches every type. */
function shapeOf(answer: unknown, path = ''): ReadonlyMap<string, string> {
  if (answer === null) return new Map();
  if (typeof answer !== 'object') return new Map([[path, typeof answer]]);
  const inside = Object.entries(answer).flatMap(([key, value]) => [
    ...shapeOf(value, Array.isArray(answer) ? `${path}[]` : `${path}.${key}`),
  ]);
  return new Map([[path, Array.isArray(answer) ? 'array' : 'object'], ...inside]);
}

group('the example for a shell', () => {
  it.each(operationCases)(
    'of %s answers what the operation declares and the reference shows, and complains of nothing',
    async (_name, operation) => {
      const { stdout, stderr } = await promisify(execFile)('sh', ['-euc', exampleIn('bash', operation)], {
        env: { ...process.env, BASE_URL: api.url(), TOKEN: await tokenFor(operation) },
      });
      const answer: unknown = JSON.parse(stdout);
      expect([operation.result.parse(answer), stderr]).toEqual([answer, '']);
      // If the example is missing or differs, run npm run generate.
      const documented: unknown = JSON.parse(toOperationPage(operation).answer ?? 'null');
      expect(operation.result.parse(documented)).toEqual(documented);
      const [shown, given] = [shapeOf(documented), shapeOf(answer)];
      for (const [path, type] of shown) expect([path, given.get(path) ?? type]).toEqual([path, type]);
      expect(Object.keys(Object(documented) as object)).toEqual(Object.keys(answer as object));
    },
  );
});

group('the example in TypeScript', () => {
  type Run = (muster: Client) => Promise<unknown>;
  let examples: Readonly<Record<string, Run>>;

  /** Wraps the example in a function with a client, as a user would paste it. */
  const pasted = ([name, operation]: (typeof operationCases)[number]): string =>
    `  ${JSON.stringify(name)}: async (muster) => {\n${exampleIn('ts', operation)}\nreturn result;\n},`;
  const programWith = (functions: readonly string[]): string => `
    import { type Client } from '@muster/client';
    export const examples: Readonly<Record<string, (muster: Client) => Promise<unknown>>> = {
      ${functions.join('\n')}
    };`;

  beforeAll(async () => {
    await programs.write('examples.ts', programWith(operationCases.map(pasted)));
    ({ examples } = (await import(programs.path('examples.ts'))) as { examples: typeof examples });
  });

  it('compiles for every operation, and would not with a parameter that there is not', async () => {
    const wrong = operationCases.map(pasted).map((text) => text.replace('"storyId"', '"storiId"'));
    await programs.write('wrong.ts', programWith(wrong));
    const { 'examples.ts': complaints = '', 'wrong.ts': expected } = await programs.compile(
      'examples.ts',
      'wrong.ts',
    );
    expect(complaints).toBe('');
    expect(expected).toMatch(/storiId\S+ does not exist/);
  }, 120_000);

  it.each(operationCases)('of %s answers what the operation declares', async (name, operation) => {
    const answer = await examples[name]?.(api.client(await tokenFor(operation)));
    expect(operation.result.parse(answer)).toEqual(answer);
  });
});
