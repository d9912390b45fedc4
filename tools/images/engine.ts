/** podman and buildah, on a store of their own: images of this machine are neither used nor replaced. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { aptGet, canInstall, claimFile, dataFolder, findProgram } from '@muster/tools';
import { createPrograms } from './programs.ts';

export const imagesFolder = path.join(dataFolder, 'images');

/** Programs, each in the package of its name. */
const packages = [
  ...['podman', 'buildah', 'mmdebstrap', 'runc', 'catatonit'],
  // The networks, and the firewall's program that they call.
  ...['netavark', 'aardvark-dns', 'iptables'],
];

/** Some of them are no commands, and lie where podman looks for them. */
const isThere = (name: string): boolean =>
  findProgram([name]) !== undefined ||
  ['/usr/lib/podman', '/usr/libexec/podman', '/usr/bin'].some((folder) =>
    existsSync(path.join(folder, name)),
  );

async function installMissing(say: (line: string) => void): Promise<void> {
  const missing = packages.filter((name) => !isThere(name));
  if (missing.length === 0) return;
  const advice = `Missing on this machine: ${missing.join(', ')} ("sudo apt-get install ${missing.join(' ')}")`;
  if (!canInstall()) throw new Error(advice);
  say(`${advice}: installing`);
  await aptGet(advice, 'update', '-q');
  await aptGet(advice, 'install', '-y', '-q', '--no-install-recommends', ...missing);
}

export interface Engine {
  /** What it prints on standard output. Throws its last lines where it fails. */
  run(program: string, ...args: readonly string[]): Promise<string>;
  /** The address of its Docker API. */
  readonly socket: string;
  /** Whether podman asks containers by itself if they are well: systemd has to run for that. */
  readonly hasTimers: boolean;
  readonly version: string;
  /** Ends what runs in it, and removes all but its images, unless containers are kept. */
  stop(isKept: boolean): Promise<void>;
}

/** What is in the store besides images: containers, their networks and volumes, and builds that were not finished. */
const leftovers = [
  ['podman', 'rm', '--all', '--force', '--time', '5'],
  ['podman', 'network', 'prune', '--force'],
  ['podman', 'volume', 'prune', '--force'],
  ['buildah', 'rm', '--all'],
];

/** In the order in which they were made. */
export async function mountsBelow(folder: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const places = lines.map((line) => line.split(' ')[4] ?? '');
  return places.filter((place) => place.startsWith(`${folder}/`));
}

/** More than a program here needs, and no more than any machine allows: an engine without the right to raise limits lowers them. */
const limits = '"nofile=16384:16384", "nproc=16384:16384"';

/** Brings up podman's service, which Compose talks to. */
export async function startEngine(say: (line: string) => void): Promise<Engine> {
  if (process.platform !== 'linux') throw new Error('containers are run by podman on Linux');
  if (process.getuid?.() !== 0)
    throw new Error('networks and base images are made as root: sudo npm run images');
  await installMissing(say);
  const hasTimers = existsSync('/run/systemd/system');
  const place = (name: string): string => path.join(imagesFolder, name);
  await mkdir(imagesFolder, { recursive: true });
  // One run works on the store at a time.
  const claimed = claimFile(place('claim.sqlite'));
  if (claimed === undefined) throw new Error('npm run images already runs in this clone');
  await writeFile(
    place('containers.conf'),
    `[engine]
cgroup_manager = "${hasTimers ? 'systemd' : 'cgroupfs'}"
events_logger = "file"
runtime = "runc"
[network]
network_backend = "netavark"
network_config_dir = "${place('networks')}"
[containers]
log_driver = "k8s-file"
default_ulimits = [${limits}]
`,
  );
  await writeFile(
    place('storage.conf'),
    `[storage]\ndriver = "overlay"\ngraphroot = "${place('store')}"\nrunroot = "${place('run')}"\n`,
  );
  await writeFile(
    place('registries.conf'),
    'unqualified-search-registries = ["docker.io"]\nshort-name-mode = "disabled"\n',
  );
  const programs = createPrograms({
    ...process.env,
    CONTAINERS_CONF: place('containers.conf'),
    CONTAINERS_STORAGE_CONF: place('storage.conf'),
    CONTAINERS_REGISTRIES_CONF: place('registries.conf'),
    ...(hasTimers ? {} : { DISABLE_HC_SYSTEMD: 'true' }),
  });
  let isOver = false;
  const execute = async (program: string, ...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await programs.run(program, args);
    // Where a container wrote to standard error, its log does too.
    return (args[0] === 'logs' ? stdout + stderr : stdout).trim();
  };
  const run: Engine['run'] = (program, ...args) =>
    isOver ? Promise.reject(new Error('the engine was stopped')) : execute(program, ...args);
  const clear = async (): Promise<void> => {
    for (const [program = '', ...args] of leftovers) await execute(program, ...args);
    for (const mount of (await mountsBelow(imagesFolder)).toReversed()) await execute('umount', mount);
  };
  // A run that was killed could not clear up after itself.
  await clear();
  const socket = `unix://${place('podman.sock')}`;
  programs.start('podman', ['system', 'service', '--time', '0', socket]);
  return {
    run,
    ...{ socket, hasTimers },
    version: await run('podman', 'version', '--format', '{{.Client.Version}}'),
    stop: async (isKept) => {
      isOver = true;
      await programs.endAll();
      if (!isKept) await clear();
      claimed.close();
    },
  };
}
