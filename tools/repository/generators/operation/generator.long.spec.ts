// Runs the generator on a copy of the workspace, with the command that people use. The generated operation
// must pass the specs for every operation.
import { globSync } from 'node:fs';
import { chmod, cp, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest as jestObject } from '@jest/globals';
import { flushChanges, FsTree } from 'nx/src/generators/tree.js';
import { repositoryRoot } from '@muster/tools';
import { createTrialWorkspace, type NxResult, type TrialWorkspace } from '../../../jest/trial-workspace.ts';
import operation from './generator.ts';

const minutes = 60_000;
let workspace: TrialWorkspace;

beforeAll(async () => {
  workspace = await createTrialWorkspace({ realProjects: true, files: {} });
  // Postgres may run under its own account, and that account finds the server program through this folder.
  await chmod(workspace.root, 0o755);
  for (const lib of await readdir(path.join(repositoryRoot, 'libs')))
    await cp(path.join(repositoryRoot, 'libs', lib), path.join(workspace.root, 'libs', lib), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !source.includes('node_modules'),
    });
}, minutes);
afterAll(() => workspace.remove());

const words = { summary: 'Give it another name', description: 'Nothing else of it changes.' };

const generate = (name: string, effect: 'read' | 'write'): Promise<NxResult> =>
  workspace.run('nx', [
    ...['generate', './tools/repository/generators:operation', name, `--effect=${effect}`],
    ...[`--summary=${words.summary}`, `--description=${words.description}`],
  ]);

/**
 * Calls the generator as Nx does, without the seconds that Nx needs to start. A rejected call writes nothing.
 */
const generateHere = async (name: string, effect: 'read' | 'write'): Promise<string> => {
  const tree = new FsTree(workspace.root, false);
  const sayWhatIsNext = await operation(tree, { ...words, name, effect });
  flushChanges(workspace.root, tree.listChanges());
  const said: string[] = [];
  const writing = jestObject.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  sayWhatIsNext();
  writing.mockRestore();
  return said.join('');
};

const jest = (lib: string, ...args: string[]): Promise<NxResult> =>
  workspace.run('node', [
    ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    ...['node_modules/jest/bin/jest.js'],
    ...['-c', 'jest.config.js', '--rootDir', lib, ...args],
  ]);

const places = [
  ['epics.rename', 'write', 'libs/board', 'libs/board/src/operations/epics/rename'],
  // `export` is a reserved word of JavaScript. The library of this operation does not depend on libs/board.
  ['policy.export', 'read', 'libs/organizations', 'libs/organizations/src/operations/policy/export'],
  // The namespace is nested in another one.
  ['prompts.org.rename', 'write', 'libs/board', 'libs/board/src/operations/prompts/org/rename'],
] as const;

interface SpecResults {
  readonly name: string;
  readonly assertionResults: readonly { readonly status: string; readonly failureMessages: string[] }[];
}

const tried = new Map<string, Promise<readonly SpecResults[]>>();

/**
 * Runs the generated specs of a library and returns their results. All specs of one library run together,
 * because each run starts a Postgres.
 */
function madeSpecsOf(lib: string): Promise<readonly SpecResults[]> {
  const own = places.filter(([, , itsLib]) => itsLib === lib);
  const specs = own.map(([, , , file]) => `${path.relative(lib, file)}.spec.ts`);
  const results =
    tried.get(lib) ??
    jest(lib, '--json', ...specs).then(({ stdout, stderr }) => {
      if (!stdout.startsWith('{')) throw new Error(`Jest said: ${stdout}${stderr}`);
      return (JSON.parse(stdout) as { testResults: SpecResults[] }).testResults;
    });
  tried.set(lib, results);
  return results;
}

