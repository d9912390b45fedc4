import { describe, expect, it } from '@jest/globals';
import { parsePlanFile } from './plan-file.ts';

const yaml = `
project: WEB
plan: launch
prune: true
epics:
  - { ref: auth, title: Accounts }
items:
  - ref: a
    title: Store keys
    dueDate: 2027-01-31
  - { ref: b, title: Sign in, epicRef: auth, dependsOn: [a] }
`;
const launch = {
  ...{ projectId: 'WEB', planRef: 'launch', prune: true, epics: [{ ref: 'auth', title: 'Accounts' }] },
  items: [
    { ref: 'a', title: 'Store keys', dueDate: '2027-01-31' },
    { ref: 'b', title: 'Sign in', epicRef: 'auth', dependsOn: ['a'] },
  ],
};

describe('parsePlanFile', () => {
  it('reads YAML and JSON with the parameters of plans.apply', () => {
    expect(parsePlanFile('plan.yaml', yaml, {})).toEqual(launch);
    expect(parsePlanFile('-', JSON.stringify(launch), {})).toEqual(launch);
    expect(parsePlanFile('x.json', JSON.stringify(launch.items), { project: 'APP' })).toEqual({
      ...{ items: launch.items, projectId: 'APP', planRef: 'x' },
    });
    expect(parsePlanFile('plan.yaml', yaml, { project: 'APP', ref: 'other' })).toMatchObject({
      ...{ projectId: 'APP', planRef: 'other' },
    });
  });

  it('names a task list after its folder', () => {
    const text = '- [ ] T001 Store keys\n';
    const read = (file: string, flags: object = {}) =>
      parsePlanFile(file, text, { project: 'WEB', ...flags });
    expect(read('specs/001-sign-in/tasks.md').planRef).toBe('001-sign-in');
    expect(read('roadmap.md').planRef).toBe('roadmap');
    expect(read('-', { ref: 'launch' })).toMatchObject({ planRef: 'launch', items: [{ ref: 'T001' }] });
    expect(() => read('-')).toThrow('use --ref');
    expect(() => parsePlanFile('tasks.md', text, {})).toThrow('use --project');
  });

  it('names every problem with the place and the ref', () => {
    const read = (text: string) => parsePlanFile('plan.yaml', text, { project: 'WEB' });
    expect(() =>
      read('items: [{ref: T1, title: A, estimat: 1}, {ref: T2, title: B, dueDate: soon}]'),
    ).toThrow(
      /plan\.yaml is no valid plan:\n {2}items\.0 \(T1\): .*estimat.*\n {2}items\.1\.dueDate \(T2\): must be a date/s,
    );
    expect(() => read('items: [{ref: a, title: A}, {ref: a, title: B}]')).toThrow('must name each ref once');
    expect(() => read('items: [')).toThrow(/^plan\.yaml: /);
    expect(() => read('just text')).toThrow('must be an object with items');
    expect(() => parsePlanFile('tasks.md', '# Nothing\n', {})).toThrow('there are no tasks');
  });
});
