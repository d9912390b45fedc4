/**
 * Runs podman and buildah on a separate store, so that images of this machine are neither used nor replaced.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { aptGet, canInstall, claimFile, dataFolder, findProgram } from '@muster/tools';
import { createPrograms } from './programs.ts';

export const imagesFolder = path.join(dataFolder, 'images');

/** Programs, each with a Debian package of the same name. */
const packages = [
  ...['podman', 'buildah', 'mmdebstrap', 'runc', 'catatonit'],
  // Podman's programs for container networks, and the firewall program that they call.
  ...['netavark', 'aardvark-dns', 'iptables'],
];

/** Some of the programs are not commands and lie in the folders that podman searches. */
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
  /** Returns standard output. Throws an error with the last lines of output if the program fails. */
  run(program: string, ...args: readonly string[]): Promise<string>;
  /** The address of podman's Docker API. */
  readonly socket: string;
  /** True if podman runs health checks by itself, which needs systemd. */
  readonly hasTimers: boolean;
  readonly version: string;
  /** Stops and removes everything except images. Keeps running containers if `isKept` is true. */
  stop(isKept: boolean): Promise<void>;
}

/** Commands that remove pods, containers, their networks, volumes and secrets, and unfinished builds. */
const leftovers = [
  ['podman', 'pod', 'stop', '--all', '--time', '35'],
  ['podman', 'pod', 'rm', '--all', '--force'],
  ['podman', 'rm', '--all', '--force', '--time', '5'],
  ['podman', 'network', 'prune', '--force'],
  ['podman', 'volume', 'prune', '--force'],
  ['podman', 'secret', 'rm', '--all'],
  ['buildah', 'rm', '--all'],
];

/** Lists the mount points below a folder in the order in which they were mounted. */
export async function mountsBelow(folder: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const places = lines.map((line) => line.split(' ')[4] ?? '');
  return places.filter((place) => place.startsWith(`${folder}/`));
}

/**
 * The limits of every container. They are more than any program here needs, and less than the hard limit of
 * any machine. Without these values, an engine that may not raise limits would lower them.
 */
const limits = '"nofile=16384:16384", "nproc=16384:16384"';

/** DNS queries are retried early, because podman's DNS server loses queries while it learns about a container. */
const dnsOptions = '"timeout:1", "attempts:5"';

/** Starts podman's service, with which Compose talks. */
export async function startEngine(say: (line: string) => void): Promise<Engine> {
  if (process.platform !== 'linux') throw new Error('containers are run by podman on Linux');
  if (process.getuid?.() !== 0)
    throw new Error('networks and base images are made as root: sudo npm run images');
  await installMissing(say);
  const hasTimers = existsSync('/run/systemd/system');
  const place = (name: string): string => path.join(imagesFolder, name);
  await mkdir(imagesFolder, { recursive: true });
  // Only one run at a time uses the image store in this folder.
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
dns_options = [${dnsOptions}]
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
    // The log of a container contains its standard error, too.
    return (args[0] === 'logs' ? stdout + stderr : stdout).trim();
  };
  const run: Engine['run'] = (program, ...args) =>
    isOver ? Promise.reject(new Error('the engine was stopped')) : execute(program, ...args);
  const clear = async (): Promise<void> => {
    for (const [program = '', ...args] of leftovers) await execute(program, ...args);
    for (const mount of (await mountsBelow(imagesFolder)).toReversed()) await execute('umount', mount);
  };
  // Removes the leftovers of a run that was killed.
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
