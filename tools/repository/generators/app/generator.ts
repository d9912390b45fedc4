/**
 * `npx nx g ./tools/repository/generators:app report-sender`: generates a service that answers /livez, /readyz and
 * /metrics and has no dependencies yet. It also generates everything that an app has outside its code. The
 * port is the next free one. The image, compose service and manifests are copies of those of docs, the app
 * with the fewest needs. The specs of tools/deploy and tools/repository/boundaries apply to the new app.
 */
import { formatFiles, type Tree } from '@nx/devkit';
import { metricsPortOf, portOfApp, portsOfApps } from '@muster/tools';
import { type AppOptions, sourcesOf } from './sources.ts';

/** The app whose deployment files a new app copies. */
const model = 'docs';
const templatePort = portOfApp(model, {});
const dependencies = ['@muster/http', 'pino'];

export default async function app(tree: Tree, options: AppOptions): Promise<void> {
  const { name } = options;
  if (tree.exists(`apps/${name}`)) throw new Error(`apps/${name} is there already`);
  const teams = new Set(read(tree, 'CODEOWNERS').match(/@muster\/[a-z]+/g));
  if (!teams.has(`@muster/${options.owner}`)) throw new Error(`CODEOWNERS knows no team ${options.owner}`);
  const offset = Math.max(...Object.values(portsOfApps).map((one) => one.offset)) + 1;
  const port = templatePort - portsOfApps[model].offset + offset;

  const versions = versionsOf(tree);
  for (const [file, text] of Object.entries(sourcesOf(options, port, metricsPortOf(port), versions)))
    tree.write(`apps/${name}/${file}`, text);
  nameInLockfile(tree, name, versions);
  addPort(tree, name, offset);
  addOwner(tree, options);
  addImage(tree, options, port);
  addToRelease(tree, name);
  addToCompose(tree, name, port);
  addManifests(tree, name, port);
  await formatFiles(tree);
}

/** Returns the versions of the new app's dependencies, taken from the model app. */
function versionsOf(tree: Tree): Readonly<Record<string, string>> {
  const manifest = JSON.parse(read(tree, `apps/${model}/package.json`)) as {
    dependencies: Record<string, string>;
  };
  return Object.fromEntries(dependencies.map((name) => [name, manifest.dependencies[name] ?? '']));
}

/**
 * Adds the app to the lockfile in the format and order of npm, because `npm ci` refuses a lockfile without an
 * entry for each workspace.
 */
function nameInLockfile(tree: Tree, name: string, versions: Readonly<Record<string, string>>): void {
  const lock = JSON.parse(read(tree, 'package-lock.json')) as { packages: Record<string, object> };
  const added: [string, object][] = [
    [`apps/${name}`, { name: `@muster/${name}`, version: '0.0.0', dependencies: versions }],
    [`node_modules/@muster/${name}`, { resolved: `apps/${name}`, link: true }],
  ];
  let entries = Object.entries(lock.packages);
  for (const entry of added) {
    const folder = entry[0].slice(0, entry[0].lastIndexOf('/') + 1);
    const isBeside = (place: string): boolean =>
      place.startsWith(folder) && !place.slice(folder.length).includes('/');
    const next = entries.findIndex(([place]) => isBeside(place) && place.localeCompare(entry[0], 'en') > 0);
    const at = next < 0 ? entries.findLastIndex(([place]) => place.startsWith(folder)) + 1 : next;
    entries = entries.toSpliced(at, 0, entry);
  }
  tree.write(
    'package-lock.json',
    `${JSON.stringify({ ...lock, packages: Object.fromEntries(entries) }, null, 2)}\n`,
  );
}

function addPort(tree: Tree, name: string, offset: number): void {
  const file = 'tools/dev/ports.ts';
  const variable = `${name.replaceAll('-', '_').toUpperCase()}_PORT`;
  const key = name.includes('-') ? `'${name}'` : name;
  insert(tree, file, '} as const;', `  ${key}: { offset: ${offset}, variable: '${variable}' },\n`);
}

function addOwner(tree: Tree, { name, owner }: AppOptions): void {
  insert(tree, 'CODEOWNERS', '\n# The contract:', `#@ ${`/apps/${name}/`.padEnd(28)} @muster/${owner}\n`);
}

function addImage(tree: Tree, { name, description }: AppOptions, port: number): void {
  insert(
    tree,
    'Dockerfile',
    'FROM sources AS build-cli\n',
    `FROM sources AS build-${name}
COPY apps/${name} apps/${name}
RUN node tools/build/build-app.ts apps/${name}

`,
  );
  insert(
    tree,
    'Dockerfile',
    "# The operators' commands;",
    `FROM service AS ${name}
LABEL org.opencontainers.image.title="${name}" \\
      org.opencontainers.image.description=${JSON.stringify(description)}
ENV PORT=${port}
EXPOSE ${port}
COPY --from=build-${name} /build/dist/apps/${name} ./

`,
  );
}

function addToRelease(tree: Tree, name: string): void {
  insert(tree, '.github/workflows/release.yml', '          - cli\n', `          - ${name}\n`);
}

function addToCompose(tree: Tree, name: string, port: number): void {
  insert(
    tree,
    'docker-compose.yml',
    '\n  # docker compose --profile monitoring up:',
    `
  ${name}:
    <<: *program
    image: muster/${name}:\${MUSTER_VERSION:-latest}
    build: { context: ., target: ${name} }
    environment:
      <<: *everywhere
    networks: [front]
`,
  );
  insert(
    tree,
    'tools/deploy/monitoring/compose/prometheus.yml',
    '          - console:',
    `          - ${name}:${metricsPortOf(port)}\n`,
  );
}

function addManifests(tree: Tree, name: string, port: number): void {
  const folder = 'tools/deploy/kubernetes';
  const manifests = read(tree, `${folder}/services/${model}.yaml`)
    .replaceAll(new RegExp(`\\b${model}\\b`, 'g'), name)
    .replaceAll(String(templatePort), String(port))
    .replaceAll(String(metricsPortOf(templatePort)), String(metricsPortOf(port)));
  tree.write(`${folder}/services/${name}.yaml`, manifests);
  insert(tree, `${folder}/services/kustomization.yaml`, '  - ingress.yaml\n', `  - ${name}.yaml\n`);
  insert(
    tree,
    `${folder}/example/services/kustomization.yaml`,
    'patches:\n',
    `  - name: muster/${name}
    newName: registry.example.com/muster/${name}
    newTag: 1.0.0
`,
  );
}

/** Inserts a text before the first occurrence of another. */
function insert(tree: Tree, file: string, before: string, text: string): void {
  const whole = read(tree, file);
  const at = whole.indexOf(before);
  if (at < 0) throw new Error(`${file} has nowhere to go on: ${JSON.stringify(before)} is missing`);
  tree.write(file, whole.slice(0, at) + text + whole.slice(at));
}

function read(tree: Tree, file: string): string {
  const text = tree.read(file, 'utf8');
  if (text === null) throw new Error(`${file} is missing`);
  return text;
}
