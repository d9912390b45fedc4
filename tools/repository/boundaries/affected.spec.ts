// Tests the project graph on which `nx affected` relies. Nx does not see dependencies without an import, such
// as an app that a spec starts or a page that it reads. They are paths in the code, and each such path is
// compared with the project's declarations.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ProjectGraph, type ProjectGraphProjectNode } from '@nx/devkit';
import picomatch from 'picomatch';
import ts from 'typescript';
import { createTrialWorkspace, type TrialWorkspace } from '../../jest/trial-workspace.ts';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');

let workspace: TrialWorkspace;
let graph: ProjectGraph;

beforeAll(async () => {
  workspace = await createTrialWorkspace({ realProjects: true, files: {} });
  const { exitCode, stderr } = await workspace.run('nx', ['graph', '--file=graph.json']);
  if (exitCode !== 0) throw new Error(`nx said: ${stderr}`);
  ({ graph } = JSON.parse(readFileSync(path.join(workspace.root, 'graph.json'), 'utf8')) as {
    graph: ProjectGraph;
  });
}, 120_000);
afterAll(() => workspace.remove());

/**
 * Returns the projects that Nx considers affected by a change of each file. It uses Nx's own functions in one
 * process, which reads the graph once.
 */
async function affectedByEach(files: readonly string[]): Promise<Map<string, string[]>> {
  const script = `
    const { createProjectGraphAsync } = require('@nx/devkit');
    const { filterAffected } = require('nx/src/project-graph/affected/affected-project-graph.js');
    const { calculateFileChanges } = require('nx/src/project-graph/file-utils.js');
    (async () => {
      const graph = await createProjectGraphAsync();
      const affectedBy = async (file) =>
        Object.keys((await filterAffected(graph, calculateFileChanges([file], { files: [file] }))).nodes);
      const found = await Promise.all(JSON.parse(process.argv[1]).map(async (file) => [file, await affectedBy(file)]));
      process.stdout.write(JSON.stringify(found), () => process.exit());
    })();`;
  const { exitCode, stdout, stderr } = await workspace.run('node', ['-e', script, JSON.stringify(files)]);
  if (exitCode !== 0) throw new Error(`nx said: ${stderr}`);
  const found = JSON.parse(stdout) as [file: string, projects: string[]][];
  const bare = (name: string): string => name.replace('@muster/', '');
  return new Map(found.map(([file, projects]) => [file, projects.map(bare).sort()]));
}

const toolFolders = globSync('tools/*/project.json', { cwd: workspaceRoot })
  .map((file) => path.dirname(file))
  .filter((folder) => folder !== 'tools/workspace');
/** At most four projects of tools, and `workspace`, may be affected by a new operation. */
const everyTool = ['tools', 'tools-deploy', 'tools-repository', 'tools-system-tests', 'workspace'];

const apps = readdirSync(path.join(workspaceRoot, 'apps'));
const manifestOf = (app: string) => readFileSync(`${workspaceRoot}/apps/${app}/package.json`, 'utf8');
/** The projects that know every operation. Domains know their own, and platform libraries none. */
const knowOperations = [
  ...apps.filter((app) => /@muster\/(client|coordination-api|operations|registry)\b/.test(manifestOf(app))),
  ...['client', 'operations', 'reference', 'registry', ...everyTool],
];

describe('a change is of concern to', () => {
  const cases: [file: string, affected: string[]][] = [
    ['README.md', ['tools-repository', 'workspace']],
    ['tools/repository/any.ts', ['tools-repository', 'workspace']],
    ['tools/system-tests/bench/any.ts', ['tools-repository', 'tools-system-tests', 'workspace']],
    ['tools/deploy/any.ts', everyTool.filter((name) => name !== 'tools')],
    // Some specs of tools read the docs app's sources and the guides as text, without importing them.
    ['apps/docs/src/any.ts', ['docs', 'tools-repository', 'workspace']],
    ['docs/guides/any.md', ['docs', 'tools-repository', 'workspace']],
    ['clients/go/any.go', ['license-service', ...everyTool]],
    ['libs/license-client/src/index.ts', ['license-client', 'license-service', ...everyTool]],
    [
      'libs/board-registry/src/stories.ts',
      [...knowOperations, 'board', 'board-registry', 'import-files'].sort(),
    ],
    // Other domains read organizations.
    [
      'libs/organizations-registry/src/teams.ts',
      [
        ...[...knowOperations, 'billing', 'board', 'delivery', 'notifications'],
        ...['organizations', 'organizations-registry'],
      ].sort(),
    ],
    // The specs of these projects start coordination-api.
    [
      'apps/coordination-api/src/app.ts',
      ['cli', 'console', 'coordination-api', 'mcp-gateway', 'sign-in', ...everyTool],
    ],
  ];
  const ofEveryApp = ['libs/contract/src/kernel/operation.ts', 'package-lock.json', 'nx.json'];
  let found: Map<string, string[]>;
  beforeAll(async () => {
    found = await affectedByEach([...cases.map(([file]) => file), ...ofEveryApp]);
  }, 120_000);

  it.each(cases)('%s: %j', (file, affected) => {
    expect(found.get(file)).toEqual(affected);
  });

  it.each(ofEveryApp)('%s: every app', (file) => {
    expect(found.get(file)).toEqual(expect.arrayContaining(apps));
  });
});