describe('generated operations', () => {
  const said: string[] = [];
  beforeAll(async () => {
    const [[name, effect], ...others] = places;
    const { exitCode, stdout, stderr } = await generate(name, effect);
    if (exitCode !== 0) throw new Error(`nx said: ${stdout}${stderr}`);
    said.push(stdout);
    for (const [other, itsEffect] of others) said.push(await generateHere(other, itsEffect));
    // Runs the part of `npm run generate` that needs no database.
    const write = `import { writeFileSync } from 'node:fs';
      import { kindsText } from './tools/repository/generate/kinds.ts';
      writeFileSync('libs/client/src/kinds.generated.ts', await kindsText());`;
    expect(await workspace.run('node', ['--input-type=module', '-e', write])).toMatchObject({ exitCode: 0 });
  }, 5 * minutes);

  it(
    'compile, and are formatted',
    async () => {
      // The compiler also checks all files that the new specs and the handlers import.
      const handlers = places.map(([name, , lib]) =>
        path.join(lib, 'src/operations', name.split('.')[0] ?? '', 'handlers.ts'),
      );
      const files = [...places.map(([, , , file]) => `${file}.spec.ts`), ...handlers];
      await workspace.write({
        'tsconfig.made.json': JSON.stringify({ extends: './tsconfig.base.json', files }),
      });
      const types = await workspace.run('node', [
        'node_modules/typescript-7/bin/tsc',
        '-p',
        'tsconfig.made.json',
      ]);
      expect([types.stdout, types.exitCode]).toEqual(['', 0]);
      const made = places.map(([, , , file]) => path.dirname(file));
      const format = await workspace.run('oxfmt', [
        '--check',
        ...places.map(([name, , lib]) => `${lib}-registry/src/${name.split('.')[0] ?? ''}.ts`),
        ...made,
        ...handlers,
      ]);
      expect([format.stderr, format.exitCode]).toEqual(['', 0]);
    },
    5 * minutes,
  );

  it(
    'keep the laws of every contract',
    async () => {
      // The test skips the check of the pinned contract, because the next `npm run generate` updates the
      // pinned file.
      const butTheSurface = ['-t', '^(?!.*is the pinned one)'];
      const { exitCode, stderr } = await jest('libs/registry', 'registry.spec', ...butTheSurface);
      expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/Tests: .* [1-9]\d+ passed/)]);
    },
    5 * minutes,
  );

  it.each(places)(
    '%s does what its spec promises',
    async (_name, _effect, lib, file) => {
      const results = await madeSpecsOf(lib);
      const own = results.find(({ name }) => name.endsWith(`${file}.spec.ts`))?.assertionResults ?? [];
      expect([2, 3]).toContain(own.length);
      expect(own.filter(({ status }) => status !== 'passed')).toEqual([]);
    },
    5 * minutes,
  );

  it('come with what is to be done next', () => {
    for (const [index, [name, , lib, file]] of places.entries()) {
      expect(said[index]).toContain(`refusals and keywords of ${name}`);
      expect(said[index]).toContain(
        `npx nx test ${path.basename(lib)} -- ${file.split('/').slice(-2).join('/')}`,
      );
    }
  });

  it(
    'are not made twice',
    async () => {
      await expect(generateHere('epics.rename', 'write')).rejects.toThrow('epics.rename is there already');
    },
    minutes,
  );
});

it.each([
  ['ships.sink', 'there is no namespace ships'],
  ['billing.export', 'billing is no plain object'],
  ['projects.members.count', 'members is no plain object'],
])(
  '%s has to be begun by hand, and nothing is written',
  async (name, why) => {
    await expect(generateHere(name, 'write')).rejects.toThrow(why);
    for (const file of globSync(path.join(workspace.root, 'libs/*-registry/src/*.ts'))) {
      const text = await readFile(file, 'utf8');
      expect(text).not.toContain(`'${name}'`);
    }
  },
  minutes,
);

it(
  'all that is missing is named where no terminal asks for it',
  async () => {
    const { exitCode, stderr } = await workspace.run('nx', [
      ...['generate', './tools/repository/generators:operation', 'epics.merge', '--effect=write'],
    ]);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining('missing: --summary="What it does, in a line" --description='),
    ]);
  },
  minutes,
);
