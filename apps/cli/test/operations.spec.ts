import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type People, programEnvironment } from '@muster/testing';
import { useConcurrentScenarios } from './beside.ts';
import { useMuster } from './muster.ts';

const muster = useMuster();

let people: People;
beforeAll(async () => {
  people = await muster.world.org();
  const runAsChloe = muster.apiClient(people.chloe);
  await runAsChloe.projects.create({ key: 'WEB', name: 'Web' });
  for (const title of ['First', 'Second', 'Third'])
    await runAsChloe.stories.create({ projectId: 'WEB', title });
});

const chloe = (...args: string[]) => muster.runAs(people.chloe, ...args);

const concurrentScenarios = useConcurrentScenarios(1);

describe('an operation on the command line', () => {
  it('writes, from flags, files and stdin, and shows what came of it', async () => {
    const spec = path.join(muster.home(), 'spec.md');
    await writeFile(spec, '# Sign in\n\nWith a passkey.\n');
    const made = await chloe(
      ...[
        'stories',
        'create',
        '--project-id',
        'WEB',
        '--title',
        'Sign in',
        '--labels',
        'auth',
        '--labels',
        'ux',
      ],
      ...['--priority', 'high', '--spec', `@${spec}`],
    );
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toMatch(/^key +WEB-4$/m);
    expect(made.out).toMatch(/^labels +auth, ux$/m);
    const updated = await muster.run(
      ['story-spec', 'update', '--story-id', 'WEB-4', '--content', '-', '--json'],
      {
        env: muster.environmentOf(people.chloe),
        input: '# By mouth',
      },
    );
    expect(JSON.parse(updated.out)).toMatchObject({ spec: { version: 2, content: '# By mouth' } });
    // A text of several lines is printed below the other values, unchanged.
    await chloe('story-spec', 'update', '--story-id', 'WEB-4', '--content', `@${spec}`);
    expect((await chloe('story-spec', 'get', '--story-id', 'web-4')).out).toMatch(
      /\n\ncontent:\n {2}# Sign in\n\n {2}With a passkey\.\n$/,
    );
  });

  it('takes no file whose letters it would lose', async () => {
    const spec = path.join(muster.home(), 'latin.md');
    await writeFile(spec, 'Größe', 'latin1');
    const { code, err } = await chloe('story-spec', 'update', 'WEB-1', '--content', `@${spec}`);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('The text must be encoded in UTF-8.'),
    });
  });

  it('takes what is needed without flags, in their order', async () => {
    const direct = muster.apiClient(people.chloe);
    await direct.projects.create({ key: 'OPS', name: 'Ops' });
    await direct.stories.create({ projectId: 'OPS', title: 'Rotate keys' });
    expect((await chloe('stories', 'get', 'OPS-1')).out).toMatch(/^title +Rotate keys$/m);
    const moved = await chloe('stories', 'update-status', 'OPS-1', 'ready', '--json');
    expect(JSON.parse(moved.out)).toMatchObject({ story: { key: 'OPS-1', status: 'ready' } });
    const listed = await chloe('stories', 'list', '--project', 'OPS', '--status', 'ready', '--json');
    expect(JSON.parse(listed.out)).toMatchObject({ items: [{ key: 'OPS-1' }] });
    await chloe('stories', 'update-status', '--story', 'OPS-1', 'backlog');
  });

  it.each([
    [['stories', 'get', 'WEB-1', 'WEB-2'], 'too many arguments: expected [story] and flags'],
    [['stories', 'get', 'WEB-1', '--story', 'WEB-2'], 'use either [story] or --story-id, not both'],
    [['stories', 'update-status', 'WEB-1', 'nowhere'], '[status]: The value must be one of backlog'],
    [['stories', 'update-status', 'WEB-1'], 'needs <status> or --status'],
    [['policy', 'get', 'me'], 'too many arguments: expected [params] and flags'],
  ])('refuses %j with words that say why', async (words, said) => {
    expect(await chloe(...words)).toMatchObject({ code: 2, err: expect.stringContaining(said) });
  });

  it('takes its parameters at once, flags over them, also by its name in the contract', async () => {
    const params = JSON.stringify({ projectId: 'WEB', limit: 1, sort: 'created' });
    const [piped, called, both] = await Promise.all([
      muster.run(['stories', 'list', '--params', '-', '--json'], {
        env: muster.environmentOf(people.chloe),
        input: params,
      }),
      chloe('call', 'stories.list', '--json', params),
      chloe('call', 'stories.list', params, '--limit', '2', '--json'),
    ]);
    expect(JSON.parse(piped.out)).toMatchObject({ items: [{ projectId: expect.any(String) }] });
    expect(called.out).toBe(piped.out);
    expect((JSON.parse(both.out) as { items: unknown[] }).items).toHaveLength(2);
    expect(await chloe('stories', 'list', '[]')).toMatchObject({
      code: 2,
      err: expect.stringContaining('JSON object'),
    });
  });

  it('lists a page as a table, says that there is more, and goes over all pages on request', async () => {
    const page = await chloe('stories', 'list', '--project-id', 'WEB', '--limit', '2');
    const [head, first, ...rest] = page.out.trimEnd().split('\n');
    expect(head).toMatch(/^KEY +TITLE +STATUS/);
    expect(first).toMatch(/^WEB-1 +First +backlog/);
    expect(rest).toHaveLength(1);
    expect(page.err).toMatch(/^There are more items: use --all, or --cursor \S+\n$/);
    const all = await chloe('stories', 'list', '--project-id', 'WEB', '--limit', '2', '--all', '--json');
    const { items, nextCursor } = JSON.parse(all.out) as { items: unknown[]; nextCursor: unknown };
    expect(items.length).toBeGreaterThanOrEqual(3);
    expect(nextCursor).toBeNull();
    expect(all.err).toBe('');
    expect(page.out + all.out).not.toContain('\u001b');
  });

  it('does a write once, however often it is asked for with its key', async () => {
    const create = () =>
      chloe(
        ...['stories', 'create', '--project-id', 'WEB', '--title', 'Once', '--json'],
        ...['--idempotency-key', 'spec-once'],
      );
    expect((await create()).out).toBe((await create()).out);
  });
});

