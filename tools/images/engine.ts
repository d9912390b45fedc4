/** podman and buildah, on a store of their own: images of this machine are neither used nor replaced. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { aptGet, canInstall, findProgram } from '../dev/apt.ts';
import { dataFolder } from '../dev/repository.ts';

export const imagesFolder = path.join(dataFolder, 'images');

/** Programs, each in the package of its name. */
const programs = ['podman', 'buildah', 'mmdebstrap', 'runc', 'catatonit', 'netavark', 'aardvark-dns'];

/** Some of them are no commands, and lie where podman looks for them. */
const isThere = (name: string): boolean =>
  findProgram([name]) !== undefined ||
  ['/usr/lib/podman', '/usr/libexec/podman', '/usr/bin'].some((folder) =>
    existsSync(path.join(folder, name)),
  );

async function installMissing(say: (line: string) => void): Promise<void> {
  const missing = programs.filter((name) => !isThere(name));
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
  stop(): Promise<void>;
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
  const environment = {
    ...process.env,
    CONTAINERS_CONF: place('containers.conf'),
    CONTAINERS_STORAGE_CONF: place('storage.conf'),
    CONTAINERS_REGISTRIES_CONF: place('registries.conf'),
    ...(hasTimers ? {} : { DISABLE_HC_SYSTEMD: 'true' }),
  };
  const run = async (program: string, ...args: readonly string[]): Promise<string> => {
    try {
      const { stdout, stderr } = await promisify(execFile)(program, args, {
        env: environment,
        maxBuffer: 64 * 1024 * 1024,
      });
      // Where a container wrote to standard error, its log does too.
      return (args[0] === 'logs' ? stdout + stderr : stdout).trim();
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-15).join('\n');
      throw new Error(`${program} ${args.slice(0, 2).join(' ')} failed:\n${said}`, { cause: error });
    }
  };
  const socket = `unix://${place('podman.sock')}`;
  const service = spawn('podman', ['system', 'service', '--time', '0', socket], {
    env: environment,
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => {
    service.once('exit', () => {
      resolve();
    });
  });
  return {
    run,
    ...{ socket, hasTimers },
    version: await run('podman', 'version', '--format', '{{.Client.Version}}'),
    stop: async () => {
      service.kill();
      await ended;
    },
  };
}
