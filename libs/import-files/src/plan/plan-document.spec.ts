import { expect, it } from '@jest/globals';
import { applyPlan, planNameOf, readPlanDocument } from './plan-document.ts';
import { findProposedPlans } from './proposals.ts';

it('decides the format of a pasted text by its content', () => {
  expect(readPlanDocument('- [x] T001 Store keys\n').items).toMatchObject([{ ref: 'T001', status: 'done' }]);
  expect(readPlanDocument('plan: launch\nitems: [{ref: a, title: A}]')).toEqual({
    planRef: 'launch',
    items: [{ ref: 'a', title: 'A' }],
  });
  expect(readPlanDocument('[{"ref": "a", "title": "A"}]').items).toEqual([{ ref: 'a', title: 'A' }]);
  expect(
    readPlanDocument('plan: 7\nitems:\n  - ref: a\n    title: A\n    spec: |\n      - [ ] Tested\n'),
  ).toEqual({
    planRef: '7',
    items: [{ ref: 'a', title: 'A', spec: '- [ ] Tested\n' }],
  });
  for (const [text, problem] of [
    ['items: []', 'there are no tasks'],
    ['items: 3', 'an object with items'],
    ['items: [', 'Flow sequence'],
  ] as const)
    expect(() => readPlanDocument(text)).toThrow(problem);
});

it('names a plan after its file, or after the folder of tasks.md', () => {
  expect(
    [
      'specs/001-sign-in/tasks.md',
      String.raw`C:\specs\sign-in\plan.yaml`,
      'roadmap.v2.md',
      'tasks.md',
      '',
    ].map(planNameOf),
  ).toEqual(['001-sign-in', 'sign-in', 'roadmap.v2', undefined, undefined]);
});

it('finds each plan that a text proposes', () => {
  const text = [
    ...['Please review.', '', '```muster-plan', 'plan: a', '```', '```yaml', 'plan: b', '```'],
    ...['~~~~ muster-plan', 'plan: c', '```', '~~~~', '```muster-plan', 'never closed'],
  ];
  expect(findProposedPlans(text.join('\n'))).toEqual(['plan: a\n', 'plan: c\n```\n']);
});

it('applies a plan again if tasks are done already', async () => {
  const keptStatus = { field: 'status', reason: 'new_story', message: '' } as const;
  const calls: unknown[] = [];
  const apply = (kept: readonly (readonly (typeof keptStatus)[])[]) => (params: unknown) => {
    calls.push(params);
    return Promise.resolve({
      plan: { id: null, ref: 'p', version: calls.length },
      ...{ epics: [], waves: [], criticalPath: [] },
      changes: [
        {
          ...{ ref: 'a', action: calls.length === 1 ? ('create' as const) : ('update' as const) },
          ...{ storyId: null, key: null, fields: [], kept: [...(kept[calls.length - 1] ?? [])] },
        },
      ],
    });
  };
  const params = { projectId: 'WEB', planRef: 'p', items: [{ ref: 'a', title: 'A' }] };
  expect(await applyPlan(apply([[keptStatus], []]), params)).toMatchObject({
    ...{ plan: { version: 2 }, changes: [{ action: 'create', kept: [] }] },
  });
  expect(calls).toHaveLength(2);
  calls.length = 0;
  await applyPlan(apply([[]]), params);
  expect(calls).toEqual([{ ...params, mode: 'apply' }]);
});