describe('what goes wrong', () => {
  it('is told in the words of the command line, with exit code 3 where the API refused', async () => {
    const [wrong, missing, denied] = await Promise.all([
      chloe('stories', 'create', '--project-id', 'WEB', '--title', ''),
      chloe('stories', 'get', '--story-id', 'WEB-999'),
      chloe('members', 'invite', '--email', 'eve@example.com'),
    ]);
    expect(wrong).toMatchObject({ code: 3, out: '' });
    expect(wrong.err).toMatch(
      /^muster: .*\n {2}--title: must not be empty\n {2}Run the command with --help to see its parameters\.\n$/,
    );
    expect(missing).toMatchObject({ code: 3, out: '', err: expect.stringMatching(/^muster: [^]*404/) });
    expect(denied).toMatchObject({
      code: 3,
      err: expect.stringMatching(/needed: "admin"\n *held: "member"\n/),
    });
  });

  it('is the error object on stderr for scripts', async () => {
    const { code, out, err } = await chloe('stories', 'get', '--story-id', 'WEB-999', '--json');
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(JSON.parse(err)).toMatchObject({ code: 'not_found', status: 404, requestId: expect.any(String) });
  });

  it('is a matter of the command line with exit code 2, before anything is asked', async () => {
    const answers = await Promise.all([
      muster.run(['stories', 'creat']),
      muster.run(['storys']),
      muster.run(['call', 'stories.lst']),
      muster.run(['stories', 'list']),
      muster.run(['stories', 'list', '--project-id', 'WEB']),
      muster.run(['stories', 'list', '--project-id', 'WEB', '--limit', 'all']),
    ]);
    expect(answers.map(({ code, out }) => ({ code, out }))).toEqual(
      answers.map(() => ({ code: 2, out: '' })),
    );
    expect(answers.map(({ err }) => err)).toEqual([
      expect.stringContaining('Did you mean create?'),
      expect.stringContaining('Did you mean stories?'),
      expect.stringContaining('Did you mean list?'),
      'muster: needs <project> or --project-id (see --help)\n',
      expect.stringMatching(/^muster: no API address is given: sign in with muster login/),
      expect.stringContaining('The value must be a whole number.'),
    ]);
  });

  concurrentScenarios('is exit code 4 where nobody answers', async () => {
    const away = { MUSTER_BASE_URL: 'http://127.0.0.1:1', MUSTER_TOKEN: people.chloe.me.token };
    const [said, json] = await Promise.all([
      muster.run(['session', 'identity'], { env: away }),
      muster.run(['session', 'identity', '--json'], { env: away }),
    ]);
    expect(said).toMatchObject({
      code: 4,
      out: '',
      err: expect.stringMatching(/^muster: no answer from http/),
    });
    expect(JSON.parse(json.err)).toMatchObject({ code: 'no_answer' });
  });
});

it('never hands what others wrote to the terminal as orders', async () => {
  const title = 'Red \u009b31m alert';
  const direct = muster.apiClient(people.chloe);
  const { story } = await direct.stories.create({
    projectId: 'WEB',
    title: 'x',
    description: `\u001b[2Jgone\nlines`,
  });
  await direct.comments.create({ storyId: story.id, body: title });
  const shown = await chloe('stories', 'get', '--story-id', story.key);
  const comments = await chloe('comments', 'list', '--story-id', story.key);
  expect(shown.out).toContain('gone\n');
  expect(shown.out + comments.out).not.toMatch(/[\u001b\u009b]/);
});

it('loads nothing of a database for an operation', async () => {
  const script = `
    const { runCommandLine } = await import(${JSON.stringify(path.join(import.meta.dirname, '../src/start.ts'))});
    await runCommandLine(['stories', 'list', '--project-id', 'WEB', '--json']);
    const { default: module } = await import('node:module');
    console.error(Object.keys(module._cache).filter((file) => /node_modules.(pg|kysely)/.test(file)).length);`;
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', script],
    {
      env: { ...programEnvironment(), HOME: muster.home(), ...muster.environmentOf(people.chloe) },
    },
  );
  expect(JSON.parse(stdout)).toMatchObject({ items: expect.any(Array) });
  expect(stderr.trim()).toBe('0');
});
