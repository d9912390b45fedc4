/** Checks that refusals follow the contract, whatever a field contains. */
import { expect } from '@jest/globals';
import { type Operation } from '@muster/contract';
import { exampleCallerOf, type ExampleOrg } from '@muster/examples';
import fc from 'fast-check';
import { type TestApi, type RawAnswer } from './api.ts';
import { withLeaf } from './fields.ts';

/** Checks the conditions that every refusal must meet. */
export function expectWellFormedAnswer(answer: RawAnswer): void {
  expect(answer.status).toBeLessThan(500);
  if (answer.status === 200) return;
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.body).toMatchObject({
    code: expect.any(String),
    message: expect.any(String),
    status: answer.status,
    requestId: expect.any(String),
  });
  expect(answer.text).not.toMatch(/\bat .*\.(ts|js):\d+|select .* from |insert into|pg_|node_modules/i);
}

/** Values that are tried in every field. */
const anything = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    ' ',
    '\u0000',
    '\ud800',
    '%',
    '_',
    '\\',
    "'",
    '"',
    '../..',
    '${7*7}',
    '<script>',
    'NaN',
    'infinity',
    '__proto__',
  ),
  fc.constantFrom<unknown>(0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, [], {}, [[]], [null], { a: 1 }),
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.uuid(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue(),
);

/** Calls the operation's example with arbitrary values in one of its fields, and checks each response. */
export async function expectWellFormedAnswers(
  api: TestApi,
  org: ExampleOrg,
  operation: Operation,
  { seed, numRuns }: { readonly seed?: number; readonly numRuns: number },
): Promise<void> {
  const fields = Object.keys(operation.params.shape);
  if (fields.length === 0) return;
  const { token } = exampleCallerOf(operation, org).me;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...fields), anything, async (field, value) => {
      expectWellFormedAnswer(
        await api.call(token, operation.name, withLeaf(operation.example, [field], value)),
      );
    }),
    { ...(seed !== undefined && { seed }), numRuns },
  );
}