const folders = ['apps', 'libs'].flatMap((parent) =>
  readdirSync(path.join(workspaceRoot, parent)).map((name) => `${parent}/${name}`),
);
const isOfProject = /^(apps|libs)\/[^/]+|^(docs|clients)\//;
/** Returns the project that contains the path. */
const ownerOf = (of: string): string | undefined =>
  [...folders, ...toolFolders].find((folder) => `${of}/`.startsWith(`${folder}/`));

/** Lists the paths in a project's code that lead to files of other projects, or to the pages. */
function mentionsIn(project: string): { readonly file: string; readonly of: string }[] {
  const files = readdirSync(path.join(workspaceRoot, project), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
    .map((file) => path.join(project, file))
    .filter((place) => project !== 'tools' || ownerOf(place) === undefined)
    .flatMap((place) => {
      const text = readFileSync(path.join(workspaceRoot, place), 'utf8');
      return stringsIn(place, text)
        .map((said) => path.normalize(/^\.\.?\//.test(said) ? path.join(path.dirname(place), said) : said))
        .filter((of) => isOfProject.test(of) || (project.startsWith('tools') && ownerOf(of) !== undefined))
        .filter((of) => !`${of}/`.startsWith(`${project}/`) || (ownerOf(of) ?? project) !== project)
        .filter((of) => existsSync(path.join(workspaceRoot, of)))
        .map((of) => ({ file: place, of }));
    });
}

function stringsIn(file: string, text: string): string[] {
  const strings: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) strings.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return strings.filter((said) => !said.includes('\0') && said.length < 200);
}

const nodeOf = (folder: string): ProjectGraphProjectNode => {
  const node = Object.values(graph.nodes).find(({ data }) => data.root === folder);
  if (node === undefined) throw new Error(`Nx knows no project in ${folder}`);
  return node;
};

/** Returns the folders of all projects on which the given project depends, directly or indirectly. */
function reachedFrom(folder: string): Set<string> {
  const reached = new Set<string>();
  const pending = [nodeOf(folder).name];
  for (const name of pending) {
    for (const { target } of graph.dependencies[name] ?? []) {
      const root = graph.nodes[target]?.data.root;
      if (root === undefined || reached.has(root)) continue;
      reached.add(root);
      pending.push(target);
    }
  }
  return reached;
}

/** Returns true if a task of the project declares the file as an input. */
const isInputOf = (folder: string, file: string): boolean =>
  Object.values(nodeOf(folder).data.targets ?? {})
    .flatMap(({ inputs = [] }) => inputs)
    .concat(nodeOf(folder).data.namedInputs?.['readByTests'] ?? [])
    .flatMap((input) => (typeof input === 'string' ? [input.replace('{workspaceRoot}/', '')] : []))
    .some((pattern) => picomatch.isMatch(file, pattern, { dot: true }) || pattern.startsWith(`${file}/`));

describe.each([...folders, 'tools', ...toolFolders])('%s', (folder) => {
  it('names no path of another project that Nx does not know it reads', () => {
    const reached = reachedFrom(folder);
    const unknown = mentionsIn(folder).filter(({ of }) => {
      const owner = ownerOf(of);
      return !(owner !== undefined && reached.has(owner)) && !isInputOf(folder, of);
    });
    expect(unknown).toEqual([]);
  });

  // If specs of a project start an app's bundle, the project must depend on the app. A change of the app then
  // runs these specs again.
  it('waits for no build but of itself and of what it depends on', () => {
    const reached = reachedFrom(folder);
    const { targets = {} } = nodeOf(folder).data;
    const dependsOn = [targets['test'], targets['long']].flatMap((target) => target?.dependsOn ?? []);
    const places = dependsOn
      .filter((task) => task !== 'build')
      .map((task) =>
        (typeof task === 'string' ? task : task.target).replace(/^@muster\/(.+):build$/, 'apps/$1'),
      );
    expect(places.filter((place) => !reached.has(place))).toEqual([]);
  });
});

it('finds paths at all', () => {
  expect(mentionsIn('apps/cli')).toContainEqual(
    expect.objectContaining({ of: 'apps/coordination-api/src/main.ts' }),
  );
});
