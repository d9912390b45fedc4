/**
 * Property: a plan and people edit the same stories at random, and plans.apply never overwrites an edit of a person.
 * Each field is compared with a model of the three-way merge, and applying the same plan again changes nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from '@jest/globals';
import { type InputOf, type Story } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PersonOf, useWorld } from '@muster/testing';
import fc from 'fast-check';
import { arrangeBoard } from '../../../test/board.ts';
import { boardHandlers } from '../../index.ts';

const world = useWorld(boardHandlers);

type Item = InputOf<typeof boardRegistry.plans.apply>['items'][number];

const refs = ['a', 'b', 'c', 'd'];
/** The values of a field. There are few, so that the plan and a person often choose the same one. */
const fieldValues = {
  title: fc.constantFrom('One', 'Two', 'Three'),
  description: fc.constantFrom('', 'Text', 'More text'),
  priority: fc.constantFrom('none', 'low', 'high'),
  estimate: fc.constantFrom(null, 1, 2),
  labels: fc.constantFrom([], ['auth'], ['auth', 'ui']),
  touches: fc.constantFrom([], ['src'], ['docs', 'src']),
  dueDate: fc.constantFrom(null, '2027-01-01', '2027-02-01'),
} as const;
const fieldNames = [...Object.keys(fieldValues), 'dependsOn'];
type Fields = Readonly<Record<string, unknown>>;

/** A story can depend on stories whose refs come before its own, so no cycle exists. */
const allFieldsOf = (ref: string): fc.Arbitrary<Fields> =>
  fc.record({ ...fieldValues, dependsOn: fc.subarray(refs.slice(0, refs.indexOf(ref))) });
const someFieldsOf = (ref: string): fc.Arbitrary<Fields> =>
  fc
    .tuple(allFieldsOf(ref), fc.subarray(fieldNames, { maxLength: 4 }))
    .map(([fields, names]) => Object.fromEntries(names.map((name) => [name, fields[name]])));

type FieldsByRef = Readonly<Record<string, Fields>>;
const fieldsByRefArbitrary = (fieldsOf: (ref: string) => fc.Arbitrary<Fields>): fc.Arbitrary<FieldsByRef> =>
  fc.record(Object.fromEntries(refs.map((ref) => [ref, fieldsOf(ref)])));
const scenarioArbitrary = fc.record({
  first: fieldsByRefArbitrary(allFieldsOf),
  rounds: fc.array(
    fc.record({ people: fieldsByRefArbitrary(someFieldsOf), plan: fieldsByRefArbitrary(someFieldsOf) }),
    { maxLength: 4 },
  ),
});

interface ArrangedPlan {
  readonly ana: PersonOf<typeof world>;
  readonly apply: (items: FieldsByRef) => ReturnType<PersonOf<typeof world>['plans']['apply']>;
}

async function arrange(): Promise<ArrangedPlan> {
  const people = await world.org();
  await arrangeBoard(world, people.orgId);
  const { ana } = people;
  const apply = (items: FieldsByRef) =>
    ana.plans.apply({
      ...{ projectId: 'WEB', planRef: 'launch' },
      items: refs.map((ref) => ({ ref, ...items[ref] }) as Item),
    });
  return { ana, apply };
}

/** Reads the fields of all stories in the form of the plan. */
async function readBoard(
  ana: PersonOf<typeof world>,
  idByRef: ReadonlyMap<string, string>,
): Promise<Record<string, Fields>> {
  const refById = new Map([...idByRef].map(([ref, id]) => [id, ref]));
  const stories = await Promise.all(
    refs.map(async (ref) => (await ana.stories.get({ storyId: idByRef.get(ref) ?? '' })).story),
  );
  const fieldsOf = (story: Story): Fields => ({
    ...story,
    description: story.description ?? '',
    dependsOn: story.blockedBy.map((id) => refById.get(id)).toSorted(),
  });
  return Object.fromEntries(stories.map((story, index) => [refs[index] ?? '', fieldsOf(story)]));
}

/** The number of edits of people that a plan without a three-way merge would have overwritten. */
let protectedEditCount = 0;

async function checkRun({
  first,
  rounds,
}: {
  first: FieldsByRef;
  rounds: readonly { people: FieldsByRef; plan: FieldsByRef }[];
}) {
  const { ana, apply } = await arrange();
  const created = await apply(first);
  const idByRef = new Map(created.changes.map(({ ref, storyId }) => [ref, storyId ?? '']));
  /** The value of each field that the plan applied last. */
  const applied = new Map<string, Record<string, unknown>>(refs.map((ref) => [ref, { ...first[ref] }]));
  for (const { people, plan } of rounds) {
    for (const ref of refs) {
      const { dependsOn, ...edits } = people[ref] ?? {};
      const blockedBy = dependsOn as string[] | undefined;
      await ana.stories.update({
        ...{ ...edits, storyId: idByRef.get(ref) ?? '' },
        ...(blockedBy !== undefined && { blockedBy: blockedBy.map((other) => idByRef.get(other) ?? '') }),
      });
    }
    const before = await readBoard(ana, idByRef);
    const planned: FieldsByRef = Object.fromEntries(
      refs.map((ref) => [ref, { title: applied.get(ref)?.['title'], ...plan[ref] }]),
    );
    const previewed = await ana.plans.apply({
      ...{ projectId: 'WEB', planRef: 'launch', mode: 'preview' as const },
      items: refs.map((ref) => ({ ref, ...planned[ref] }) as Item),
    });
    const { changes } = await apply(planned);
    expect(previewed.changes).toEqual(changes);
    const after = await readBoard(ana, idByRef);
    for (const ref of refs) {
      const base = applied.get(ref) ?? {};
      for (const name of fieldNames) {
        const [wanted, current] = [planned[ref]?.[name], before[ref]?.[name]];
        const isUntouched = isDeepStrictEqual(current, base[name]);
        const expected = wanted === undefined || !isUntouched ? current : wanted;
        expect([ref, name, after[ref]?.[name]]).toEqual([ref, name, expected]);
        if (wanted === undefined) continue;
        if (isDeepStrictEqual(expected, wanted)) base[name] = wanted;
        else protectedEditCount += 1;
      }
    }
    const again = await apply(planned);
    expect(again.changes.filter(({ action }) => action !== 'unchanged' && action !== 'keep')).toEqual([]);
    expect(await readBoard(ana, idByRef)).toEqual(after);
  }
}

it('never overwrites an edit of a person, and changes nothing the second time', async () => {
  await fc.assert(fc.asyncProperty(scenarioArbitrary, checkRun), { numRuns: 40 });
  // Control: the edits contain cases in which the last writer would have won.
  expect(protectedEditCount).toBeGreaterThan(20);
}, 240_000);
