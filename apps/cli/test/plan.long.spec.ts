import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type People } from '@muster/testing';
import { useMuster } from './muster.ts';

const muster = useMuster();

let people: People;
beforeAll(async () => {
  people = await muster.world.org();
  await muster.apiClient(people.chloe).projects.create({ key: 'WEB', name: 'Web' });
});

const fileOf = async (name: string, content: string): Promise<string> => {
  const file = path.join(muster.home(), name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
};
const plan = (...args: string[]) => muster.runAs(people.chloe, 'plan', ...args);

describe('muster plan', () => {
  it('shows, applies and repeats a task list, with its finished tasks', async () => {
    const file = await fileOf(
      'specs/001-sign-in/tasks.md',
      '## Phase 1: Setup\n- [x] T001 Create the project\n- [ ] T002 [P] Store keys\n- [ ] T003 [P] Store sessions\n',
    );
    const previewed = await plan('diff', file, '--project', 'WEB');
    expect(previewed.out).toMatch(/^\+ +T001 +Create the project$/m);
    expect(previewed.out).toMatch(
      /3 created\.\nWave 1: T001\nWave 2: T002, T003\n.*Nothing was changed\.\n$/s,
    );
    expect((await plan('show', '--project', 'WEB')).out).toBe('None.\n');

    const applied = await plan('apply', file, '--project', 'WEB');
    expect(applied).toMatchObject({ code: 0, err: '' });
    expect(applied.out).toMatch(/^\+ +T001 +WEB-1 +Create the project$/m);
    expect(applied.out).toContain('Plan 001-sign-in: 3 created.\nWave 1: T002, T003\n');
    const shown = await plan('show', '001-sign-in', '--project', 'WEB');
    expect(shown.out).toMatch(/^T001 +WEB-1 +done +Create the project$/m);
    expect(shown.out).toContain('1 of 3 done.');

    expect((await plan('apply', file, '--project', 'WEB')).out).toContain('3 unchanged.');
    await muster.apiClient(people.chloe).stories.update({ storyId: 'WEB-2', title: 'Store passkeys' });
    const again = await plan('apply', file, '--project', 'WEB');
    expect(again.out).toContain('! T002 title: The field was changed on the board');
    const list = await plan('show', '--project', 'WEB', '--json');
    expect(JSON.parse(list.out)).toMatchObject({ items: [{ ref: '001-sign-in' }] });
  });

  it('applies YAML from standard input, and refuses what is no plan', async () => {
    const text =
      'project: WEB\nplan: launch\nitems:\n  - { ref: a, title: A }\n  - { ref: b, title: B, dependsOn: [a] }\n';
    const env = muster.environmentOf(people.chloe);
    const applied = await muster.run(['plan', 'apply', '-', '--json'], { env, input: text });
    expect(JSON.parse(applied.out)).toMatchObject({ plan: { ref: 'launch' }, waves: [['a'], ['b']] });
    const pruned = await muster.run(['plan', 'apply', '-', '--prune'], {
      ...{ env, input: text.replace(/ {2}- \{ ref: b.*\n/, '') },
    });
    expect(pruned.out).toMatch(/^- +b +WEB-5/m);
    const file = await fileOf('broken.yaml', 'items: [{ref: a}]\n');
    expect(await plan('apply', file, '--project', 'WEB')).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('items.0.title (a)') },
    });
    const cyclic = await fileOf('cycle.yaml', 'items: [{ref: a, title: A, dependsOn: [a]}]\n');
    expect(await plan('apply', cyclic, '--project', 'WEB')).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('wait for each other') },
    });
  });
});
